"""Word documents through unstructured, with what it leaves out read beside it by python-docx."""

from __future__ import annotations

import io
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from lxml import etree, html

from rag_pipeline.errors import DamagedFileError
from rag_pipeline.line_marks import BULLETS, starts_with_bullet
from rag_pipeline.parsing.formats.containers import core_title, library_errors, open_container
from rag_pipeline.parsing.formats.elements import BULLET, Element, Reading
from rag_pipeline.parsing.formats.extra_libraries import load_library
from rag_pipeline.parsing.formats.markup import add_link, read_markup
from rag_pipeline.parsing.formats.office.package.mending import (
    OfficePackage,
    change_part,
    diagram_texts,
    read_package,
)
from rag_pipeline.parsing.formats.office.package.plain_reading import paragraph_texts, unstructured
from rag_pipeline.parsing.formats.office.package.word_wrappers import FIGURE, plain_word
from rag_pipeline.parsing.formats.office.unstructured_docx import paragraph_elements
from rag_pipeline.settings import ParsingSettings
from rag_pipeline.text import one_line

_SKIPPED = frozenset({"Header", "Footer", "PageBreak"})
_NUMBER = re.compile(r"^(?:\(?(?:\d{1,3}(?:\.\d{1,3})*|[a-zA-Z]|[ivxlc]{1,6})[.)]|\d+(?:\.\d+)+)\s")
_MONOSPACE = re.compile(r"courier|mono|consolas|menlo|typewriter", re.IGNORECASE)
_CODE_STYLE = re.compile(r"preformatted|source code|macro text|^code\b", re.IGNORECASE)
_WORD = "{http://schemas.openxmlformats.org/wordprocessingml/2006/main}"
MAX_LEVEL = 9


def read_docx(path: Path, settings: ParsingSettings, document: str) -> Reading:
    """Elements of a Word document: labels of lists as Word numbers them, pages as last laid out.

    Running heads and feet are left out. A document that the libraries cannot take apart is read as
    plain paragraphs, with a warning. Raises `DamagedFileError`, `UnsafeFileError` and
    `MissingLibraryError`.
    """
    with open_container(path, settings, document) as container:
        package = read_package(container, document)
        title = core_title(package.parts.get("docProps/core.xml"), document)
    main = _plain_parts(package)
    library = load_library("docx", document)
    try:
        with library_errors(document):
            found = paragraph_elements(_with_breaks(library.Document(package.file())), document)
            reader = _Reader()
            for element, paragraph in found:
                reader.take(element, paragraph)
    except DamagedFileError as error:
        if (root := package.root(main)) is None:
            raise
        texts = paragraph_texts(root)
        if not texts:
            raise
        elements = [Element(text) for text in texts]
        return Reading(elements, title, warnings=[*package.warnings, unstructured(error)])
    return Reading(reader.elements, title, reader.page, package.warnings)


def _plain_parts(package: OfficePackage) -> str:
    """Bring the main part and the notes into plain form; returns the main part's name."""
    roots = package.relations.get("", {}).values()
    main = next((name for name in roots if name.endswith("document.xml")), "word/document.xml")
    notes: dict[tuple[str, str], etree._Element] = {}
    relations = package.relations.get(main, {})

    def diagrams(key: str) -> list[str]:
        return diagram_texts(package, relations, key)

    for place in relations.values():
        kind = place.rpartition("/")[2].removesuffix(".xml")
        if kind in ("footnotes", "endnotes") and (root := package.root(place)) is not None:
            plain_word(root, None, lambda _: [])
            for note in root:
                key = note.get(f"{_WORD}id") or ""
                if note.get(f"{_WORD}type") in (None, "normal"):
                    notes[kind.removesuffix("s"), key] = note

    def note_of(reference: etree._Element) -> list[etree._Element]:
        kind = etree.QName(reference).localname.removesuffix("Reference")
        note = notes.pop((kind, reference.get(f"{_WORD}id") or ""), None)
        return note.findall(f"{_WORD}p") if note is not None else []

    change_part(package, main, lambda root, _: plain_word(root, note_of, diagrams))
    return main


def _with_breaks(word: Any) -> io.BytesIO:
    """The document with its hard page breaks as rendered ones, where it has no rendered ones.

    Word records where its pages ended, and unstructured counts these marks. Other programs write
    hard breaks alone.
    """
    body = word.element.body
    if next(body.iter(f"{_WORD}lastRenderedPageBreak"), None) is None:
        for mark in list(body.iter(f"{_WORD}br")):
            if mark.get(f"{_WORD}type") == "page":
                mark.addnext(mark.makeelement(f"{_WORD}lastRenderedPageBreak"))
        for mark in list(body.iter(f"{_WORD}pageBreakBefore")):
            if mark.get(f"{_WORD}val") not in ("0", "false", "off"):
                run = mark.makeelement(f"{_WORD}r")
                run.append(mark.makeelement(f"{_WORD}lastRenderedPageBreak"))
                mark.getparent().addnext(run)
    copy = io.BytesIO()
    word.save(copy)
    copy.seek(0)
    return copy


