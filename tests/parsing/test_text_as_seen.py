"""Text of PDFs as a reader sees it: what is written over, beside, above, twice or not at all."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from reportlab.lib.pagesizes import A4
from reportlab.pdfgen.canvas import Canvas

from rag_pipeline.parsing import parse_file
from rag_pipeline.parsing.contract import ParsedDocument
from rag_pipeline.settings import ParsingSettings

TOP = A4[1] - 72
BODY = [
    "The pump moves coolant from the tank to the nozzle at a steady rate, day and night.",
    "A sensor watches the pressure and stops the motor where it falls below the limit.",
]


def parse(path: Path, draw: Callable[[Canvas], None]) -> ParsedDocument:
    """Draw one page below two lines of text and parse it."""
    canvas = Canvas(str(path), pagesize=A4, invariant=True)
    canvas.setFont("Helvetica", 10)
    for number, line in enumerate(BODY):
        canvas.drawString(72, TOP - 14 * number, line)
    draw(canvas)
    canvas.save()
    return parse_file(path, ParsingSettings(), document=path.name)


def text_of(parsed: ParsedDocument) -> str:
    return "\n".join(parsed.blocks["text"])


def test_values_of_forms_are_text_and_checked_boxes_are_said(tmp_path: Path) -> None:
    def draw(canvas: Canvas) -> None:
        canvas.drawString(72, TOP - 60, "Serial number:")
        canvas.acroForm.textfield(name="serial", value="SN-778", x=160, y=TOP - 66, width=120)
        canvas.drawString(72, TOP - 100, "Valve tested:")
        canvas.acroForm.checkbox(name="valve", checked=True, x=160, y=TOP - 106)
        canvas.acroForm.checkbox(name="earth", checked=False, x=160, y=TOP - 136)

    parsed = parse(tmp_path / "form.pdf", draw)
    assert "SN-778" in text_of(parsed)
    assert "page 1: checked boxes of a form that were not read: 1" in parsed.warnings


def test_a_typed_note_is_text_or_a_warning(tmp_path: Path) -> None:
    def draw(canvas: Canvas) -> None:
        canvas.freeTextAnnotation("CHANGED: 14 bar", "0 g /Helv 10 Tf", Rect=[72, 500, 300, 540])

    parsed = parse(tmp_path / "note.pdf", draw)
    assert any("CHANGED: 14 bar" in part for part in (text_of(parsed), *parsed.warnings))


def test_white_text_counts_where_it_is_seen(tmp_path: Path) -> None:
    def draw(canvas: Canvas) -> None:
        canvas.setFillColorRGB(0.1, 0.2, 0.5)
        canvas.roundRect(66, TOP - 70, 200, 24, 8, stroke=0, fill=1)
        canvas.setFillColorRGB(1, 1, 1)
        canvas.setFont("Helvetica-Bold", 14)
        canvas.drawString(72, TOP - 64, "Maintenance")
        canvas.drawString(72, TOP - 120, "Ghost")

    parsed = parse(tmp_path / "white.pdf", draw)
    assert "Maintenance" in text_of(parsed)
    assert "Ghost" not in text_of(parsed)
    assert "5 characters of hidden text left out" in parsed.warnings


def test_what_is_painted_over_is_not_read(tmp_path: Path) -> None:
    def draw(canvas: Canvas) -> None:
        canvas.drawString(72, TOP - 60, "Set pressure: 16 bar")
        canvas.setFillColorRGB(1, 1, 1)
        canvas.rect(132, TOP - 64, 80, 14, stroke=0, fill=1)
        canvas.setFillColorRGB(0, 0, 0)
        canvas.drawString(172, TOP - 60, "14 bar")

    text = text_of(parse(tmp_path / "over.pdf", draw))
    assert "14 bar" in text
    assert "16" not in text


def test_a_line_drawn_twice_is_read_once(tmp_path: Path) -> None:
    def draw(canvas: Canvas) -> None:
        canvas.setFillGray(0.7)
        canvas.drawString(73, TOP - 61, "Set the relief valve to 7 bar.")
        canvas.setFillGray(0)
        canvas.drawString(72, TOP - 60, "Set the relief valve to 7 bar.")

    assert text_of(parse(tmp_path / "twice.pdf", draw)).count("7 bar") == 1


@pytest.mark.parametrize(
    ("base", "raised", "right"), [("10", "3", "10^3"), ("10", "-6", "10^-6"), ("m", "3", "m³")]
)
def test_an_exponent_is_no_digit_of_the_number(
    tmp_path: Path, base: str, raised: str, right: str
) -> None:
    def draw(canvas: Canvas) -> None:
        line = canvas.beginText(72, TOP - 60)
        line.setFont("Helvetica", 10)
        line.textOut(f"It holds at most 5 {base}" if base == "m" else f"At most {base}")
        line.setFont("Helvetica", 6)
        line.setRise(4)
        line.textOut(raised)
        line.setRise(0)
        line.setFont("Helvetica", 10)
        line.textOut(" of it, as the data sheet says.")
        canvas.drawText(line)

    assert right in text_of(parse(tmp_path / "raised.pdf", draw))


def test_a_part_number_keeps_its_hyphen_at_the_end_of_a_line(tmp_path: Path) -> None:
    def draw(canvas: Canvas) -> None:
        canvas.drawString(
            72, TOP - 28, "Order the coupling from the service department as part qcl-"
        )
        canvas.drawString(72, TOP - 42, "ab-22 and fit it as the drawing of the housing shows.")

    assert "qcl-ab-22" in text_of(parse(tmp_path / "part.pdf", draw))


def test_pages_beyond_the_number_that_the_file_names_are_read(tmp_path: Path) -> None:
    path = tmp_path / "pages.pdf"
    canvas = Canvas(str(path), invariant=True)
    for number in range(1, 6):
        canvas.drawString(72, TOP, f"Page {number} of the manual says what follows.")
        canvas.showPage()
    canvas.save()
    path.write_bytes(path.read_bytes().replace(b"/Count 5", b"/Count 2"))
    parsed = parse_file(path, ParsingSettings(), document=path.name)
    assert parsed.page_count == 5
    assert "Page 5 of the manual" in text_of(parsed)
