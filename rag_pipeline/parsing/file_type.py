"""What a file is, by its content. Its name only tells kinds of text apart."""

from __future__ import annotations

import re
import zipfile
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from rag_pipeline.parsing.formats.containers import READ_ERRORS
from rag_pipeline.parsing.signatures import describe_content, is_pdf
from rag_pipeline.settings import SOURCE_CODE

Format = Literal[
    "pdf",
    "docx",
    "pptx",
    "xlsx",
    "odt",
    "hwpx",
    "hwp",
    "epub",
    "rtf",
    "html",
    "email",
    "markdown",
    "csv",
    "json",
    "xml",
    "notebook",
    "code",
    "text",
    "unsupported",
]
HEAD = 8192
"""Bytes read from the start of a file to tell its type."""
STRAY_CONTROLS = 0.01
"""Largest share of control characters in damaged text; binary data has far more."""

_ENDINGS: dict[str, Format] = {
    "pdf": "pdf",
    "docx": "docx",
    "docm": "docx",
    "dotx": "docx",
    "pptx": "pptx",
    "pptm": "pptx",
    "ppsx": "pptx",
    "xlsx": "xlsx",
    "xlsm": "xlsx",
    "xltx": "xlsx",
    "dotm": "docx",
    "potx": "pptx",
    "ppsm": "pptx",
    "odt": "odt",
    "ott": "odt",
    "hwpx": "hwpx",
    "hwp": "hwp",
    "epub": "epub",
    "rtf": "rtf",
    "html": "html",
    "htm": "html",
    "xhtml": "html",
    "eml": "email",
    "md": "markdown",
    "markdown": "markdown",
    "csv": "csv",
    "tsv": "csv",
    "json": "json",
    "jsonl": "json",
    "ndjson": "json",
    "xml": "xml",
    "ipynb": "notebook",
    "txt": "text",
    "text": "text",
    "log": "text",
    **dict.fromkeys(SOURCE_CODE, "code"),
}
_MAIN_PARTS: tuple[tuple[str, Format], ...] = (
    ("wordprocessingml", "docx"),
    ("ms-word", "docx"),
    ("presentationml", "pptx"),
    ("ms-powerpoint", "pptx"),
    ("spreadsheetml", "xlsx"),
    ("ms-excel.sheet.macro", "xlsx"),
    ("ms-excel.template.macro", "xlsx"),
)
_MIMETYPES: dict[str, Format] = {
    "application/epub+zip": "epub",
    "application/hwp+zip": "hwpx",
    "application/vnd.oasis.opendocument.text": "odt",
    "application/vnd.oasis.opendocument.text-template": "odt",
}


_HWP_3 = b"HWP Document File V"
_OLE = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"
_OLE_STREAMS = (
    ("EncryptedPackage", "an Office file with a password", "save a copy without a password"),
    ("WordDocument", "an old Word document (.doc)", "save it as .docx"),
    ("PowerPoint Document", "an old PowerPoint file (.ppt)", "save it as .pptx"),
    ("Workbook", "an old Excel file (.xls)", "save it as .xlsx"),
    ("__properties_version1.0", "an Outlook message (.msg)", "save it as .eml"),
)
_HEADER = re.compile(rb"^([A-Za-z][A-Za-z0-9-]{1,40}):[ \t]*\S?")
_MAIL_HEADERS = frozenset(
    b"from to cc subject date received return-path message-id mime-version delivered-to reply-to "
    b"content-type dkim-signature".split()
)
_HTML_START = re.compile(
    rb"^(?:<\?xml[^>]*\?>\s*|<!--.*?-->\s*)*<(?:!doctype\s+html|html|head|body)\b", re.I | re.S
)
_PDF_OBJECT = re.compile(rb"\b\d+ \d+ obj\s*<<")
"""An object of a PDF, whose header may be damaged: its syntax is no text."""
_ANY_TAG = re.compile(rb"</[a-z][a-z0-9-]*\s*>|<(?:br|hr|img|p|li|tr|td|h[1-6])\b[^>]*>", re.I)
TAG_WINDOW = 1_000_000
_KINDS_OF_TEXT = ("markdown", "csv", "code", "json", "xml", "notebook")
"""Told apart by the name alone."""
_NAMES: dict[Format, str] = {
    "pdf": "a PDF",
    "docx": "a Word document",
    "pptx": "a PowerPoint file",
    "xlsx": "an Excel workbook",
    "odt": "an OpenDocument text",
    "hwpx": "a Hangul document (.hwpx)",
    "hwp": "a Hangul document (.hwp)",
    "epub": "an EPUB book",
    "rtf": "an RTF document",
    "html": "an HTML page",
    "email": "an e-mail",
    "text": "plain text",
}


@dataclass(frozen=True)
class FileType:
    """What a file is. `code_language` is set for source code."""

    format: Format
    description: str
    """In words, for messages."""
    hint: str | None = None
    """What to do with an unsupported file."""
    code_language: str = ""
    mismatch: str | None = None
    """A warning, where the name says otherwise than the content."""


