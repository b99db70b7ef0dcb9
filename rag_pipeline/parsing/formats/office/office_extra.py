"""Libraries of the extra `office`: imported where used, with a clear error where one is absent."""

from __future__ import annotations

import importlib
import os
from types import ModuleType
from typing import Any

from rag_pipeline.errors import MissingLibraryError

EXTRA = "pip install 'rag-pipeline[office]'"


def load_library(name: str, document: str) -> ModuleType:
    """Import a module of the extra. Raises `MissingLibraryError` with the line that installs it."""
    try:
        return importlib.import_module(name)
    except ImportError as error:
        raise MissingLibraryError(
            f"the library that reads it is not installed ({error})",
            document=document,
            hint=f"install it: {EXTRA}",
        ) from error


def load_partition_docx(document: str) -> Any:
    """`unstructured.partition.docx.partition_docx`, kept from the network.

    As it comes, unstructured reports each use to its makers, and downloads a spaCy model at first
    use to guess what an unmarked paragraph is. This package takes nothing from these guesses: the
    first is switched off by its own variables, the second gets an empty pipeline, which also makes
    it ten times faster. Raises `MissingLibraryError` where the place to hand over the pipeline has
    gone: a download, or a document without text, must not be how one learns of it.
    """
    for variable in ("DO_NOT_TRACK", "SCARF_NO_ANALYTICS", "UNSTRUCTURED_DISABLE_NOTICE"):
        os.environ[variable] = "1"
    tokenize = load_library("unstructured.nlp.tokenize", document)
    spacy = load_library("spacy", document)
    if not callable(getattr(tokenize, "_load_spacy_model", None)):
        raise MissingLibraryError(
            "this version of unstructured takes its language model from elsewhere",
            document=document,
            hint=f"install the version that this package was tested with: {EXTRA}",
        )

    def empty_pipeline() -> Any:
        pipeline = spacy.blank("xx")
        pipeline.add_pipe("sentencizer")
        return pipeline

    setattr(tokenize, "_load_spacy_model", empty_pipeline)  # noqa: B010
    return load_library("unstructured.partition.docx", document).partition_docx