class _Styles:
    """What a paragraph's own properties and its chain of styles say of it."""

    def __init__(self) -> None:
        self._known: dict[str, tuple[int | None, bool]] = {}

    def level(self, paragraph: Any) -> int | None:
        """Return the heading level, from 1, by the nearest outline level; None for text."""
        own = _outline(paragraph.paragraph_format.element)
        return _level(own) if own is not None else self._style(paragraph.style)[0]

    def is_code(self, paragraph: Any) -> bool:
        """Is the paragraph in a fixed-width font, or in a style for code?"""
        return self._style(paragraph.style)[1] or _is_monospace(paragraph)

    def is_list(self, paragraph: Any) -> bool:
        """Does the file say that the paragraph is an item, so that nothing in it is a bullet?"""
        styles = [] if paragraph.style is None else list(_chain(paragraph.style))
        own = paragraph.paragraph_format.element
        return any(
            one.find(f"{_WORD}pPr/{_WORD}numPr") is not None
            for one in (own, *(style.element for style in styles))
        ) or any((style.name or "").startswith("List") for style in styles)

    def _style(self, style: Any) -> tuple[int | None, bool]:
        """Return the outline level and fixed width of a style and those it derives from."""
        if style is None:
            return None, False
        if style.style_id not in self._known:
            chain = list(_chain(style))
            outlines = (_outline(one.element) for one in chain)
            level = next((_level(value) for value in outlines if value is not None), None)
            is_code = any(
                _CODE_STYLE.search(one.name or "") or _is_fixed_width(one) for one in chain
            )
            self._known[style.style_id] = (level, is_code)
        return self._known[style.style_id]


def _is_fixed_width(style: Any) -> bool:
    # A malformed chain may lead to a numbering style, which has no font.
    font = getattr(style, "font", None)
    return bool(font and font.name and _MONOSPACE.search(font.name))


def _outline(element: Any) -> str | None:
    found = element.find(f"{_WORD}pPr/{_WORD}outlineLvl")
    return None if found is None else found.get(f"{_WORD}val", "")


def _chain(style: Any) -> Iterator[Any]:
    seen: set[str] = set()
    while style is not None and style.style_id not in seen:
        seen.add(style.style_id)
        yield style
        style = style.base_style


def _level(value: str | None) -> int | None:
    """Level from 1 of an outline level from 0; 9 stands for text."""
    return int(value) + 1 if value and value.isdigit() and int(value) < MAX_LEVEL else None


def _is_monospace(paragraph: Any) -> bool:
    """Are all its runs in a fixed-width font, by themselves or by their style?"""
    runs = [run for run in paragraph.runs if run.text.strip()]
    return bool(runs) and all(
        _MONOSPACE.search(run.font.name or (run.style.font.name if run.style else None) or "")
        for run in runs
    )


class _Reader:
    """Turns unstructured's elements into ours."""

    def __init__(self) -> None:
        self.styles = _Styles()
        self.elements: list[Element] = []
        self.page = 1

    def take(self, found: Any, paragraph: Any) -> None:
        kind = type(found).__name__
        if kind in _SKIPPED:
            return
        self.page = max(self.page, found.metadata.page_number or 1)
        if kind == "Table":
            self._table(found)
        elif kind == "ListItem":
            self._item(found, paragraph)
        else:
            self._paragraph(found, kind, paragraph)

    def _paragraph(self, found: Any, kind: str, paragraph: Any) -> None:
        if paragraph is not None and paragraph._p.get(FIGURE):
            self._add(Element(found.text, kind="figure"))
            return
        level = self.styles.level(paragraph)
        if level is None and kind == "Title":
            level = (found.metadata.category_depth or 0) + 1
        if level is not None:
            self._add(Element(one_line(_linked(found)), level=level))
        elif self.styles.is_code(paragraph):
            self._code(found.text)
        else:
            self._add(Element(_linked(found), bold=_is_bold(found)))

    def _code(self, text: str) -> None:
        last = self.elements[-1] if self.elements else None
        if last is not None and last.kind == "code" and last.page == self.page:
            last.text += f"\n{text.rstrip()}"
        else:
            self._add(Element(text.rstrip(), kind="code"))

    def _item(self, found: Any, paragraph: Any) -> None:
        text = _linked(found)
        depth = (found.metadata.category_depth or 0) + 1
        sign = _dropped_sign(found.text, paragraph.text.strip()) if paragraph is not None else ""
        if sign and sign.strip() not in BULLETS:
            # The library takes minus signs, stars and the like for bullets that someone typed.
            label = len(found.text) - len(paragraph.text.strip()) + len(sign)
            text = f"{text[:label]}{sign}{text[label:]}"
            if not self.styles.is_list(paragraph):
                self._add(Element(text, depth=depth if starts_with_bullet(text) else 0))
                return
        marker = "" if _NUMBER.match(text) else BULLET
        self._add(Element(marker + text, depth=depth))

    def _table(self, found: Any) -> None:
        source = found.metadata.text_as_html
        if not source:
            self._add(Element(found.text))
            return
        for element in read_markup(html.fragment_fromstring(source, create_parent="div")):
            self._add(element)

    def _add(self, element: Element) -> None:
        element.page = self.page
        self.elements.append(element)


def _dropped_sign(shown: str, written: str) -> str:
    """Return the first characters of a paragraph that are missing in an item's text.

    >>> _dropped_sign("2. 20 degrees", "- 20 degrees"), _dropped_sign("2. oil", "oil")
    ('- ', '')
    """
    for at in range(min(4, len(written))):
        if not written[at].isspace() and shown.endswith(written[at:]):
            return written[:at]
    return ""


def _linked(found: Any) -> str:
    """Text with the addresses of its links, from the last to the first."""
    text: str = found.text
    for link in sorted(found.metadata.links or [], key=lambda one: -one["start_index"]):
        start, label = link["start_index"], link["text"] or ""
        if label and text[start : start + len(label)] == label:
            text = text[:start] + add_link(label, link["url"]) + text[start + len(label) :]
    return text


def _is_bold(found: Any) -> bool:
    """Do the bold runs make up the whole paragraph?"""
    contents = found.metadata.emphasized_text_contents or []
    tags = found.metadata.emphasized_text_tags or []
    bold = "".join(text for text, tag in zip(contents, tags, strict=True) if tag == "b")
    return bool(bold) and "".join(bold.split()) == "".join(found.text.split())
