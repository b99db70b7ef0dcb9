"""Levels of headings: numbering depth over style over size, the same over the whole document.

Each heading gets a *rank*, a tuple that sorts higher levels first. Unnumbered headings rank by
their style: size, weight, font. Numbered ones rank by the usual size of their depth, forced to
shrink with depth; an unnumbered heading that looks like a numbered class ranks with it. The parent
of a heading is the nearest heading before it with a smaller rank.
"""

from __future__ import annotations

from collections import Counter, defaultdict

from rag_pipeline.structure.headings.contents_pages import is_contents_title
from rag_pipeline.structure.items import Document, Item, font_family
from rag_pipeline.structure.signals import is_capitals

Style = tuple[float, bool, str, bool, int, bool]
Rank = tuple[float, ...]
MIN_LIKE = 0.12
"""Share of a numbered class in a style from which unnumbered headings of the style are alike."""
MANY_UNNUMBERED = 2.0
"""Unnumbered headings over numbered ones of a style, from which they are parts of these."""
MIN_HINTS = 3
"""Headings with a level of the file's own from which these levels are used."""
SAME_SIZE = 0.035
"""Relative difference up to which two sizes are one."""


def set_levels(document: Document) -> None:
    """Give every heading a level from 1, without gaps."""
    headings = [item for item in document.items if item.role == "heading"]
    body = [
        item
        for item in headings
        if item.level_hint is not None or not is_contents_title(item.title)
    ]
    ranks = _ranks(body, document)
    hinted = {item.index: float(item.level_hint) for item in body if item.level_hint is not None}
    if len(hinted) >= MIN_HINTS or any(item.given for item in body):
        # Headings that the outline leaves out stand below those that it names.
        ranks = {
            index: (0.0, hinted[index]) if index in hinted else (1.0, *rank)
            for index, rank in ranks.items()
        }
    _nest(document, ranks)


def _nest(document: Document, ranks: dict[int, Rank]) -> None:
    """Level = number of open headings with a smaller rank."""
    stack: list[Rank] = []
    for item in document.items:
        if item.role != "heading":
            continue
        if item.index not in ranks:
            item.level = len(stack) + 1
            item.rule += f"; level {item.level}: front matter is nobody's parent"
            continue
        rank = ranks[item.index]
        while stack and stack[-1] >= rank:
            stack.pop()
        stack.append(rank)
        item.level = len(stack)
        item.rule += f"; level {item.level}: {_why(item)}"


def _why(item: Item) -> str:
    if item.level_hint is not None:
        return "as the file says"
    if item.numbering:
        return f"{item.numbering.kind} numbering of depth {item.numbering.depth}"
    return f"style {item.size:g} pt{' bold' if item.bold else ''}"


def _ranks(headings: list[Item], document: Document) -> dict[int, Rank]:
    _drop_odd_numbers(headings)
    sizes = _size_classes(headings)
    caps = _capital_styles(headings, sizes)
    styles = {item.index: _style(item, sizes, caps) for item in headings}
    classes = _numbered_classes(headings, styles)
    placed = _place_numbered(classes, styles, document)
    like = _ranks_of_styles(headings, styles, placed)
    ranks: dict[int, Rank] = {}
    for item in headings:
        style = styles[item.index]
        if item.index in placed:
            ranks[item.index] = placed[item.index]
        else:
            ranks[item.index] = like.get(style) or _style_rank(style, document)
    return ranks


def _drop_odd_numbers(headings: list[Item]) -> None:
    """`17.5 points` is no numbering: of another style than its class, without kin of its own."""
    numbered = [
        item
        for item in headings
        if item.numbering and item.numbering.kind == "decimal" and item.numbering.depth > 1
    ]
    looks: dict[int, Counter[tuple[float, bool]]] = defaultdict(Counter)
    known = set()
    for item in headings:
        if item.numbering:
            known.add((item.numbering.prefix, item.numbering.label))
    for item in numbered:
        if item.numbering:
            looks[item.numbering.depth][item.size, item.bold] += 1
    for item in numbered:
        numbering = item.numbering
        if numbering is None or not numbering.label.isdigit():
            continue
        usual = looks[numbering.depth].most_common(1)[0][0] == (item.size, item.bold)
        parent, _, label = numbering.prefix.rpartition(".")
        before = (numbering.prefix, str(int(numbering.label) - 1))
        if not usual and (parent, label) not in known and before not in known:
            item.numbering = None


def _ranks_of_styles(
    headings: list[Item], styles: dict[int, Style], placed: dict[int, Rank]
) -> dict[Style, Rank]:
    """Rank of unnumbered headings that look like numbered ones: the same.

    Numbering often stops at some depth while headings go on in the same style: those that look
    like the deepest numbered ones, or that are far more than these, rank just below them.
    """
    seen: dict[Style, Counter[tuple[Rank, int]]] = defaultdict(Counter)
    deepest = 0
    for item in headings:
        if item.index in placed and item.numbering:
            seen[styles[item.index]][placed[item.index], item.numbering.depth] += 1
            deepest = max(deepest, item.numbering.depth)
    sizes = Counter(placed.values())
    unnumbered = Counter(styles[item.index] for item in headings if item.index not in placed)
    ranks: dict[Style, Rank] = {}
    for style, counts in seen.items():
        for key in [key for key in counts if counts[key] < MIN_LIKE * sizes[key[0]]]:
            del counts[key]  # a few odd ones do not make the style that of the class
        if not counts:
            continue
        rank, depth = min(counts, key=lambda key: (-counts[key], key))
        low, low_depth = max(counts)
        ends_here = low_depth == deepest >= 3 and counts[low, low_depth] > 0.1 * counts[rank, depth]
        many = unnumbered[style] > MANY_UNNUMBERED * sum(counts.values())
        ranks[style] = (*low, 2.0) if ends_here or many else rank
    return ranks


