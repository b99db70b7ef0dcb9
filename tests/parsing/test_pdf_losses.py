"""The second reading of PDFs, and text that PDFium itself drops."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from pathlib import Path

from reportlab.pdfgen.canvas import Canvas

from rag_pipeline.parsing import parse_file
from rag_pipeline.parsing.local_parser import WITNESSED_PAGES, audit_file, pdf_losses
from rag_pipeline.parsing.witness.page_losses import KnownPage, find_page_losses
from rag_pipeline.settings import ParsingSettings
from tests.parsing.pages import HEIGHT, blocks_of, draw_pdf, lines

SETTINGS = ParsingSettings()
TEXT = ["The crane lifts 4.5 tonnes.", "Read gauge 17 before each lift.", "Keep away from it."]


def test_a_page_that_is_read_whole_loses_nothing(tmp_path: Path) -> None:
    losses = audit_file(draw_pdf(tmp_path / "a.pdf", lambda canvas: lines(canvas, TEXT)), SETTINGS)
    assert losses.words == 16
    assert not losses.lost
    assert not losses.changed


def test_a_lost_line_and_a_changed_number_are_noticed(tmp_path: Path) -> None:
    file = draw_pdf(tmp_path / "a.pdf", lambda canvas: lines(canvas, TEXT))
    parsed = parse_file(file, SETTINGS)
    parsed.blocks["text"] = "The crane lifts 45 tonnes.\nRead gauge 17 before each lift."
    losses = pdf_losses(file, parsed)
    assert losses.lost == Counter(["keep", "away", "from", "it"])
    assert losses.changed == Counter(["45"])


def test_of_a_long_document_some_pages_are_read_again_and_all_where_these_lost_something(
    tmp_path: Path,
) -> None:
    def page(number: int) -> Callable[[Canvas], None]:
        return lambda canvas: lines(canvas, [*TEXT, f"Sheet{number} of the crane."])

    file = draw_pdf(tmp_path / "a.pdf", *[page(number) for number in range(1, 25)])
    parsed = parse_file(file, SETTINGS)
    assert parsed.warnings == []
    read = set(range(1 + file.stat().st_size % WITNESSED_PAGES, 25, WITNESSED_PAGES))
    blocks = parsed.blocks
    seen = blocks["page_number"].isin(read)
    whole = blocks["text"].copy()
    blocks.loc[~seen, "text"] = whole.str.replace("Read gauge", "")
    assert not pdf_losses(file, parsed, every=WITNESSED_PAGES).lost, "pages that nobody reads"
    assert pdf_losses(file, parsed).lost == Counter(read=21, gauge=21)
    blocks.loc[blocks["page_number"] == min(read), "text"] = "Nothing."
    losses = pdf_losses(file, parsed, every=WITNESSED_PAGES)
    assert losses.lost["gauge"] == 22, "one page lost something, so that all are read"
    assert losses.warning is not None
    assert "were not read" in losses.warning


def test_a_number_that_no_other_engine_reads_warns(tmp_path: Path) -> None:
    file = draw_pdf(tmp_path / "a.pdf", lambda canvas: lines(canvas, TEXT))
    parsed = parse_file(file, SETTINGS)
    parsed.blocks["text"] = parsed.blocks["text"].str.replace("4.5", "45")
    assert pdf_losses(file, parsed).warning == "another engine reads other numbers than these: 45"


def test_words_are_compared_by_letters_and_numbers_as_they_stand() -> None:
    known = {1: KnownPage("an example of 0.583 mm, 10^1", "page 1: a note: relief")}
    losses = find_page_losses([lambda _: "an exam ple of 0.58 3 mm, 101 relief"], known)
    assert not losses.lost
    assert losses.changed == Counter(["0.583"])


def test_text_typed_over_covered_text_is_read(tmp_path: Path) -> None:
    def draw(canvas: Canvas) -> None:
        lines(canvas, ["Close the gate before:", "27 minutes"])
        canvas.setFillGray(1)
        canvas.rect(70, HEIGHT - 116, 200, 11, stroke=0, fill=1)
        canvas.setFillGray(0)
        lines(canvas, ["", "25 minutes"])

    text = " ".join(blocks_of(draw_pdf(tmp_path / "a.pdf", draw))["text"])
    assert "25 minutes" in text
    assert "27" not in text


def test_numbers_that_run_into_the_next_cell_stay_two(tmp_path: Path) -> None:
    def draw(canvas: Canvas) -> None:
        lines(canvas, ["Hours and cycles:"])
        lines(canvas, ["31577"], x=72, top=130)
        lines(canvas, ["28964"], x=96, top=130)

    text = " ".join(blocks_of(draw_pdf(tmp_path / "a.pdf", draw))["text"])
    assert "31577 28964" in text
