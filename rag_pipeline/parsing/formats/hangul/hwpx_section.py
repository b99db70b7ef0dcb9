"""A section of an HWPX file (KS X 6101) → its paragraphs with what is anchored in them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace

from lxml import etree

from rag_pipeline.parsing.formats.hangul.hangul_content import (
    Aside,
    Cell,
    Columns,
    Frame,
    Note,
    Paragraph,
    Picture,
    Piece,
    Table,
    as_paragraph,
    author_words,
)
from rag_pipeline.parsing.formats.hangul.hwpx_head import HwpxHead
from rag_pipeline.parsing.formats.markup import add_link
from rag_pipeline.parsing.formats.markup_nodes import MAX_SPAN, integer
from rag_pipeline.text import one_line

_SIGNS = {"tab": "\t", "lineBreak": "\n", "nbSpace": " ", "fwSpace": " ", "hyphen": "-"}
_PICTURES = frozenset({"pic", "ole", "chart", "video"})
_FORM_TEXTS = {"btn": "caption", "checkBtn": "caption", "radioBtn": "caption"}


@dataclass
class HwpxSection:
    """Reads one section; tracked deletions and links may reach over several runs."""

    head: HwpxHead
    outline: int = 0
    """The numbering of the section's headings."""
    deleting: set[str] = field(default_factory=set)
    links: list[tuple[str, list[Piece], int]] = field(default_factory=list)

    def read(self, root: etree._Element) -> list[Paragraph]:
        """All paragraphs of the section's own text."""
        for properties in root.iter("{*}secPr"):
            self.outline = integer(properties.get("outlineShapeIDRef"), 0)
            break
        return self._paragraphs(root)

    def _paragraphs(self, holder: etree._Element) -> list[Paragraph]:
        return [self._paragraph(node) for node in holder.iterchildren("{*}p")]

    def _paragraph(self, node: etree._Element) -> Paragraph:
        shape = node.get("paraPrIDRef") or ""
        head = self.head.heads.get(shape)
        if head is not None and head.kind == "outline":
            head = replace(head, numbering=self.outline)
        paragraph = Paragraph(
            head=head,
            new_page=node.get("pageBreak") == "1" or shape in self.head.breaks,
            tops=[
                integer(line.get("vertpos"), 0)
                for line in node.iterfind("{*}linesegarray/{*}lineseg")
            ],
        )
        all_bold = True
        for run in node.iterchildren("{*}run"):
            before = len(paragraph.pieces)
            self._run(run, paragraph.pieces)
            said = "".join(one for one in paragraph.pieces[before:] if isinstance(one, str))
            if said.strip() and (run.get("charPrIDRef") or "") not in self.head.bold:
                all_bold = False
        paragraph.bold = all_bold and any(
            isinstance(one, str) and one.strip() for one in paragraph.pieces
        )
        return paragraph

    def _run(self, node: etree._Element, pieces: list[Piece]) -> None:
        for child in node:
            name = _name(child)
            reader = _READERS.get(name)
            if reader is not None:
                reader(self, child, pieces)
            elif name in _PICTURES:
                self._picture(child, pieces)
            elif name in _FORM_TEXTS:
                pieces.append(f" {child.get(_FORM_TEXTS[name]) or ''} ")
            elif name == "compose":
                self._say(child.get("composeText"), pieces)
            elif name != "secPr":
                self._drawing(child, pieces)

    def _say(self, text: str | None, pieces: list[Piece]) -> None:
        if text:
            pieces.append(Aside([as_paragraph(text)]) if self.deleting else text)

    def _text(self, node: etree._Element, pieces: list[Piece]) -> None:
        self._say(node.text, pieces)
        for child in node:
            name = _name(child)
            if name == "deleteBegin":
                self.deleting.add(child.get("Id") or "")
            elif name == "deleteEnd":
                self.deleting.discard(child.get("Id") or "")
            elif name in _SIGNS:
                self._say(_SIGNS[name], pieces)
            else:
                self._say(child.text, pieces)
            self._say(child.tail, pieces)

    def _control(self, node: etree._Element, pieces: list[Piece]) -> None:
        for child in node:
            name = _name(child)
            if name in ("footNote", "endNote"):
                kind = "foot" if name == "footNote" else "end"
                pieces.append(Note(kind, self._listed(child)))  # type: ignore[arg-type]
            elif name in ("header", "footer", "hiddenComment"):
                pieces.append(Aside(self._listed(child)))
            elif name == "colPr":
                pieces.append(Columns(integer(child.get("colCount"), 1)))
            elif name == "autoNum" and child.get("numType") not in ("FOOTNOTE", "ENDNOTE", "PAGE"):
                pieces.append(child.get("num") or "")
            elif name == "fieldBegin":
                if child.get("type") == "MEMO":
                    pieces.append(Aside(self._listed(child)))
                address = _address(child) if child.get("type") == "HYPERLINK" else ""
                self.links.append((address, pieces, len(pieces)))
            elif name == "fieldEnd" and self.links:
                address, began_in, start = self.links.pop()
                if address and began_in is pieces:
                    said = "".join(one for one in pieces[start:] if isinstance(one, str))
                    kept = [one for one in pieces[start:] if not isinstance(one, str)]
                    pieces[start:] = [add_link(said, address), *kept]

    def _listed(self, node: etree._Element) -> list[Paragraph]:
        """Paragraphs of the lists that a node holds itself."""
        return [one for inner in node.iterchildren("{*}subList") for one in self._paragraphs(inner)]

    def _table(self, node: etree._Element, pieces: list[Piece]) -> None:
        rows = [
            [
                Cell(self._listed(cell), _span(cell, "colSpan"), _span(cell, "rowSpan"))
                for cell in row.iterchildren("{*}tc")
            ]
            for row in node.iterchildren("{*}tr")
        ]
        caption = node.find("{*}caption")
        if caption is None:
            pieces.append(Table(rows))
        else:
            pieces.append(Table(rows, self._listed(caption), caption.get("side") == "TOP"))

    def _equation(self, node: etree._Element, pieces: list[Piece]) -> None:
        script = node.find("{*}script")
        if script is not None:
            self._say(one_line(script.text or ""), pieces)
        self._caption(node, pieces)

    def _picture(self, node: etree._Element, pieces: list[Piece]) -> None:
        comment = node.find("{*}shapeComment")
        said = "" if comment is None else author_words(comment.text or "")
        pieces.append(Picture(said))
        self._caption(node, pieces)

    def _drawing(self, node: etree._Element, pieces: list[Piece]) -> None:
        """A shape with text, or a group of shapes; an art of letters says its text itself."""
        art = node.get("text")
        if art and _name(node) == "textart":
            pieces.append(Frame([as_paragraph(art)]))
        for child in node:
            name = _name(child)
            if name == "drawText":
                listed = self._listed(child)
                # An initial is drawn in a box of its own and belongs to the word behind it.
                initial = node.get("dropcapstyle") not in (None, "None")
                pieces += _texts(listed) if initial else [Frame(listed)]
            elif name in _PICTURES:
                self._picture(child, pieces)
            elif name == "tbl":
                self._table(child, pieces)
            elif child.find("{*}drawText") is not None or name in ("container", "textart"):
                self._drawing(child, pieces)
        self._caption(node, pieces)

    def _caption(self, node: etree._Element, pieces: list[Piece]) -> None:
        caption = node.find("{*}caption")
        if caption is not None:
            pieces.append(Frame(self._listed(caption)))

    def _ruby(self, node: etree._Element, pieces: list[Piece]) -> None:
        """The word itself, without the reading above it."""
        for one in node.iterchildren("{*}mainText"):
            self._say(one.text, pieces)

    def _form(self, node: etree._Element, pieces: list[Piece]) -> None:
        for one in node.iterchildren("{*}text"):
            self._say(one.text, pieces)

    def _switch(self, node: etree._Element, pieces: list[Piece]) -> None:
        """The first alternative that holds anything."""
        for alternative in node:
            before = len(pieces)
            self._run(alternative, pieces)
            if len(pieces) > before:
                return


