"""Sizes up to which a file is read, and what in a PDF is never run or unpacked."""

from __future__ import annotations

from pathlib import Path

import pypdfium2 as pdfium
import pypdfium2.raw as c

from rag_pipeline.errors import UnsafeFileError
from rag_pipeline.settings import ParsingSettings

MEGABYTE = 1_000_000


def check_size(path: Path, settings: ParsingSettings, document: str) -> None:
    """Raise `UnsafeFileError` where a file is larger than `parsing.max_file_mb`."""
    size = path.stat().st_size
    if size > settings.max_file_mb * MEGABYTE:
        raise UnsafeFileError(
            f"the file has {size / MEGABYTE:,.0f} MB",
            document=document,
            hint=f"raise parsing.max_file_mb ({settings.max_file_mb}) and run `rag retry`",
        )


def check_pages(count: int, settings: ParsingSettings, document: str) -> None:
    """Raise `UnsafeFileError` where a document says that it has more than `parsing.max_pages`.

    A PDF of a few hundred bytes can say that it has a million.
    """
    if count > settings.max_pages:
        raise UnsafeFileError(
            f"it says that it has {count:,} pages",
            document=document,
            hint=f"raise parsing.max_pages ({settings.max_pages}) and run `rag retry`",
        )


def active_content(pdf: pdfium.PdfDocument) -> list[str]:
    """Say what a PDF holds beside its pages: attached files and programs are not looked at."""
    found = []
    if (attachments := c.FPDFDoc_GetAttachmentCount(pdf.raw)) > 0:
        files = "1 attached file was" if attachments == 1 else f"{attachments} attached files were"
        found.append(f"{files} left out")
    if c.FPDFDoc_GetJavaScriptActionCount(pdf.raw) > 0:
        found.append("it holds JavaScript, which was not run")
    return found
