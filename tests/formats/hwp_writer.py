"""Writes HWP 5 files: records of shapes and of sections, in an OLE file."""

from __future__ import annotations

import struct
import zlib
from pathlib import Path

from tests.formats.hangul_content import (
    NUMBERINGS,
    SHAPES,
    Grid,
    Image,
    Inner,
    Item,
    Link,
    P,
    Script,
)
from tests.formats.ole_writer import ole_file

_KINDS = {"outline": 1, "number": 2, "bullet": 3}


def write_hwp(
    path: Path, sections: list[list[P]], *, title: str = "", flags: int = 1, records: bytes = b""
) -> Path:
    """Write a document of sections; `records` are appended to its shapes."""
    header = b"HWP Document File".ljust(32, b"\x00") + struct.pack("<II", 0x05010100, flags)
    pack = _deflated if flags & 1 else bytes
    streams = {
        "FileHeader": header.ljust(256, b"\x00"),
        "DocInfo": pack(_shapes(len(sections)) + records),
    }
    for number, paragraphs in enumerate(sections):
        data = _paragraph(P([Inner("secd", [])]), 0) + b"".join(
            _paragraph(one, 0) for one in paragraphs
        )
        streams[f"BodyText/Section{number}"] = pack(data)
    if title:
        streams["\x05HwpSummaryInformation"] = _summary(title)
    path.write_bytes(ole_file(streams))
    return path


def record(tag: int, level: int, data: bytes) -> bytes:
    """A record with its head."""
    if len(data) < 4095:
        return struct.pack("<I", tag | level << 10 | len(data) << 20) + data
    return struct.pack("<II", tag | level << 10 | 4095 << 20, len(data)) + data


def _deflated(data: bytes) -> bytes:
    packer = zlib.compressobj(wbits=-15)
    return packer.compress(data) + packer.flush()


def _string(text: str) -> bytes:
    return struct.pack("<H", len(text)) + text.encode("utf-16-le")


def _shapes(sections: int) -> bytes:
    found = record(16, 0, struct.pack("<H", sections) + bytes(24)) + record(17, 0, bytes(72))
    for bold in (0, 2):
        found += record(21, 1, bytes(46) + struct.pack("<I", bold) + bytes(22))
    for levels in NUMBERINGS:
        data = b"".join(
            struct.pack("<IHHI", form << 5, 0, 50, 0) + _string(text) for text, form in levels
        )
        found += record(23, 1, data + struct.pack("<H7I", 0, *[1] * 7))
    found += record(24, 1, bytes(12) + "●".encode("utf-16-le"))
    for shape in SHAPES:
        kind, level = shape or ("none", 0)
        properties = _KINDS.get(kind, 0) << 23 | level << 25
        reference = {"number": 2, "bullet": 1}.get(kind, 0)
        data = struct.pack("<I", properties) + bytes(26) + struct.pack("<H", reference) + bytes(22)
        found += record(25, 1, data)
    return found


def _summary(title: str) -> bytes:
    """A property set with a title."""
    text = (title + "\x00").encode("utf-16-le")
    text += bytes(-len(text) % 4)
    section = struct.pack("<IIII", 24 + len(text), 1, 2, 16)
    section += struct.pack("<II", 31, len(title) + 1) + text
    head = struct.pack("<HHI16sI", 0xFFFE, 0, 0, bytes(16), 1)
    return head + bytes(16) + struct.pack("<I", 48) + section


def _anchor(code: int, name: str) -> bytes:
    return struct.pack("<H4s8xH", code, name[::-1].encode("latin-1"), code)


def _paragraph(paragraph: P, level: int) -> bytes:
    text, below = b"", b""
    for item in paragraph.items:
        said, records = _item(item, level + 1)
        text += said
        below += records
    text += "\r".encode("utf-16-le")
    shape = SHAPES.index(paragraph.head)
    breaks = 4 if paragraph.new_page else 0
    head = struct.pack("<IIHBBHHHIH", len(text) // 2, 0, shape, 0, breaks, 1, 0, 0, 0, 0)
    found = record(66, level, head)
    if len(text) > 2:
        found += record(67, level + 1, text)
    found += record(68, level + 1, struct.pack("<II", 0, int(paragraph.bold)))
    if paragraph.top is not None:
        found += record(69, level + 1, struct.pack("<Ii", 0, paragraph.top) + bytes(28))
    return found + below


def _control(level: int, name: str, data: bytes = b"") -> bytes:
    return record(71, level, name[::-1].encode("latin-1") + data)


def _listed(content: list[P], level: int, data: bytes = b"") -> bytes:
    head = record(72, level, struct.pack("<iI", len(content), 0) + data)
    return head + b"".join(_paragraph(one, level) for one in content)


def _item(item: Item, level: int) -> tuple[bytes, bytes]:
    """What stands in the text, and the records below the paragraph."""
    if isinstance(item, str):
        tab = struct.pack("<H12xH", 9, 9)
        return item.encode("utf-16-le").replace("\t".encode("utf-16-le"), tab), b""
    if isinstance(item, Grid):
        return _anchor(11, "tbl "), _grid(item, level)
    if isinstance(item, Script):
        script = record(88, level + 1, struct.pack("<I", 0) + _string(item.text))
        return _anchor(11, "eqed"), _control(level, "eqed", bytes(42)) + script
    if isinstance(item, Image):
        head = _control(level, "gso ", bytes(40) + _string(item.description))
        picture = record(76, level + 1, bytes(8)) + record(85, level + 2, bytes(73))
        return _anchor(11, "gso "), head + picture
    if isinstance(item, Link):
        command = _string(item.address.replace(":", "\\:") + ";1;0;0;")
        end = struct.pack("<H12xH", 4, 4)
        text = _anchor(3, "%hlk") + item.text.encode("utf-16-le") + end
        return text, _control(level, "%hlk", bytes(5) + command)
    if item.kind == "box":
        inside = record(76, level + 1, bytes(8)) + _listed(item.content, level + 2)
        return _anchor(11, "gso "), _control(level, "gso ", bytes(42)) + inside
    if item.kind == "secd":
        return _anchor(2, "secd"), _control(
            level, "secd", bytes(14) + struct.pack("<H", 1) + bytes(20)
        )
    name = {"fn": "fn  ", "en": "en  ", "comment": "tcmt"}.get(item.kind, item.kind)
    code = {"fn": 17, "en": 17, "comment": 15}.get(item.kind, 16)
    return _anchor(code, name), _control(level, name, bytes(12)) + _listed(item.content, level + 1)


def _grid(grid: Grid, level: int) -> bytes:
    found = _control(level, "tbl ", bytes(42))
    if grid.caption:
        found += _listed([P([grid.caption])], level + 1, struct.pack("<I", 2) + bytes(10))
    width = max(column + cell.wide for _, column, cell in grid.placed())
    found += record(77, level + 1, struct.pack("<IHH", 0, len(grid.rows), width) + bytes(12))
    for row, column, cell in grid.placed():
        place = struct.pack("<HHHH", column, row, cell.wide, cell.high) + bytes(18)
        found += _listed(cell.content, level + 1, place)
    return found
