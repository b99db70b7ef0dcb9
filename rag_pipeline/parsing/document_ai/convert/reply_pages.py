"""Pages of a reply (OCR, form parser) → rows. Pure; takes the library's raw messages."""

from __future__ import annotations

from typing import Any

from rag_pipeline.parsing.document_ai.convert.anchors import (
    PAGE_UP,
    WHOLE_PAGE,
    PageSize,
    Span,
    box_of,
    font_size,
    length,
    page_size,
    spans_of,
    text_of,
    without,
)
from rag_pipeline.parsing.document_ai.convert.block_rows import ReplyRow
from rag_pipeline.parsing.document_ai.convert.reply_lines import (
    ReplyLine,
    box_around,
    mean_confidence,
    paragraphs_of,
    usual_size,
)
from rag_pipeline.parsing.document_ai.convert.text_styles import Styles, styles_of
from rag_pipeline.parsing.pdf.layout.geometry import Box, bounding_box
from rag_pipeline.parsing.pdf.layout.joining import join_lines
from rag_pipeline.parsing.table_grid import covered_grid, table_text
from rag_pipeline.text import one_line

_CHECKBOXES = {"filled_checkbox": "☑", "unfilled_checkbox": "☐"}


def page_rows(text: str, page: Any, points: tuple[float, float] | None) -> list[ReplyRow]:
    """Rows of one page in the reply's reading order.

    No character is in two rows: tables come first, then form fields, then paragraphs with the rest
    of the text. `points` is the page's size, if the file gives it.
    """
    reader = _PageReader(text, page, page_size(page, points))
    rows = [*reader.tables(), *reader.form_fields(), *reader.paragraphs()]
    rows.sort(key=lambda row: row.start)
    return _with_figures(rows, reader.figures())


def _with_figures(rows: list[ReplyRow], figures: list[ReplyRow]) -> list[ReplyRow]:
    """Insert each figure before the first row in its columns that starts below its top."""
    for figure in figures:
        at = next(
            (
                at
                for at, row in enumerate(rows)
                if row.box[1] >= figure.box[1]
                and min(row.box[2], figure.box[2]) > max(row.box[0], figure.box[0])
            ),
            len(rows),
        )
        rows.insert(at, figure)
    return rows


