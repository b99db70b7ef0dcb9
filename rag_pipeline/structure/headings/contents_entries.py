"""What a document's own contents pages say about its headings: which there are, and where.

The strongest witness there is: entries are aligned with the body by their text and by the page that
they name, whose distance to the page of the file is nearly the same over the whole document.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import dataclass, field

from rag_pipeline.structure.headings.candidates import next_item
from rag_pipeline.structure.headings.contents_pages import (
    LIST_TITLES,
    ContentsRun,
    contents_line,
    is_contents_title,
    lines_of,
    plain_title,
)
from rag_pipeline.structure.headings.merging import absorb
from rag_pipeline.structure.headings.numbering import Numbering, letters, parse_numbering
from rag_pipeline.structure.items import Document, Item

MAX_PIECES = 3
"""Blocks that one heading may be broken into."""
MAX_HEADING = 300
"""Characters of a heading that a contents page names."""
PREFIX = 4
"""Letters by which titles are looked up."""


@dataclass(slots=True)
class ContentsEntry:
    """One title of a contents page, the page that it names, and where it stands in the body."""

    lines: list[str]
    """The title's lines; the first may belong to another entry (an author, a part)."""
    page: int | None
    roman: bool
    source: Item
    found: list[list[Item]] = field(default_factory=list)
    """Places in the body with this text: the blocks that make it up."""


def confirm_headings(document: Document, runs: list[ContentsRun]) -> None:
    """Make headings of the blocks that contents pages name, and remember what these say.

    Sets `listed` of these items to the entry's block, and `document.contents_share` to the share of
    entries found: how far the contents pages can be trusted.
    """
    entries = [entry for run in runs if not _is_list(run) for entry in _read(run)]
    if not entries:
        return
    places = _places(document)
    for entry in entries:
        entry.found = _find(entry, places, document)
    offsets = _offsets(entries)
    found = 0
    for entry in entries:
        blocks = _choose(entry, offsets)
        if blocks is None:
            continue
        found += 1
        if blocks[0].listed is None:
            _confirm(blocks, entry)
    document.contents_share = found / len(entries)
    document.contents_page = min(entry.source.page for entry in entries)


def _is_list(run: ContentsRun) -> bool:
    return run.title is not None and plain_title(run.title.title) in LIST_TITLES


def _read(run: ContentsRun) -> list[ContentsEntry]:
    """Entries of a run; lines without a page number are the beginning of the next entry."""
    entries: list[ContentsEntry] = []
    waiting: list[str] = []
    for item in run.items:
        for line in lines_of(item):
            read = contents_line(line)
            if read is None:
                waiting.append(line)
                continue
            entries.append(ContentsEntry([*waiting, read.title], read.page, read.roman, item))
            waiting = []
    return entries


def _places(document: Document) -> dict[str, list[Item]]:
    """Short blocks of the body by the first letters of their text."""
    places: dict[str, list[Item]] = defaultdict(list)
    for item in document.items:
        short = len(item.title) <= MAX_HEADING and item.kind in ("text", "code")
        if short and item.role != "contents_entry" and item.upright:
            item.letters = letters(item.title)
            if item.letters:
                places[item.letters[:PREFIX]].append(item)
    return places


def _find(
    entry: ContentsEntry, places: dict[str, list[Item]], document: Document
) -> list[list[Item]]:
    """Places of an entry's text, with as many of its lines as are found."""
    for start in range(len(entry.lines)):
        text = " ".join(entry.lines[start:])
        wanted = letters(text)
        numbering = parse_numbering(text)
        found = []
        for item in places.get(wanted[:PREFIX], []):
            blocks = _spelled_out(item, wanted, document)
            if blocks and _same_number(item, numbering):
                found.append(blocks)
        if found:
            return found
    return []


def _spelled_out(item: Item, wanted: str, document: Document) -> list[Item] | None:
    """The block, with those that follow where the title goes on in them, or None."""
    blocks, text = [item], item.letters
    while text != wanted:
        at = blocks[-1].index + 1
        if not wanted.startswith(text) or len(blocks) == MAX_PIECES or at >= len(document.items):
            return None
        following = document.items[at]
        if following.page != item.page or not following.title:
            return None
        blocks.append(following)
        text += letters(following.title)
    return blocks


def _same_number(item: Item, numbering: Numbering | None) -> bool:
    """Numbers must agree where both the entry and the block have one."""
    own = parse_numbering(item.title)
    if own is None or numbering is None:
        return True
    return (own.prefix, own.label) == (numbering.prefix, numbering.label)


