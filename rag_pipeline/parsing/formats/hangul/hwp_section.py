"""A section of an HWP 5 file → its paragraphs with what is anchored in them."""

from __future__ import annotations

import re
import struct
from bisect import bisect_right
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace

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
from rag_pipeline.parsing.formats.hangul.hwp_records import Record, Tag
from rag_pipeline.parsing.formats.hangul.hwp_shapes import HwpShapes
from rag_pipeline.parsing.formats.hangul.hwp_text import TextPart, text_parts
from rag_pipeline.parsing.formats.hangul.hwpx_section import link_address
from rag_pipeline.parsing.formats.markup import add_link
from rag_pipeline.parsing.formats.markup_nodes import MAX_SPAN
from rag_pipeline.text import one_line

_PAGE_BREAK = 1 << 2
_LINE_BYTES = 36
_CAPTION_ABOVE = 2
_COUNTED_ELSEWHERE = (0, 1, 2)
"""Automatic numbers of pages, footnotes and endnotes."""
_OBJECTS = frozenset({Tag.PICTURE, Tag.OLE, Tag.CHART, Tag.VIDEO})
_DESCRIPTION = 44
"""Where in a drawing's head its description begins (section 4.3.9, table 68)."""
_FORM_TEXT = re.compile(r"(?:Caption|Text):wstring:(\d+):")


