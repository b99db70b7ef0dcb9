"""EPUB books: the XHTML chapters of the spine, in its order (EPUB 3.3, sections 4 and 5)."""

from __future__ import annotations

import posixpath
from pathlib import Path
from urllib.parse import unquote

from lxml import etree

from rag_pipeline.errors import DamagedFileError, ParseError
from rag_pipeline.parsing.formats.containers import (
    READ_ERRORS,
    open_container,
    parse_xml,
    read_member,
)
from rag_pipeline.parsing.formats.elements import Reading
from rag_pipeline.parsing.formats.markup import decode_html, parse_html, read_markup
from rag_pipeline.parsing.formats.markup_nodes import hidden_texts
from rag_pipeline.settings import ParsingSettings
from rag_pipeline.text import one_line

_DC = "{http://purl.org/dc/elements/1.1/}"


def read_epub(path: Path, settings: ParsingSettings, document: str) -> Reading:
    """Elements of a book. Its contents page (the item with the property `nav`) is left out.

    Raises `DamagedFileError` and `UnsafeFileError`.
    """
    reading = Reading([])
    with open_container(path, settings, document) as container:
        container_xml = parse_xml(
            read_member(container, "META-INF/container.xml", document), document
        )
        rootfile = container_xml.find(".//{*}rootfile")
        name = rootfile.get("full-path") if rootfile is not None else None
        if not name:
            raise DamagedFileError(
                "the book names no package", document=document, hint="download it again"
            )
        package = parse_xml(read_member(container, name, document), document)
        title = package.find(f".//{_DC}title")
        if title is not None:
            reading.title = one_line(title.text or "") or None
        if "META-INF/encryption.xml" in container.namelist():
            reading.warnings.append("parts of the book are encrypted; they may be missing")
        missing = []
        for chapter in _spine(package, posixpath.dirname(name)):
            try:
                data = container.read(chapter)
            except (KeyError, *READ_ERRORS):
                missing.append(posixpath.basename(chapter))
                continue
            decoded = decode_html(data)
            reading.warnings.extend(f"{chapter}: {warning}" for warning in decoded.warnings)
            if decoded.text.strip():
                try:
                    root, faults = parse_html(decoded.text, document)
                except ParseError as error:
                    reading.warnings.append(f"{chapter} cannot be read ({error})")
                    continue
                reading.warnings.extend(f"{chapter}: {fault}" for fault in faults)
                reading.elements.extend(read_markup(root))
                reading.furniture.extend(hidden_texts(root))
        if missing:
            reading.warnings.append(f"chapters missing in the file: {', '.join(missing[:10])}")
    return reading


def _spine(package: etree._Element, folder: str) -> list[str]:
    """Names of the chapters' files in reading order."""
    items = {
        item.get("id"): item
        for item in package.iterfind(".//{*}manifest/{*}item")
        if "html" in (item.get("media-type") or "html")
        and "nav" not in (item.get("properties") or "").split()
    }
    names = []
    order = [
        items.pop(reference.get("idref"), None)
        for reference in package.iterfind(".//{*}spine/{*}itemref")
    ]
    # Pages outside of the reading order, such as notes, come last.
    for item in (*order, *items.values()):
        if item is not None:
            address = unquote((item.get("href") or "").split("#")[0])
            names.append(posixpath.normpath(posixpath.join(folder, address)))
    return names
