"""What stands beside the text: numbers of lines, side heads, a number between two columns."""

from __future__ import annotations

from pathlib import Path

from reportlab.pdfgen.canvas import Canvas

from rag_pipeline.parsing import parse_file
from rag_pipeline.settings import ParsingSettings, StructureSettings
from rag_pipeline.structure import infer_structure
from tests.parsing.pages import HEIGHT, blocks_of, draw_pdf, lines

PROSE = [
    "The crane lifts loads of up to four tonnes; where the wind is strong,",
    "less is allowed. Read the gauge before each lift and write the value",
    "down. If the gauge shows nothing, stop the work and call the workshop,",
    "which keeps a second one. The rope is inspected by a trained person",
    "every month. Keep away from the hook while the motor is running, and",
    "never stand below a load.",
]


def numbered(canvas: Canvas, step: int, x: float) -> None:
    """Two columns of prose; every so many lines are numbered at `x`."""
    short = [line[:38] for line in PROSE * 4]
    lines(canvas, short, x=72)
    lines(canvas, short, x=330)
    canvas.setFont("Helvetica", 8)
    for number in range(step, len(short) + 1, step):
        canvas.drawRightString(x, HEIGHT - 100 - (number - 1) * 13, str(number))


def test_numbers_of_lines_are_left_out_and_said(tmp_path: Path) -> None:
    def margin(canvas: Canvas) -> None:
        lines(canvas, PROSE * 3)
        canvas.setFont("Helvetica", 7)
        for number in range(18):
            canvas.drawRightString(58, HEIGHT - 100 - number * 13, str(number + 41))

    parsed = parse_file(draw_pdf(tmp_path / "a.pdf", margin), ParsingSettings())
    text = "\n".join(parsed.blocks["text"])
    assert text == "\n".join(PROSE * 3)
    assert "18 line numbers beside the text left out" in parsed.warnings
    assert parsed.left_out[1].split() == [str(number) for number in range(41, 59)]


def test_numbers_between_two_columns_do_not_join_them(tmp_path: Path) -> None:
    blocks = blocks_of(draw_pdf(tmp_path / "a.pdf", lambda canvas: numbered(canvas, 5, 318)))
    text = "\n".join(blocks["text"])
    assert text.split("\n") == [line[:38].strip() for line in PROSE * 8]


def test_numbers_of_rows_and_of_a_program_stay(tmp_path: Path) -> None:
    def rows(canvas: Canvas) -> None:
        names = ["Motor, 400 V", "Coupling", "Housing", "Inlet valve", "Strainer", "Drain screw"]
        lines(canvas, [f"{number}" for number in range(1, 7)], x=72)
        lines(canvas, [f"{name}, delivered with its own set of screws" for name in names], x=100)

    def program(canvas: Canvas) -> None:
        code = ["while is_open(valve):", "    wait(5)", "    read(gauge)", "stop(motor)", "end()"]
        lines(canvas, [f"{at}  {line}" for at, line in enumerate(code * 2, 10)], font="Courier")

    text = "\n".join(blocks_of(draw_pdf(tmp_path / "a.pdf", rows, program))["text"])
    assert "1 Motor, 400 V" in text
    assert "6 Drain screw" in text
    assert "10  while is_open(valve):\n11      wait(5)\n12      read(gauge)" in text


def test_a_heading_beside_its_text_is_read_before_it(tmp_path: Path) -> None:
    def draw(canvas: Canvas) -> None:
        top = 120.0
        for first, second in (("Lifting", "a load"), ("Storing", "the rope"), ("After", "a storm")):
            lines(canvas, [first, second], x=72, top=top, font="Helvetica-Bold")
            lines(canvas, [line[:55] for line in PROSE[:3]], x=190, top=top)
            lines(canvas, [f"Wear gloves when {first.lower()}."], x=190, top=top + 52)
            lines(canvas, ["1. Lock the hook.", "2. Sign the book."], x=190, top=top + 78)
            top += 130

    parsed = parse_file(draw_pdf(tmp_path / "a.pdf", draw), ParsingSettings())
    frame = infer_structure(parsed.blocks, StructureSettings())
    headings = frame[frame["role"] == "heading"]["text"].str.replace("\n", " ")
    assert list(headings) == ["Lifting a load", "Storing the rope", "After a storm"]
    assert frame["text"].iloc[-1] == "2. Sign the book."
    assert frame["text"].iloc[2] == "Wear gloves when lifting."


def test_terms_beside_their_explanations_stay_with_them(tmp_path: Path) -> None:
    def draw(canvas: Canvas) -> None:
        for at, term in enumerate(("Hook", "Rope", "Drum", "Brake")):
            lines(canvas, [term], x=72, top=120 + 40 * at, font="Helvetica-Bold")
            lines(canvas, [PROSE[0][:60], PROSE[1][:40]], x=150, top=120 + 40 * at)

    blocks = blocks_of(draw_pdf(tmp_path / "a.pdf", draw))
    assert any("Hook The crane lifts" in text.replace("\n", " ") for text in blocks["text"])


def test_a_number_below_the_gutter_does_not_join_the_columns(tmp_path: Path) -> None:
    def draw(canvas: Canvas) -> None:
        lines(canvas, [line[:40].ljust(40, "m") for line in PROSE * 3], x=60)
        lines(canvas, [line[:40] for line in PROSE * 3], x=306)
        canvas.setFont("Helvetica", 9)
        canvas.drawCentredString(296, 40, "29")

    text = "\n".join(blocks_of(draw_pdf(tmp_path / "a.pdf", draw))["text"])
    left, right = PROSE[0][:40].ljust(40, "m"), PROSE[0][:40]
    assert left in text.split("\n")
    assert right in text.split("\n")