def _name(node: etree._Element) -> str:
    return str(node.tag).rpartition("}")[2] if isinstance(node.tag, str) else ""


def _texts(paragraphs: list[Paragraph]) -> list[Piece]:
    return [piece for one in paragraphs for piece in one.pieces]


def _span(cell: etree._Element, name: str) -> int:
    found = cell.find("{*}cellSpan")
    return 1 if found is None else max(1, min(integer(found.get(name), 1), MAX_SPAN))


def _address(field_begin: etree._Element) -> str:
    """Where a link leads: the part of its command before the first semicolon."""
    for one in _parameters(field_begin):
        if one.get("name") == "Command":
            return link_address(one.text or "")
    return ""


def _parameters(node: etree._Element) -> Iterator[etree._Element]:
    yield from node.iterfind("{*}parameters/{*}stringParam")


def link_address(command: str) -> str:
    r"""Return the address in a link's command; empty for places in the document itself.

    >>> link_address("http\\://pumps.example/log;1;0;0;")
    'http://pumps.example/log'
    """
    address = command.split(";", 1)[0].replace("\\", "")
    return address if ":" in address else ""


Reader = Callable[[HwpxSection, etree._Element, list[Piece]], None]
_READERS: dict[str, Reader] = {
    "t": HwpxSection._text,
    "ctrl": HwpxSection._control,
    "tbl": HwpxSection._table,
    "equation": HwpxSection._equation,
    "dutmal": HwpxSection._ruby,
    "edit": HwpxSection._form,
    "switch": HwpxSection._switch,
}
