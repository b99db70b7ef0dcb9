"""Small real PDFs for tests, made by ReportLab."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from reportlab.lib.pagesizes import A4
from reportlab.pdfgen.canvas import Canvas


def make_pdf(
    path: Path,
    sections: Sequence[tuple[str, Sequence[str]]],
    *,
    password: str | None = None,
    pages: int = 1,
) -> Path:
    """Write a PDF of headings with paragraphs; the same content is repeated on every page.

    `password` encrypts it. The bytes depend on the arguments alone (no dates).
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    canvas = Canvas(str(path), pagesize=A4, encrypt=password, invariant=True)
    for page in range(1, pages + 1):
        top = A4[1] - 72
        for title, paragraphs in sections:
            canvas.setFont("Helvetica-Bold", 16)
            canvas.drawString(72, top, title if pages == 1 else f"{title} {page}")
            top -= 30
            canvas.setFont("Helvetica", 10)
            for paragraph in paragraphs:
                canvas.drawString(72, top, paragraph)
                top -= 24
            top -= 12
        canvas.showPage()
    canvas.save()
    return path


def make_damaged_pdfs(folder: Path) -> dict[str, Path]:
    """Write a good PDF and four bad files; return their paths by kind."""
    good = make_pdf(
        folder / "good.pdf",
        [
            ("Maintenance", ["Replace the oil filter every 500 hours of operation."]),
            ("Troubleshooting", ["Error code E-07 means that the intake valve is stuck."]),
        ],
    )
    encrypted = make_pdf(folder / "encrypted.pdf", [("Secret", ["Text"])], password="open sesame")
    truncated = folder / "truncated.pdf"
    truncated.write_bytes(good.read_bytes()[: good.stat().st_size // 3])
    empty = folder / "empty.pdf"
    empty.write_bytes(b"")
    image = folder / "image.pdf"
    image.write_bytes(b"\x89PNG\r\n\x1a\n" + bytes(64))
    return {
        "good": good,
        "encrypted": encrypted,
        "truncated": truncated,
        "empty": empty,
        "image": image,
    }
