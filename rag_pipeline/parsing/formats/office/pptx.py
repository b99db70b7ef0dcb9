"""PowerPoint files by python-pptx: a slide is a page, boxes are those of its shapes."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from rag_pipeline.parsing.formats.containers import core_title, library_errors, open_container
from rag_pipeline.parsing.formats.elements import Box, Element, Reading, list_item, table
from rag_pipeline.parsing.formats.markup import add_link
from rag_pipeline.parsing.formats.office.office_extra import load_library
from rag_pipeline.settings import ParsingSettings
from rag_pipeline.text import one_line

_A = "{http://schemas.openxmlformats.org/drawingml/2006/main}"
_P = "{http://schemas.openxmlformats.org/presentationml/2006/main}"
_BULLETS = (f"{_A}buNone", f"{_A}buChar", f"{_A}buAutoNum", f"{_A}buBlip")
_TITLES = frozenset({"TITLE", "CENTER_TITLE", "VERTICAL_TITLE"})
_FURNITURE = frozenset({"DATE", "FOOTER", "HEADER", "SLIDE_NUMBER"})
_LISTS = frozenset({"BODY", "OBJECT", "VERTICAL_BODY", "VERTICAL_OBJECT"})
_MONOSPACE = re.compile(r"courier|mono|consolas|menlo|typewriter", re.IGNORECASE)
_LINE_BREAKS = re.compile(r"[\v\n]")
NOTES_TOP = 0.97
"""Notes stand below the slide: their box is its lower edge."""
INDENT = 0.02
SECTION = "secHead"
"""Layout of slides that open a section; where there are any, the others stand below them."""


def read_pptx(path: Path, settings: ParsingSettings, document: str) -> Reading:
    """Elements of a presentation: the title of each slide is a heading, its notes come last.

    Raises `DamagedFileError`, `UnsafeFileError` and `MissingLibraryError`.
    """
    with open_container(path, settings, document) as container:
        title = core_title(container, document)
    library = load_library("pptx", document)
    with library_errors(document):
        show = library.Presentation(str(path))
        size = (int(show.slide_width or 1), int(show.slide_height or 1))
        elements: list[Element] = []
        has_sections = any(_layout(slide) == SECTION for slide in show.slides)
        for number, slide in enumerate(show.slides, start=1):
            opens = not has_sections or _layout(slide) in (SECTION, "title")
            for element in _Slide(slide, size, 1 if opens else 2).elements():
                element.page = number
                elements.append(element)
        pages = max(1, len(show.slides))
    return Reading(elements, title=title, page_count=pages)


class _Slide:
    """One slide's shapes, from top to bottom and left to right."""

    def __init__(self, slide: Any, size: tuple[int, int], level: int) -> None:
        self.slide = slide
        self.level = level
        self.size = size

    def elements(self) -> Iterator[Element]:
        shapes = [(shape, self._box(shape)) for shape in self.slide.shapes]
        shapes.sort(key=lambda pair: (not _is_title(pair[0]), round(pair[1][1], 2), pair[1][0]))
        for shape, box in shapes:
            yield from self._shape(shape, box)
        if self.slide.has_notes_slide:
            frame = self.slide.notes_slide.notes_text_frame
            text = frame.text.strip() if frame is not None else ""
            if text:
                yield Element(f"Speaker notes: {text}", box=(0.0, NOTES_TOP, 1.0, 1.0))

    def _box(self, shape: Any) -> Box:
        """Place on the slide; parts that lie beyond it are cut."""
        if shape.left is None or shape.top is None or not shape.width or not shape.height:
            return (0.0, 0.0, 1.0, 1.0)
        width, height = self.size
        x0, y0 = shape.left / width, shape.top / height
        x1, y1 = x0 + shape.width / width, y0 + shape.height / height
        cut = [min(1.0, max(0.0, value)) for value in (x0, y0, x1, y1)]
        return (cut[0], cut[1], cut[2], cut[3])

    def _shape(self, shape: Any, box: Box) -> Iterator[Element]:
        if _placeholder(shape) in _FURNITURE:
            return
        if shape.shape_type is not None and shape.shape_type.name == "GROUP":
            for inner in shape.shapes:
                yield from self._shape(inner, box)
        elif getattr(shape, "has_table", False):
            if element := _table(shape.table, box):
                yield element
        elif getattr(shape, "has_chart", False):
            chart = shape.chart
            if chart.has_title and chart.chart_title.has_text_frame:
                yield Element(one_line(chart.chart_title.text_frame.text), kind="figure", box=box)
        elif shape.has_text_frame:
            yield from self._text(shape, box)
        elif (text := _description(shape)) and shape.shape_type is not None:
            yield Element(text, kind="figure", box=box)

    def _text(self, shape: Any, box: Box) -> Iterator[Element]:
        if _is_title(shape):
            if text := one_line(_LINE_BREAKS.sub(" ", shape.text_frame.text)):
                yield Element(text, level=self.level, box=box)
            return
        paragraphs = [one for one in shape.text_frame.paragraphs if one.text.strip()]
        counts: dict[int, int] = {}
        height = (box[3] - box[1]) / max(1, len(paragraphs))
        code: Element | None = None
        for at, paragraph in enumerate(paragraphs):
            bottom = box[1] + (at + 1) * height
            if _is_code(paragraph):
                text = _LINE_BREAKS.sub("\n", paragraph.text).rstrip()
                if code is not None and code.box:
                    code.text += f"\n{text}"
                    code.box = (*code.box[:3], bottom)
                else:
                    code = Element(text, kind="code", box=(box[0], bottom - height, box[2], bottom))
                    yield code
                continue
            code = None
            element = self._paragraph(shape, paragraph, paragraph.level or 0, counts)
            left = min(box[0] + INDENT * element.depth, box[2])
            element.box = (left, bottom - height, box[2], bottom)
            yield element

    def _paragraph(self, shape: Any, paragraph: Any, level: int, counts: dict[int, int]) -> Element:
        text = _linked(paragraph)
        bullet = self._bullet(shape, paragraph, level)
        for deeper in [one for one in counts if one > level]:
            del counts[deeper]
        if bullet == "buAutoNum":
            counts[level] = counts.get(level, 0) + 1
            return list_item(text, level + 1, counts[level])
        counts.pop(level, None)
        if bullet in ("buChar", "buBlip"):
            return list_item(text, level + 1)
        runs = [run for run in paragraph.runs if run.text.strip()]
        bold = bool(runs) and all(run.font.bold for run in runs)
        return Element(text, depth=level, bold=bold)

    def _bullet(self, shape: Any, paragraph: Any, level: int) -> str:
        """Kind of bullet: the paragraph's own, else as its placeholder inherits it.

        The chain is: shape, layout, master, and the master's style of bodies.
        """
        properties = paragraph._p.find(f"{_A}pPr")
        if (own := _bullet_of(properties)) is not None:
            return own
        name = f"{_A}lvl{level + 1}pPr"
        sources = [shape._element.find(f".//{_A}lstStyle")]
        if _placeholder(shape) in _LISTS:
            index = shape.placeholder_format.idx
            layout = self.slide.slide_layout
            masters = layout.slide_master
            sources += [
                one._element.find(f".//{_A}lstStyle")
                for one in layout.placeholders
                if one.placeholder_format.idx == index
            ]
            sources += [
                one._element.find(f".//{_A}lstStyle")
                for one in masters.placeholders
                if one.placeholder_format.type.name == "BODY"
            ]
            sources.append(masters._element.find(f".//{_P}bodyStyle"))
        for source in sources:
            if source is not None and (found := _bullet_of(source.find(name))) is not None:
                return found
        return ""


