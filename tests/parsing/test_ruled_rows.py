"""Grids whose lines part groups of rows only, sparse grids, and turned titles."""

from __future__ import annotations

from pathlib import Path

import pytest
from reportlab.pdfgen.canvas import Canvas

from tests.parsing.pages import HEIGHT, blocks_of, draw_pdf, lines

Rows = list[list[str]]


def tables(path: Path) -> list[Rows]:
    frame = blocks_of(path)
    return [[list(row) for row in value] for value in frame["table_cells"] if value is not None]


def grid(canvas: Canvas, xs: list[float], ys: list[float]) -> None:
    for x in xs:
        canvas.line(x, HEIGHT - ys[0], x, HEIGHT - ys[-1])
    for y in ys:
        canvas.line(xs[0], HEIGHT - y, xs[-1], HEIGHT - y)


def column(canvas: Canvas, texts: str, x: float, top: float, font: str = "Helvetica") -> None:
    """Lines of one cell, parted by bars; an empty one leaves its place free."""
    for number, text in enumerate(texts.split("|")):
        lines(canvas, [text], x=x, top=top + 12 * number, size=9, font=font)


def test_numbers_below_each_other_are_rows_under_titles_of_groups(tmp_path: Path) -> None:
    def page(canvas: Canvas) -> None:
        grid(canvas, [70, 200, 280, 360], [100, 116, 194])
        for x, title in ((74, "Group"), (204, "Yes"), (284, "No")):
            column(canvas, title, x, 112, "Helvetica-Bold")
        for at, label in enumerate(("Age 3", "Tested", "Control", "Age 4", "Tested", "Control")):
            bold = label.startswith("Age")
            top = 128 + 12 * at
            column(canvas, label, 74, top, "Helvetica-Bold" if bold else "Helvetica")
        column(canvas, "|85 %|17 %||80 %|14 %", 204, 128)
        column(canvas, "|15 %|83 %||20 %|86 %", 284, 128)

    assert tables(draw_pdf(tmp_path / "a.pdf", page)) == [
        [
            ["Group", "Yes", "No"],
            ["Age 3", "", ""],
            ["Tested", "85 %", "15 %"],
            ["Control", "17 %", "83 %"],
            ["Age 4", "", ""],
            ["Tested", "80 %", "20 %"],
            ["Control", "14 %", "86 %"],
        ]
    ]


def test_gaps_through_all_columns_part_rows(tmp_path: Path) -> None:
    def page(canvas: Canvas) -> None:
        grid(canvas, [70, 160, 330, 480], [100, 116, 232])
        for x, title in ((74, "Source"), (164, "Definition"), (334, "Examples")):
            column(canvas, title, x, 112, "Helvetica-Bold")
        for top, label, meaning, examples in (
            (128, "Moving:", "", ""),
            (150, "On road", "Emissions from vehicles that|run on public roads", "Cars, buses"),
            (
                184,
                "Others",
                "Emissions from engines that|stand or run elsewhere",
                "Tractors,|boats",
            ),
        ):
            column(canvas, label, 74, top)
            column(canvas, meaning, 164, top)
            column(canvas, examples, 334, top)

    assert tables(draw_pdf(tmp_path / "a.pdf", page)) == [
        [
            ["Source", "Definition", "Examples"],
            ["Moving:", "", ""],
            ["On road", "Emissions from vehicles that run on public roads", "Cars, buses"],
            ["Others", "Emissions from engines that stand or run elsewhere", "Tractors, boats"],
        ]
    ]


def test_wrapped_cells_stay_whole(tmp_path: Path) -> None:
    """Three lines in each of two cells are no rows: each line was full."""

    def page(canvas: Canvas) -> None:
        grid(canvas, [70, 166, 262], [100, 116, 160, 176])
        for x, title in ((74, "Fault"), (170, "Remedy")):
            column(canvas, title, x, 112)
        column(canvas, "Motor runs, but the|pressure does not|reach its limit", 74, 128)
        column(canvas, "Bleed the line, and|replace the strainer|if it is clogged", 170, 128)
        column(canvas, "Noise", 74, 172)
        column(canvas, "Fill up", 170, 172)

    assert tables(draw_pdf(tmp_path / "a.pdf", page)) == [
        [
            ["Fault", "Remedy"],
            [
                "Motor runs, but the pressure does not reach its limit",
                "Bleed the line, and replace the strainer if it is clogged",
            ],
            ["Noise", "Fill up"],
        ]
    ]


