"""Characters of a page → where its words begin and end."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

BROKEN_HYPHEN = "\ufffe"
"""PDFium puts it for a hyphen at the end of a line whose word goes on in the next."""
_PARTS_WORDS = np.zeros(0x110000, dtype=bool)
"""By code point: white space and NUL."""
_PARTS_WORDS[[0, *(code for code in range(0x3001) if chr(code).isspace())]] = True


def word_spans(codes: npt.NDArray[Any]) -> tuple[list[int], list[int]]:
    """Indices of the first and last characters of words: what white space parts.

    A hyphen that breaks a word ends it.

    >>> word_spans(np.array([ord(one) for one in " an oil"]))
    ([1, 4], [2, 6])
    """
    inside = ~_PARTS_WORDS[codes]
    ends_here = codes == ord(BROKEN_HYPHEN)
    borders = ~inside | ends_here
    starts, lasts = inside.copy(), inside
    starts[1:] &= borders[:-1]
    lasts[:-1] &= ends_here[:-1] | ~inside[1:]
    return np.flatnonzero(starts).tolist(), np.flatnonzero(lasts).tolist()
