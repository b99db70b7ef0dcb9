"""HWPX files: a ZIP archive whose package file lists the sections in order (KS X 6101)."""

from __future__ import annotations

import posixpath
import zipfile
from pathlib import Path

from lxml import etree

from rag_pipeline.errors import DamagedFileError, UnsupportedFileError
from rag_pipeline.parsing.formats.containers import open_container, parse_xml, read_member
from rag_pipeline.parsing.formats.elements import Reading
from rag_pipeline.parsing.formats.hangul.hangul_flow import HangulFlow
from rag_pipeline.parsing.formats.hangul.hwpx_head import HwpxHead
from rag_pipeline.parsing.formats.hangul.hwpx_section import HwpxSection
from rag_pipeline.settings import ParsingSettings
from rag_pipeline.text import one_line

PACKAGE = "Contents/content.hpf"
_MANIFEST = "META-INF/manifest.xml"


def read_hwpx(path: Path, settings: ParsingSettings, document: str) -> Reading:
    """Elements of a document.

    Raises `DamagedFileError`, `UnsafeFileError`, and `UnsupportedFileError` for a password.
    """
    with open_container(path, settings, document) as container:
        names = set(container.namelist())
        _refuse_encrypted(container, names, document)
        package = parse_xml(read_member(container, PACKAGE, document), document)
        parts = _parts(package, names)
        head, warnings = _head(container, parts, document)
        flow = HangulFlow(head.numberings)
        sections = [part for part in parts if "section" in posixpath.basename(part).lower()]
        if not sections:
            raise DamagedFileError(
                "the file is damaged (its package names no section)",
                document=document,
                hint="copy or download it again",
            )
        for part in sections:
            root = parse_xml(read_member(container, part, document), document)
            flow.section(HwpxSection(head).read(root))
    title = package.find("{*}metadata/{*}title")
    return flow.reading(one_line((title.text if title is not None else "") or "") or None, warnings)


def _refuse_encrypted(container: zipfile.ZipFile, names: set[str], document: str) -> None:
    if _MANIFEST not in names:
        return
    manifest = parse_xml(container.read(_MANIFEST), document)
    if next(manifest.iter("{*}encryption-data"), None) is not None:
        raise UnsupportedFileError(
            "the Hangul document has a password",
            document=document,
            hint="save a copy without a password",
        )


def _parts(package: etree._Element, names: set[str]) -> list[str]:
    """Parts by the reading order of the package, then those that it only lists."""
    places = {item.get("id"): item.get("href") or "" for item in package.iter("{*}item")}
    ordered = [places.get(one.get("idref"), "") for one in package.iter("{*}itemref")]
    found = []
    for place in dict.fromkeys([*ordered, *places.values()]):
        full = next((one for one in (place, f"Contents/{place}") if one in names), place)
        if full.endswith(".xml"):
            found.append(full)
    return found


def _head(
    container: zipfile.ZipFile, parts: list[str], document: str
) -> tuple[HwpxHead, list[str]]:
    """Shapes; a document whose shapes are damaged still has its text."""
    place = next((part for part in parts if part.lower().endswith("header.xml")), "")
    try:
        return HwpxHead.of(parse_xml(read_member(container, place, document), document)), []
    except DamagedFileError:
        return HwpxHead(), ["the part header.xml is damaged; headings and lists may be missing"]
