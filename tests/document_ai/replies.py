"""Replies made from PDFs of our own: what OCR would say of them, by PDFium's own text and boxes.

Nothing of the local parser is used, so that the two can be compared.
"""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

import pypdfium2 as pdfium
from google.cloud.documentai_v1 import Document
from PIL import Image
from reportlab.lib.pagesizes import A4
from reportlab.lib.utils import ImageReader
from reportlab.pdfgen.canvas import Canvas

from rag_pipeline.parsing.pdf.native.pdf_opening import PDFIUM_LOCK

PIXELS = 2
"""Pixels of a reply for each point."""
Box = tuple[float, float, float, float]


def reply_of(path: Path) -> Any:
    """The raw `Document` of a PDF: pages, paragraphs, lines and tokens with boxes and anchors."""
    pdf = pdfium.PdfDocument(path)
    document = Document.pb(Document(mime_type="application/pdf"))
    texts: list[str] = []
    length = 0
    for number in range(len(pdf)):
        page = pdf[number]
        width, height = page.get_size()
        added = document.pages.add()
        added.page_number = number + 1
        added.dimension.width, added.dimension.height = width * PIXELS, height * PIXELS
        added.dimension.unit = "pixels"
        start = length
        for paragraph in _paragraphs(_lines(page)):
            first = length
            for line in paragraph:
                line_start = length
                for word, box in line:
                    token = added.tokens.add()
                    _place(token.layout, length, length + len(word) + 1, box, width, height)
                    texts.append(word + " ")
                    length += len(word) + 1
                texts[-1] = texts[-1][:-1] + "\n"
                found = added.lines.add()
                language = found.detected_languages.add()
                korean = any("가" <= letter <= "힣" for word, _ in line for letter in word)
                language.language_code, language.confidence = "ko" if korean else "en", 1.0
                box = _around([box for _, box in line])
                _place(found.layout, line_start, length, box, width, height)
            box = _around([box for line in paragraph for _, box in line])
            _place(added.paragraphs.add().layout, first, length, box, width, height)
            _place(added.blocks.add().layout, first, length, box, width, height)
        _place(added.layout, start, length, (0, 0, width, height), width, height)
        page.close()
    document.text = "".join(texts)
    pdf.close()
    return document


def _place(layout: Any, start: int, end: int, box: Box, width: float, height: float) -> None:
    segment = layout.text_anchor.text_segments.add()
    segment.start_index, segment.end_index = start, end
    layout.confidence = 0.98
    layout.orientation = 1
    x0, y0, x1, y1 = box
    for x, y in ((x0, y0), (x1, y0), (x1, y1), (x0, y1)):
        vertex = layout.bounding_poly.normalized_vertices.add()
        vertex.x, vertex.y = x / width, y / height


def _around(boxes: list[Box]) -> Box:
    lefts, tops, rights, bottoms = zip(*boxes, strict=True)
    return min(lefts), min(tops), max(rights), max(bottoms)


def _lines(page: pdfium.PdfPage) -> list[list[tuple[str, Box]]]:
    """Words with their boxes (points, from the top left) by line, in the page's own order."""
    height = page.get_height()
    text_page = page.get_textpage()
    lines: list[list[tuple[str, Box]]] = [[]]
    word, boxes = "", []
    for index in range(text_page.count_chars()):
        character = text_page.get_text_range(index, 1)
        if character in "\ufffe\x02" and word:  # a hyphen that breaks the word over two lines
            lines[-1].append((f"{word}-", _around(boxes)))
            lines.append([])
            word, boxes = "", []
            continue
        if character.strip():
            left, bottom, right, top = text_page.get_charbox(index)
            word += character
            boxes.append((left, height - top, right, height - bottom))
            continue
        if word:
            lines[-1].append((word, _around(boxes)))
            word, boxes = "", []
        if character in "\r\n" and lines[-1]:
            lines.append([])
    if word:
        lines[-1].append((word, _around(boxes)))
    text_page.close()
    return [line for line in lines if line]


def _paragraphs(lines: list[list[tuple[str, Box]]]) -> list[list[list[tuple[str, Box]]]]:
    """Lines that stand close below each other, at about the same size."""
    groups: list[list[list[tuple[str, Box]]]] = []
    for line in lines:
        box = _around([box for _, box in line])
        if groups:
            last = _around([box for _, box in groups[-1][-1]])
            gap, size = box[1] - last[3], last[3] - last[1]
            if -0.3 * size < gap < 0.6 * size and abs(box[0] - last[0]) < 2 * size:
                groups[-1].append(line)
                continue
        groups.append([line])
    return groups


def make_manual(path: Path, pages: int) -> Path:
    """A PDF whose every page says its number: a heading, a sentence, three steps."""
    canvas = Canvas(str(path), pagesize=A4, invariant=True)
    for page in range(1, pages + 1):
        canvas.setFont("Helvetica-Bold", 20)
        canvas.drawString(72, 740, f"{page}. Assembly {page:03d}")
        canvas.setFont("Helvetica", 11)
        canvas.drawString(72, 700, f"This is page {page} of the manual, code PG-{page:03d}.")
        for step in range(1, 4):
            canvas.drawString(72, 700 - 30 * step, f"{step}. Turn screw {page}-{step} by hand.")
        canvas.showPage()
    canvas.save()
    return path


def page_codes(content: bytes) -> list[int]:
    """Which pages of `make_manual` a PDF holds."""
    found = []
    with PDFIUM_LOCK:  # called by the server's threads
        pdf = pdfium.PdfDocument(content)
        for page in pdf:
            text = page.get_textpage().get_text_range()
            found.append(int(text.split("code PG-")[1][:3]))
        pdf.close()
    return found


def scanned(source: Path, target: Path, pages: set[int] | None = None, scale: float = 1.5) -> Path:
    """Replace pages (numbers from 1; None = all) of a PDF by their pictures."""
    pdf = pdfium.PdfDocument(source)
    canvas = Canvas(str(target), invariant=True)
    result = pdfium.PdfDocument.new()
    for number in range(1, len(pdf) + 1):
        if pages is not None and number not in pages:
            result.import_pages(pdf, [number - 1])
            continue
        page = pdf[number - 1]
        image = page.render(scale=scale).to_pil()
        one = io.BytesIO()
        canvas = Canvas(one, pagesize=page.get_size(), invariant=True)
        canvas.drawImage(ImageReader(image), 0, 0, *page.get_size())
        canvas.save()
        result.import_pages(pdfium.PdfDocument(one.getvalue()))
    result.save(target)
    return target


def picture_of(source: Path, target: Path, page: int = 1) -> Path:
    """One page of a PDF as a PNG file."""
    pdf = pdfium.PdfDocument(source)
    image: Image.Image = pdf[page - 1].render(scale=1.5).to_pil()
    image.save(target)
    return target
