"""Kinds of tables that readers meet: rules in pieces, wrapped cells, stripes, two-level titles."""

from __future__ import annotations

from pathlib import Path

from rag_pipeline.parsing.pdf.tables.cells import is_number
from rag_pipeline.structure.table_groups import joined_parts
from tests.parsing.pages import HEIGHT, blocks_of, draw_pdf, lines

XS = (72, 172, 292, 422)
TORQUES = [
    ["Thread", "Dry", "Oiled"],
    ["M6", "10", "8"],
    ["M8", "25", "20"],
    ["M10", "49", "39"],
    ["M12", "85", "68"],
]


def tables(path: Path) -> list[list[list[str]]]:
    frame = blocks_of(path)
    return [[list(row) for row in value] for value in frame["table_cells"] if value is not None]


def rows(canvas: object, texts: list[list[str]], top: float = 115, step: float = 14) -> None:
    """One line a cell, drawn row by row; the first row is bold."""
    for number, row in enumerate(texts):
        font = "Helvetica" if number else "Helvetica-Bold"
        for x, text in zip(XS, row, strict=False):
            lines(canvas, [text], x=x, top=top + step * number, font=font)


def test_rules_in_pieces_are_rules(tmp_path: Path) -> None:
    """A piece for each cell, as many producers draw them."""

    def page(canvas: object) -> None:
        for y in (103, 120, 180):
            for x0, x1 in ((70, 170), (171, 290), (291, 400)):
                canvas.line(x0, HEIGHT - y, x1, HEIGHT - y)
        rows(canvas, TORQUES)

    assert tables(draw_pdf(tmp_path / "a.pdf", page)) == [TORQUES]


def test_striped_rows(tmp_path: Path) -> None:
    def page(canvas: object) -> None:
        canvas.setFillColorRGB(0.9, 0.9, 0.9)
        for number in (1, 3):
            canvas.rect(70, HEIGHT - 118 - 14 * number, 330, 14, stroke=0, fill=1)
        canvas.setFillColorRGB(0, 0, 0)
        rows(canvas, TORQUES)

    assert tables(draw_pdf(tmp_path / "a.pdf", page)) == [TORQUES]


def test_labels_that_are_codes_above_numbers(tmp_path: Path) -> None:
    assert tables(draw_pdf(tmp_path / "a.pdf", lambda canvas: rows(canvas, TORQUES))) == [TORQUES]


def test_wrapped_cells_without_rules(tmp_path: Path) -> None:
    """Each cell is drawn with all its lines before the next one."""
    cells = [
        ["Fault", "Cause", "Remedy"],
        ["Pump is loud", "Air in the|suction line", "Bleed the line and|fill up with oil"],
        ["Oil is hot", "Cooler dirty", "Clean the cooler with|compressed air"],
        ["No flow", "Valve shut or|filter blocked", "Open the valve"],
    ]

    def page(canvas: object) -> None:
        top = 115
        for number, row in enumerate(cells):
            font = "Helvetica" if number else "Helvetica-Bold"
            for x, text in zip(XS, row, strict=False):
                lines(canvas, text.split("|"), x=x, top=top, step=11, font=font)
            top += 11 * max(text.count("|") + 1 for text in row) + 6

    expected = [[text.replace("|", " ") for text in row] for row in cells]
    assert tables(draw_pdf(tmp_path / "a.pdf", page)) == [expected]


def test_empty_cells_stay_empty(tmp_path: Path) -> None:
    sparse = [["Part", "Qty", "Note"], ["Seal", "2", ""], ["Hose", "", "spare"], ["Nut", "4", ""]]

    def page(canvas: object) -> None:
        canvas.line(70, HEIGHT - 119, 340, HEIGHT - 119)
        rows(canvas, sparse)

    assert tables(draw_pdf(tmp_path / "a.pdf", page)) == [sparse]


def test_titles_over_several_columns(tmp_path: Path) -> None:
    """`Summer` stands in the middle above `min` and `max`."""
    body = [["P-1", "11.0", "24.5"], ["P-2", "12.5", "26.0"], ["P-3", "9.5", "21.5"]]

    def page(canvas: object) -> None:
        lines(canvas, ["Summer"], x=213, top=115, font="Helvetica-Bold")
        lines(canvas, ["Model"], x=72, top=127, font="Helvetica-Bold")
        lines(canvas, ["min"], x=172, top=127, font="Helvetica-Bold")
        lines(canvas, ["max"], x=292, top=127, font="Helvetica-Bold")
        canvas.line(70, HEIGHT - 131, 330, HEIGHT - 131)
        for number, row in enumerate(body):
            for x, text in zip(XS, row, strict=False):
                lines(canvas, [text], x=x, top=144 + 14 * number)

    frame = blocks_of(draw_pdf(tmp_path / "a.pdf", page))
    found = [list(row) for row in frame["table_cells"].iloc[0]]
    spans = [[tuple(span) for span in row] for row in frame["table_spans"].iloc[0]]
    assert found[2:] == body
    assert found[1][1:] == ["min", "max"]
    assert spans[0][1:] == [(2, 1), (0, 0)]