def _size_classes(headings: list[Item]) -> dict[float, float]:
    """Map each size to the most frequent one among those that differ by rounding only."""
    counts = Counter(item.size for item in headings)
    mapped: dict[float, float] = {}
    for size, _ in counts.most_common():
        near = [known for known in set(mapped.values()) if abs(known - size) <= SAME_SIZE * known]
        mapped[size] = min(near, key=lambda known: abs(known - size)) if near else size
    return mapped


def _capital_styles(headings: list[Item], sizes: dict[float, float]) -> set[Style]:
    """Styles in which whole titles in capitals are a class of their own, not acronyms."""
    found: dict[Style, int] = Counter()
    for item in headings:
        words = item.title.split()
        if is_capitals(item.title) and (len(words) > 1 or len(item.title) > 7):
            found[_base_style(item, sizes)] += 1
    return {style for style, count in found.items() if count >= 3}


def _base_style(item: Item, sizes: dict[float, float]) -> Style:
    return (sizes[item.size], item.bold, item.font, item.italic, item.color, False)


def _style(item: Item, sizes: dict[float, float], caps: set[Style]) -> Style:
    base = _base_style(item, sizes)
    return (*base[:5], base in caps and is_capitals(item.title))


def _style_rank(style: Style, document: Document) -> Rank:
    """Larger first, then bold, then in a font of its own, then capitals, then upright."""
    size, bold, font, italic, _, capitals = style
    own_font = font_family(font) != font_family(document.body_font)
    return (-size, not bold, not own_font, not capitals, italic)


ClassKey = tuple[str, int, Style | None]


def _numbered_classes(headings: list[Item], styles: dict[int, Style]) -> dict[ClassKey, list[Item]]:
    """Group numbered headings: by kind and depth, single numbers by style as well."""
    classes: dict[ClassKey, list[Item]] = defaultdict(list)
    for item in headings:
        numbering = item.numbering
        if numbering is None:
            continue
        if numbering.kind in ("part", "chapter"):
            key: ClassKey = (numbering.kind, numbering.depth, None)
        elif numbering.kind == "appendix" or numbering.depth > 1:
            kind = "chapter" if numbering.depth == 1 else "decimal"
            key = (kind, numbering.depth, None)
        else:
            key = (numbering.kind, 1, styles[item.index])
        classes[key].append(item)
    return classes


def _place_numbered(
    classes: dict[ClassKey, list[Item]], styles: dict[int, Style], document: Document
) -> dict[int, Rank]:
    """Ranks of the numbered headings, by class."""
    chain = _main_chain(classes)
    ranks: dict[int, Rank] = {}
    above: Rank | None = None
    for key in chain:
        members = classes[key]
        rank = min(
            Counter(_style_rank(styles[item.index], document) for item in members).most_common(1)
        )[0]
        if above is not None and rank <= above:
            rank = (*above, 1.0)
        above = rank
        ranks.update((item.index, rank) for item in members)
    return ranks


def _main_chain(classes: dict[ClassKey, list[Item]]) -> list[ClassKey]:
    """Part > chapter (or single numbers that deeper ones continue) > 1.1 > 1.1.1 > …"""
    chain: list[ClassKey] = [key for key in classes if key[0] == "part"]
    chapters = [key for key in classes if key[0] == "chapter" and key[1] == 1]
    chain += chapters
    deeper = sorted(
        (key for key in classes if key[0] == "decimal" and key[1] > 1), key=lambda key: key[1]
    )
    singles = [key for key in classes if key[1] == 1 and key[0] not in ("part", "chapter")]
    singles.sort(key=lambda key: classes[key][0].index)
    if deeper:
        prefixes = {
            item.numbering.prefix.split(".")[0]
            for key in deeper
            for item in classes[key]
            if item.numbering
        }
        main = _main_single(singles, classes, prefixes)
        if main and not chapters:
            chain.append(main)
    elif not chapters:
        chain += _restarting(singles, classes)
    return chain + deeper


def _main_single(
    singles: list[ClassKey], classes: dict[ClassKey, list[Item]], prefixes: set[str]
) -> ClassKey | None:
    """The single numbers that deeper ones continue: of several the most prominent."""
    counts = {key: _continued(classes[key], prefixes) for key in singles}
    most = max(counts.values(), default=0)
    if not most:
        return None
    fitting = [key for key in singles if counts[key] >= 0.5 * most]
    return max(fitting, key=lambda key: (key[2][0], key[2][1]) if key[2] else (0.0, False))


def _continued(members: list[Item], prefixes: set[str]) -> int:
    """How many single numbers are the beginning of a deeper one?"""
    return sum(item.numbering is not None and item.numbering.label in prefixes for item in members)


def _restarting(singles: list[ClassKey], classes: dict[ClassKey, list[Item]]) -> list[ClassKey]:
    """Order single numberings (1. / a) / i.): one that starts anew again and again is deeper."""
    found: list[ClassKey] = []
    starts = 0
    for key in singles:
        here = sum(
            item.numbering is not None and item.numbering.label.lower() in ("1", "a", "i")
            for item in classes[key]
        )
        if len(classes[key]) > 1 and (not found or here > starts):
            found.append(key)
            starts = max(starts, here)
    return found
