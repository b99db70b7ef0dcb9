"""The only module that relies on unstructured's internals: a Word document's elements."""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import IO, Any

from rag_pipeline.errors import MissingLibraryError
from rag_pipeline.parsing.formats.extra_libraries import OFFICE, load_library

_NO_PARAGRAPHS = frozenset({"Table", "Header", "Footer", "PageBreak"})


class _ParagraphMarks:
    """A picture partitioner that reports each paragraph instead of its pictures.

    unstructured calls it with every paragraph, right after the paragraph's own element.
    """

    @staticmethod
    def iter_elements(paragraph: Any, _opts: Any) -> Iterator[Any]:
        """Yield an element without text that carries the python-docx paragraph."""
        mark = load_library("unstructured.documents.elements", "").Image(text="")
        mark.source_paragraph = paragraph
        yield mark


def paragraph_elements(file: IO[bytes], document: str) -> list[tuple[Any, Any]]:
    """Return unstructured's elements in order, each with its python-docx paragraph.

    Tables, running heads and page breaks have None in place of a paragraph. The paragraph comes
    through unstructured's public extension point for pictures, so nothing is matched by text.

    By default unstructured reports each use to its makers, and downloads a spaCy model to guess
    what an unmarked paragraph is. The first is switched off by its own variables. The second gets
    an empty pipeline, which is also ten times faster, since no guess is used. Raises
    `MissingLibraryError` where unstructured no longer offers these ways in: a download, or headings
    without levels, must not be how one learns of it.
    """
    for variable in ("DO_NOT_TRACK", "SCARF_NO_ANALYTICS", "UNSTRUCTURED_DISABLE_NOTICE"):
        os.environ[variable] = "1"
    tokenize = load_library("unstructured.nlp.tokenize", document)
    library = load_library("unstructured.partition.docx", document)
    spacy = load_library("spacy", document)
    if not callable(getattr(tokenize, "_load_spacy_model", None)):
        raise _changed_library("takes its language model from elsewhere", document)
    if not callable(getattr(library, "register_picture_partitioner", None)):
        raise _changed_library("no longer hands out its paragraphs", document)

    def empty_pipeline() -> Any:
        pipeline = spacy.blank("xx")
        pipeline.add_pipe("sentencizer")
        return pipeline

    setattr(tokenize, "_load_spacy_model", empty_pipeline)  # noqa: B010
    library.register_picture_partitioner(_ParagraphMarks)
    # No languages: unstructured's own detection would read the whole text again.
    found = library.partition_docx(file=file, languages=[""], infer_table_structure=True)
    return _paired(found, document)


def _paired(found: list[Any], document: str) -> list[tuple[Any, Any]]:
    """Give each paragraph's element the paragraph that is reported after it."""
    pairs: list[tuple[Any, Any]] = []
    is_open = False
    for element in found:
        paragraph = getattr(element, "source_paragraph", None)
        if paragraph is None:
            if is_open:
                raise _changed_library("no longer hands out its paragraphs", document)
            pairs.append((element, None))
            is_open = type(element).__name__ not in _NO_PARAGRAPHS
        elif is_open:
            pairs[-1] = (pairs[-1][0], paragraph)
            is_open = False
    if is_open:
        raise _changed_library("no longer hands out its paragraphs", document)
    return pairs


def _changed_library(what: str, document: str) -> MissingLibraryError:
    return MissingLibraryError(
        f"this version of unstructured {what}",
        document=document,
        hint=f"install the version that this package was tested with: {OFFICE}",
    )