class _PageReader:
    def __init__(self, text: str, page: Any, size: PageSize) -> None:
        self.text = text
        self.page = page
        self.size = size
        self.taken: list[Span] = []
        self.styles: Styles = styles_of(page)
        self.lines = sorted(
            ((spans, line) for line in page.lines if (spans := spans_of(line.layout))),
            key=lambda pair: pair[0],
        )
        turns = [line.layout.orientation or PAGE_UP for line in page.lines]
        self.usual_turn = max(set(turns), key=turns.count) if turns else PAGE_UP

    def row(self, box: Box | None, text: str, start: int, **values: Any) -> ReplyRow:
        """A row of this page."""
        return ReplyRow(
            self.page.page_number,
            box or WHOLE_PAGE,
            text,
            (self.size.width, self.size.height),
            start=start,
            **values,
        )

    def tables(self) -> list[ReplyRow]:
        """A row for each table; the text of its cells is removed from the running text."""
        rows = []
        for table in self.page.tables:
            found: list[list[tuple[str, int, int]]] = []
            spans: list[Span] = []
            for row in (*table.header_rows, *table.body_rows):
                cells = []
                for cell in row.cells:
                    own = without(spans_of(cell.layout), spans)
                    spans += own
                    text = one_line(text_of(self.text, own))
                    cells.append((text, cell.col_span, cell.row_span))
                found.append(cells)
            spans = without(spans, self.taken)
            cells_, marks = covered_grid(found)
            if not spans or not table_text(cells_).strip():
                continue
            self.taken += spans
            lines = self._lines_in(spans)
            rows.append(
                self.row(
                    box_of(table.layout.bounding_poly, self.size) or box_around(lines),
                    table_text(cells_),
                    min(spans)[0],
                    kind="table",
                    table_cells=cells_,
                    table_spans=marks,
                    font_size=usual_size(lines),
                    line_count=len(cells_),
                    confidence=table.layout.confidence or mean_confidence(lines),
                )
            )
        return rows

    def form_fields(self) -> list[ReplyRow]:
        """A row `name: value` for each field that is not in a table."""
        rows = []
        for form_field in self.page.form_fields:
            name, value = form_field.field_name, form_field.field_value
            spans = [*spans_of(name), *without(spans_of(value), spans_of(name))]
            own = without(spans, self.taken)
            if not own or length(own) < 0.5 * length(spans):
                continue
            key = one_line(text_of(self.text, spans_of(name))).rstrip(": ：")
            shown = _CHECKBOXES.get(form_field.value_type) or one_line(
                text_of(self.text, without(spans_of(value), spans_of(name)))
            )
            self.taken += own
            boxes = [
                box
                for layout in (name, value)
                if (box := box_of(layout.bounding_poly, self.size)) is not None
            ]
            lines = self._lines_in(spans_of(name)) or self._lines_in(own)
            rows.append(
                self.row(
                    bounding_box(boxes) if boxes else box_around(lines),
                    f"{key}: {shown}".strip() if key else shown,
                    min(own)[0],
                    font_size=usual_size(lines),
                    confidence=min(name.confidence or 1.0, value.confidence or 1.0),
                )
            )
        return rows

    def paragraphs(self) -> list[ReplyRow]:
        """A row for each paragraph, or for each of its parts that begins like a list item."""
        units = self.page.paragraphs or self.page.blocks or self.page.lines
        blocks = [(spans_of(block.layout), block.layout) for block in self.page.blocks]
        rows: list[ReplyRow] = []
        for unit in units:
            spans = spans_of(unit.layout)
            left = without(spans, self.taken)
            if not text_of(self.text, left).strip():
                continue
            self.taken += left
            column = next(
                (
                    box_of(layout.bounding_poly, self.size)
                    for held, layout in blocks
                    if spans and any(a <= spans[0][0] < b for a, b in held)
                ),
                None,
            )
            lines = self._lines_in(left)
            if lines:
                rows += [
                    self._paragraph(group, column)
                    for group in paragraphs_of(lines, self.size.width)
                ]
            else:
                rows.append(self._bare(left, unit.layout))
        return rows + self._rest()

    def _rest(self) -> list[ReplyRow]:
        """Lines outside all units; without lines and units, the whole text of the page."""
        rows = []
        left = without(spans_of(self.page.layout), self.taken)
        for line in self._lines_in(left):
            self.taken += line.spans
            rows.append(self._paragraph([line], None))
        left = without(left, self.taken)
        if text_of(self.text, left).strip():
            rows.append(self._bare(left, self.page.layout))
        return rows

    def _bare(self, spans: list[Span], layout: Any) -> ReplyRow:
        """A row of text whose lines are unknown."""
        lines = [one_line(line) for line in text_of(self.text, spans).splitlines()]
        lines = [line for line in lines if line]
        return self.row(
            box_of(layout.bounding_poly, self.size),
            join_lines(lines),
            spans[0][0],
            line_count=len(lines),
            confidence=layout.confidence or 1.0,
        )

    def _paragraph(self, lines: list[ReplyLine], column: Box | None) -> ReplyRow:
        spans = [span for line in lines for span in line.spans]
        box = box_around(lines)
        width = self.size.width
        lefts = [line.box[0] * width for line in lines if line.box]
        style = self.styles.of(spans)
        turn = lines[0].orientation or PAGE_UP
        column = column or box
        return self.row(
            box,
            join_lines([line.text for line in lines]),
            lines[0].spans[0][0],
            font_size=usual_size(lines),
            line_count=len(lines),
            confidence=mean_confidence(lines),
            is_bold=style.bold,
            is_italic=style.italic,
            bold_lead="" if style.bold else one_line(self.styles.lead(self.text, spans)),
            is_upright=turn == self.usual_turn,
            indent=lefts[0] - min(lefts[1:]) if len(lefts) > 1 else 0.0,
            column=(column[0], column[2]) if column else (0.0, 1.0),
        )

    def figures(self) -> list[ReplyRow]:
        """Rows of pictures; formulas and marks with text are text."""
        rows = []
        for element in self.page.visual_elements:
            spans = spans_of(element.layout)
            box = box_of(element.layout.bounding_poly, self.size)
            if box and not text_of(self.text, spans).strip() and "math" not in element.type_:
                rows.append(self.row(box, "", 0, kind="figure", line_count=0))
        return rows

    def _lines_in(self, spans: list[Span]) -> list[ReplyLine]:
        """Lines, reduced to the part of their text inside the spans."""
        found = []
        for held, line in self.lines:
            own = without(held, without(held, spans))
            text = one_line(text_of(self.text, own))
            if text:
                layout = line.layout
                whole = text_of(self.text, held)
                found.append(
                    ReplyLine(
                        own,
                        text,
                        box_of(layout.bounding_poly, self.size),
                        font_size(layout.bounding_poly, self.size, whole),
                        layout.confidence,
                        layout.orientation,
                    )
                )
        return found