def _offsets(entries: list[ContentsEntry]) -> dict[bool, int]:
    """Page of the file minus printed page, for Arabic and Roman ones: what most places say."""
    votes: dict[bool, Counter[int]] = {False: Counter(), True: Counter()}
    for entry in entries:
        if entry.page is not None:
            pages = {blocks[0].page for blocks in entry.found}
            votes[entry.roman].update(page - entry.page for page in pages)
    return {roman: count.most_common(1)[0][0] for roman, count in votes.items() if count}


def _choose(entry: ContentsEntry, offsets: dict[bool, int]) -> list[Item] | None:
    """The place nearest to the page named; body before running heads, large before small."""
    if not entry.found or entry.page is None or entry.roman not in offsets:
        return None
    page = entry.page + offsets[entry.roman]
    near = [blocks for blocks in entry.found if abs(blocks[0].page - page) <= 1]
    if not near:
        return None
    return min(
        near,
        key=lambda blocks: (
            abs(blocks[0].page - page),
            blocks[0].role in ("page_header", "page_footer"),
            -blocks[0].size,
            blocks[0].index,
        ),
    )


def _confirm(blocks: list[Item], entry: ContentsEntry) -> None:
    """Make one heading of the blocks that a contents page names.

    >>> from rag_pipeline.inspection.rule_examples import explain
    >>> contents = ["{14b} Contents", "Oil ........ 2", "Air ........ 3", "Fuel ........ 4"]
    >>> explain(*contents, "---", "Oil", "~", "---", "Air", "~", "---", "Fuel", "~")[-1]
    'heading: the contents page names it; level 1: style 10 pt'
    """
    first = blocks[0]
    first.decide("heading", "heading: the contents page names it")
    first.numbering = parse_numbering(first.title)
    first.listed = entry.source
    for other in blocks[1:]:
        absorb(first, other, "its lines joined as in the contents")


TRUSTED = 0.6
"""Share of entries found in the body, from which contents pages also say what is no heading."""
FEW_NAMED = 5
"""Headings that contents pages name, at least, for the same."""
LARGER = 1.035
"""Size over another's from which it is larger, not rounded."""


def drop_unnamed(document: Document) -> None:
    """Take back headings that trusted contents pages speak against.

    Before the contents, a heading unlike all named ones, in a style below which no text stands, is
    part of a cover or imprint. After them, a style larger than that of some named headings, of
    which none is named, is no heading style.

    >>> from rag_pipeline.inspection.rule_examples import explain
    >>> names = ["Oil", "Air", "Fuel", "Gas", "Water"]
    >>> lines = [f"{name} ........ {page}" for page, name in enumerate(names, 3)]
    >>> parts = [block for name in names for block in ("---", f"{{14b}} {name}", "~")]
    >>> cover = ["{30b} Pump QV", *["~"] * 8, "{20b} Your partner", "---"]
    >>> explain(*cover, "{14b} Contents", *lines, *parts)[1]
    'paragraph: before the contents and unlike what they name'
    """
    named = [item for item in document.items if item.listed is not None and item.role == "heading"]
    if document.contents_share < TRUSTED or len(named) < FEW_NAMED:
        return
    sizes = {item.size for item in named}
    with_text = {
        (item.size, item.font)
        for item in document.items
        if item.role == "heading" and _has_text(item, document)
    }
    smallest, fonts = min(sizes), {item.font for item in named}
    for item in document.items:
        if item.role != "heading" or item.listed is not None or item.level_hint is not None:
            continue
        worded = item.numbering is not None and item.numbering.is_worded
        if worded or is_contents_title(item.title) or item is document.root:
            continue
        known = any(size / LARGER < item.size < size * LARGER for size in sizes)
        ours = (known and item.font in fonts) or (item.size, item.font) in with_text
        if item.page < document.contents_page and not ours:
            item.decide("paragraph", "paragraph: before the contents and unlike what they name")
        elif item.size > LARGER * smallest and not known and item.page > document.contents_page:
            item.decide("paragraph", "paragraph: a large style of which the contents name none")


def _has_text(item: Item, document: Document) -> bool:
    """Does a paragraph of several lines follow on the same page?"""
    following = next_item(document, item.index)
    if following is None or following.page != item.page:
        return False
    return following.role != "heading" and following.kind == "text" and following.lines > 1
