"""One page of a PDF → its content: words, rulings, fills and images in layout space.

Text that a reader of the page cannot see is left out here; text that runs in another direction
than most is put apart.
"""

from __future__ import annotations

import ctypes
import re
from collections import Counter
from collections.abc import Iterator
from functools import lru_cache
from typing import Any

import numpy as np
import numpy.typing as npt
import pypdfium2 as pdfium
import pypdfium2.raw as c

from rag_pipeline.parsing.pdf.layout.doubles import without_doubles
from rag_pipeline.parsing.pdf.layout.geometry import (
    Box,
    PageContent,
    PageWord,
    Ruling,
    Style,
    contains,
)
from rag_pipeline.parsing.pdf.native.annotations import load_page
from rag_pipeline.parsing.pdf.native.bookmarks import Entry
from rag_pipeline.parsing.pdf.native.graphics import Graphics, GraphicsReader
from rag_pipeline.parsing.pdf.native.near_twins import moved_on, near_twins
from rag_pipeline.parsing.pdf.native.page_words import RawWords, TextReader
from rag_pipeline.parsing.pdf.native.tags import tagged_headings
from rag_pipeline.parsing.pdf.native.visibility import (
    covered_share,
    hidden,
    objects_beneath,
    unseen_words,
)
from rag_pipeline.text import clean_text

_UNREADABLE = re.compile(r"[\ufffd\ue000-\uf8ff\x01-\x08\x0e-\x1f\x7f-\x9f]")
_SYMBOL_BULLETS = str.maketrans(
    {"\uf0b7": "•", "\uf0a7": "▪", "\uf0d8": "➢", "\uf0fc": "✓", "\uf0a8": "▪", "\uf076": "❖"}
)
STRIP = 20.0
"""Points; height of the strips of a page in which doubled text is looked for."""
SCAN_COVERAGE = 0.5
"""Share of the page that images cover where invisible text is taken for an OCR layer."""
FEW_SPACES = 10
"""Text objects of a page that may hold nothing but spaces in a font of their own."""
MAX_CLEANED = 20_000
"""Words whose cleaned spelling is remembered."""


def read_pages(
    pdf: pdfium.PdfDocument, *, tagged: list[Entry] | None = None, layers_off: bool = False
) -> Iterator[PageContent | pdfium.PdfiumError]:
    """Yield the content of each page, or the error where a page cannot be loaded.

    Where a list is given for them, the headings that the tags of a page name are added to it.
    `layers_off`: the file has layers that are not shown at first.

    A page stays open until the next is loaded: PDFium drops fonts that no open page uses, and
    loading a large Asian font anew for each page takes longer than all else.
    """
    readers = TextReader(), GraphicsReader()
    previous = None
    try:
        for index in range(len(pdf)):
            page, notes = load_page(pdf, index)
            if previous:
                c.FPDF_ClosePage(previous)
            previous = page
            if not page:
                yield pdfium.PdfiumError("the page cannot be loaded")
                continue
            content = _read(page, index, tagged, *readers, layers_off=layers_off)
            content.notes = notes
            yield content
    finally:
        if previous:
            c.FPDF_ClosePage(previous)


def read_page(
    pdf: pdfium.PdfDocument, index: int, *, layers_off: bool = False
) -> PageContent | pdfium.PdfiumError:
    """Return the content of one page (from 0), or the error where it cannot be loaded."""
    page, _ = load_page(pdf, index)
    if not page:
        return pdfium.PdfiumError("the page cannot be loaded")
    try:
        readers = TextReader(), GraphicsReader()
        return _read(page, index, None, *readers, layers_off=layers_off)
    finally:
        c.FPDF_ClosePage(page)


