"""Pages of a reply (OCR, form parser) → rows. Pure; messages are the library's raw ones."""

from __future__ import annotations

from typing import Any

from rag_pipeline.line_marks import starts_with_bullet, starts_with_number
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
from rag_pipeline.parsing.document_ai.convert.block_rows import Row
from rag_pipeline.parsing.document_ai.convert.text_styles import Styles, styles_of
from rag_pipeline.parsing.pdf.layout.geometry import Box, bounding_box
from rag_pipeline.parsing.pdf.layout.joining import join_lines
from rag_pipeline.parsing.table_grid import covered_grid, table_text
from rag_pipeline.text import one_line

SIZE_CHANGE = 1.4
"""Ratio of neighbouring lines' sizes that parts a paragraph."""
SENTENCE_END = ".:;?!。！？：；…»”\"')]"
_CHECKBOXES = {"filled_checkbox": "☑", "unfilled_checkbox": "☐"}


def page_rows(text: str, page: Any, points: tuple[float, float] | None) -> list[Row]:
    """Rows of one page in the reply's reading order.

    No character is in two rows: tables come first, then form fields, then paragraphs with what is
    left of them. `points` is the page's size, where the file tells it.
    """
    reader = _Page(text, page, page_size(page, points))
    rows = [*reader.tables(), *reader.form_fields(), *reader.paragraphs()]
    rows.sort(key=lambda row: row.start)
    return _with_figures(rows, reader.figures())


def _with_figures(rows: list[Row], figures: list[Row]) -> list[Row]:
    """Put each figure before the first row that stands below its top beside it."""
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


class _Line:
    """One line: what is left of its text, and how it looks."""

    def __init__(self, page: _Page, line: Any, spans: list[Span]) -> None:
        self.spans = spans
        self.text = one_line(text_of(page.text, spans))
        self.box = box_of(line.layout.bounding_poly, page.size)
        whole = text_of(page.text, spans_of(line.layout))
        self.size = font_size(line.layout.bounding_poly, page.size, whole)
        self.height = self.box[3] - self.box[1] if self.box else 0.0
        self.confidence = line.layout.confidence
        self.orientation = line.layout.orientation
        self.start = spans[0][0] if spans else 0


class _Page:
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

    def row(self, box: Box | None, text: str, start: int, **values: Any) -> Row:
        """A row of this page."""
        return Row(
            self.page.page_number,
            box or WHOLE_PAGE,
            text,
            (self.size.width, self.size.height),
            start=start,
            **values,
        )

    def tables(self) -> list[Row]:
        """A row for each table; its cells' text is taken out of the running text."""
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
                    box_of(table.layout.bounding_poly, self.size) or _box_around(lines),
                    table_text(cells_),
                    min(spans)[0],
                    kind="table",
                    cells=cells_,
                    spans=marks,
                    size=_usual_size(lines),
                    lines=len(cells_),
                    confidence=table.layout.confidence or _mean_confidence(lines),
                )
            )
        return rows

    def form_fields(self) -> list[Row]:
        """A row `name: value` for each field that is not in a table."""
        rows = []
        for form_field in self.page.form_fields:
            name, value = form_field.field_name, form_field.field_value
            spans = [*spans_of(name), *without(spans_of(value), spans_of(name))]
            own = without(spans, self.taken)
            if not own or length(own) < 0.5 * length(spans):
                continue
            key = one_line(text_of(self.text, spans_of(name))).rstrip(": ：")
            said = _CHECKBOXES.get(form_field.value_type) or one_line(
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
                    bounding_box(boxes) if boxes else _box_around(lines),
                    f"{key}: {said}".strip() if key else said,
                    min(own)[0],
                    size=_usual_size(lines),
                    confidence=min(name.confidence or 1.0, value.confidence or 1.0),
                )
            )
        return rows

    def paragraphs(self) -> list[Row]:
        """A row for each paragraph, or for each part that begins like an item of a list."""
        units = self.page.paragraphs or self.page.blocks or self.page.lines
        blocks = [(spans_of(block.layout), block.layout) for block in self.page.blocks]
        rows: list[Row] = []
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
                rows += [self._paragraph(group, column) for group in _parts(lines, self.size.width)]
            else:
                rows.append(self._bare(left, unit.layout))
        return rows + self._rest()

    def _rest(self) -> list[Row]:
        """What no unit holds: lines, or with neither lines nor units the page's whole text."""
        rows = []
        left = without(spans_of(self.page.layout), self.taken)
        for line in self._lines_in(left):
            self.taken += line.spans
            rows.append(self._paragraph([line], None))
        left = without(left, self.taken)
        if text_of(self.text, left).strip():
            rows.append(self._bare(left, self.page.layout))
        return rows

    def _bare(self, spans: list[Span], layout: Any) -> Row:
        """A row of text whose lines are not known."""
        lines = [one_line(line) for line in text_of(self.text, spans).splitlines()]
        lines = [line for line in lines if line]
        return self.row(
            box_of(layout.bounding_poly, self.size),
            join_lines(lines),
            spans[0][0],
            lines=len(lines),
            confidence=layout.confidence or 1.0,
        )

    def _paragraph(self, lines: list[_Line], column: Box | None) -> Row:
        spans = [span for line in lines for span in line.spans]
        box = _box_around(lines)
        width = self.size.width
        lefts = [line.box[0] * width for line in lines if line.box]
        style = self.styles.of(spans)
        turn = lines[0].orientation or PAGE_UP
        column = column or box
        return self.row(
            box,
            join_lines([line.text for line in lines]),
            lines[0].start,
            size=_usual_size(lines),
            lines=len(lines),
            confidence=_mean_confidence(lines),
            bold=style.bold,
            italic=style.italic,
            bold_lead="" if style.bold else one_line(self.styles.lead(self.text, spans)),
            upright=turn == self.usual_turn,
            indent=lefts[0] - min(lefts[1:]) if len(lefts) > 1 else 0.0,
            column=(column[0], column[2]) if column else (0.0, 1.0),
        )

    def figures(self) -> list[Row]:
        """Rows of pictures; formulas and marks that have text are text."""
        rows = []
        for element in self.page.visual_elements:
            spans = spans_of(element.layout)
            box = box_of(element.layout.bounding_poly, self.size)
            if box and not text_of(self.text, spans).strip() and "math" not in element.type_:
                rows.append(self.row(box, "", 0, kind="figure", lines=0))
        return rows

    def _lines_in(self, spans: list[Span]) -> list[_Line]:
        """Lines, cut to the part of their text that lies within the spans."""
        found = []
        for held, line in self.lines:
            own = without(held, without(held, spans))
            if text_of(self.text, own).strip():
                found.append(_Line(self, line, own))
        return found


