"""What is read from a page: boxes, styles, hidden text, rotation, memory."""

from __future__ import annotations

import resource
from pathlib import Path

import pytest

from rag_pipeline.parsing import parse_file
from rag_pipeline.settings import ParsingSettings
from tests.parsing.pages import HEIGHT, blocks_of, draw_pdf, lines


def test_box_size_and_style(tmp_path: Path) -> None:
    def page(canvas: object) -> None:
        lines(canvas, ["Oil filter"], x=100, top=200, size=20, font="Helvetica-Bold")
        lines(canvas, ["rag sync manuals"], x=100, top=300, size=10, font="Courier")

    frame = blocks_of(draw_pdf(tmp_path / "a.pdf", page))
    bold, fixed = frame.to_dict("records")
    assert (bold["text"], bold["font_size"], bold["is_bold"]) == ("Oil filter", 20.0, True)
    assert bold["x0"] == pytest.approx(100 / 595.28, abs=0.003)
    assert bold["y1"] == pytest.approx(200 / HEIGHT, abs=0.01)
    assert bold["y0"] == pytest.approx(182 / HEIGHT, abs=0.01)
    assert (fixed["is_monospace"], fixed["is_bold"]) == (True, False)


def test_hidden_text_is_left_out_and_said(tmp_path: Path) -> None:
    def page(canvas: object) -> None:
        lines(canvas, ["Seen"], top=100)
        canvas.setFillColorRGB(1, 1, 1)
        lines(canvas, ["white"], top=150)
        canvas.setFillColorRGB(0, 0, 0)
        lines(canvas, ["tiny"], top=200, size=0.5)
        lines(canvas, ["outside"], x=900, top=250)
        text = canvas.beginText(72, HEIGHT - 300)
        text.setTextRenderMode(3)
        text.textLine("invisible")
        canvas.drawText(text)

    parsed = parse_file(draw_pdf(tmp_path / "a.pdf", page), ParsingSettings())
    assert parsed.blocks["text"].tolist() == ["Seen"]
    assert any("hidden" in warning for warning in parsed.warnings)


def test_white_text_on_a_dark_field_is_seen(tmp_path: Path) -> None:
    def page(canvas: object) -> None:
        canvas.setFillColorRGB(0, 0, 0.4)
        canvas.rect(60, HEIGHT - 160, 200, 30, stroke=0, fill=1)
        canvas.setFillColorRGB(1, 1, 1)
        lines(canvas, ["Model"], x=72, top=150)

    assert blocks_of(draw_pdf(tmp_path / "a.pdf", page))["text"].tolist() == ["Model"]


def test_text_printed_twice_is_read_once_and_bold(tmp_path: Path) -> None:
    def page(canvas: object) -> None:
        lines(canvas, ["Double strike"], x=72, top=100)
        lines(canvas, ["Double strike"], x=72.3, top=100)
        lines(canvas, ["Plain"], x=72, top=150)

    frame = blocks_of(draw_pdf(tmp_path / "a.pdf", page))
    assert frame["text"].tolist() == ["Double strike", "Plain"]
    assert frame["is_bold"].tolist() == [True, False]


def test_a_rotated_page_is_read_as_it_runs_with_boxes_as_seen(tmp_path: Path) -> None:
    def page(canvas: object) -> None:
        canvas.setPageRotation(90)  # ReportLab makes the sheet 842 wide and 595 high with it
        canvas.setFont("Helvetica", 10)
        canvas.drawString(72, 500, "First line")
        canvas.drawString(72, 440, "Second line")

    frame = blocks_of(draw_pdf(tmp_path / "a.pdf", page))
    assert frame["text"].tolist() == ["First line", "Second line"]
    first = frame.iloc[0]
    # Turned clockwise, what was up is at the right, and what was left is at the top.
    assert first["x0"] == pytest.approx((500 - 2.1) / 595.28, abs=0.004)
    assert first["x1"] == pytest.approx((500 + 8) / 595.28, abs=0.006)
    assert first["y0"] == pytest.approx(72 / 841.89, abs=0.003)


def test_bold_by_font_name_of_many_kinds() -> None:
    from rag_pipeline.parsing.pdf.native.fonts import is_bold_font

    bold = [
        "CMBX12",
        "SFBX1000",
        "NanumGothic-Bd",
        "Frutiger-Black",
        "GillSans-SemiBold",
        "ecbx1095",
    ]
    plain = ["CMR10", "SFRM1000", "NanumGothic", "Abduco-Regular", "Gill Sans", "ecrm1095"]
    assert [is_bold_font(name, 400, 0) for name in bold] == [True] * len(bold)
    assert [is_bold_font(name, 400, 0) for name in plain] == [False] * len(plain)


def test_memory_does_not_grow(tmp_path: Path) -> None:
    """Fault P9: the same file parsed again and again in one process."""

    def page(canvas: object) -> None:
        lines(canvas, [f"Line {number} of a page with some words on it." for number in range(45)])

    file = draw_pdf(tmp_path / "a.pdf", *[page] * 4)
    for _ in range(10):
        parse_file(file, ParsingSettings())
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    for _ in range(40):
        parse_file(file, ParsingSettings())
    grown = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
    assert grown < 4 * 1024  # kilobytes


def unmapped_pdf(path: Path) -> Path:
    """A subset font whose `ToUnicode` table is made unknown."""
    import reportlab
    from reportlab.pdfbase import pdfmetrics
    from reportlab.pdfbase.ttfonts import TTFont

    pdfmetrics.registerFont(
        TTFont("Vera", str(Path(reportlab.__file__).parent / "fonts" / "Vera.ttf"))
    )
    draw_pdf(path, lambda canvas: lines(canvas, ["Öl prüfen", "Größe ändern"], font="Vera"))
    path.write_bytes(path.read_bytes().replace(b"/ToUnicode", b"/ToNothing"))
    return path


def test_fonts_that_do_not_say_their_characters_are_noticed(tmp_path: Path) -> None:
    parsed = parse_file(unmapped_pdf(tmp_path / "a.pdf"), ParsingSettings())
    assert any("unmapped fonts" in warning for warning in parsed.warnings)
