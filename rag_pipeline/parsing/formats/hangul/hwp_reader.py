"""HWP 5 files: an OLE file with a stream of shapes and one of records for each section."""

from __future__ import annotations

import re
import struct
import zlib
from pathlib import Path
from typing import Any

from rag_pipeline.errors import (
    DamagedFileError,
    UnsafeFileError,
    UnsupportedFileError,
)
from rag_pipeline.parsing.formats.containers import LIBRARY_ERRORS, MEGABYTE, SMALL
from rag_pipeline.parsing.formats.elements import Reading
from rag_pipeline.parsing.formats.extra_libraries import HANGUL, load_library
from rag_pipeline.parsing.formats.hangul.hangul_flow import HangulFlow
from rag_pipeline.parsing.formats.hangul.hwp_records import record_tree
from rag_pipeline.parsing.formats.hangul.hwp_section import HwpSection
from rag_pipeline.parsing.formats.hangul.hwp_shapes import HwpShapes
from rag_pipeline.settings import ParsingSettings
from rag_pipeline.text import one_line

_SIGNATURE = b"HWP Document File"
_COMPRESSED, _PASSWORD, _DISTRIBUTION, _RIGHTS = 1, 1 << 1, 1 << 2, (1 << 4 | 1 << 8 | 1 << 10)
_SECTION = re.compile(r"Section(\d{1,4})")
_SUMMARY = "\x05HwpSummaryInformation"
_TITLE = 2
"""Of the properties of a summary, the title (MS-OSHARED, section 2.3.3.2.1)."""
CHANGES = "it tracks changes: text that was deleted may stand among the text"


def read_hwp(path: Path, settings: ParsingSettings, document: str) -> Reading:
    """Elements of a document.

    Raises `DamagedFileError`, `UnsafeFileError`, `MissingLibraryError`, and
    `UnsupportedFileError` for files with a password or locked for distribution.
    """
    olefile = load_library("olefile", document, HANGUL)
    try:
        with olefile.OleFileIO(path) as file:
            return _Streams(file, path.stat().st_size, settings, document).reading()
    except (*LIBRARY_ERRORS, struct.error, MemoryError) as error:
        reason = str(error).split("\n")[0][:200] or type(error).__name__
        raise DamagedFileError(
            f"the file is damaged ({reason})", document=document, hint="copy or download it again"
        ) from error


class _Streams:
    """The streams of a file, unpacked within the limits of the settings."""

    def __init__(self, file: Any, size: int, settings: ParsingSettings, document: str) -> None:
        self.file = file
        self.settings = settings
        self.document = document
        self.allowed = min(
            settings.max_unpacked_mb * MEGABYTE, max(SMALL, settings.max_unpacked_ratio * size)
        )
        self.compressed = False

    def reading(self) -> Reading:
        self._check_header()
        shapes = HwpShapes.of(self._records("DocInfo"))
        flow = HangulFlow(shapes.numberings)
        for name in self._sections():
            flow.section(HwpSection(shapes).read(self._records(name)))
        return flow.reading(self._title(), [CHANGES] if shapes.tracks_changes else [])

    def _check_header(self) -> None:
        header = self.file.openstream("FileHeader").read(256)
        if len(header) < 40 or not header.startswith(_SIGNATURE):
            raise self._damaged("its header is not that of a Hangul document")
        flags = struct.unpack_from("<I", header, 36)[0]
        for mark, what, hint in (
            (_PASSWORD, "has a password", "save a copy without a password"),
            (_DISTRIBUTION, "is locked for distribution", "ask its author for the original"),
            (_RIGHTS, "is encrypted by rights management", "save an unprotected copy"),
        ):
            if flags & mark:
                raise UnsupportedFileError(
                    f"the Hangul document {what}", document=self.document, hint=hint
                )
        self.compressed = bool(flags & _COMPRESSED)

    def _sections(self) -> list[str]:
        found = {}
        for place in self.file.listdir():
            if (
                len(place) == 2
                and place[0] == "BodyText"
                and (name := _SECTION.fullmatch(place[1]))
            ):
                found[int(name[1])] = "/".join(place)
        if not found:
            raise self._damaged("it has no section")
        missing = sorted(set(range(max(found) + 1)) - set(found))
        if missing:
            raise self._damaged(f"its section {missing[0]} is missing")
        return [found[number] for number in sorted(found)]

    def _records(self, name: str) -> Any:
        return record_tree(self._unpacked(name), name, self.document)

    def _unpacked(self, name: str) -> bytes:
        packed: bytes = self.file.openstream(name).read()
        if not self.compressed:
            return packed
        unpacker = zlib.decompressobj(-zlib.MAX_WBITS)
        found = unpacker.decompress(packed, self.allowed + 1)
        self.allowed -= len(found)
        if self.allowed < 0:
            raise UnsafeFileError(
                f"its parts would unpack to more than parsing.max_unpacked_mb "
                f"({self.settings.max_unpacked_mb}) or max_unpacked_ratio "
                f"({self.settings.max_unpacked_ratio}) allow",
                document=self.document,
                hint="raise these if that is right",
            )
        if not unpacker.eof:
            raise self._damaged(f"its part {name} is cut off")
        return found

    def _title(self) -> str | None:
        """The title of the summary; the text does not depend on it."""
        try:
            title = self.file.getproperties(_SUMMARY).get(_TITLE)
        except (*LIBRARY_ERRORS, struct.error):
            return None
        if isinstance(title, bytes):
            title = title.decode("utf-8", "replace")
        if not isinstance(title, str):
            return None
        # Hangul states a length beyond the end, which a NUL marks.
        return one_line(title.split("\x00", 1)[0]) or None

    def _damaged(self, reason: str) -> DamagedFileError:
        return DamagedFileError(
            f"the file is damaged ({reason})",
            document=self.document,
            hint="copy or download it again",
        )