def test_titles_of_columns_below_the_title_of_their_group(tmp_path: Path) -> None:
    """No line stands between `Summer` and the titles of its two columns, nor between these."""

    def page(canvas: Canvas) -> None:
        for x in (70, 160, 320):
            canvas.line(x, HEIGHT - 100, x, HEIGHT - 160)
        canvas.line(240, HEIGHT - 128, 240, HEIGHT - 160)
        for y in (100, 128, 144, 160):
            canvas.line(70, HEIGHT - y, 320, HEIGHT - y)
        column(canvas, "Model", 74, 112)
        column(canvas, "Summer", 224, 112)
        column(canvas, "min", 180, 124)
        column(canvas, "max", 260, 124)
        for top, row in ((140, ("P-1", "11.0", "24.5")), (156, ("P-2", "12.5", "26.0"))):
            for x, text in zip((74, 180, 260), row, strict=True):
                column(canvas, text, x, top)

    frame = blocks_of(draw_pdf(tmp_path / "a.pdf", page))
    assert [list(row) for row in frame["table_cells"].iloc[0]] == [
        ["Model", "Summer", ""],
        ["", "min", "max"],
        ["P-1", "11.0", "24.5"],
        ["P-2", "12.5", "26.0"],
    ]
    spans = [[tuple(span) for span in row] for row in frame["table_spans"].iloc[0]]
    assert spans[:2] == [[(1, 2), (2, 1), (0, 0)], [(0, 0), (1, 1), (1, 1)]]


def test_a_long_schedule_of_crosses(tmp_path: Path) -> None:
    """One text in fourteen cells; each row still has its label and each column its title."""
    hours = [f"{50 * 2**at} h" for at in range(8)]
    expected = [["Task", *hours]]
    for number in range(16):
        expected.append(
            [f"Task {number + 1}", *("x" if at == number % 8 else "" for at in range(8))]
        )

    def page(canvas: Canvas) -> None:
        xs = [70.0, 150.0, *(150 + 40.0 * at for at in range(1, 9))]
        grid(canvas, xs, [100 + 15 * at for at in range(18)])
        for at, row in enumerate(expected):
            for x, text in zip(xs, row, strict=False):
                column(canvas, text, x + 4, 111 + 15 * at)

    assert tables(draw_pdf(tmp_path / "a.pdf", page)) == [expected]


@pytest.mark.parametrize("angle", [90, -90])
def test_turned_titles(tmp_path: Path, angle: int) -> None:
    titles = ["Daily", "Weekly", "Every 2000 h"]
    marks = [["Check the oil", "x", "", ""], ["Clean the strainer", "", "x", ""]]

    def page(canvas: Canvas) -> None:
        xs = [70.0, 190.0, 230.0, 270.0, 310.0]
        grid(canvas, xs, [100, 180, 196, 212])
        column(canvas, "Task", 74, 176)
        for x, title in zip(xs[1:], titles, strict=False):
            canvas.saveState()
            canvas.translate(x + 20, HEIGHT - (174 if angle > 0 else 110))
            canvas.rotate(angle)
            canvas.setFont("Helvetica", 9)
            canvas.drawString(0, 0, title)
            canvas.restoreState()
        for top, row in zip((192, 208), marks, strict=True):
            for x, text in zip(xs, row, strict=False):
                column(canvas, text, x + 4, top)

    frame = blocks_of(draw_pdf(tmp_path / "a.pdf", page))
    assert list(frame["kind"]) == ["table"]
    assert [list(row) for row in frame["table_cells"].iloc[0]] == [["Task", *titles], *marks]


def test_the_scale_of_a_chart_is_no_table(tmp_path: Path) -> None:
    def page(canvas: Canvas) -> None:
        for at in range(6):
            canvas.line(90, HEIGHT - 100 - 20 * at, 400, HEIGHT - 100 - 20 * at)
            lines(canvas, [str(50 - 10 * at)], x=72, top=103 + 20 * at, size=8)
        for x, y, text in ((130, 112, "43"), (200, 146, "27"), (270, 172, "12"), (340, 128, "36")):
            lines(canvas, [text], x=x, top=y, size=8)
        for x, text in ((130, "North"), (200, "South"), (270, "East"), (340, "West")):
            lines(canvas, [text], x=x, top=218, size=8)

    assert tables(draw_pdf(tmp_path / "a.pdf", page)) == []


def test_boxes_joined_by_lines_are_no_table(tmp_path: Path) -> None:
    """A chart of boxes meets in a grid of borders, but its rows hold one text each."""

    def page(canvas: Canvas) -> None:
        for x, top, text in ((70, 100, "Start"), (200, 140, "Check"), (70, 180, "Stop")):
            canvas.rect(x, HEIGHT - top - 20, 100, 20)
            lines(canvas, [text], x=x + 20, top=top + 14)
        canvas.line(170, HEIGHT - 110, 250, HEIGHT - 110)
        canvas.line(250, HEIGHT - 110, 250, HEIGHT - 140)
        canvas.line(250, HEIGHT - 160, 250, HEIGHT - 190)
        canvas.line(170, HEIGHT - 190, 250, HEIGHT - 190)

    assert tables(draw_pdf(tmp_path / "a.pdf", page)) == []
