"""A chunk of database rows as units that can be quoted: a field, or a row that is listed. Pure."""

from __future__ import annotations

from functools import cache

from rag_pipeline.relational.schema.lexicon import Lexicon
from rag_pipeline.search import SearchResult


def is_of_rows(result: SearchResult) -> bool:
    """Return whether a result is a chunk of a relational source."""
    return "relational" in result.metadata


def row_units(content: str) -> list[str]:
    """Return the units of a chunk of rows, a line each.

    The first line only names the row, as the trail does.

    >>> row_units("clients Nordwerk\\n\\ncity: Bremen\\n- invoices 10: paid: yes")
    ['city: Bremen', '- invoices 10: paid: yes']
    """
    return [line.strip() for line in content.splitlines()[1:] if line.strip()]


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
