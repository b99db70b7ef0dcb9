"""The examples in docstrings run and print what they claim."""

from __future__ import annotations

import doctest
import importlib

import pytest

from tests.conftest import PROJECT_DIR


def modules_with_examples() -> list[str]:
    """Names of modules whose text has a `>>>`; linked folders count as parts of the package."""
    names = []
    for folder, package in (
        ("rag_pipeline", "rag_pipeline"),
        ("assets", "rag_pipeline.assets"),
        ("resources", "rag_pipeline.resources"),
    ):
        for path in sorted((PROJECT_DIR / folder).rglob("*.py")):
            parts = path.relative_to(PROJECT_DIR / folder).with_suffix("").parts
            if ">>>" not in path.read_text(encoding="utf-8") or "samples" in parts:
                continue
            names.append(".".join([package, *parts]).removesuffix(".__init__"))
    return sorted(set(names))


@pytest.mark.parametrize("name", modules_with_examples())
def test_examples_are_true(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    failed, _ = doctest.testmod(importlib.import_module(name))
    assert failed == 0, capsys.readouterr().out
