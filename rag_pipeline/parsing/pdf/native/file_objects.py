"""What the bytes of a PDF say of its objects, read without following its tables.

PDFium believes the file's own table of pages and offers no look at its layers: the bytes tell more.
"""

from __future__ import annotations

import re
import zlib
from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

_OBJECT_STREAM = re.compile(rb"/Type\s*/ObjStm\b")
_PAGE = re.compile(rb"/Type\s*/Page(?![A-Za-z])")
_OBJECT = re.compile(rb"(\d+)\s+\d+\s+obj\b")
_LAYERS_OFF = re.compile(rb"/OFF\s*\[\s*\d|/BaseState\s*/OFF\b")
_COUNT = re.compile(rb"(/Count\s+)(\d+)")
_FIRST = re.compile(rb"/First\s+(\d+)")
_STREAM = re.compile(rb"stream\r?\n")
DICTIONARY = 2000
"""Bytes that the dictionary of an object stream takes at most."""
MAX_UNPACKED = 20_000_000
"""Bytes of one object stream; more are a trap."""


@dataclass(frozen=True, slots=True)
class FileFacts:
    """What the bytes of a file say."""

    pages: int
    """Objects that are pages; some may have been taken out of the document."""
    has_layers_off: bool
    """Layers are not shown at first."""


def file_facts(path: Path) -> FileFacts:
    """Look through the bytes of a PDF, and through its packed objects."""
    stat = path.stat()
    return _facts(path, stat.st_size, stat.st_mtime_ns)


@lru_cache(maxsize=64)
def _facts(path: Path, size: int, modified: int) -> FileFacts:
    del size, modified  # with the path they say which file it is
    data = path.read_bytes()
    pages: set[int] = set()
    layers_off = bool(_LAYERS_OFF.search(data))
    for match in _PAGE.finditer(data):
        before = data.rfind(b" obj", 0, match.start())
        named = _OBJECT.search(data, max(0, before - 20), before + 4)
        if named:
            pages.add(int(named[1]))
    for numbers, offsets, packed in _object_streams(data):
        layers_off = layers_off or bool(_LAYERS_OFF.search(packed))
        for match in _PAGE.finditer(packed):
            at = bisect_right(offsets, match.start()) - 1
            if 0 <= at < len(numbers):
                pages.add(numbers[at])
    return FileFacts(len(pages), layers_off)


def _object_streams(data: bytes) -> Iterator[tuple[list[int], list[int], bytes]]:
    """Numbers and offsets of the objects in each stream of objects, and its content."""
    for match in _OBJECT_STREAM.finditer(data):
        begin = _STREAM.search(data, match.end(), match.end() + DICTIONARY)
        if not begin:
            continue
        try:
            packed = zlib.decompressobj().decompress(memoryview(data)[begin.end() :], MAX_UNPACKED)
        except zlib.error:
            continue
        around = data[data.rfind(b" obj", 0, match.start()) : begin.end()]
        first = _FIRST.search(around)
        try:
            start = int(first[1]) if first else 0
            header = list(map(int, packed[:start].split()))
        except ValueError:
            continue
        yield header[::2], [start + offset for offset in header[1::2]], packed


def without_page_counts(data: bytes) -> bytes:
    """The bytes with every number of pages as 0, so that PDFium counts them itself.

    >>> without_page_counts(b"<< /Type /Pages /Count 12 >>")
    b'<< /Type /Pages /Count 00 >>'
    """
    return _COUNT.sub(lambda match: match[1] + b"0" * len(match[2]), data)
