"""Pages as images: ink lies where the blocks' boxes say, and threads do not meet in PDFium."""

from __future__ import annotations

import io
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pypdfium2 as pdfium
import pytest
from PIL import Image

from rag_pipeline.errors import DamagedPdfError, ParseError
from rag_pipeline.parsing.pdf.native.page_pictures import (
    MAX_SIDE,
    has_pictures,
    open_renderer,
    render_page,
)
from tests.parsing.pages import blocks_of, draw_pdf, lines
from tests.pdfs import make_damaged_pdfs


@pytest.fixture
def manual(tmp_path: Path) -> Path:
    return draw_pdf(
        tmp_path / "manual.pdf",
        *[lambda canvas: lines(canvas, ["Replace the oil filter."], 200)] * 3,
    )


def _changed(manual: Path, rotation: int, crop: tuple[float, float, float, float] | None) -> Path:
    pdf = pdfium.PdfDocument(manual)
    for page in pdf:
        page.set_rotation(rotation)
        if crop:
            page.set_cropbox(*crop)
    pdf.save(manual.with_name("changed.pdf"))
    pdf.close()
    return manual.with_name("changed.pdf")


@pytest.mark.parametrize("rotation", [0, 90, 180, 270])
@pytest.mark.parametrize("crop", [None, (100, 300, 500, 800)])
def test_ink_lies_in_the_block_box(
    manual: Path, rotation: int, crop: tuple[float, float, float, float] | None
) -> None:
    path = _changed(manual, rotation, crop)
    block = blocks_of(path).iloc[0]
    with open_renderer(path) as renderer:
        ink = np.asarray(renderer.draw(1, 900).convert("L")) < 128
    rows, columns = np.nonzero(ink)
    height, width = ink.shape
    assert columns.min() / width == pytest.approx(block["x0"], abs=0.01)
    assert (columns.max() + 1) / width == pytest.approx(block["x1"], abs=0.01)
    assert block["y0"] - 0.003 <= rows.min() / height
    assert (rows.max() + 1) / height <= block["y1"] + 0.003


@pytest.mark.parametrize("kind", ["WEBP", "JPEG", "PNG"])
def test_the_bytes_are_an_image_of_the_width_asked_for(manual: Path, kind: str) -> None:
    opened = Image.open(io.BytesIO(render_page(manual, 2, 300, kind=kind)))
    assert opened.format == kind
    assert opened.size == (300, pytest.approx(300 * 841.89 / 595.28, abs=1))


def test_a_page_that_is_not_there(manual: Path) -> None:
    for page in (0, 4):
        with pytest.raises(ParseError, match=f"no page {page}, it has 3"):
            render_page(manual, page, 100)


def test_a_damaged_file_says_so(tmp_path: Path) -> None:
    with pytest.raises(DamagedPdfError, match=r"truncated\.pdf"):
        render_page(make_damaged_pdfs(tmp_path)["truncated"], 1, 100)


def test_a_very_long_page_is_drawn_narrower(tmp_path: Path) -> None:
    pdf = pdfium.PdfDocument.new()
    pdf.new_page(10, 10_000)
    pdf.save(tmp_path / "strip.pdf")
    image = Image.open(io.BytesIO(render_page(tmp_path / "strip.pdf", 1, 1000)))
    assert image.size == (8, MAX_SIDE)


def test_only_pdfs_have_pictures(manual: Path, tmp_path: Path) -> None:
    (tmp_path / "a.pdf").write_bytes(b"PK\x03\x04")
    assert has_pictures(manual)
    assert not has_pictures(tmp_path / "a.pdf")
    assert not has_pictures(tmp_path / "none.pdf")


def test_threads_draw_the_same_page(manual: Path) -> None:
    with open_renderer(manual) as renderer, ThreadPoolExecutor(4) as pool:
        jobs = [pool.submit(renderer.draw, 1 + number % 3, 200) for number in range(24)]
        images = {job.result().tobytes() for job in jobs}
    assert len(images) == 1
