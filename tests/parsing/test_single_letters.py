"""Text that is drawn letter by letter: set tight, printed twice, spaced out."""

from __future__ import annotations

from pathlib import Path

import pytest
from reportlab.pdfbase.pdfmetrics import stringWidth
from reportlab.pdfgen.canvas import Canvas

from rag_pipeline.parsing.local_parser import audit_file
from rag_pipeline.settings import ParsingSettings
from tests.parsing.pages import HEIGHT, blocks_of, draw_pdf

FONT, SIZE = "Helvetica", 11


def letters(
    canvas: Canvas, text: str, top: float, *, width: float = 1.0, gap: float = 0.0, dx: float = 0.0
) -> None:
    """Draw each letter by itself, advancing by its width times `width`, spaces by `gap` more."""
    canvas.setFont(FONT, SIZE)
    x = 72.0
    for letter in text:
        if letter != " ":
            canvas.drawString(x + dx, HEIGHT - top, letter)
        x += width * stringWidth(letter, FONT, SIZE) + (gap if letter == " " else 0.0)


@pytest.mark.parametrize("width", [1.0, 0.95, 0.88, 0.82])
def test_two_equal_letters_that_are_set_tight_are_two(tmp_path: Path, width: float) -> None:
    text = "The effect differs: 1100 kPa, all 3300 cells off."

    def draw(canvas: Canvas) -> None:
        letters(canvas, text, 100, width=width, gap=2)

    file = draw_pdf(tmp_path / "a.pdf", draw)
    assert " ".join(blocks_of(file)["text"]) == text
    losses = audit_file(file, ParsingSettings())
    assert (losses.lost.total(), losses.changed.total()) == (0, 0)


def test_letters_that_are_printed_twice_to_look_bold_are_read_once(tmp_path: Path) -> None:
    def draw(canvas: Canvas) -> None:
        letters(canvas, "Danger: 440 volts", 100)
        letters(canvas, "Danger: 440 volts", 100, dx=0.4)

    assert " ".join(blocks_of(draw_pdf(tmp_path / "a.pdf", draw))["text"]) == "Danger: 440 volts"


def test_the_words_of_a_page_that_is_spaced_out_do_not_fall_apart(tmp_path: Path) -> None:
    def draw(canvas: Canvas) -> None:
        for number, text in enumerate(["no deferred revenue and other", "or accrued liabilities"]):
            letters(canvas, text, 100 + 30 * number, width=1.28, gap=6)

    text = " ".join(blocks_of(draw_pdf(tmp_path / "a.pdf", draw))["text"])
    assert text == "no deferred revenue and other or accrued liabilities"
