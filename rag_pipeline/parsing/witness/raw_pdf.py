"""The text of single pages of a PDF as engines other than the parser's read it.

Each misreads something, so only what they agree on speaks against the parser.
"""

from __future__ import annotations

import importlib
import logging
from collections.abc import Callable
from functools import cached_property, partial
from pathlib import Path
from typing import Any

PageText = Callable[[int], str | None]
"""Reads a page (1-based); None where the engine cannot."""
_WRITTEN = ("/Widget", "/FreeText", "/Stamp")
"""Annotations that show a text of their own."""


def pdf_readers(path: Path) -> list[PageText]:
    """Return the engines for a file, the fast one first; each opens it at the first page asked."""
    return [_PdfOxide(path).page, _Pypdf(path).page]


class _PdfOxide:
    def __init__(self, path: Path) -> None:
        self.path = path

    @cached_property
    def _document(self) -> Any:
        engine = importlib.import_module("pdf_oxide")
        engine.disable_logging()
        return _safely(partial(engine.PdfDocument, str(self.path)))

    def page(self, number: int) -> str | None:
        """The words of a page, in the order of the file."""
        words = _safely(lambda: self._document.extract_words(number - 1))
        return None if words is None else " ".join(word.text for word in words)


class _Pypdf:
    def __init__(self, path: Path) -> None:
        self.path = path

    @cached_property
    def _pages(self) -> Any:
        engine = importlib.import_module("pypdf")
        logging.getLogger("pypdf").setLevel(logging.CRITICAL)
        return _safely(lambda: engine.PdfReader(self.path).pages)

    def page(self, number: int) -> str | None:
        """The text of a page, with the values of its forms and its typed notes at the end."""
        page = _safely(lambda: self._pages[number - 1])
        text = None if page is None else _safely(page.extract_text)
        if text is None:
            return None
        return "\n".join([text, *(_safely(partial(_written_texts, page)) or [])])


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


def _safely(read: Callable[[], Any]) -> Any:
    """What an engine returns; None where it fails: a witness may, and damaged files make it."""
    try:
        return read()
    except (KeyboardInterrupt, SystemExit, MemoryError):
        raise
    except BaseException:  # a panic of pdf-oxide is no `Exception`
        return None
