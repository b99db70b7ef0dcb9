"""ZIP containers (Office, OpenDocument, EPUB), checked before anything in them is unpacked."""

from __future__ import annotations

import lzma
import re
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from xml.etree import ElementTree

from lxml import etree

from rag_pipeline.errors import DamagedFileError, UnsafeFileError
from rag_pipeline.settings import ParsingSettings
from rag_pipeline.text import one_line

READ_ERRORS = (
    zipfile.BadZipFile,
    zlib.error,
    lzma.LZMAError,
    EOFError,
    NotImplementedError,
    RuntimeError,
    UnicodeDecodeError,
    OSError,
)
"""What `zipfile` raises on damaged, encrypted or exotic archives."""
LIBRARY_ERRORS = (
    *READ_ERRORS,
    etree.LxmlError,
    ElementTree.ParseError,
    LookupError,
    ValueError,
    TypeError,
    AttributeError,
    AssertionError,
)
_LIBRARIES = frozenset({"docx", "openpyxl", "pptx", "unstructured"})
MAX_MEMBERS = 50_000
PROLOG = 65_536
"""Bytes of an XML file in which entities can be declared: before its root element."""
_ASIDE = re.compile(rb"<!--.*?-->|<\?.*?\?>", re.DOTALL)
_FIRST_TAG = re.compile(rb"<[A-Za-z_]")
_XML_NAMES = (".xml", ".rels", ".xhtml", ".html", ".htm", ".opf", ".ncx", ".svg")
_DC = "{http://purl.org/dc/elements/1.1/}"
MEGABYTE = 1_000_000
SMALL = 10 * MEGABYTE
"""Unpacked bytes up to which the ratio does not matter: white space packs well."""


@contextmanager
def open_container(
    path: Path, settings: ParsingSettings, document: str
) -> Iterator[zipfile.ZipFile]:
    """Open a ZIP container that is safe to read.

    Raises `DamagedFileError` where it cannot be read, and `UnsafeFileError` where it would unpack
    to more than the settings allow, or declares XML entities. `zipfile` never unpacks a member
    beyond the size that its directory states, so the sum of these is a true limit.
    """
    try:
        with zipfile.ZipFile(path) as container:
            _check_size(container, path.stat().st_size, settings, document)
            _check_entities(container, document)
            yield container
    except READ_ERRORS as error:
        raise _damaged(error, document) from error


@contextmanager
def library_errors(document: str) -> Iterator[None]:
    """What libraries raise on broken parts of a container, as `DamagedFileError`."""
    try:
        yield
    except Exception as error:
        # Their own classes are not imported, as the libraries are optional.
        own = type(error).__module__.split(".")[0] in _LIBRARIES
        if own or isinstance(error, LIBRARY_ERRORS):
            raise _damaged(error, document) from error
        raise


def _damaged(error: Exception, document: str) -> DamagedFileError:
    reason = str(error).split("\n")[0][:200] or type(error).__name__
    return DamagedFileError(
        f"the file is damaged ({reason})", document=document, hint="copy or download it again"
    )


def _check_size(
    container: zipfile.ZipFile, packed: int, settings: ParsingSettings, document: str
) -> None:
    members = container.infolist()
    unpacked = sum(member.file_size for member in members)
    limit = settings.max_unpacked_mb * MEGABYTE
    if unpacked > limit or len(members) > MAX_MEMBERS:
        raise UnsafeFileError(
            f"its {len(members):,} parts would unpack to {unpacked / MEGABYTE:,.0f} MB",
            document=document,
            hint=f"raise parsing.max_unpacked_mb ({settings.max_unpacked_mb}) if that is right",
        )
    ratio = unpacked / max(1, packed)
    if unpacked > SMALL and ratio > settings.max_unpacked_ratio:
        raise UnsafeFileError(
            f"it would unpack to {ratio:,.0f} times its size ({unpacked / MEGABYTE:,.0f} MB)",
            document=document,
            hint=f"raise parsing.max_unpacked_ratio ({settings.max_unpacked_ratio}) if it is right",
        )


def _check_entities(container: zipfile.ZipFile, document: str) -> None:
    for member in container.infolist():
        if member.filename.lower().endswith(_XML_NAMES):
            with container.open(member) as file:
                refuse_entities(file.read(PROLOG), document)


def refuse_entities(head: bytes, document: str) -> None:
    """Raise `UnsafeFileError` where the beginning of an XML file declares entities.

    Office, OpenDocument and EPUB files need none; a few lines of them can grow to gigabytes.
    """
    # UTF-16 has NULs between the letters. Comments may be as long as one likes.
    text = _ASIDE.sub(b"", head.replace(b"\x00", b""))
    first = _FIRST_TAG.search(text)
    prolog = text if first is None else text[: first.start()]
    endless = b"<!--" in prolog or b"<?" in prolog or (first is None and len(head) >= PROLOG)
    if b"<!ENTITY" in prolog or endless:
        raise UnsafeFileError(
            "its XML declares entities, which may grow without bound",
            document=document,
            hint="save it again with the program that made it",
        )


def parse_xml(data: bytes, document: str) -> etree._Element:
    """Parse a part of a container, without entities or external files; its size is checked."""
    refuse_entities(data[:PROLOG], document)
    parser = etree.XMLParser(resolve_entities=False, no_network=True, huge_tree=True)
    try:
        return etree.fromstring(data, parser)
    except etree.LxmlError as error:
        raise _damaged(error, document) from error


def core_title(properties: bytes | None, document: str) -> str | None:
    """The title in an Office file's properties (`docProps/core.xml`); None where it has none."""
    if properties is None:
        return None
    try:
        found = parse_xml(properties, document).find(f".//{_DC}title")
    except DamagedFileError:  # the text does not depend on it
        return None
    return one_line(found.text or "") or None if found is not None else None


def read_member(container: zipfile.ZipFile, name: str, document: str) -> bytes:
    """The bytes of a part that the format requires. Raises `DamagedFileError` where it lacks."""
    try:
        return container.read(name)
    except KeyError as error:
        raise DamagedFileError(
            f"the file is damaged (its part {name} is missing)",
            document=document,
            hint="copy or download it again",
        ) from error
