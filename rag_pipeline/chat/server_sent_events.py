"""Server-sent events (WHATWG HTML, section 9.2): from arriving bytes to the data of events."""

from __future__ import annotations

import codecs
import io
from collections.abc import Iterable, Iterator


def event_data(pieces: Iterable[bytes]) -> Iterator[str]:
    """Yield the data of each event; its lines are joined by newlines.

    Pieces may be cut inside a character or a line end. Lines end only with LF, CRLF or CR:
    Python's `splitlines` would also cut at U+2028, which JSON allows inside a string. An event
    without its closing empty line is incomplete and dropped.
    """
    decoder = io.IncrementalNewlineDecoder(
        codecs.getincrementaldecoder("utf-8-sig")("replace"), translate=True
    )
    rest = ""
    data: list[str] = []
    for piece in pieces:
        *lines, rest = (rest + decoder.decode(piece)).split("\n")
        for line in lines:
            name, _, value = line.partition(":")
            if name == "data":
                data.append(value.removeprefix(" "))
            elif not line and data:
                yield "\n".join(data)
                data = []