def _read(
    page: Any,
    index: int,
    tagged: list[Entry] | None,
    text_reader: TextReader,
    graphics_reader: GraphicsReader,
    *,
    layers_off: bool,
    move: bool = True,
) -> PageContent:
    text_page = c.FPDFText_LoadPage(page)
    try:
        words = text_reader.read(text_page)
        graphics = graphics_reader.read(page, words.text_objects)
        dropped = near_twins(graphics) if move else {}
        unseen: set[int] = set()
        if words.texts:
            unseen = unseen_words(page, text_page, words, graphics, layers_off=layers_off)
            if _is_scan(words, graphics, _page_box(page), unseen):
                unseen = set()
        if tagged is not None:
            tagged.extend(tagged_headings(page, text_page, index + 1))
        beneath = objects_beneath(text_page, words, unseen)
    finally:
        c.FPDFText_ClosePage(text_page)
    if dropped:
        with moved_on(dropped):
            return _read(
                page, index, None, text_reader, graphics_reader, layers_off=layers_off, move=False
            )
    if not beneath:
        return _page_content(page, index, words, graphics, unseen)
    # PDFium drops characters that stand where it has met the same before, seen or not.
    with hidden(beneath):
        content = _read(
            page, index, None, text_reader, graphics_reader, layers_off=layers_off, move=move
        )
    content.left_out += [words.texts[at] for at in sorted(unseen)]
    return content


def _page_content(
    page: Any, index: int, raw: RawWords, graphics: Graphics, unseen: set[int]
) -> PageContent:
    """Turn all into layout space, and leave hidden text out."""
    box = _page_box(page)
    turns = _main_direction(raw) if any(run.turns for run in raw.distinct_runs) else 0
    width, height = box[2] - box[0], box[3] - box[1]
    if turns % 2:
        width, height = height, width
    content = PageContent(index + 1, width, height, (c.FPDFPage_GetRotation(page) - turns) % 4)
    content.rulings = [Ruling(*_to_layout(ruling, box, turns)) for ruling in graphics.rulings]
    content.fills = [_to_layout(fill, box, turns) for fill, _ in graphics.fills]
    content.images = [_to_layout(image, box, turns) for image in graphics.images]
    words = _words_of(raw, graphics, box, turns)
    if turns == 0 and not unseen and _is_plain(raw, box):
        content.words = words
    else:
        _part_words(content, words, raw, unseen, box, turns)
    content.words, content.doubles = without_doubles(content.words)
    _clean_texts(content)
    content.unreadable_characters += raw.nameless + _unread_characters(raw, graphics)
    if any(run.unmapped for run in raw.distinct_runs):
        content.unmapped_characters = sum(
            len(text) for text, run in zip(raw.texts, raw.runs, strict=True) if run.unmapped
        )
    return content


def _page_box(page: Any) -> Box:
    rect = c.FS_RECTF()
    c.FPDF_GetPageBoundingBox(page, ctypes.byref(rect))
    return rect.left, rect.bottom, rect.right, rect.top


def _unread_characters(raw: RawWords, graphics: Graphics) -> int:
    """Text objects left out because their font is neither in the file nor on this machine.

    One that holds nothing but a space looks the same, but other text of its font was read. A font
    in the file that draws more of these than the page has words is broken.
    """
    blank = {font: count for font, count in graphics.blank_objects.items() if font not in raw.fonts}
    absent = sum(
        count
        for font, count in blank.items()
        if c.FPDFFont_GetIsEmbedded(ctypes.cast(font, c.FPDF_FONT)) == 0
    )
    broken = sum(blank.values()) - absent
    return absent + (broken if broken > max(FEW_SPACES, len(raw.texts)) else 0)


def _to_layout(box: Any, page: Box, turns: int) -> Any:
    """User space (origin at the bottom left) → a top-left space after clockwise quarter turns.

    `box` is one box, or four arrays: left, bottom, right and top of many.
    """
    left, bottom, right, top = page
    x0, y0, x1, y1 = box
    if turns == 0:
        return x0 - left, top - y1, x1 - left, top - y0
    if turns == 1:
        return y0 - bottom, x0 - left, y1 - bottom, x1 - left
    if turns == 2:
        return right - x1, y0 - bottom, right - x0, y1 - bottom
    return top - y1, right - x1, top - y0, right - x0