def test_leaders_before_values_are_a_table(tmp_path: Path) -> None:
    values = [["Voltage", "230 V"], ["Speed", "2,900 rpm"], ["Mass", "7.5 kg"], ["Bolts", "34 mm"]]

    def page(canvas: object) -> None:
        for number, (label, value) in enumerate(values):
            lines(canvas, [label], top=100 + 14 * number)
            lines(canvas, [" .".join([""] * 34)], x=130, top=100 + 14 * number)
            lines(canvas, [value], x=330, top=100 + 14 * number)

    assert tables(draw_pdf(tmp_path / "a.pdf", page)) == [values]


def test_contents_with_leaders_are_none(tmp_path: Path) -> None:
    entries = [["Safety", "3"], ["Transport", "7"], ["Operation", "12"], ["Service", "31"]]

    def page(canvas: object) -> None:
        for number, (label, value) in enumerate(entries):
            lines(canvas, [label], top=100 + 14 * number)
            lines(canvas, [" .".join([""] * 34)], x=130, top=100 + 14 * number)
            lines(canvas, [value], x=330, top=100 + 14 * number)

    assert tables(draw_pdf(tmp_path / "a.pdf", page)) == []


def test_addresses_side_by_side_are_none(tmp_path: Path) -> None:
    blocks = [
        ["Pumps Ltd", "12 Mill Street", "10115 Northtown", "Tel. 555 1234"],
        ["Valves Ltd", "7 High Street", "20095 Southtown", "Tel. 555 9876"],
    ]

    def page(canvas: object) -> None:
        for x, (name, *rest) in zip((72, 300), blocks, strict=True):
            lines(canvas, [name], x=x, font="Helvetica-Bold")
            lines(canvas, rest, x=x, top=113)

    assert tables(draw_pdf(tmp_path / "a.pdf", page)) == []


def test_a_long_row_of_marks_is_no_number() -> None:
    """In linear time: a pattern that tries all ways to part them would never end."""
    assert not is_number("$ . " * 20_000 + "x")


def test_parts_over_a_page_break_are_joined() -> None:
    one = [(1, 1), (1, 1)]
    above = [["Code", "Remedy"], ["E-30", "Wait"], ["E-31", "Drain the"]], [one] * 3
    below = [["Code", "Remedy"], ["", "oil and refill"], ["E-32", "Call"]], [one] * 3
    texts, spans = joined_parts(above, below)
    assert texts == [
        ["Code", "Remedy"],
        ["E-30", "Wait"],
        ["E-31", "Drain the oil and refill"],
        ["E-32", "Call"],
    ]
    assert spans == [one] * 4


def test_rows_without_lines_between_them_are_split_by_baselines(tmp_path: Path) -> None:
    """A frame around all body rows; one value is missing."""
    body = [
        ["Cover", "M6", "10"],
        ["Drain", "M20", ""],
        ["Flange", "M8", "25"],
        ["Foot", "M5", "6"],
    ]

    def page(canvas: object) -> None:
        canvas.grid([70, 170, 290, 400], [HEIGHT - y for y in (103, 120, 182)])
        rows(canvas, [["Screw", "Size", "Torque"], *body])

    assert tables(draw_pdf(tmp_path / "a.pdf", page)) == [[["Screw", "Size", "Torque"], *body]]


def test_values_behind_leaders_that_are_no_pages(tmp_path: Path) -> None:
    values = [["Voltage", "230"], ["Speed", "2900"], ["Protection", "IP54"], ["Bolts", "M12"]]

    def page(canvas: object) -> None:
        for number, (label, value) in enumerate(values):
            lines(canvas, [label], top=100 + 14 * number)
            lines(canvas, [" .".join([""] * 34)], x=130, top=100 + 14 * number)
            lines(canvas, [value], x=330, top=100 + 14 * number)

    assert tables(draw_pdf(tmp_path / "a.pdf", page)) == [values]
