"""Levels of headings: one decision over the whole document.

Headings that look or are numbered alike form a class, and all headings of a class get the same
rank. Classes are first ordered by size, weight and depth of numbering; then they are moved and
joined as long as the tree of headings gets *cheaper*. A tree costs for each break of a numbering,
for each heading that is larger than its parent or ranks above an elder sister, for sisters that
look different or that the contents pages name only in part, and for each rank.
"""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from itertools import pairwise
from typing import Any

from rag_pipeline.structure.headings.contents_entries import TRUSTED
from rag_pipeline.structure.headings.contents_pages import is_contents_title
from rag_pipeline.structure.headings.numbering import roman_value
from rag_pipeline.structure.items import Document, Item

ClassKey = tuple[Any, ...]
MIN_HINTS = 3
"""Headings with a level of the file's own from which these levels are used."""
SAME_SIZE = 0.035
"""Relative difference up to which two sizes are one."""
MIN_PARTED = 3
"""Headings of one look that the contents name, and others that they do not, to tell them apart."""
RANK = 0.5
"""Cost of a rank more, in breaks of a numbering: a new level must pay."""
INVERSION = 5.0
"""A heading larger than its parent by one fifth costs as much as a break of a numbering."""
LEAST_GAIN = 0.1
"""What a move of a class must save."""
FREE = 9
"""First member of the key of a class that no chain of numberings holds in place."""
MOST_WORK = 60_000
"""Headings times classes that are tried at other places, at most; the largest classes first."""
ROUNDS = 4
"""Times that all classes are tried at other places, at most."""


def set_levels(document: Document) -> None:
    """Give every heading a level from 1, without gaps."""
    headings = [item for item in document.items if item.role == "heading"]
    body = [
        item
        for item in headings
        if item is not document.root
        and (item.level_hint is not None or item.listed or not is_contents_title(item.title))
    ]
    ranks = _ranks(body, document)
    hinted = {item.index: item.level_hint for item in body if item.level_hint is not None}
    if len(hinted) >= MIN_HINTS or any(item.given for item in body):
        # Headings that the outline leaves out stand below those that it names.
        deepest = max(hinted.values())
        ranks = {
            index: hinted[index] if index in hinted else deepest + 1 + rank
            for index, rank in ranks.items()
        }
    if document.root is not None:
        ranks[document.root.index] = -1
    _nest(document, ranks)


def _nest(document: Document, ranks: dict[int, int]) -> None:
    """Level = number of open headings with a smaller rank.

    >>> from rag_pipeline.inspection.rule_examples import explain
    >>> explain("{18b} Oil", "~", "{14b} Filter", "~", "{18b} Air", "~")[1]
    'heading: 14 pt over 10 pt text; level 2: style 14 pt bold'
    """
    stack: list[int] = []
    for item in document.items:
        if item.role != "heading":
            continue
        if item.index not in ranks:
            if item.page <= document.contents_page:
                stack.clear()
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


def _ranks(headings: list[Item], document: Document) -> dict[int, int]:
    """The rank of each heading by its index; a smaller one is higher in the tree."""
    tree = HeadingTree(headings, document.contents_share >= TRUSTED)
    order = tree.first_order()
    tree.improve(order)
    rank = {key: at for at, keys in enumerate(order) for key in keys}
    return {item.index: rank[key] for item, key in zip(headings, tree.keys, strict=True)}