def _layout(slide: Any) -> str:
    """Type of the slide's layout (ECMA-376 part 1, section 19.7.15)."""
    return str(slide.slide_layout._element.get("type") or "")


def _bullet_of(properties: Any) -> str | None:
    if properties is None:
        return None
    for child in properties:
        if child.tag in _BULLETS:
            return str(child.tag).removeprefix(_A)
    return None


def _placeholder(shape: Any) -> str:
    """Type of a placeholder; nothing for other shapes."""
    if not getattr(shape, "is_placeholder", False):
        return ""
    kind = shape.placeholder_format.type
    return kind.name if kind is not None else ""


def _is_title(shape: Any) -> bool:
    return _placeholder(shape) in _TITLES


def _is_code(paragraph: Any) -> bool:
    runs = [run for run in paragraph.runs if run.text.strip()]
    return bool(runs) and all(_MONOSPACE.search(run.font.name or "") for run in runs)


def _linked(paragraph: Any) -> str:
    parts = []
    for child in paragraph._p:
        if child.tag == f"{_A}br":
            parts.append("\n")
        elif child.tag in (f"{_A}r", f"{_A}fld"):
            text = child.findtext(f"{_A}t") or ""
            run = next((one for one in paragraph.runs if one._r is child), None)
            parts.append(add_link(text, run.hyperlink.address if run is not None else None))
    return "".join(parts).strip()


def _table(found: Any, box: Box) -> Element | None:
    cells, spans = [], []
    for row in found.rows:
        cells.append([_LINE_BREAKS.sub("\n", cell.text) for cell in row.cells])
        spans.append(
            [
                (0, 0)
                if cell.is_spanned
                else (cell.span_width, cell.span_height)
                if cell.is_merge_origin
                else (1, 1)
                for cell in row.cells
            ]
        )
    return table(cells, spans, box=box)


def _description(shape: Any) -> str:
    """What the author says that a picture shows; names that programs give do not count."""
    properties = shape._element.find(f".//{_P}cNvPr")
    text = one_line(properties.get("descr") or "") if properties is not None else ""
    return "" if re.fullmatch(r"\S+\.(?:png|jpe?g|gif|emf|wmf|svg)", text, re.I) else text