def _parts(lines: list[_Line], width: float) -> list[list[_Line]]:
    """Part a paragraph where a line begins a list item, has another size, or was begun on purpose.

    `width` is the page's in points.
    """
    groups: list[list[_Line]] = []
    numbered = starts_with_number(lines[0].text)
    around = _box_around(lines)
    for line in lines:
        begins = starts_with_bullet(line.text) or (numbered and starts_with_number(line.text))
        if groups and not begins:
            begins = _size_changes(groups[-1][-1], line)
        if groups and around and not begins:
            begins = _break_was_free(groups[-1][-1], line, around, width)
        if groups and not begins:
            groups[-1].append(line)
        else:
            groups.append([line])
    return groups


def _size_changes(last: _Line, line: _Line) -> bool:
    """Another size, well beyond what measuring the height of lines leaves open."""
    smaller, larger = sorted((last.size, line.size))
    return smaller > 0 and larger / smaller > SIZE_CHANGE


def _break_was_free(last: _Line, line: _Line, around: Box, width: float) -> bool:
    """Would the first word have fitted on the line before? Then the break was meant.

    As of the local parser's lines: after a sentence, or where a third of the line is left.
    """
    if last.box is None or line.box is None or line.box[1] < last.box[3] - 0.5 * last.height:
        return False
    first = len(line.text.split(" ", 1)[0]) / max(1, len(line.text))
    word = min(first * (line.box[2] - line.box[0]) * width, 8 * line.size)
    room = (around[2] - last.box[2]) * width
    if not line.size or room < word + 1.5 * line.size:
        return False
    if last.text[-1:] in SENTENCE_END:
        return True
    return room > 0.35 * (around[2] - around[0]) * width and not line.text[:1].islower()


def _box_around(lines: list[_Line]) -> Box | None:
    boxes = [line.box for line in lines if line.box]
    return bounding_box(boxes) if boxes else None


def _usual_size(lines: list[_Line]) -> float:
    """The size of most characters."""
    weights = sorted((line.size, len(line.text)) for line in lines if line.size)
    half = sum(weight for _, weight in weights) / 2
    for size, weight in weights:
        half -= weight
        if half <= 0:
            return size
    return 0.0


def _mean_confidence(lines: list[_Line]) -> float:
    """Mean by characters; 1 where none is told."""
    known = [(line.confidence, len(line.text)) for line in lines if line.confidence]
    total = sum(weight for _, weight in known)
    return sum(value * weight for value, weight in known) / total if total else 1.0
