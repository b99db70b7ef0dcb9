"""Pages that are written from top to bottom, in columns from the right: Japanese and Chinese.

PDFium takes each character for a line of its own. To the layout such a page is one that was turned
by a quarter: its columns are lines then.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import numpy as np
import numpy.typing as npt

TURNS = 3
"""Quarter turns of a text that runs downwards."""
SAME_COLUMN = 0.3
"""Sizes of type by which the middles of two characters of a column differ at most."""
LEAST_STEP, MOST_STEP = 0.6, 1.8
"""Sizes of type from one character of a column to the next."""
_Boxes = npt.NDArray[np.float64]


def vertical_words(texts: Sequence[str], firsts: _Boxes, lasts: _Boxes) -> dict[int, bool]:
    """The words of a page that run downwards, by number; none where most do not.

    The value tells whether a word goes on right below the one before.

    `firsts`, `lasts`: left, bottom, right, top of each word's first and last character.

    >>> boxes = np.array([[10, y, 20, y + 10] for y in (90, 78, 66)] + [[50, 90, 60, 100]])
    >>> vertical_words(["\\u5b89", "\\u5168", "\\u3092", "1"], boxes, boxes)
    {0: False, 1: True, 2: True}
    """
    sizes = (firsts[:, 3] - firsts[:, 1]).tolist()
    tops = np.stack([(firsts[:, 0] + firsts[:, 2]) / 2, firsts[:, 3]], axis=1).tolist()
    ends = np.stack([(lasts[:, 0] + lasts[:, 2]) / 2, lasts[:, 3]], axis=1).tolist()
    inner = [
        len(text) == 1 or _is_below(top, end, size, len(text) - 1)
        for text, top, end, size in zip(texts, tops, ends, sizes, strict=True)
    ]
    found = {at: False for at, text in enumerate(texts) if len(text) > 1 and inner[at]}
    for at, following in pairwise(range(len(texts))):
        if inner[at] and inner[following] and _is_below(ends[at], tops[following], sizes[at], 1):
            found |= {at: found.get(at, False), following: True}
    downwards = sum(len(texts[at]) for at in found)
    return found if 2 * downwards > sum(map(len, texts)) else {}


def _is_below(above: list[float], below: list[float], size: float, steps: int) -> bool:
    fall = above[1] - below[1]
    return (
        abs(above[0] - below[0]) < SAME_COLUMN * size
        and LEAST_STEP * size * steps < fall < MOST_STEP * size * steps
    )
