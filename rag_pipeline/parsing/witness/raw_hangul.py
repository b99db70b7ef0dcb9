"""The text of Hangul's files, read plainly: every text element, every record of text."""

from __future__ import annotations

import re
import zipfile
import zlib
from collections.abc import Iterator
from pathlib import Path

from lxml import etree

_CONTROLS = re.compile(r"[\x01-\x09\x0b\x0c\x0e-\x17].{7}|[\x00-\x1f]", re.DOTALL)
"""Signs among the text of HWP 5: most take the place of eight characters."""
_TEXT, _EQUATION = 67, 88
_LONG = 4095


def raw_hwpx(path: Path) -> Iterator[str]:
    """Yield each piece of text, parted where something else stands; deleted text is left out."""
    with zipfile.ZipFile(path) as container:
        for name in container.namelist():
            if re.fullmatch(r"Contents/section\d+\.xml", name):
                for paragraph in etree.fromstring(container.read(name)).iter("{*}p"):
                    yield from _pieces(paragraph)


def _pieces(paragraph: etree._Element) -> Iterator[str]:
    """A word may go over several runs; a note, table or formula parts what stands around it."""
    said: list[str] = []
    for node in paragraph.iterfind("{*}run/*"):
        if etree.QName(node).localname == "t":
            said.append(_undeleted(node))
            continue
        yield "".join(said)
        said = []
        for inner in node.iter("{*}script", "{*}mainText"):
            if next(inner.iterancestors("{*}p")) is paragraph:
                yield _undeleted(inner)
    yield "".join(said)


def _undeleted(node: etree._Element) -> str:
    kept, deleting = [node.text or ""], False
    for child in node:
        name = etree.QName(child).localname
        deleting = name == "deleteBegin" or (deleting and name != "deleteEnd")
        kept.append(" " if name in ("tab", "lineBreak", "fwSpace", "nbSpace") else "")
        kept.append("" if deleting else child.tail or "")
    return "".join(kept)


def raw_hwp(path: Path) -> Iterator[str]:
    """Yield each piece of text; notes, links and equations part them."""
    import olefile

    with olefile.OleFileIO(path) as file:
        packed = file.openstream("FileHeader").read()[36] & 1
        for place in file.listdir():
            if place[0] == "BodyText":
                data = file.openstream(place).read()
                yield from _records(zlib.decompressobj(-15).decompress(data) if packed else data)


def _records(stream: bytes) -> Iterator[str]:
    at = 0
    while at + 4 <= len(stream):
        head = int.from_bytes(stream[at : at + 4], "little")
        at += 4
        size = head >> 20
        if size == _LONG:
            size = int.from_bytes(stream[at : at + 4], "little")
            at += 4
        data = stream[at : at + size]
        at += size
        if head & 1023 == _TEXT:
            units = "".join(
                chr(data[one] | data[one + 1] << 8) for one in range(0, len(data) - 1, 2)
            )
            for piece in _CONTROLS.split(units):
                yield piece.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
        elif head & 1023 == _EQUATION:
            count = int.from_bytes(data[4:6], "little")
            yield data[6 : 6 + 2 * count].decode("utf-16-le", "replace")
