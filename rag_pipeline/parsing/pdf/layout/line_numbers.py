"""Numbers of lines beside the text, or between two columns of it: no part of what it says."""

from __future__ import annotations

from itertools import pairwise

from rag_pipeline.parsing.pdf.layout.geometry import PageWord

FEWEST = 4
"""Numbers of a page, at least."""
EDGE = 1.5
"""Points by which the edges of the numbers differ at most."""
MARGIN = 0.5
"""Ems that part the numbers from the text."""
PROSE = 25
"""Characters of a line of text on average, at least: rows of tables and lists are shorter."""
COUNTED = 0.75
"""Share of the lines that the numbers count and that there are; blank ones may count too."""
RUN_ON = 0.2
"""Share of the lines that begin in lower case, at least: these go on with a sentence."""


def part_line_numbers(words: list[PageWord]) -> tuple[list[PageWord], list[str]]:
    """Part the words of a page from the numbers of its lines.

    Those rise by one step from line to line in a strip of their own, and beside them runs text
    whose lines go on in the next. The lines of a program keep their numbers.
    """
    numbers = [word for word in words if word.text.isdecimal() and len(word.text) < 5]
    if len(numbers) < FEWEST:
        return words, []
    found: set[int] = set()
    for edge in ("x1", "x0"):
        for group in _aligned([one for one in numbers if id(one) not in found], edge):
            if _rises(group) and _stands_beside_prose(group, words):
                found |= set(map(id, group))
    if not found:
        return words, []
    texts = [word.text for word in words if id(word) in found]
    return [word for word in words if id(word) not in found], texts


def _aligned(numbers: list[PageWord], edge: str) -> list[list[PageWord]]:
    """Numbers with a common edge, from top to bottom."""
    groups: list[list[PageWord]] = []
    for number in sorted(numbers, key=lambda word: float(getattr(word, edge))):
        if groups and getattr(number, edge) - getattr(groups[-1][0], edge) <= EDGE:
            groups[-1].append(number)
        else:
            groups.append([number])
    return [sorted(one, key=lambda word: word.baseline) for one in groups if len(one) >= FEWEST]


def _rises(group: list[PageWord]) -> bool:
    """Do the numbers rise by one step, and on the page by about as much each?"""
    steps = {int(below.text) - int(above.text) for above, below in pairwise(group)}
    distances = sorted(below.baseline - above.baseline for above, below in pairwise(group))
    usual = distances[len(distances) // 2]
    return len(steps) == 1 and steps.pop() > 0 and distances[0] > 0 and usual > 0.5 * distances[-1]


def _stands_beside_prose(group: list[PageWord], words: list[PageWord]) -> bool:
    own = set(map(id, group))
    left, right = min(word.x0 for word in group), max(word.x1 for word in group)
    top, bottom = group[0].y0, group[-1].y1
    around = [w for w in words if id(w) not in own and w.y1 > top and w.y0 < bottom]
    margin = MARGIN * group[0].style.size
    if any(word.x1 > left - margin and word.x0 < right + margin for word in around):
        return False
    if sum(len(word.text) for word in around if word.style.monospace) * 2 > sum(
        len(word.text) for word in around
    ):
        return False
    sides = [[w for w in around if w.x0 > right], [w for w in around if w.x1 < left]]
    counted = int(group[-1].text) - int(group[0].text) + 1
    return any(_is_counted_prose(_lines(side), counted) for side in sides)


def _lines(words: list[PageWord]) -> list[list[PageWord]]:
    lines: list[list[PageWord]] = []
    for word in sorted(words, key=lambda one: (round(one.baseline), one.x0)):
        if lines and abs(word.baseline - lines[-1][-1].baseline) < 0.4 * word.style.size:
            lines[-1].append(word)
        else:
            lines.append([word])
    return lines


def _is_counted_prose(lines: list[list[PageWord]], counted: int) -> bool:
    """Are there as many lines as are counted, long ones, of which several go on a sentence?"""
    if not COUNTED * counted <= len(lines) <= counted / COUNTED:
        return False
    texts = [" ".join(word.text for word in sorted(line, key=lambda w: w.x0)) for line in lines]
    if sum(map(len, texts)) < PROSE * len(texts):
        return False
    first = [text[0] for text in texts if text[0].isalpha()]
    cased = [letter for letter in first if letter.isupper() or letter.islower()]
    if 2 * len(first) < len(texts):
        return False
    if 2 * len(cased) < len(first):  # a script without case: lines of one length
        ends = sorted(max(word.x1 for word in line) for line in lines)
        return ends[-1] - ends[len(ends) // 2] < 2 * lines[0][0].style.size
    return sum(map(str.islower, cased)) >= RUN_ON * len(cased)
