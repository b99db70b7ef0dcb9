"""Pages that are pictures of text: read by Tesseract where it is, said where it is not."""

from __future__ import annotations

import shutil
from pathlib import Path

import pypdfium2 as pdfium
import pytest
from reportlab.lib.pagesizes import A4
from reportlab.lib.utils import ImageReader

from rag_pipeline.errors import NoTextError
from rag_pipeline.parsing import parse_file
from rag_pipeline.parsing.pdf.layout.geometry import PageContent, PageWord, Style
from rag_pipeline.parsing.pdf.ocr.picture_pages import confidence_in, is_picture
from rag_pipeline.parsing.pdf.ocr.recognized import (
    PageWords,
    Recognized,
    snapped_size,
    words_of_output,
)
from rag_pipeline.parsing.pdf.ocr.tesseract import fitting_languages
from rag_pipeline.settings import ParsingSettings, StructureSettings
from rag_pipeline.structure import headings_of, infer_structure
from tests.parsing.pages import HEIGHT, blocks_of, draw_pdf, lines

needs_tesseract = pytest.mark.skipif(
    shutil.which("tesseract") is None, reason="the program tesseract is not installed"
)
BODY = [
    "Drain the oil while the engine is warm and keep the drain plug.",
    "Fit a new gasket and tighten the plug with a torque of 25 Nm.",
    "Fill in 3.5 litres of oil and check the level after two minutes.",
]


def manual_page(canvas: object) -> None:
    lines(canvas, ["Oil change"], top=100, size=20)
    lines(canvas, BODY, top=140, size=11, step=15)


def scanned(path: Path, *pages: object, turn: int = 0) -> Path:
    """The pages as pictures of 200 dpi, each over its whole sheet."""
    source = pdfium.PdfDocument(draw_pdf(path.with_suffix(".source.pdf"), *pages))
    images = [page.render(scale=200 / 72).to_pil().rotate(turn, expand=True) for page in source]

    def picture(image: object) -> object:
        def draw(canvas: object) -> None:
            if turn:
                canvas.setPageRotation(turn)  # ReportLab swaps the sheet's sides itself
            width, height = canvas._pagesize if not turn else (A4[1], A4[0])
            canvas.drawImage(ImageReader(image), 0, 0, width, height)

        return draw

    return draw_pdf(path, *map(picture, images))


@needs_tesseract
def test_a_scan_is_read_with_boxes_sizes_and_confidence(tmp_path: Path) -> None:
    parsed = parse_file(scanned(tmp_path / "a.pdf", manual_page), ParsingSettings())
    title, body = parsed.blocks.to_dict("records")
    assert (title["text"], body["text"]) == ("Oil change", "\n".join(BODY))
    assert title["x0"] == pytest.approx(72 / A4[0], abs=0.005)
    assert title["y1"] == pytest.approx(104 / HEIGHT, abs=0.01)
    assert body["font_size"] == pytest.approx(11, rel=0.1)
    assert title["font_size"] == pytest.approx(20, rel=0.15)
    assert 0.7 < body["confidence"] < 1
    assert any(warning.startswith("ocr: tesseract ") for warning in parsed.warnings)
    headings = headings_of(infer_structure(parsed.blocks, StructureSettings()))
    assert [heading[1] for heading in headings] == ["Oil change"]


@needs_tesseract
def test_a_scan_among_pages_with_text(tmp_path: Path) -> None:
    source = scanned(tmp_path / "scan.pdf", manual_page)
    plain = draw_pdf(tmp_path / "plain.pdf", lambda canvas: lines(canvas, ["Plain words."]))
    whole = pdfium.PdfDocument.new()
    for part in (plain, source, plain):
        whole.import_pages(pdfium.PdfDocument(part))
    whole.save(tmp_path / "a.pdf")
    frame = blocks_of(tmp_path / "a.pdf")
    texts = frame.groupby("page_number")["text"].first().to_dict()
    assert texts == {1: "Plain words.", 2: "Oil change", 3: "Plain words."}
    sure = frame.groupby("page_number")["confidence"].min()
    assert sure[1] == sure[3] == 1.0 > sure[2]


@needs_tesseract
def test_a_turned_scan_is_read_as_seen(tmp_path: Path) -> None:
    frame = blocks_of(scanned(tmp_path / "a.pdf", manual_page, turn=90))
    assert frame["text"].tolist() == ["Oil change", "\n".join(BODY)]
    assert frame["x0"].iloc[0] == pytest.approx(72 / A4[0], abs=0.005)


@needs_tesseract
def test_a_stamp_on_a_scan_stays_as_it_is(tmp_path: Path) -> None:
    def stamped(canvas: object) -> None:
        canvas.drawImage(ImageReader(image), 0, 0, *A4)
        lines(canvas, ["REV-0042"], x=450, top=40, size=9)

    source = pdfium.PdfDocument(draw_pdf(tmp_path / "source.pdf", manual_page))
    image = source[0].render(scale=200 / 72).to_pil()
    texts = blocks_of(draw_pdf(tmp_path / "a.pdf", stamped))["text"].tolist()
    assert texts.count("REV-0042") == 1
    assert "Oil change" in texts


def test_without_the_program_the_document_says_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", "")
    file = scanned(tmp_path / "a.pdf", manual_page)
    with pytest.raises(NoTextError, match="install Tesseract"):
        parse_file(file, ParsingSettings())


