"""Tables by drawn grids, by rules above and below, by shading; and what is none."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path

from tests.parsing.pages import HEIGHT, blocks_of, draw_pdf, lines

ROWS = [["Code", "Meaning", "Remedy"], ["E-01", "No oil", "Fill up"], ["E-02", "Too hot", "Wait"]]
XS = [72, 172, 292, 422]


def cells(canvas: object, rows: list[list[str]], top: float = 115, step: float = 20) -> None:
    for row, texts in enumerate(rows):
        for column, text in enumerate(texts):
            lines(canvas, [text], x=XS[column] + 5, top=top + step * row)


def tables(path: Path) -> list[list[list[str]]]:
    frame = blocks_of(path)
    return [[list(row) for row in value] for value in frame["table_cells"] if value is not None]


def test_ruled_grid(tmp_path: Path) -> None:
    def page(canvas: object) -> None:
        canvas.grid(XS, [HEIGHT - y for y in (100, 120, 140, 160)])
        cells(canvas, ROWS)
        lines(canvas, ["After the table."], top=200)

    file = draw_pdf(tmp_path / "a.pdf", page)
    assert tables(file) == [ROWS]
    frame = blocks_of(file)
    assert frame["kind"].tolist() == ["table", "text"]
    assert frame["text"].iloc[0].split() == " ".join(cell for row in ROWS for cell in row).split()


def test_grid_of_thin_filled_rectangles(tmp_path: Path) -> None:
    def page(canvas: object) -> None:
        for y in (100, 120, 140, 160):
            canvas.rect(XS[0], HEIGHT - y, XS[-1] - XS[0], 0.7, stroke=0, fill=1)
        for x in XS:
            canvas.rect(x, HEIGHT - 160, 0.7, 60, stroke=0, fill=1)
        cells(canvas, ROWS)

    assert tables(draw_pdf(tmp_path / "a.pdf", page)) == [ROWS]


def test_merged_cells_have_spans(tmp_path: Path) -> None:
    def page(canvas: object) -> None:
        for y in (100, 120, 140):
            canvas.line(XS[0], HEIGHT - y, XS[3], HEIGHT - y)
        for x in (XS[0], XS[3]):
            canvas.line(x, HEIGHT - 100, x, HEIGHT - 140)
        for x in (XS[1], XS[2]):
            canvas.line(x, HEIGHT - 120, x, HEIGHT - 140)
        lines(canvas, ["Error codes of the controller and what to do"], x=80, top=115)
        cells(canvas, [["E-01", "No oil", "Fill up"]], top=135)

    frame = blocks_of(draw_pdf(tmp_path / "a.pdf", page))
    spans = [[tuple(span) for span in row] for row in frame["table_spans"].iloc[0]]
    assert spans == [[(3, 1), (0, 0), (0, 0)], [(1, 1)] * 3]


def test_three_rules_and_alignment(tmp_path: Path) -> None:
    def page(canvas: object) -> None:
        for y in (100, 121, 162):
            canvas.line(72, HEIGHT - y, 422, HEIGHT - y)
        cells(canvas, ROWS)

    assert tables(draw_pdf(tmp_path / "a.pdf", page)) == [ROWS]


def test_shaded_rows(tmp_path: Path) -> None:
    rows = [*ROWS, ["E-03", "Too cold", "Heat"]]

    def page(canvas: object) -> None:
        canvas.setFillColorRGB(0.85, 0.9, 1)
        for row in range(4):
            for x0, x1 in pairwise(XS):
                canvas.rect(x0, HEIGHT - 120 - 20 * row, x1 - x0, 20, stroke=0, fill=1)
        canvas.setFillColorRGB(0, 0, 0)
        cells(canvas, rows)

    assert tables(draw_pdf(tmp_path / "a.pdf", page)) == [rows]


def test_rules_around_text_make_no_table(tmp_path: Path) -> None:
    def page(canvas: object) -> None:
        canvas.line(72, HEIGHT - 60, 522, HEIGHT - 60)
        canvas.line(72, HEIGHT - 200, 522, HEIGHT - 200)
        lines(canvas, ["2.1   Structure of the Number"], top=90, font="Helvetica-Bold")
        lines(canvas, ["The number has four parts that tell series and power."] * 4, top=110)
        canvas.rect(72, HEIGHT - 300, 400, 60)
        lines(canvas, ["A framed note is no table,", "whatever its frame may be."], x=80, top=260)

    assert tables(draw_pdf(tmp_path / "a.pdf", page)) == []


def test_underlined_words_draw_no_borders(tmp_path: Path) -> None:
    def page(canvas: object) -> None:
        canvas.grid(XS, [HEIGHT - y for y in (100, 120, 140, 160)])
        cells(canvas, ROWS)
        width = canvas.stringWidth("No oil", "Helvetica", 10)
        canvas.line(XS[1] + 5, HEIGHT - 136.5, XS[1] + 5 + width, HEIGHT - 136.5)

    assert tables(draw_pdf(tmp_path / "a.pdf", page)) == [ROWS]


def test_columns_between_two_underlined_titles_are_no_table(tmp_path: Path) -> None:
    left = ["Direct coupling without gears", "Fieldbus over a serial line", "Dryer in all models"]
    right = ["Sequencing of six machines", "Oil change every 4000 h", "One service door"]

    def page(canvas: object) -> None:
        for title, top in (("Features", 100), ("Technical data", 170)):
            lines(canvas, [title], top=top, size=14)
            canvas.line(72, HEIGHT - top - 5, 520, HEIGHT - top - 5)
        lines(canvas, left, top=125)
        lines(canvas, right, x=300, top=125)
        lines(canvas, ["All figures hold at sea level."], top=195)

    frame = blocks_of(draw_pdf(tmp_path / "a.pdf", page))
    assert "table" not in set(frame["kind"])
    assert "Technical data" in frame["text"].tolist()


def test_titles_above_the_uppermost_line_are_the_first_row(tmp_path: Path) -> None:
    def page(canvas: object) -> None:
        for y in (120, 140, 160):
            canvas.line(XS[0], HEIGHT - y, XS[-1], HEIGHT - y)
        for x in XS[1:-1]:
            canvas.line(x, HEIGHT - 120, x, HEIGHT - 160)
        cells(canvas, [["", "Meaning", "Remedy"], *ROWS[1:]])

    assert tables(draw_pdf(tmp_path / "a.pdf", page)) == [[["", "Meaning", "Remedy"], *ROWS[1:]]]


def test_a_sentence_above_a_grid_is_not_its_first_row(tmp_path: Path) -> None:
    def page(canvas: object) -> None:
        canvas.grid(XS, [HEIGHT - y for y in (120, 140, 160, 180)])
        lines(canvas, ["Codes of the controller, and what each of them means"], x=77, top=115)
        cells(canvas, ROWS, top=135)

    assert tables(draw_pdf(tmp_path / "a.pdf", page)) == [ROWS]


def test_a_frame_within_a_cell_makes_no_column(tmp_path: Path) -> None:
    def page(canvas: object) -> None:
        for y in (100, 120, 140, 160):
            canvas.line(XS[0], HEIGHT - y, XS[-1], HEIGHT - y)
        for x in XS:
            canvas.line(x, HEIGHT - 100, x, HEIGHT - 160)
        canvas.line(412, HEIGHT - 100, 412, HEIGHT - 120)
        cells(canvas, ROWS)

    frame = blocks_of(draw_pdf(tmp_path / "a.pdf", page))
    assert [list(row) for row in frame["table_cells"].iloc[0]] == ROWS
    assert {tuple(span) for row in frame["table_spans"].iloc[0] for span in row} == {(1, 1)}


def test_a_short_rule_below_a_title_spans_it(tmp_path: Path) -> None:
    """Booktabs: `Repair` stands over two columns, with a rule of its own below it."""
    rows = [["E-03", "Dust", "Clean"], ["E-04", "Worn", "Replace"]]

    def page(canvas: object) -> None:
        for y in (90, 200):
            canvas.line(72, HEIGHT - y, 422, HEIGHT - y)
        canvas.line(XS[1], HEIGHT - 106, 422, HEIGHT - 106)
        lines(canvas, ["Repair"], x=280, top=102)
        cells(canvas, [*ROWS, *rows], top=118)

    frame = blocks_of(draw_pdf(tmp_path / "a.pdf", page))
    found = [list(row) for row in frame["table_cells"].iloc[0]]
    assert found == [["", "Repair", ""], *ROWS, *rows]
    first = [tuple(span) for span in frame["table_spans"].iloc[0][0]]
    assert first == [(1, 1), (2, 1), (0, 0)]


def test_one_row_whose_cells_nearly_touch_does_not_join_columns(tmp_path: Path) -> None:
    rows = [[f"E-0{n}", "Dust in it", "Clean"] for n in range(1, 5)]

    def page(canvas: object) -> None:
        for y in (90, 200):
            canvas.line(72, HEIGHT - y, 422, HEIGHT - y)
        width = canvas.stringWidth("A meaning of length", "Helvetica", 10)
        lines(canvas, ["Code"], x=77, top=115)
        lines(canvas, ["A meaning of length"], x=XS[2] - width, top=115)
        lines(canvas, ["Remedy"], x=XS[2] + 4, top=115)
        cells(canvas, rows, top=135, step=15)

    assert tables(draw_pdf(tmp_path / "a.pdf", page)) == [
        [["Code", "A meaning of length", "Remedy"], *rows]
    ]
