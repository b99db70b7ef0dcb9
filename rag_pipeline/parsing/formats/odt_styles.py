"""What the styles of an OpenDocument text say (OpenDocument 1.3, part 3, section 16)."""

from __future__ import annotations

import zipfile
from collections.abc import Iterator

from lxml import etree

from rag_pipeline.errors import DamagedFileError
from rag_pipeline.parsing.formats.containers import READ_ERRORS, parse_xml
from rag_pipeline.parsing.formats.inline.formulas import formula_text

_TEXT = "{urn:oasis:names:tc:opendocument:xmlns:text:1.0}"
_STYLE = "{urn:oasis:names:tc:opendocument:xmlns:style:1.0}"
_FO = "{urn:oasis:names:tc:opendocument:xmlns:xsl-fo-compatible:1.0}"
_MONOSPACE = ("mono", "courier", "consolas", "menlo", "typewriter")
_CODE_STYLES = ("preformatted", "source_20_code", "source_code", "code")


class OdtStyles:
    """What styles say that matters: fixed width, bold, numbered lists, levels of headings."""

    def __init__(self) -> None:
        self.parents: dict[str, str] = {}
        self.fonts: dict[str, str] = {}
        self.bold: dict[str, bool] = {}
        self.levels: dict[str, int] = {}
        self.breaks: set[str] = set()
        self.numbered: dict[tuple[str, int], bool] = {}
        self.starts: dict[tuple[str, int], int] = {}
        self.formulas: dict[str, str] = {}
        """Text of the formulas that lie in parts of their own."""

    def learn(self, root: etree._Element) -> None:
        """Read the styles of `styles.xml` or of the content itself."""
        for style in root.iter(f"{_STYLE}style"):
            name = style.get(f"{_STYLE}name") or ""
            self.parents[name] = style.get(f"{_STYLE}parent-style-name") or ""
            level = style.get(f"{_STYLE}default-outline-level")
            if level and level.isdigit():
                self.levels[name] = int(level)
            for properties in style.iterfind(f"{_STYLE}text-properties"):
                font = properties.get(f"{_STYLE}font-name") or properties.get(f"{_FO}font-family")
                if font:
                    self.fonts[name] = font.lower()
                if weight := properties.get(f"{_FO}font-weight"):
                    self.bold[name] = weight in ("bold", "600", "700", "800", "900")
            for properties in style.iterfind(f"{_STYLE}paragraph-properties"):
                if properties.get(f"{_FO}break-before") == "page":
                    self.breaks.add(name)
        for style in root.iter(f"{_TEXT}list-style"):
            name = style.get(f"{_STYLE}name") or ""
            for level_style in style:
                level = level_style.get(f"{_TEXT}level")
                if level and level.isdigit():
                    key = (name, int(level))
                    numbered = level_style.tag == f"{_TEXT}list-level-style-number"
                    self.numbered[key] = numbered and bool(level_style.get(f"{_STYLE}num-format"))
                    start = level_style.get(f"{_TEXT}start-value")
                    self.starts[key] = int(start) if start and start.isdigit() else 1

    def chain(self, name: str) -> Iterator[str]:
        """A style and those that it derives from."""
        seen: set[str] = set()
        while name and name not in seen:
            yield name
            seen.add(name)
            name = self.parents.get(name, "")

    def is_code(self, name: str) -> bool:
        """Is it set in a fixed-width font, or named so?"""
        for style in self.chain(name):
            if style.lower().startswith(_CODE_STYLES):
                return True
            if style in self.fonts:
                return any(word in self.fonts[style] for word in _MONOSPACE)
        return False

    def is_bold(self, name: str) -> bool:
        """Does the nearest style that says so make it bold?"""
        return next((self.bold[style] for style in self.chain(name) if style in self.bold), False)


def learn_formulas(container: zipfile.ZipFile, styles: OdtStyles, document: str) -> list[str]:
    """Read the formulas that lie in parts of their own; returns what cannot be read."""
    warnings = []
    for name in container.namelist():
        if not (name.startswith("Object") and name.endswith("/content.xml")):
            continue
        try:
            inner = parse_xml(container.read(name), document)
        except (DamagedFileError, *READ_ERRORS):
            warnings.append(f"the object {name} cannot be read")
            continue
        if etree.QName(inner).localname == "math":
            styles.formulas[name.removesuffix("/content.xml")] = formula_text(inner)
    return warnings


def inline_formula(holder: etree._Element) -> str:
    """The formula that an object holds itself; nothing where there is none."""
    math = holder.find(".//{*}math")
    return formula_text(math) if math is not None else ""
