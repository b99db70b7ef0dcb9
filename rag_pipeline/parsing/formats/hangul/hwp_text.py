"""The text of a paragraph of HWP 5, among which stand signs for what is anchored in it."""

from __future__ import annotations

import struct
from collections.abc import Iterator
from typing import NamedTuple

_ALONE = frozenset({0, 10, 13, *range(24, 32)})
"""Control characters of one unit; the others take eight."""
_ANCHORS = frozenset({1, 2, 3, 11, 12, *range(14, 19), 21, 22, 23})
"""Control characters that stand for a record below the paragraph."""
_SIGNS = {9: "\t", 10: "\n", 24: "-", 30: " ", 31: " "}
_FIELD_END = 4


class TextPart(NamedTuple):
    """A piece of a paragraph's text."""

    kind: str
    """`text`, `anchor` or `field_end`."""
    text: str
    start: int
    """Its first unit in the record, which shapes of characters are counted by."""


def text_parts(data: bytes) -> Iterator[TextPart]:
    """Cut the data of a record of text into its parts, in order."""
    count = len(data) // 2
    units = struct.unpack_from(f"<{count}H", data)
    at = start = 0
    while at < count:
        unit = units[at]
        if unit >= 32:
            at += 1
            continue
        if at > start:
            yield _text(data, start, at)
        if unit in _SIGNS:
            yield TextPart("text", _SIGNS[unit], at)
        elif unit in _ANCHORS:
            yield TextPart("anchor", "", at)
        elif unit == _FIELD_END:
            yield TextPart("field_end", "", at)
        at += 1 if unit in _ALONE else 8
        start = at
    if at > start:
        yield _text(data, start, count)


def _text(data: bytes, start: int, end: int) -> TextPart:
    return TextPart("text", data[2 * start : 2 * end].decode("utf-16-le", "replace"), start)
