"""A chunk of database rows as units that can be quoted: a field, or a row that is listed. Pure."""

from __future__ import annotations

from functools import cache

from rag_pipeline.relational.schema.lexicon import Lexicon
from rag_pipeline.search import SearchResult
from rag_pipeline.text import TRAIL_SEPARATOR


def is_of_rows(result: SearchResult) -> bool:
    """Return whether a result is a chunk of a relational source."""
    return "relational" in result.metadata


def row_units(result: SearchResult) -> dict[str, str]:
    """Return the units of a chunk of rows, a line each, and the words they are found by.

    Each begins with what the row is called by, which the chunk says in its first line. A field has
    its name in Korean among its words, too.
    """
    row = result.breadcrumb_trail.split(TRAIL_SEPARATOR)[1:2]
    lines = [line.strip().removeprefix("- ") for line in result.content.splitlines()[1:]]
    return {" · ".join((*row, line)): f"{line} {names_in_korean(line)}" for line in lines if line}


def names_in_korean(unit: str) -> str:
    """Return what a Korean question would call a field, by the lexicon of business words.

    >>> names_in_korean("city: Bremen"), names_in_korean("no field")
    ('도시', '')
    """
    name, colon, _ = unit.partition(":")
    return _lexicon().shown(name.replace(" ", "_"), "ko") if colon else ""


@cache
def _lexicon() -> Lexicon:
    return Lexicon()