def test_without_the_program_a_single_page_is_a_warning(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", "")
    source = pdfium.PdfDocument(scanned(tmp_path / "scan.pdf", manual_page))
    draw_pdf(tmp_path / "plain.pdf", lambda canvas: lines(canvas, ["Plain words."]))
    whole = pdfium.PdfDocument(tmp_path / "plain.pdf")
    whole.import_pages(source)
    whole.save(tmp_path / "a.pdf")
    parsed = parse_file(tmp_path / "a.pdf", ParsingSettings())
    assert parsed.blocks["text"].tolist() == ["Plain words."]
    assert any("page 2 without text" in warning for warning in parsed.warnings)


def test_it_can_be_switched_off(tmp_path: Path) -> None:
    with pytest.raises(NoTextError, match=r"parsing\.ocr"):
        parse_file(scanned(tmp_path / "a.pdf", manual_page), ParsingSettings(ocr="off"))


def test_a_program_that_fails_is_a_warning(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    program = tmp_path / "bin" / "tesseract"
    program.parent.mkdir()
    program.write_text(
        '#!/bin/sh\ncase "$1" in\n--version) echo tesseract 9.9;;\n'
        '--list-langs) printf "List:\\neng\\nosd\\n";;\n*) echo broken >&2; exit 3;;\nesac\n'
    )
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{program.parent}")
    pdf = pdfium.PdfDocument(
        draw_pdf(tmp_path / "plain.pdf", lambda canvas: lines(canvas, ["Plain words."]))
    )
    pdf.import_pages(pdfium.PdfDocument(scanned(tmp_path / "scan.pdf", manual_page)))
    pdf.save(tmp_path / "a.pdf")
    parsed = parse_file(tmp_path / "a.pdf", ParsingSettings())
    assert "ocr: page 2 failed (broken)" in parsed.warnings


def test_words_of_the_table_and_their_confidence() -> None:
    rows = [
        "level\tpage_num\tblock_num\tpar_num\tline_num\tword_num\tleft\ttop\twidth\theight\tconf\ttext",
        "4\t1\t1\t1\t1\t0\t10\t20\t90\t30\t-1\t",
        '5\t1\t1\t1\t1\t1\t10\t20\t30\t30\t91\t3"',
        "5\t1\t1\t1\t1\t2\t50\t20\t50\t30\t-1\tpipe",
    ]
    assert words_of_output("\n".join(rows)) == [
        Recognized((1, 1, 1), 10, 20, 30, 30, 0.91, '3"'),
        Recognized((1, 1, 1), 50, 20, 50, 30, 0.0, "pipe"),
    ]


def test_words_are_joined_as_the_text_has_them() -> None:
    rows = [
        "5\t1\t1\t1\t1\t1\t10\t20\t30\t30\t90\t압",
        "5\t1\t1\t1\t1\t2\t45\t22\t30\t30\t60\t력",
        "5\t1\t1\t1\t1\t3\t90\t20\t30\t30\t90\t계",
        "5\t1\t1\t1\t2\t1\t10\t70\t30\t30\t90\t끝",
    ]
    joined = words_of_output("\n".join([*rows, "압력 계", "", "끝"]))
    assert [word.text for word in joined] == ["압력", "계", "끝"]
    assert joined[0] == Recognized((1, 1, 1), 10, 20, 65, 32, 0.75, "압력")
    # Words of two lines stay apart; a text that is another than the table's says nothing.
    assert len(words_of_output("\n".join([*rows, "압력계끝"]))) == 2
    assert len(words_of_output("\n".join([*rows, "other"]))) == 4


def test_a_scan_askew_is_set_straight() -> None:
    def row(line: int) -> list[Recognized]:
        return [
            Recognized((1, 1, line), left, 100 * line + left // 100, 60, 36, 0.9, "Oil")
            for left in range(0, 1500, 100)
        ]

    words = PageWords().place([*row(1), *row(2)], 4.0)
    # 36 pixels of capitals are 50 pixels of font: 12.5 points at four pixels a point.
    assert {word.style.size for word in words} == {12.5}
    assert len({word.baseline for word in words}) == 2
    assert words[15].baseline - words[0].baseline == pytest.approx(25, abs=0.3)


def test_sizes_snap_to_the_body_and_languages_to_the_document() -> None:
    assert [snapped_size(size, 10.0) for size in (9.2, 10.9, 11.2, 20.0)] == [
        10.0,
        10.0,
        12.0,
        20.7,
    ]
    assert fitting_languages(["kor", "xyz"], "fr") == ["kor"]
    assert fitting_languages(["xyz"], "und") == ["xyz"]


def test_confidence_of_a_box_and_which_pages_are_pictures() -> None:
    style = Style(10, False, False, False, 0, "")
    words = [
        PageWord(10, 10, 20, 20, 18, "a", style, 0, confidence=0.8),
        PageWord(30, 10, 40, 20, 18, "b", style, 1, confidence=0.6),
        PageWord(10, 50, 20, 60, 58, "c", style, 2, confidence=0.1),
    ]
    content = PageContent(1, 100, 100, 0, words=words)
    assert confidence_in(content, (5, 5, 50, 25)) == 1.0
    content.is_recognized = True
    assert confidence_in(content, (5, 5, 50, 25)) == 0.7
    assert not is_picture(content)
    content.images = [(0, 0, 100, 80)]
    assert is_picture(content)