def _words_of(raw: RawWords, graphics: Graphics, page: Box, turns: int) -> list[PageWord]:
    """All words of a page in layout space."""
    styles = [run.style for run in raw.runs]
    if graphics.repeated_text:
        styles = _printed_styles(styles, raw.boxes, graphics.repeated_text)
    if turns == 0:
        top = page[3]
        baselines = [top - run.origin[1] for run in raw.runs]
    else:
        baselines = [_to_layout(run.origin * 2, page, turns)[1] for run in raw.runs]
    edges = [column.tolist() for column in _to_layout(raw.boxes.T, page, turns)]
    columns = (baselines, raw.texts, styles, raw.positions, raw.broken, raw.glued)
    return list(map(PageWord, *edges, *columns))


def _is_plain(raw: RawWords, page: Box) -> bool:
    """Is all text upright, visible, and on the page?"""
    for run in raw.distinct_runs:
        if run.hidden or run.invisible or not run.upright or run.turns:
            return False
    boxes = raw.boxes
    return bool((boxes[:, :2] >= page[:2]).all() and (boxes[:, 2:] <= page[2:]).all())


def _clean_texts(content: PageContent) -> None:
    """Clean what is not plain ASCII, and count characters without a Unicode value."""
    for words in (content.words, content.turned_words):
        page = "".join([word.text for word in words])
        if page.isascii() and page.isprintable():
            continue
        for word in words:
            text = word.text
            if not text.isascii() or not text.isprintable():
                word.text, unreadable = _cleaned(text)
                content.unreadable_characters += unreadable
        words[:] = [word for word in words if word.text]


@lru_cache(maxsize=MAX_CLEANED)
def _cleaned(text: str) -> tuple[str, int]:
    """A word without what no client can carry, and its characters without a Unicode value."""
    text = text.translate(_SYMBOL_BULLETS)
    cleaned = clean_text(text)
    return cleaned, len(_UNREADABLE.findall(text)) + cleaned.count("\ufffd") - text.count("\ufffd")


def _part_words(
    content: PageContent,
    words: list[PageWord],
    raw: RawWords,
    unseen: set[int],
    page: Box,
    turns: int,
) -> None:
    """Leave hidden words out, and put those of other directions apart."""
    for at, (word, box, run) in enumerate(zip(words, raw.boxes.tolist(), raw.runs, strict=True)):
        x, y = (box[0] + box[2]) / 2, (box[1] + box[3]) / 2
        if run.hidden or at in unseen or not contains(page, x, y):
            content.left_out.append(word.text)
        elif run.upright and run.turns == turns:
            content.words.append(word)
        else:
            content.turned_words.append(word)


def _main_direction(raw: RawWords) -> int:
    """Quarter turns of the direction that most characters run in."""
    characters: Counter[int] = Counter()
    for text, run in zip(raw.texts, raw.runs, strict=True):
        if run.upright:
            characters[run.turns] += len(text)
    return characters.most_common(1)[0][0] if characters else 0


def _is_scan(raw: RawWords, graphics: Graphics, page: Box, unseen: set[int]) -> bool:
    """Unseen text is an OCR layer where images fill the page and most of its text is unseen."""
    return covered_share(graphics.images, page) > SCAN_COVERAGE and len(unseen) > 0.5 * len(
        raw.runs
    )


def _printed_styles(
    styles: list[Style], boxes: npt.NDArray[np.float64], doubles: list[Box]
) -> list[Style]:
    """The styles of words; bold where the text was printed twice."""
    strips: dict[int, list[Box]] = {}
    for box in doubles:
        at = int((box[1] + box[3]) / 2 // STRIP)
        for strip in (at - 1, at, at + 1):
            strips.setdefault(strip, []).append(box)
    xs = ((boxes[:, 0] + boxes[:, 2]) / 2).tolist()
    middles = (boxes[:, 1] + boxes[:, 3]) / 2
    ys, at_strips = middles.tolist(), (middles // STRIP).astype(int).tolist()
    bold = {style: style._replace(bold=True) for style in set(styles)}
    return [
        bold[style]
        if not style.bold and any(contains(box, x, y, slack=1) for box in strips.get(strip, ()))
        else style
        for style, x, y, strip in zip(styles, xs, ys, at_strips, strict=True)
    ]
