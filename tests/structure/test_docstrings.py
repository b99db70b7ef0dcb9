"""The examples in the docstrings of the rules run."""

from __future__ import annotations

import doctest
import importlib
import pkgutil
from types import ModuleType

import pytest

from rag_pipeline import line_marks, structure


def modules() -> list[ModuleType]:
    """Every module of the room, and the vocabulary it shares with parsing."""
    names = [
        info.name for info in pkgutil.walk_packages(structure.__path__, "rag_pipeline.structure.")
    ]
    return [line_marks, *map(importlib.import_module, names)]


@pytest.mark.parametrize("module", modules(), ids=lambda module: module.__name__)
def test_examples_in_docstrings(module: ModuleType) -> None:
    assert doctest.testmod(module).failed == 0
