"""OpenDocument texts, from their own XML (OpenDocument 1.3, part 3, sections 5, 9 and 16)."""

from __future__ import annotations

from pathlib import Path

from lxml import etree

from rag_pipeline.errors import DamagedFileError
from rag_pipeline.parsing.formats.containers import (
    core_title,
    open_container,
    parse_xml,
    read_member,
)
from rag_pipeline.parsing.formats.elements import Element, Reading, list_item, table
from rag_pipeline.parsing.formats.markup import add_link
from rag_pipeline.parsing.formats.odt_styles import OdtStyles, inline_formula, learn_formulas
from rag_pipeline.parsing.table_grid import Cells, Spans
from rag_pipeline.settings import ParsingSettings
from rag_pipeline.text import one_line

_OFFICE = "{urn:oasis:names:tc:opendocument:xmlns:office:1.0}"
_TEXT = "{urn:oasis:names:tc:opendocument:xmlns:text:1.0}"
_TABLE = "{urn:oasis:names:tc:opendocument:xmlns:table:1.0}"
_XLINK = "{http://www.w3.org/1999/xlink}"
_DRAW = "{urn:oasis:names:tc:opendocument:xmlns:drawing:1.0}"
_SVG = "{urn:oasis:names:tc:opendocument:xmlns:svg-compatible:1.0}"
_SKIPPED = frozenset(
    {
        f"{_OFFICE}annotation",
        f"{_TEXT}tracked-changes",
        f"{_TEXT}note",
        f"{_TEXT}sequence-decls",
        f"{_TEXT}table-of-content",
        f"{_TEXT}alphabetical-index",
        f"{_TEXT}ruby-text",
    }
)
MAX_REPEATED = 200
"""Repetitions of a cell that are read; spreadsheets fill their margins with thousands."""


def read_odt(path: Path, settings: ParsingSettings, document: str) -> Reading:
    """Elements of a text. Raises `DamagedFileError` and `UnsafeFileError`."""
    with open_container(path, settings, document) as container:
        names = set(container.namelist())
        content = parse_xml(read_member(container, "content.xml", document), document)
        styles = OdtStyles()
        warnings: list[str] = []
        if "styles.xml" in names:
            try:
                styles.learn(parse_xml(container.read("styles.xml"), document))
            except DamagedFileError:
                warnings.append("the part styles.xml is damaged; headings may be missing")
        styles.learn(content)
        title = core_title(container.read("meta.xml") if "meta.xml" in names else None, document)
        warnings += learn_formulas(container, styles, document)
    reader = _Reader(styles)
    body = content.find(f"{_OFFICE}body/{_OFFICE}text")
    if body is not None:
        reader.blocks(body)
    deleted = [
        "".join(one.itertext())
        for tag in (f"{_TEXT}tracked-changes", f"{_OFFICE}annotation", f"{_TEXT}table-of-content")
        for one in content.iter(tag)
    ]
    return Reading(
        reader.elements,
        title=title,
        page_count=reader.page,
        warnings=warnings,
        furniture=deleted,
    )


