"""Characters of a word → its letters in the order of reading, each one whole.

PDFium puts the words of a line in order, but not always the signs and numbers within one: "M8." at
the end of a Hebrew sentence comes as "8M.". So a word is read off its place on the page.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from rag_pipeline.parsing.pdf.layout.right_to_left import runs_right_to_left, turned

_MATHEMATICAL = re.compile("[\U0001d400-\U0001d7ff]")
_SHAPES = re.compile(r"[\ufb1d-\ufdff\ufe70-\ufefc]")
"""Letters by their shape within a word, which no query is typed with."""


def logical_text(characters: Sequence[str], lefts: Sequence[float]) -> str:
    """The characters of a word in the order of reading, by their left edges.

    >>> logical_text("8M.", [30, 20, 10]), logical_text(".1", [20, 10])
    ('M8.', '.1')
    >>> logical_text("אב", [20, 10]) == logical_text("בא", [10, 20]) == "אב"
    True
    """
    order = sorted(range(len(lefts)), key=lambda at: -lefts[at])
    text = "".join(characters[at] for at in order)
    text = _SHAPES.sub(lambda match: unicodedata.normalize("NFKC", match[0]), text)
    return turned(text[::-1])


def whole_letters(text: str) -> str:
    """Put the halves of letters beyond the basic plane together; formulas' letters become plain.

    >>> whole_letters("\\ud835\\udc5b"), whole_letters("\\ud83d\\udd27")
    ('n', '🔧')
    """
    whole = text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    return _MATHEMATICAL.sub(lambda match: unicodedata.normalize("NFKC", match[0]), whole)


def words_of_lines(texts: Sequence[str], boxes: npt.NDArray[np.float64]) -> list[int]:
    """Numbers of the words of lines that run from right to left, those of other scripts too.

    Most letters of such a line are of such a script. `boxes`: left, bottom, right, top of a word.

    >>> boxes = np.array([[50, 0, 60, 10], [38, 0, 48, 10], [0, 0, 20, 10], [0, 50, 9, 60]])
    >>> words_of_lines(["\u05d0\u05d1", "M8", "M9", "M7"], boxes)
    [0, 1]
    """
    lines: list[list[int]] = []
    for at, (left, bottom, right, top) in enumerate(boxes.tolist()):
        if lines:
            before = boxes[lines[-1][-1]]
            gap = max(left - before[2], before[0] - right)
            if gap < top - bottom and min(top, before[3]) - max(bottom, before[1]) > 0.5 * (
                top - bottom
            ):
                lines[-1].append(at)
                continue
        lines.append([at])
    return [at for line in lines if runs_right_to_left([texts[at] for at in line]) for at in line]