def file_type(path: Path, name: str) -> FileType:
    """Tell a file's format by its content; `name` is the one that the user knows.

    Markdown, CSV, JSON and source code are all plain text: among these the name's ending decides.
    """
    with path.open("rb") as file:
        head = file.read(HEAD)
    ending = name.rsplit(".", 1)[-1].lower() if "." in name else ""
    claimed = _ENDINGS.get(ending)
    found = _by_content(path, head)
    if claimed == "html" and found.format == "text" and _has_tags(path):
        return _known("html")
    if found.format == "text" and claimed in _KINDS_OF_TEXT:
        return FileType(claimed, found.description, code_language=SOURCE_CODE.get(ending, ""))
    tags = found.format == "html" and claimed in ("markdown", "code", "json", "notebook")
    headers = found.format == "email" and claimed in (*_KINDS_OF_TEXT, "text")
    if claimed and (tags or headers):
        # A README or a template may begin with tags, and a note with `From:`.
        return FileType(claimed, "plain text", code_language=SOURCE_CODE.get(ending, ""))
    if found.format == "unsupported" or claimed in (None, found.format):
        return found
    mismatch = f"the name ends with .{ending}, but by its content it is {found.description}"
    return FileType(found.format, found.description, mismatch=mismatch)


def _has_tags(path: Path) -> bool:
    """Fragments of pages begin with any element, and others with a comment of any length."""
    with path.open("rb") as file:
        start = file.read(TAG_WINDOW)
    return bool(_ANY_TAG.search(start.replace(b"\x00", b"")))


def _by_content(path: Path, head: bytes) -> FileType:
    if is_pdf(head) or (path.suffix.lower() == ".pdf" and _PDF_OBJECT.search(head)):
        return _known("pdf")
    if head.startswith(b"PK"):
        return _container_type(path)
    if head.startswith(_OLE):
        return _ole_type(path)
    if head.startswith(_HWP_3):
        return FileType("unsupported", "an old Hangul document (HWP 3.0)", "save it as .hwpx")
    if head.startswith(b"{\\rtf"):
        return _known("rtf")
    start = head.removeprefix(b"\xef\xbb\xbf").lstrip()
    if _HTML_START.match(start):
        return _known("html")
    if _is_mail(start):
        return _known("email")
    description = describe_content(head)
    if description in ("plain text", "an HTML page", "an XML file") or _is_text(head):
        return _known("text")
    return FileType("unsupported", description, "give a document, or leave the file out")


def _known(kind: Format) -> FileType:
    return FileType(kind, _NAMES[kind])


def _container_type(path: Path) -> FileType:
    """Office, OpenDocument and EPUB files are ZIP archives that name their kind inside."""
    try:
        with zipfile.ZipFile(path) as container:
            names = set(container.namelist())
            if "mimetype" in names:
                with container.open("mimetype") as file:
                    mimetype = file.read(200).decode("ascii", "replace").strip()
                if mimetype in _MIMETYPES:
                    return _known(_MIMETYPES[mimetype])
                return FileType("unsupported", f"a ZIP archive of type {mimetype}")
            if "[Content_Types].xml" in names:
                with container.open("[Content_Types].xml") as file:
                    types = file.read(1_000_000).decode("utf-8", "replace")
                for part, kind in _MAIN_PARTS:
                    if re.search(rf'{part}[^"]*main\+xml"', types):
                        return _known(kind)
                return FileType("unsupported", "an Office file of another kind")
            if "META-INF/container.xml" in names:
                return _known("epub")
    except READ_ERRORS:
        # The reader says what is wrong; the kind is guessed from the first member's name.
        return _broken_container(path)
    return FileType("unsupported", "a ZIP archive", "unpack it into the folder")


def _broken_container(path: Path) -> FileType:
    with path.open("rb") as file:
        start = file.read(HEAD)
    for mark, kind in (
        (b"word/", "docx"),
        (b"ppt/", "pptx"),
        (b"xl/", "xlsx"),
        (b"epub+zip", "epub"),
        (b"hwp+zip", "hwpx"),
        (b"opendocument.text", "odt"),
        (b"[Content_Types].xml", "docx"),
    ):
        if mark in start:
            return _known(kind)  # type: ignore[arg-type]
    return FileType("unsupported", "a damaged ZIP archive", "copy or download it again")


def _ole_type(path: Path) -> FileType:
    """The directory of an OLE file names its streams, in UTF-16."""
    content = path.read_bytes()
    if "FileHeader".encode("utf-16-le") in content and "BodyText".encode("utf-16-le") in content:
        return _known("hwp")
    for stream, description, hint in _OLE_STREAMS:
        if stream.encode("utf-16-le") in content:
            return FileType("unsupported", description, hint)
    return FileType("unsupported", "an old Microsoft Office file", "save it in a newer format")


def _is_mail(start: bytes) -> bool:
    """At least two known headers before the first empty line, and nothing but headers."""
    known = 0
    for number, line in enumerate(start.replace(b"\r\n", b"\n").split(b"\n")[:60]):
        if not line:
            break
        if number == 0 and line.startswith(b"From "):
            continue  # mbox
        if line[:1] in (b" ", b"\t") and number:
            continue
        match = _HEADER.match(line)
        if not match:
            return False
        known += match[1].lower() in _MAIL_HEADERS
    return known >= 2


def _is_text(head: bytes) -> bool:
    """Text in any encoding: hardly any control characters that text never has."""
    if head.startswith((b"\xff\xfe", b"\xfe\xff")):
        return True
    even, odd = head[::2].count(0), head[1::2].count(0)
    if min(even, odd) <= 0.02 * len(head) and max(even, odd) > 0.1 * len(head):
        return True  # UTF-16 without a mark
    controls = sum(byte < 9 or 13 < byte < 27 or 27 < byte < 32 for byte in head)
    return controls <= STRAY_CONTROLS * len(head)
