"""The text of each page of a PDF as engines other than the parser's read it.

Two read it where both are installed (the extra `audit`): each misreads something, so only what
they agree on speaks against the parser.
"""

from __future__ import annotations

import importlib
import logging
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

from rag_pipeline.errors import MissingLibraryError

Reading = list[str | None]
"""Text by page; None where the engine cannot read the page."""
HINT = "pip install 'rag-pipeline[audit]', or `make extras`"
_WRITTEN = ("/Widget", "/FreeText", "/Stamp")
"""Annotations that show a text of their own."""


def pdf_readings(path: Path, name: str) -> list[Reading]:
    """Read all pages by each engine that is installed and can open the file.

    Raises `MissingLibraryError`, naming the document, where none is installed.
    """
    found, installed = [], False
    for engine in (_by_pypdf, _by_pdf_oxide):
        try:
            reading = engine(path)
        except ImportError:
            continue
        installed = True
        if any(reading):
            found.append(reading)
    if not installed:
        raise MissingLibraryError("a second reading of PDFs needs pypdf", document=name, hint=HINT)
    return found


def _by_pypdf(path: Path) -> Reading:
    """Pages by pypdf, each with the values of its forms and its typed notes at the end."""
    pypdf = importlib.import_module("pypdf")
    logging.getLogger("pypdf").setLevel(logging.CRITICAL)
    document = _safely(partial(pypdf.PdfReader, path))
    pages = [] if document is None else _safely(lambda: list(document.pages)) or []
    return [_safely(partial(_page_text, page)) for page in pages]


def _page_text(page: Any) -> str:
    return "\n".join([page.extract_text(), *(_safely(partial(_written_texts, page)) or [])])


def _written_texts(page: Any) -> list[str]:
    """Values of the form fields of a page, and its typed notes."""
    texts = []
    for reference in page.get("/Annots") or []:
        annotation = reference.get_object()
        if annotation.get("/Subtype") in _WRITTEN:
            parent = annotation.get("/Parent")
            holders = [annotation, parent.get_object()] if parent is not None else [annotation]
            values = [holder.get(key) for holder in holders for key in ("/V", "/Contents")]
            texts += [value for value in values if isinstance(value, str)]
    return [text for text in texts if not text.startswith("/")]


def _by_pdf_oxide(path: Path) -> Reading:
    engine = importlib.import_module("pdf_oxide")
    engine.disable_logging()
    document = _safely(partial(engine.PdfDocument, str(path)))
    count = 0 if document is None else _safely(lambda: int(document.page_count)) or 0
    return [_safely(partial(_words_of_page, document, at)) for at in range(count)]


def _words_of_page(document: Any, at: int) -> str:
    return " ".join(word.text for word in document.extract_words(at))


def _safely(read: Callable[[], Any]) -> Any:
    """What an engine returns; None where it fails: a witness may, and damaged files make it."""
    try:
        return read()
    except (KeyboardInterrupt, SystemExit, MemoryError):
        raise
    except BaseException:  # a panic of pdf-oxide is no `Exception`
        return None
