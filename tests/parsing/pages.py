"""Small real PDFs for the parser's tests, drawn by ReportLab."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path

import pandas as pd
from reportlab.lib.pagesizes import A4
from reportlab.pdfgen.canvas import Canvas

from rag_pipeline.parsing import parse_file
from rag_pipeline.settings import ParsingSettings

HEIGHT = A4[1]
Draw = Callable[[Canvas], None]


def draw_pdf(path: Path, *pages: Draw) -> Path:
    """Write a PDF with a page for each function."""
    canvas = Canvas(str(path), pagesize=A4, invariant=True)
    for draw in pages:
        draw(canvas)
        canvas.showPage()
    canvas.save()
    return path


def lines(
    canvas: Canvas,
    texts: Iterable[str],
    x: float = 72,
    top: float = 100,
    size: float = 10,
    step: float = 13,
    font: str = "Helvetica",
) -> None:
    """Draw lines of text downwards; `top` is the first baseline's distance from the top."""
    canvas.setFont(font, size)
    for number, text in enumerate(texts):
        canvas.drawString(x, HEIGHT - top - number * step, text)


def blocks_of(path: Path, **settings: object) -> pd.DataFrame:
    """The blocks frame of a PDF."""
    return parse_file(path, ParsingSettings(**settings)).blocks
