"""Office files written part by part, with what the libraries' own writers never write."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Callable
from pathlib import Path

import docx
import pandas as pd

from rag_pipeline.parsing import ParsedDocument, parse_file
from rag_pipeline.settings import ParsingSettings

SETTINGS = ParsingSettings()
NAMESPACES = " ".join(
    f'xmlns:{prefix}="{uri}"'
    for prefix, uri in {
        "w": "http://schemas.openxmlformats.org/wordprocessingml/2006/main",
        "r": "http://schemas.openxmlformats.org/officeDocument/2006/relationships",
        "m": "http://schemas.openxmlformats.org/officeDocument/2006/math",
        "mc": "http://schemas.openxmlformats.org/markup-compatibility/2006",
        "wps": "http://schemas.microsoft.com/office/word/2010/wordprocessingShape",
        "wp": "http://schemas.openxmlformats.org/drawingml/2006/wordprocessingDrawing",
        "a": "http://schemas.openxmlformats.org/drawingml/2006/main",
        "v": "urn:schemas-microsoft-com:vml",
    }.items()
)


def word_file(path: Path, body: str, parts: dict[str, str] | None = None) -> Path:
    """A Word file with this body; `parts` are added, each related to the main part by its name."""
    empty = io.BytesIO()
    docx.Document().save(empty)
    extra = parts or {}
    with zipfile.ZipFile(empty) as source, zipfile.ZipFile(path, "w") as target:
        for name in source.namelist():
            content = source.read(name).decode("utf-8", "surrogateescape")
            if name == "word/document.xml":
                content = (
                    f"<w:document {NAMESPACES}><w:body>{body}<w:sectPr/></w:body></w:document>"
                )
            if name == "word/_rels/document.xml.rels":
                links = "".join(
                    f'<Relationship Id="x{part}" Target="{part}.xml" Type="http://schemas.openxml'
                    f'formats.org/officeDocument/2006/relationships/{part}"/>'
                    for part in extra
                )
                content = content.replace("</Relationships>", f"{links}</Relationships>")
            target.writestr(name, content.encode("utf-8", "surrogateescape"))
        for part, content in extra.items():
            target.writestr(f"word/{part}.xml", content.replace("NAMESPACES", NAMESPACES))
    return path


def changed_file(path: Path, change: Callable[[str, bytes], bytes | None]) -> Path:
    """Change each part of a ZIP file in place; None leaves the part out."""
    with zipfile.ZipFile(path) as source:
        parts = {name: change(name, source.read(name)) for name in source.namelist()}
    with zipfile.ZipFile(path, "w") as target:
        for name, content in parts.items():
            if content is not None:
                target.writestr(name, content)
    return path


def run(text: str) -> str:
    """A run of text."""
    return f'<w:r><w:t xml:space="preserve">{text}</w:t></w:r>'


def paragraph(*inner: str) -> str:
    """A paragraph of runs and wrappers."""
    return f"<w:p>{''.join(inner)}</w:p>"


def parse(path: Path) -> ParsedDocument:
    """The parsed file."""
    return parse_file(path, SETTINGS)


def texts(found: ParsedDocument | pd.DataFrame) -> list[str]:
    """The texts of all blocks."""
    blocks = found.blocks if isinstance(found, ParsedDocument) else found
    return list(blocks["text"])
