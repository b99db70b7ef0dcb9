"""PowerPoint files by python-pptx: a slide is a page, boxes are those of its shapes."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from lxml import etree

from rag_pipeline.parsing.formats.containers import (
    LIBRARY_ERRORS,
    core_title,
    library_errors,
    open_container,
)
from rag_pipeline.parsing.formats.elements import Box, Element, Reading, list_item
from rag_pipeline.parsing.formats.extra_libraries import load_library
from rag_pipeline.parsing.formats.office.package.alternatives import (
    choose_alternatives,
    write_formulas,
)
from rag_pipeline.parsing.formats.office.package.mending import (
    OfficePackage,
    Relations,
    change_part,
    diagram_texts,
    read_package,
)
from rag_pipeline.parsing.formats.office.package.plain_reading import paragraph_texts
from rag_pipeline.parsing.formats.office.pptx_shapes import (
    LINE_BREAKS,
    A,
    P,
    bullet_of,
    chart_elements,
    description,
    is_code,
    linked,
    table_of,
)
from rag_pipeline.settings import ParsingSettings
from rag_pipeline.text import one_line

_R = "{http://schemas.openxmlformats.org/officeDocument/2006/relationships}"
_TITLES = frozenset({"TITLE", "CENTER_TITLE", "VERTICAL_TITLE"})
_FURNITURE = frozenset({"DATE", "FOOTER", "HEADER", "SLIDE_NUMBER"})
_LISTS = frozenset({"BODY", "OBJECT", "VERTICAL_BODY", "VERTICAL_OBJECT"})
NOTES_TOP = 0.97
"""Notes stand below the slide: their box is its lower edge."""
INDENT = 0.02
_SLIDE = re.compile(r"ppt/(?:slides|notesSlides)/[^/]+\.xml")
Diagrams = Callable[[str, str], list[str]]
"""The texts of the diagram that a relationship of a part leads to."""
SECTION = "secHead"
"""Layout of slides that open a section; where there are any, the others stand below them."""


def read_pptx(path: Path, settings: ParsingSettings, document: str) -> Reading:
    """Elements of a presentation: the title of each slide is a heading, its notes come last.

    Raises `DamagedFileError`, `UnsafeFileError` and `MissingLibraryError`.
    """
    with open_container(path, settings, document) as container:
        package = read_package(container, document)
        title = core_title(package.parts.get("docProps/core.xml"), document)
    for name in list(package.parts):
        if _SLIDE.fullmatch(name):
            change_part(package, name, _plain_slide)
    library = load_library("pptx", document)
    elements: list[Element] = []
    warnings = package.warnings
    with library_errors(document):
        show = library.Presentation(package.file())
        size = (int(show.slide_width or 1), int(show.slide_height or 1))
        slides = list(show.slides)
    has_sections = any(_layout(slide) == SECTION for slide in slides)
    for number, slide in enumerate(slides, start=1):
        opens = not has_sections or _layout(slide) in (SECTION, "title")
        reader = _Slide(slide, size, 1 if opens else 2)
        for element in reader.elements(lambda key, part: _diagram(package, part, key)):
            element.page = number
            elements.append(element)
        warnings.extend(f"slide {number}: {fault}" for fault in reader.faults)
    return Reading(elements, title=title, page_count=max(1, len(slides)), warnings=warnings)


def _plain_slide(root: etree._Element, _: Relations) -> list[str]:
    choose_alternatives(root)
    write_formulas(root)
    return []


def _reason(error: Exception) -> str:
    return (str(error) or type(error).__name__).split("\n")[0][:100]


def _diagram(package: OfficePackage, part: str, key: str) -> list[str]:
    return diagram_texts(package, package.relations.get(part, {}), key)


class _Slide:
    """One slide's shapes, from top to bottom and left to right."""

    def __init__(self, slide: Any, size: tuple[int, int], level: int) -> None:
        self.slide = slide
        self.level = level
        self.size = size
        self.faults: list[str] = []

    def elements(self, diagrams: Diagrams) -> Iterator[Element]:
        """Elements in order; a shape that cannot be read gives its bare text and a fault."""
        self.diagrams = diagrams
        try:
            shapes = [(shape, self._place(shape)) for shape in self.slide.shapes]
            shapes.sort(key=lambda pair: (not _is_title(pair[0]), round(pair[1][1], 2), pair[1][0]))
        except LIBRARY_ERRORS as error:  # a slide without a tree of shapes
            self.faults.append(f"it is faulty ({_reason(error)}); only its text was read")
            yield from (Element(text) for text in paragraph_texts(self.slide._element))
            shapes = []
        for shape, box in shapes:
            yield from self._guarded(shape, box)
        if text := self._notes():
            yield Element(f"Speaker notes: {text}", box=(0.0, NOTES_TOP, 1.0, 1.0))

    def _notes(self) -> str:
        try:
            frame = self.slide.notes_slide.notes_text_frame if self.slide.has_notes_slide else None
        except LIBRARY_ERRORS as error:
            self.faults.append(f"its notes cannot be read ({_reason(error)})")
            return ""
        return frame.text.strip() if frame is not None else ""

    def _guarded(self, shape: Any, box: Box) -> list[Element]:
        try:
            return list(self._shape(shape, box))
        except LIBRARY_ERRORS as error:
            name = next((one.get("name") for one in shape._element.iter(f"{P}cNvPr")), "?")
            self.faults.append(
                f"the shape {name!r} is faulty ({_reason(error)}); only its text was read"
            )
            return [Element(text, box=box) for text in paragraph_texts(shape._element)]

    def _place(self, shape: Any) -> Box:
        try:
            return self._box(shape)
        except LIBRARY_ERRORS:  # a placeholder whose layout is gone
            return (0.0, 0.0, 1.0, 1.0)

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
        if shape._element.tag == f"{P}grpSp":
            for inner in shape.shapes:
                yield from self._guarded(inner, box)
        elif getattr(shape, "has_table", False):
            if element := table_of(shape.table, box):
                yield element
        elif getattr(shape, "has_chart", False):
            yield from chart_elements(shape.chart, box)
        elif getattr(shape, "has_text_frame", False) and shape.text_frame.text.strip():
            yield from self._text(shape, box)
        elif (relation := shape._element.find(".//{*}relIds")) is not None:
            key = relation.get(f"{_R}dm") or ""
            part = str(self.slide.part.partname).lstrip("/")
            for text in self.diagrams(key, part):
                yield Element(text, box=box)
        elif (text := description(shape)) and shape._element.tag != f"{P}sp":
            yield Element(text, kind="figure", box=box)

    def _text(self, shape: Any, box: Box) -> Iterator[Element]:
        if _is_title(shape):
            if text := one_line(LINE_BREAKS.sub(" ", shape.text_frame.text)):
                yield Element(text, level=self.level, box=box)
            return
        paragraphs = [one for one in shape.text_frame.paragraphs if one.text.strip()]
        counts: dict[int, int] = {}
        height = (box[3] - box[1]) / max(1, len(paragraphs))
        code: Element | None = None
        for at, paragraph in enumerate(paragraphs):
            bottom = box[1] + (at + 1) * height
            if is_code(paragraph):
                text = LINE_BREAKS.sub("\n", paragraph.text).rstrip()
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
        text = linked(paragraph)
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
        properties = paragraph._p.find(f"{A}pPr")
        if (own := bullet_of(properties)) is not None:
            return own
        name = f"{A}lvl{level + 1}pPr"
        sources = [shape._element.find(f".//{A}lstStyle")]
        if _placeholder(shape) in _LISTS:
            index = shape.placeholder_format.idx
            layout = self.slide.slide_layout
            masters = layout.slide_master
            sources += [
                one._element.find(f".//{A}lstStyle")
                for one in layout.placeholders
                if one.placeholder_format.idx == index
            ]
            sources += [
                one._element.find(f".//{A}lstStyle")
                for one in masters.placeholders
                if one.placeholder_format.type.name == "BODY"
            ]
            sources.append(masters._element.find(f".//{P}bodyStyle"))
        for source in sources:
            if source is not None and (found := bullet_of(source.find(name))) is not None:
                return found
        return ""


def _layout(slide: Any) -> str:
    """Type of the slide's layout (ECMA-376 part 1, section 19.7.15)."""
    return str(slide.slide_layout._element.get("type") or "")


def _placeholder(shape: Any) -> str:
    """Type of a placeholder; nothing for other shapes."""
    if not getattr(shape, "is_placeholder", False):
        return ""
    kind = shape.placeholder_format.type
    return kind.name if kind is not None else ""


def _is_title(shape: Any) -> bool:
    return _placeholder(shape) in _TITLES
