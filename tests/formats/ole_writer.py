"""Writes OLE files (MS-CFB, version 3): a directory, a table of sectors, and streams."""

from __future__ import annotations

import struct
from itertools import pairwise

SECTOR, SMALL, CUTOFF = 512, 64, 4096
_END, _FREE, _FAT = 0xFFFFFFFE, 0xFFFFFFFF, 0xFFFFFFFD


def ole_file(streams: dict[str, bytes]) -> bytes:
    """An OLE file of streams by their path, such as `BodyText/Section0`."""
    small_data, small_table = b"", []
    starts: dict[str, int] = {}
    for path, data in streams.items():
        if len(data) < CUTOFF:
            starts[path] = len(small_table) if data else _END
            _append_chain(small_table, -(-len(data) // SMALL))
            small_data += _padded(data, SMALL)
    chains = {
        "small data": small_data,
        "small table": struct.pack(f"<{len(small_table)}I", *small_table),
    }
    chains |= {path: data for path, data in streams.items() if len(data) >= CUTOFF}
    table: list[int] = []
    body = b""
    for path, data in chains.items():
        starts[path] = len(table) if data else _END
        _append_chain(table, -(-len(data) // SECTOR))
        fill = b"\xff" if path == "small table" else b"\x00"
        body += _padded(data, SECTOR, fill)
    directory = _directory(streams, starts, len(small_data))
    directory_start = len(table)
    _append_chain(table, len(directory) // SECTOR)
    body += directory
    tables = next(n for n in range(1, 110) if n * 128 >= len(table) + n)
    fat_start = len(table)
    table += [_FAT] * tables
    table += [_FREE] * (tables * 128 - len(table))
    places = [fat_start + n for n in range(tables)]
    header = struct.pack(
        "<8s16sHHHHH6xIIIIIIIIII",
        b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1",
        bytes(16),
        *(0x3E, 3, 0xFFFE, 9, 6),
        *(0, tables, directory_start, 0, CUTOFF),
        *(starts["small table"], -(-4 * len(small_table) // SECTOR), _END, 0),
        *places[:1],
    )[:76]
    header += struct.pack("<109I", *places, *[_FREE] * (109 - tables))
    return header + body + struct.pack(f"<{len(table)}I", *table)


def _padded(data: bytes, size: int, fill: bytes = b"\x00") -> bytes:
    return data + fill * (-len(data) % size)


def _append_chain(table: list[int], count: int) -> None:
    first = len(table)
    table += [first + n + 1 for n in range(count)]
    if count:
        table[-1] = _END


def _directory(streams: dict[str, bytes], starts: dict[str, int], small_size: int) -> bytes:
    """Entries; those of one folder hang on each other to the right, in order of their names."""
    folders = sorted({path.split("/")[0] for path in streams if "/" in path})
    names = ["Root Entry", *folders, *streams]
    children: dict[str, list[int]] = {}
    for number, name in enumerate(names[1:], start=1):
        children.setdefault(name.rpartition("/")[0], []).append(number)
    for numbers in children.values():
        numbers.sort(key=lambda number: _order(names[number]))
    right = {a: b for numbers in children.values() for a, b in pairwise(numbers)}
    entries = b""
    for number, name in enumerate(names):
        own = name.rpartition("/")[2]
        is_stream = number > len(folders)
        kind = 5 if number == 0 else 2 if is_stream else 1
        inside = children.get("" if number == 0 else name, [_FREE])[0] if not is_stream else _FREE
        start = starts["small data"] if number == 0 else starts.get(name, 0) if is_stream else 0
        size = small_size if number == 0 else len(streams[name]) if is_stream else 0
        spelled = (own + "\x00").encode("utf-16-le")
        entries += struct.pack(
            "<64sHBBIII16sIQQIQ",
            *(spelled, len(spelled), kind, 1, _FREE, right.get(number, _FREE), inside),
            *(bytes(16), 0, 0, 0, start, size),
        )
    free = struct.pack("<64sHBBIII16sIQQIQ", b"", 0, 0, 0, _FREE, _FREE, _FREE, b"", 0, 0, 0, 0, 0)
    return entries + free * (-len(entries) // 128 % (SECTOR // 128))


def _order(name: str) -> tuple[int, str]:
    own = name.rpartition("/")[2]
    return len(own), own.upper()
