"""The content of a Hangul document → elements in reading order."""

from __future__ import annotations

from dataclasses import dataclass, field

from rag_pipeline.parsing.formats.elements import BULLET, Element, Reading, table
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
)
from rag_pipeline.parsing.formats.hangul.hangul_numbers import Numberings
from rag_pipeline.parsing.table_grid import covered_grid

MAX_COVERED = 2_000_000
"""Places that merged cells may cover in a table, as in a workbook; beyond it none are merged."""


@dataclass
class HangulFlow:
    """Walks a document's sections. Objects follow the paragraph that they are anchored in."""

    numberings: Numberings
    elements: list[Element] = field(default_factory=list)
    furniture: list[str] = field(default_factory=list)
    page: int = 1
    pictures: int = 0
    """Pictures of which the file says nothing."""
    notes: dict[str, int] = field(default_factory=dict)
    columns: int = 1
    top: int = 0

    def section(self, paragraphs: list[Paragraph]) -> None:
        """Append a section. It begins a page, if anything stands before it."""
        if self.elements:
            self.page += 1
        self.top = 0
        self.columns = 1
        for number, paragraph in enumerate(paragraphs):
            self._turn_pages(paragraph, is_first=number == 0)
            self._paragraph(paragraph)
            self._pass_lines(paragraph)

    def reading(self, title: str | None, warnings: list[str]) -> Reading:
        """Return all that was found."""
        if self.pictures:
            what = "1 picture has" if self.pictures == 1 else f"{self.pictures} pictures have"
            warnings = [*warnings, f"{what} no description and cannot be searched"]
        return Reading(
            self.elements,
            title=title,
            page_count=self.page,
            warnings=warnings,
            furniture=self.furniture,
        )

    def _turn_pages(self, paragraph: Paragraph, *, is_first: bool) -> None:
        for piece in paragraph.pieces:
            if isinstance(piece, Columns):
                self.columns = piece.count
        if is_first or not self.elements:
            pass
        elif paragraph.new_page or (
            self.columns == 1 and paragraph.tops and paragraph.tops[0] < self.top
        ):
            # Further up than the line before: it was laid out on the next page.
            self.page += 1
        self.top = paragraph.tops[0] if paragraph.tops else self.top

    def _pass_lines(self, paragraph: Paragraph) -> None:
        """A paragraph may run on to further pages; its blocks stand on the first."""
        for top in paragraph.tops:
            if self.columns == 1 and top < self.top:
                self.page += 1
            self.top = top

    def _paragraphs(self, paragraphs: list[Paragraph]) -> None:
        for paragraph in paragraphs:
            self._paragraph(paragraph)

    def _paragraph(self, paragraph: Paragraph) -> None:
        text = "".join(piece for piece in paragraph.pieces if isinstance(piece, str)).strip()
        if text:
            self._text(paragraph, text)
        for piece in paragraph.pieces:
            if not isinstance(piece, str):
                self._object(piece)

    def _text(self, paragraph: Paragraph, text: str) -> None:
        head = paragraph.head
        if head is None:
            self._add(Element(text, bold=paragraph.bold))
            return
        mark = (
            "" if head.kind == "bullet" else self.numberings.next_mark(head.numbering, head.level)
        )
        marked = f"{mark.strip()} {text}" if mark.strip() else text
        if head.kind == "outline":
            self._add(Element(marked, level=head.level + 1))
        else:
            item = BULLET + text if head.kind == "bullet" else marked
            self._add(Element(item, depth=head.level + 1))

    def _object(self, piece: Piece) -> None:
        if isinstance(piece, Table):
            self._table(piece)
        elif isinstance(piece, Note):
            self._note(piece)
        elif isinstance(piece, Frame):
            self._paragraphs(piece.paragraphs)
        elif isinstance(piece, Aside):
            flow = self._inner()
            flow._paragraphs(piece.paragraphs)
            self.furniture += [element.text for element in flow.elements]
        elif isinstance(piece, Picture):
            if piece.description:
                self._add(Element(piece.description, kind="figure"))
            else:
                self.pictures += 1

    def _note(self, note: Note) -> None:
        number = self.notes[note.kind] = self.notes.get(note.kind, 0) + 1
        start = len(self.elements)
        self._paragraphs(note.paragraphs)
        if len(self.elements) > start:
            first = self.elements[start]
            kind = "Note" if note.kind == "foot" else "Endnote"
            first.text = f"{kind} {number}: {first.text}"

    def _table(self, found: Table) -> None:
        if found.caption_above:
            self._paragraphs(found.caption)
        cells = [cell for row in found.rows for cell in row]
        if len(cells) == 1:
            # A frame drawn as a table: its content is text like any other.
            self._paragraphs(cells[0].paragraphs)
        else:
            self._grid(found.rows, cells)
        if not found.caption_above:
            self._paragraphs(found.caption)

    def _grid(self, rows: list[list[Cell]], cells: list[Cell]) -> None:
        merge = sum(cell.columns * cell.rows for cell in cells) <= MAX_COVERED
        grid = [
            [
                (self._cell_text(cell), *((cell.columns, cell.rows) if merge else (1, 1)))
                for cell in row
            ]
            for row in rows
        ]
        if element := table(*covered_grid(grid)):
            self._add(element)

    def _cell_text(self, cell: Cell) -> str:
        flow = self._inner()
        flow._paragraphs(cell.paragraphs)
        self.furniture += flow.furniture
        self.pictures += flow.pictures
        return "\n".join(element.text.strip() for element in flow.elements)

    def _inner(self) -> HangulFlow:
        """A flow for what stands in a cell: numbers and notes are counted on through it."""
        return HangulFlow(self.numberings, notes=self.notes)

    def _add(self, element: Element) -> None:
        element.page = self.page
        self.elements.append(element)
