"""Records of an HWP 5 stream as a tree (Hangul file format 5.0, section 4)."""

from __future__ import annotations

import struct
from collections.abc import Iterator
from dataclasses import dataclass, field
from enum import IntEnum

from rag_pipeline.errors import DamagedFileError

_LONG = 0xFFF
"""Size that stands for: the true size follows."""


class Tag(IntEnum):
    """Kinds of records that are read."""

    CHAR_SHAPE = 21
    NUMBERING = 23
    PARA_SHAPE = 25
    PARA_HEADER = 66
    PARA_TEXT = 67
    PARA_CHAR_SHAPE = 68
    PARA_LINE_SEG = 69
    CTRL_HEADER = 71
    LIST_HEADER = 72
    TABLE = 77
    OLE = 84
    PICTURE = 85
    EQUATION = 88
    TEXT_ART = 90
    FORM = 91
    CHART = 95
    TRACK_CHANGE = 96
    VIDEO = 98


@dataclass(slots=True)
class Record:
    """One record with those below it."""

    tag: int
    data: bytes
    children: list[Record] = field(default_factory=list)

    def first(self, tag: Tag) -> Record | None:
        """Return the first child of a kind."""
        return next((one for one in self.children if one.tag == tag), None)

    def below(self) -> Iterator[Record]:
        """All records below, in order."""
        for child in self.children:
            yield child
            yield from child.below()

    def number(self, at: int, form: str = "I") -> int:
        """Return the number at an offset, as `struct` names its form; 0 behind the end."""
        size = struct.calcsize(f"<{form}")
        if at + size > len(self.data):
            return 0
        return int(struct.unpack_from(f"<{form}", self.data, at)[0])

    def text(self, at: int) -> str:
        """Return the text at an offset: its count of units of two bytes, and these."""
        count = self.number(at, "H")
        return self.data[at + 2 : at + 2 + 2 * count].decode("utf-16-le", "replace")


def record_tree(stream: bytes, name: str, document: str) -> Record:
    """Return a record without data whose children are the stream's.

    Raises `DamagedFileError` where a record is cut off.
    """
    root = Record(0, b"")
    above = [root]
    at = 0
    while at < len(stream):
        if at + 4 > len(stream):
            raise _cut_off(name, document)
        head = struct.unpack_from("<I", stream, at)[0]
        tag, level, size = head & 0x3FF, (head >> 10) & 0x3FF, head >> 20
        at += 4
        if size == _LONG:
            if at + 4 > len(stream):
                raise _cut_off(name, document)
            size = struct.unpack_from("<I", stream, at)[0]
            at += 4
        if at + size > len(stream):
            raise _cut_off(name, document)
        record = Record(tag, stream[at : at + size])
        at += size
        # A level that was skipped hangs on the deepest record there is.
        del above[level + 1 :]
        above[-1].children.append(record)
        above.append(record)
    return root


def _cut_off(name: str, document: str) -> DamagedFileError:
    return DamagedFileError(
        f"the file is damaged (its part {name} is cut off)",
        document=document,
        hint="copy or download it again",
    )