@dataclass
class HwpSection:
    """Reads one section."""

    shapes: HwpShapes
    outline: int = 0
    """The numbering of the section's headings."""
    links: list[tuple[str, int]] = field(default_factory=list)

    def read(self, root: Record) -> list[Paragraph]:
        """All paragraphs of the section's own text."""
        for record in root.below():
            if record.tag == Tag.CTRL_HEADER and _control(record) == "secd":
                self.outline = record.number(18, "H")
                break
        return self._paragraphs(root.children)

    def _paragraphs(self, records: list[Record]) -> list[Paragraph]:
        return [self._paragraph(one) for one in records if one.tag == Tag.PARA_HEADER]

    def _paragraph(self, record: Record) -> Paragraph:
        shape = record.number(8, "H")
        head = self.shapes.heads[shape] if shape < len(self.shapes.heads) else None
        if head is not None and head.kind == "outline":
            head = replace(head, numbering=self.outline)
        breaks = shape < len(self.shapes.breaks) and self.shapes.breaks[shape]
        lines = record.first(Tag.PARA_LINE_SEG)
        paragraph = Paragraph(
            head=head,
            new_page=breaks or bool(record.number(11, "B") & _PAGE_BREAK),
            tops=[
                lines.number(at + 4, "i")
                for at in range(0, len(lines.data) - _LINE_BYTES + 1, _LINE_BYTES)
            ]
            if lines
            else [],
        )
        parts = self._parts(record)
        paragraph.bold = self._all_bold(record, parts)
        self._fill(paragraph.pieces, record, parts)
        # Comments hang on the paragraph itself, without an anchor in its text.
        if comments := self._paragraphs(record.children):
            paragraph.pieces.append(Aside(comments))
        return paragraph

    @staticmethod
    def _parts(record: Record) -> list[TextPart]:
        text = record.first(Tag.PARA_TEXT)
        return list(text_parts(text.data)) if text else []

    def _fill(self, pieces: list[Piece], record: Record, parts: list[TextPart]) -> None:
        controls = iter([one for one in record.children if one.tag == Tag.CTRL_HEADER])
        outer, self.links = self.links, []
        for part in parts:
            if part.kind == "text":
                pieces.append(part.text)
            elif part.kind == "field_end":
                self._end_field(pieces)
            elif (control := next(controls, None)) is not None:
                self._anchored(control, pieces)
        for control in controls:
            self._anchored(control, pieces)
        self.links = outer

    def _end_field(self, pieces: list[Piece]) -> None:
        if not self.links:
            return
        address, start = self.links.pop()
        if address:
            said = "".join(one for one in pieces[start:] if isinstance(one, str))
            kept = [one for one in pieces[start:] if not isinstance(one, str)]
            pieces[start:] = [add_link(said, address), *kept]

    def _all_bold(self, record: Record, parts: list[TextPart]) -> bool:
        """Has every visible character a bold shape?"""
        shapes = record.first(Tag.PARA_CHAR_SHAPE)
        spans = list(struct.iter_unpack("<II", _whole(shapes.data, 8))) if shapes else []
        starts = [start for start, _ in spans]
        seen = False
        for part in parts:
            if part.kind != "text" or not part.text.strip():
                continue
            end = part.start + len(part.text)
            first = max(0, bisect_right(starts, part.start) - 1)
            for at in range(first, len(spans)):
                start, shape = spans[at]
                if start >= end:
                    break
                until = starts[at + 1] if at + 1 < len(starts) else end
                covered = part.text[max(0, start - part.start) : max(0, until - part.start)]
                if covered.strip():
                    seen = True
                    if shape >= len(self.shapes.bold) or not self.shapes.bold[shape]:
                        return False
        return seen

    def _anchored(self, control: Record, pieces: list[Piece]) -> None:
        name = _control(control)
        if name.startswith("%"):
            address = link_address(control.text(9)) if name == "%hlk" else ""
            self.links.append((address, len(pieces)))
        elif name in ("head", "foot", "tcmt", "secd"):
            if listed := self._paragraphs(control.children):
                pieces.append(Aside(listed))
        elif name in ("fn  ", "en  "):
            kind = "foot" if name == "fn  " else "end"
            pieces.append(Note(kind, self._paragraphs(control.children)))  # type: ignore[arg-type]
        elif (reader := _READERS.get(name)) is not None:
            reader(self, control, pieces)
        else:
            self._drawing(control, pieces)

    def _columns(self, control: Record, pieces: list[Piece]) -> None:
        pieces.append(Columns((control.number(4, "H") >> 2) & 0xFF))

    def _counted(self, control: Record, pieces: list[Piece]) -> None:
        if control.number(4) & 15 not in _COUNTED_ELSEWHERE:
            pieces.append(str(control.number(8, "H")))

    def _ruby(self, control: Record, pieces: list[Piece]) -> None:
        """The word itself, without the reading above it."""
        pieces.append(control.text(4))

    def _table(self, control: Record, pieces: list[Piece]) -> None:
        found = control.first(Tag.TABLE)
        rows: list[list[Cell]] = [[] for _ in range(found.number(4, "H") if found else 0)]
        caption: list[Paragraph] = []
        above = is_cell = False
        for child in control.children:
            if child.tag == Tag.TABLE:
                is_cell = True
            elif child.tag == Tag.LIST_HEADER and is_cell:
                row = child.number(10, "H")
                rows += [[] for _ in range(row + 1 - len(rows))]
                wide, high = child.number(12, "H"), child.number(14, "H")
                rows[row].append(Cell([], max(1, min(wide, MAX_SPAN)), max(1, min(high, MAX_SPAN))))
                caption_or_cell = rows[row][-1].paragraphs
            elif child.tag == Tag.LIST_HEADER:
                above = child.number(8) & 3 == _CAPTION_ABOVE
                caption_or_cell = caption
            elif child.tag == Tag.PARA_HEADER:
                if not is_cell:
                    caption_or_cell = caption
                caption_or_cell.append(self._paragraph(child))
        pieces.append(Table(rows, caption, above))

    def _equation(self, control: Record, pieces: list[Piece]) -> None:
        if (found := control.first(Tag.EQUATION)) is not None:
            pieces.append(one_line(found.text(4)))
        self._lists(control, pieces)

    def _drawing(self, control: Record, pieces: list[Piece]) -> None:
        """Text boxes, alone or in groups; pictures and objects; fields of a form."""
        said = author_words(control.text(_DESCRIPTION)) if _control(control) == "gso " else ""
        for record in _own_records(control):
            if record.tag in _OBJECTS:
                pieces.append(Picture(said))
            elif record.tag == Tag.TEXT_ART and (text := record.text(32)):
                pieces.append(Frame([as_paragraph(text)]))
            elif record.tag == Tag.FORM:
                pieces.append(_form_text(record))
            self._lists(record, pieces)
        self._lists(control, pieces)

    def _lists(self, record: Record, pieces: list[Piece]) -> None:
        if listed := self._paragraphs(record.children):
            pieces.append(Frame(listed))


def _control(record: Record) -> str:
    """The four letters that name a control, stored backwards."""
    return record.data[3::-1].decode("latin-1") if len(record.data) >= 4 else ""


def _own_records(control: Record) -> Iterator[Record]:
    """Records below a control that belong to no paragraph within it."""
    for child in control.children:
        if child.tag != Tag.PARA_HEADER:
            yield child
            yield from _own_records(child)


def _form_text(record: Record) -> str:
    """What a button or an edit field says, in the list of its properties."""
    said = record.data.decode("utf-16-le", "replace")
    found = [said[one.end() : one.end() + int(one[1][:6])] for one in _FORM_TEXT.finditer(said)]
    return " ".join(text for text in found if text)


def _whole(data: bytes, size: int) -> bytes:
    return data[: len(data) - len(data) % size]


Reader = Callable[[HwpSection, Record, list[Piece]], None]
_READERS: dict[str, Reader] = {
    "cold": HwpSection._columns,
    "atno": HwpSection._counted,
    "tdut": HwpSection._ruby,
    "tcps": HwpSection._ruby,
    "tbl ": HwpSection._table,
    "eqed": HwpSection._equation,
}
