"""Words of a page: where text parts, which style a word has, where it stands."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pypdfium2 as pdfium
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rag_pipeline.parsing.pdf.layout.geometry import PageContent
from rag_pipeline.parsing.pdf.native.page_content import read_pages
from rag_pipeline.parsing.pdf.native.word_spans import BROKEN_HYPHEN, word_spans
from tests.parsing.pages import HEIGHT, draw_pdf

_WORD = re.compile(rf"[^\s\x00{BROKEN_HYPHEN}]+{BROKEN_HYPHEN}?|{BROKEN_HYPHEN}")


def content_of(path: Path) -> PageContent:
    """What is read from the first page."""
    pdf = pdfium.PdfDocument(path)
    try:
        pages = read_pages(pdf)
        content = next(pages)
        pages.close()
        assert isinstance(content, PageContent)
        return content
    finally:
        pdf.close()


@given(st.text(alphabet=f"ab \t\r\n\x00\u00a0\u3000{BROKEN_HYPHEN}검", max_size=40))
def test_words_are_what_white_space_and_broken_hyphens_part(text: str) -> None:
    spans = word_spans(np.array([ord(one) for one in text], dtype=np.uint16))
    found = [text[start : last + 1] for start, last in zip(*spans, strict=True)]
    assert found == _WORD.findall(text)


def test_a_word_of_several_styles_comes_in_glued_pieces(tmp_path: Path) -> None:
    def page(canvas: object) -> None:
        text = canvas.beginText(100, HEIGHT - 200)
        text.setFont("Helvetica-Bold", 20)
        text.textOut("Oil")
        text.setFont("Helvetica", 10)
        text.textOut("filter 12")
        canvas.drawText(text)

    words = content_of(draw_pdf(tmp_path / "a.pdf", page)).words
    assert [(word.text, word.style.size, word.glued) for word in words] == [
        ("Oil", 20.0, False),
        ("filter", 10.0, True),
        ("12", 10.0, False),
    ]
    assert [word.style.bold for word in words] == [True, False, False]
    assert [word.position for word in words] == [0, 3, 10]
    # Helvetica-Bold: O 778, i 278, l 278 thousandths of the size.
    assert words[0].x0 == pytest.approx(100, abs=0.01)
    assert words[0].x1 == pytest.approx(100 + 20 * 1.334, abs=0.05)
    assert words[1].x0 == pytest.approx(words[0].x1, abs=0.05)
    assert [word.baseline for word in words] == pytest.approx([200.0] * 3, abs=0.01)


def test_a_page_with_more_words_than_the_memory_for_boxes_holds(tmp_path: Path) -> None:
    rows, columns = 120, 25

    def page(canvas: object) -> None:
        canvas.setFont("Courier", 4)
        for row in range(rows):
            numbers = range(row * columns, (row + 1) * columns)
            canvas.drawString(20, HEIGHT - 20 - 6 * row, " ".join(f"{n:04d}" for n in numbers))

    words = content_of(draw_pdf(tmp_path / "a.pdf", page)).words
    assert [word.text for word in words] == [f"{number:04d}" for number in range(rows * columns)]
    # A character of Courier is 0.6 of the size wide: 2.4 points; a word and a space take five.
    last = words[-1]
    assert last.x0 == pytest.approx(20 + 24 * 5 * 2.4, abs=0.05)
    assert last.x1 - last.x0 == pytest.approx(4 * 2.4, abs=0.05)
    assert last.baseline == pytest.approx(20 + 6 * (rows - 1), abs=0.01)


def test_text_of_a_page_knows_nothing_of_the_page_before(tmp_path: Path) -> None:
    def first(canvas: object) -> None:
        canvas.setFillColorRGB(1, 0, 0)
        canvas.setFont("Helvetica-Bold", 30)
        canvas.drawString(72, 700, "Red")

    def second(canvas: object) -> None:
        canvas.setFont("Helvetica", 9)
        canvas.drawString(72, 700, "Black")

    pdf = pdfium.PdfDocument(draw_pdf(tmp_path / "a.pdf", first, second))
    contents = [content for content in read_pages(pdf) if isinstance(content, PageContent)]
    pdf.close()
    (red,), (black,) = (content.words for content in contents)
    assert (red.style.color, red.style.size, red.style.bold) == (0xFF0000, 30.0, True)
    assert (black.style.color, black.style.size, black.style.bold) == (0, 9.0, False)