class HeadingTree:
    """The headings of a document, their classes, and what an order of these classes costs."""

    def __init__(self, headings: list[Item], trusted: bool) -> None:
        self.headings = headings
        sizes = _size_classes(headings)
        self.sizes = [sizes[item.size] for item in headings]
        self.looks: list[tuple[object, ...]] = [
            (-size, not item.bold, item.italic)
            for item, size in zip(headings, self.sizes, strict=True)
        ]
        parted = _parted(headings, self.looks)
        self.left_out = [
            trusted and item.listed is None and item.numbering is None and look in parted
            for item, look in zip(headings, self.looks, strict=True)
        ]
        self.keys = [
            _class(item, look, left_out)
            for item, look, left_out in zip(headings, self.looks, self.left_out, strict=True)
        ]
        self.labels = [_label(item) for item in headings]
        self._find_chapters()
        self.numbers = {label for label, _ in self.labels if label}
        self.members: dict[ClassKey, list[int]] = defaultdict(list)
        for at, key in enumerate(self.keys):
            self.members[key].append(at)
        self.chain = sorted(key for key in self.members if key[0] < FREE)
        self.look_of = {
            key: Counter(self.looks[at] for at in members).most_common(1)[0][0]
            for key, members in self.members.items()
        }

    def _find_chapters(self) -> None:
        """Single numbers that two-part ones go on (3, then 3.1) are the first of that chain."""
        continued: Counter[ClassKey] = Counter()
        latest: dict[str, ClassKey] = {}
        for key, (label, _) in zip(self.keys, self.labels, strict=True):
            if label.isdigit() and key[0] == FREE:
                latest = {label: key}
            elif key == (2, 2) and (chapter := label.rpartition(".")[0]) in latest:
                continued[latest.pop(chapter)] += 1
        if continued and (1, 0) not in self.keys:
            main = continued.most_common(1)[0][0]
            self.keys = [(2, 1) if key == main else key for key in self.keys]

    def first_order(self) -> list[list[ClassKey]]:
        """Classes by depth of numbering, size, weight; those of one style stand together."""
        looks = dict(self.look_of)
        above: tuple[object, ...] = ()
        for key in self.chain:
            if above and looks[key] <= above:
                looks[key] = (*above, 0)
            above = looks[key]
        order: dict[tuple[object, ...], list[ClassKey]] = defaultdict(list)
        for key, look in looks.items():
            order[look].append(key)
        return [order[look] for look in sorted(order)]

    def improve(self, order: list[list[ClassKey]]) -> None:
        """Move and join classes in place while that makes the tree cheaper."""
        best = self.cost(order)
        movable = [key for key in self.members if len(self.members[key]) > 1]
        movable.sort(key=lambda key: -len(self.members[key]))
        del movable[MOST_WORK // max(1, len(self.headings)) :]
        for _ in range(ROUNDS):
            before = best
            for key in movable:
                best = self._place(key, order, best)
            if best == before:
                return

    def _place(self, key: ClassKey, order: list[list[ClassKey]], best: float) -> float:
        """Put a class one place up or down, alone or beside others, if that is cheaper."""
        at = next(n for n, keys in enumerate(order) if key in keys)
        rest = [[one for one in keys if one != key] for keys in order]
        choices = []
        for place in range(max(0, at - 2), min(len(order), at + 3)):
            if place != at:
                joined = [list(keys) for keys in rest]
                joined[place].append(key)
                choices.append(joined)
            choices.append([*rest[:place], [key], *rest[place:]])
        choices.append([*rest[: at + 3], [key], *rest[at + 3 :]])
        for choice in choices:
            trial = [keys for keys in choice if keys]
            cost = self.cost(trial)
            if cost < best - LEAST_GAIN:
                best = cost
                order[:] = trial
        return best

    def cost(self, order: list[list[ClassKey]]) -> float:
        """What the tree costs in which earlier classes of the order are above later ones."""
        rank = {key: at for at, keys in enumerate(order) for key in keys}
        chain = [rank[key] for key in self.chain]
        if any(above >= below for above, below in pairwise(chain)):
            return math.inf
        total = RANK * len(order)
        stack: list[int] = []
        elder: dict[tuple[int, ClassKey], str] = {}
        last: dict[ClassKey, str] = {}
        sisters: dict[int, Counter[tuple[object, ...]]] = defaultdict(Counter)
        youngest: dict[int, int] = {}
        for at, key in enumerate(self.keys):
            own = rank[key]
            while stack and rank[self.keys[stack[-1]]] >= own:
                stack.pop()
            parent = stack[-1] if stack else -1
            label, before = self.labels[at]
            if label:
                prefix = label.rpartition(".")[0].lower()
                if prefix and prefix in self.numbers:
                    total += parent < 0 or self.labels[parent][0] != prefix
                if not before or (before in self.numbers and last.get(key) != before):
                    total += elder.get((parent, key), "") != before
                elder[parent, key] = last[key] = label
            total += own < youngest.get(parent, 0)
            youngest[parent] = own
            kind = parent >= 0 and bool(label)
            sisters[parent][self.look_of[key], kind, self.left_out[at]] += 1
            if parent >= 0:
                larger = self.sizes[at] / (self.sizes[parent] or 1.0) - 1.0
                total += min(max(INVERSION * larger, 0.0), 1.0)
            stack.append(at)
        return total + sum(
            count.total() - max(count.values()) for count in sisters.values() if len(count) > 1
        )


def _parted(headings: list[Item], looks: list[tuple[object, ...]]) -> set[tuple[object, ...]]:
    """Looks of which the contents pages name some headings and leave out others."""
    named, left_out = Counter[tuple[object, ...]](), Counter[tuple[object, ...]]()
    for item, look in zip(headings, looks, strict=True):
        if item.numbering is None and item.listed is not None:
            named[look] += 1
        elif item.numbering is None and named:
            left_out[look] += 1
    return {look for look in named if min(named[look], left_out[look]) >= MIN_PARTED}


def _class(item: Item, look: tuple[object, ...], left_out: bool = False) -> ClassKey:
    """Headings alike: by kind and depth of the numbering, or by style."""
    numbering = item.numbering
    if numbering is None:
        return (FREE, *look, left_out)
    if numbering.kind == "part":
        return (0, 0)
    if numbering.kind in ("chapter", "appendix") and numbering.depth == 1:
        return (1, 0)
    if numbering.depth > 1:
        return (2, numbering.depth)
    form = item.title[: numbering.length].strip().replace(numbering.label, "")
    case = numbering.label.isdigit(), numbering.label.isupper(), numbering.kind
    return (FREE, "numbered", form, *case, look[0])


def _label(item: Item) -> tuple[str, str]:
    """The whole number of a heading, and that of its elder sister: empty for the first one."""
    numbering = item.numbering
    if numbering is None or not numbering.label:
        return "", ""
    prefix = f"{numbering.prefix}." if numbering.prefix else ""
    label, kind = numbering.label.lower(), numbering.kind
    if label.isdigit():
        return f"{prefix}{label}", f"{prefix}{int(label) - 1}" if int(label) > 1 else ""
    if kind in ("roman", "part", "chapter") and (value := roman_value(label)):
        return f"roman {value}", f"roman {value - 1}" if value > 1 else ""
    if len(label) == 1 and label.isascii():
        return label, chr(ord(label) - 1) if label > "a" else ""
    return "", ""


def _size_classes(headings: list[Item]) -> dict[float, float]:
    """Map each size to the most frequent one among those that differ by rounding only."""
    counts = Counter(item.size for item in headings)
    mapped: dict[float, float] = {}
    for size, _ in counts.most_common():
        near = [known for known in set(mapped.values()) if abs(known - size) <= SAME_SIZE * known]
        mapped[size] = min(near, key=lambda known: abs(known - size)) if near else size
    return mapped
