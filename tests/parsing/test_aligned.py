"""Tables without any line; and what looks like one at first."""

from __future__ import annotations

from pathlib import Path

import pytest

from rag_pipeline.parsing.pdf.tables.cells import is_number
from tests.parsing.pages import HEIGHT, blocks_of, draw_pdf, lines

SALES = [
    ["", "2023", "2022"],
    ["Spare parts", "$ 1,180", "$ 964"],
    ["Service contracts", "412", "(37)"],
    ["Training", "—", "18"],
    ["Total", "$ 1,592", "$ 945"],
]


def draw_rows(
    canvas: object,
    rows: list[list[str]],
    xs: tuple[float, ...],
    top: float = 100,
    right: bool = False,
    font: str = "Helvetica",
) -> None:
    """Rows of texts; those after the first column end at their x where `right`."""
    for row, texts in enumerate(rows):
        for column, text in enumerate(texts):
            width = canvas.stringWidth(text, font, 10) if right and column else 0
            lines(canvas, [text], x=xs[column] - width, top=top + 14 * row, font=font)


def tables(path: Path) -> list[list[list[str]]]:
    frame = blocks_of(path)
    return [[list(row) for row in value] for value in frame["table_cells"] if value is not None]


def test_labels_and_numbers_at_the_right_edge(tmp_path: Path) -> None:
    def page(canvas: object) -> None:
        lines(canvas, ["Revenue by kind of business, in millions, is shown below here."], top=60)
        draw_rows(canvas, SALES, (72, 300, 400), right=True)
        lines(canvas, ["Revenue rose in both years because more machines were sold."], top=200)

    frame = blocks_of(draw_pdf(tmp_path / "a.pdf", page))
    assert frame["kind"].tolist() == ["text", "table", "text"]
    assert [list(row) for row in frame["table_cells"].iloc[1]] == SALES


def test_a_currency_drawn_apart_belongs_to_its_number(tmp_path: Path) -> None:
    def page(canvas: object) -> None:
        draw_rows(canvas, [row[:1] for row in SALES], (72,))
        for column, x in ((1, 300), (2, 400)):
            for row, texts in enumerate(SALES):
                sign, _, number = texts[column].rpartition(" ")
                lines(canvas, [sign], x=x - 60, top=100 + 14 * row)
                width = canvas.stringWidth(number, "Helvetica", 10)
                lines(canvas, [number], x=x - width, top=100 + 14 * row)

    assert tables(draw_pdf(tmp_path / "a.pdf", page)) == [SALES]


def test_a_label_over_two_lines_is_one_row(tmp_path: Path) -> None:
    rows = [*SALES[:3], ["Training of people", "", ""], ["and their certificates", "7", "8"]]

    def page(canvas: object) -> None:
        draw_rows(canvas, rows, (72, 300, 400), right=True)

    last = ["Training of people and their certificates", "7", "8"]
    assert tables(draw_pdf(tmp_path / "a.pdf", page)) == [[*SALES[:3], last]]


def test_three_columns_of_short_texts(tmp_path: Path) -> None:
    rows = [
        ["E-01", "No oil", "Fill up"],
        ["E-02", "Too hot", "Wait an hour"],
        ["E-03", "Dust", "Clean the filter"],
        ["E-04", "Worn", "Replace"],
        ["F-01", "No power", "Call us"],
    ]
    rows = [[text, code, remedy] for code, text, remedy in rows]

    def page(canvas: object) -> None:
        draw_rows(canvas, rows, (72, 180, 300))

    assert tables(draw_pdf(tmp_path / "a.pdf", page)) == [rows]


PROSE = "the machine runs while its door is shut and no one stands near"
NOT_TABLES = {
    "columns of prose": [[PROSE[:38], PROSE[20:58], PROSE[10:48]]] * 8,
    "contents": [["Safety", "3"], ["Service", "9"], ["Repair", "14"], ["Index", "20"]],
    "contents with numbers": [
        ["Chapter A", "Safety", "3"],
        ["Chapter B", "Service", "9"],
        ["Chapter C", "Repair", "14"],
        ["Chapter D", "Index", "20"],
    ],
    "index": [["Airend", "6"], ["Belt", "5, 20"], ["Cooler", "3"], ["Dryer", "14"]],
    "index in two columns": [
        ["Airend", "6", "Oil", "19"],
        ["Belt", "5, 20", "Pump", "10"],
        ["Cooler", "3", "Seal", "12-14"],
        ["Dryer", "14", "Valve", "9"],
    ],
    "steps": [["1.", "Open the door"], ["2.", "Lift"], ["3.", "Turn"], ["4.", "Shut"]],
    "terms": [
        ["Filter", "Keeps dust out of the pump"],
        ["Pump", "Moves 12 litres of oil"],
        ["Valve", "Opens at 3 bar"],
        ["Gauge", "Shows the pressure"],
    ],
    "formulas": [["a = b + c", "(3.1)"], ["b = c - d", "(3.2)"], ["c = d", "(3.3)"]] * 2,
    "labels of a chart": [["90", "81"], ["80", "76"], ["70", "56"], ["60", "47"], ["50", "21"]],
    "two rows": [["Oil", "12", "14"], ["Water", "8", "9"]],
    "form": [["Name:", "Date:"], ["Street:", "Town:"], ["Serial number:", "Model:"]] * 2,
}


@pytest.mark.parametrize("rows", NOT_TABLES.values(), ids=NOT_TABLES.keys())
def test_what_is_no_table(rows: list[list[str]], tmp_path: Path) -> None:
    xs = {2: (72, 300), 3: (72, 260, 448), 4: (72, 200, 300, 430)}[len(rows[0])]

    def page(canvas: object) -> None:
        draw_rows(canvas, rows, xs)

    assert tables(draw_pdf(tmp_path / "a.pdf", page)) == []


def test_code_is_no_table(tmp_path: Path) -> None:
    def page(canvas: object) -> None:
        draw_rows(canvas, SALES, (72, 300, 400), font="Courier")

    assert tables(draw_pdf(tmp_path / "a.pdf", page)) == []


def test_text_beside_ends_the_table(tmp_path: Path) -> None:
    def page(canvas: object) -> None:
        draw_rows(canvas, SALES, (72, 300, 400), right=True)
        lines(canvas, ["All sums are audited, and rounded to whole millions of dollars."], top=170)
        draw_rows(canvas, [["Oil", "1", "2"]], (72, 300, 400), top=184)
        canvas.line(0, HEIGHT - 5, 10, HEIGHT - 5)

    assert tables(draw_pdf(tmp_path / "a.pdf", page)) == [SALES]


def test_numbers() -> None:
    assert all(map(is_number, ("1,234", "(56)", "12 %", "3.5 kg", "-", "$ 7", "±0.02")))
    assert not any(map(is_number, ("E-01 hot", "kg", "", "Total 7 pieces")))


def test_steps_below_a_bold_line_with_a_colon_are_a_list(tmp_path: Path) -> None:
    """Their numbers are no column of labels, though the text hangs behind them."""

    def draw(canvas: object) -> None:
        draw_rows(canvas, [["For", "telephones:"]], (72, 96), font="Helvetica-Bold")
        steps = ["Open the app and touch Devices", "Set the time", "Touch Save", "Restart it"]
        rows = [[f"{number}.", step] for number, step in enumerate(steps, start=1)]
        draw_rows(canvas, rows, (72, 96), top=114)

    assert tables(draw_pdf(tmp_path / "steps.pdf", draw)) == []