class _Reader:
    """Walks the body of a text."""

    def __init__(self, styles: OdtStyles) -> None:
        self.styles = styles
        self.elements: list[Element] = []
        self.page = 1
        self.depth = 0
        self.list_style = ""
        self.marker: tuple[int, int | None] | None = None
        self.counts: dict[tuple[str, int], int] = {}

    def blocks(self, node: etree._Element) -> None:
        for child in node:
            tag = child.tag
            if not isinstance(tag, str) or tag in _SKIPPED:
                continue
            if tag == f"{_TEXT}h":
                self._heading(child)
            elif tag == f"{_TEXT}p":
                self._paragraph(child)
            elif tag == f"{_TEXT}list":
                self._list(child)
            elif tag == f"{_TABLE}table":
                self._table(child)
            elif tag == f"{_TEXT}soft-page-break":
                self.page += 1
            elif tag.startswith((_TEXT, _OFFICE, _DRAW)):
                self.blocks(child)  # sections, indexes, frames

    def _heading(self, node: etree._Element) -> None:
        self._break_before(node)
        level = node.get(f"{_TEXT}outline-level") or ""
        text = one_line(self._text(node))
        self.marker = None
        self._add(Element(text, level=int(level) if level.isdigit() and int(level) else 1))
        self._beside(node)

    def _paragraph(self, node: etree._Element) -> None:
        self._break_before(node)
        style = node.get(f"{_TEXT}style-name") or ""
        text = self._text(node)
        if not text.strip():
            pass
        elif self.marker is not None:
            depth, number = self.marker
            self.marker = None
            self._add(list_item(text.strip(), depth, number), is_item=True)
        elif self.styles.is_code(style) and not self.depth:
            self._code(text)
        else:
            bold = self.styles.is_bold(style) or self._all_bold(node)
            self._add(Element(text, depth=self.depth, bold=bold))
        self._beside(node)

    def _beside(self, node: etree._Element) -> None:
        """Notes, text boxes and pictures that a paragraph holds, behind it."""
        for child in node.iterdescendants():
            inner = child.iterancestors(f"{_TEXT}note", f"{_DRAW}*")
            if any(node in holder.iterancestors() for holder in inner):
                continue  # read with what holds it
            if child.tag == f"{_TEXT}note":
                self._note(child)
            elif child.tag == f"{_DRAW}frame":
                self._frame(child)
            elif isinstance(child.tag, str) and child.tag.startswith(_DRAW):
                self.blocks(child)

    def _note(self, note: etree._Element) -> None:
        body = note.find(f"{_TEXT}note-body")
        if body is None:
            return
        start = len(self.elements)
        self.blocks(body)
        if len(self.elements) > start:
            mark = one_line("".join(note.itertext(f"{_TEXT}note-citation")))
            first = self.elements[start]
            first.text = f"Note {mark}: {first.text}" if mark else f"Note: {first.text}"

    def _code(self, text: str) -> None:
        """Paragraphs of code that follow each other are one listing."""
        last = self.elements[-1] if self.elements else None
        if last is not None and last.kind == "code" and last.page == self.page:
            last.text += f"\n{text}"
        else:
            self._add(Element(text, kind="code"))

    def _frame(self, frame: etree._Element) -> None:
        """Text boxes are text; pictures speak through their description."""
        box = frame.find(f"{_DRAW}text-box")
        if box is not None:
            self.blocks(box)
            return
        for table_node in frame.iterchildren(f"{_TABLE}table"):
            self._table(table_node)
        for linked in frame.iterchildren(f"{_DRAW}object"):
            place = (linked.get(f"{_XLINK}href") or "").removeprefix("./")
            if text := self.styles.formulas.get(place) or inline_formula(linked):
                self._add(Element(text))
        for name in ("desc", "title"):
            found = frame.find(f"{_SVG}{name}")
            if found is not None and (text := one_line("".join(found.itertext()))):
                self._add(Element(text, kind="figure"))
                return

    def _list(self, node: etree._Element) -> None:
        outer, self.list_style = (
            self.list_style,
            node.get(f"{_TEXT}style-name") or self.list_style,
        )
        self.depth += 1
        key = (self.list_style, self.depth)
        numbered = self.styles.numbered.get(key, False)
        if node.get(f"{_TEXT}continue-numbering") != "true":
            self.counts[key] = self.styles.starts.get(key, 1) - 1
        for item in node:
            if item.tag == f"{_TEXT}list-item":
                start = item.get(f"{_TEXT}start-value")
                own = item.find(f"{_TEXT}p")
                if own is not None:
                    before = self.counts.get(key, 0)
                    self.counts[key] = int(start) if start and start.isdigit() else before + 1
                    self.marker = (self.depth, self.counts[key] if numbered else None)
                self.blocks(item)
                self.marker = None
            elif item.tag == f"{_TEXT}list-header":
                self.blocks(item)
        self.depth -= 1
        self.list_style = outer

    def _table(self, node: etree._Element) -> None:
        cells: Cells = []
        spans: Spans = []
        for row in node.iter(f"{_TABLE}table-row"):
            if next(row.iterancestors(f"{_TABLE}table")) is not node:
                continue
            texts: list[str] = []
            marks: list[tuple[int, int]] = []
            for cell in row:
                covered = cell.tag == f"{_TABLE}covered-table-cell"
                if not covered and cell.tag != f"{_TABLE}table-cell":
                    continue
                repeated = _number(cell, "number-columns-repeated")
                wide = _number(cell, "number-columns-spanned")
                high = _number(cell, "number-rows-spanned")
                for _ in range(min(repeated, MAX_REPEATED)):
                    texts.append("" if covered else self._cell_text(cell))
                    marks.append((0, 0) if covered else (wide, high))
            cells.append(texts)
            spans.append(marks)
        if element := table(cells, spans, depth=self.depth):
            self.marker = None
            self._add(element)

    def _cell_text(self, cell: etree._Element) -> str:
        reader = _Reader(self.styles)
        reader.blocks(cell)
        return "\n".join(element.text.strip() for element in reader.elements)

    def _all_bold(self, node: etree._Element) -> bool:
        """Is all of a paragraph in bold spans?"""
        spans = node.findall(f"{_TEXT}span")
        loose = [node.text, *(child.tail for child in node)]
        if not spans or any(text and text.strip() for text in loose):
            return False
        return all(self.styles.is_bold(span.get(f"{_TEXT}style-name") or "") for span in spans)

    def _text(self, node: etree._Element) -> str:
        """Text of a paragraph with its tabs, spaces, line breaks and links."""
        parts = [_collapsed(node.text)]
        for child in node:
            tag = child.tag
            if tag == f"{_TEXT}s":
                parts.append(" " * _number(child, "c", _TEXT))
            elif tag == f"{_TEXT}tab":
                parts.append("\t")
            elif tag == f"{_TEXT}line-break":
                parts.append("\n")
            elif tag == f"{_TEXT}a":
                parts.append(add_link(self._text(child), child.get(f"{_XLINK}href")))
            elif tag == f"{_TEXT}soft-page-break":
                self.page += 1
            elif isinstance(tag, str) and tag not in _SKIPPED and not tag.startswith(_DRAW):
                parts.append(self._text(child))
            parts.append(_collapsed(child.tail))
        return "".join(parts)

    def _break_before(self, node: etree._Element) -> None:
        style = node.get(f"{_TEXT}style-name") or ""
        if self.elements and any(one in self.styles.breaks for one in self.styles.chain(style)):
            # Where soft breaks are recorded, hard ones stand in the styles.
            self.page += 1

    def _add(self, element: Element, *, is_item: bool = False) -> None:
        element.page = self.page
        element.hanging = self.depth > 0 and not is_item
        self.elements.append(element)


def _collapsed(text: str | None) -> str:
    """White space of the file collapses; spaces that count are `<text:s>`."""
    if not text:
        return ""
    inner = " ".join(text.split())
    return f"{' ' * text[0].isspace()}{inner}{' ' * (bool(inner) and text[-1].isspace())}"


def _number(node: etree._Element, name: str, namespace: str = _TABLE) -> int:
    value = node.get(f"{namespace}{name}") or ""
    return max(1, int(value)) if value.isdigit() else 1
