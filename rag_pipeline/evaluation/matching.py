"""Expresses what was found in the units of the gold: pages, passages or documents. Pure.

If the gold names pages, a chunk counts as its pages, most likely first, each once. If it is
passages without pages, each chunk is a unit, and a chunk that contains a passage counts as that
passage. If it is documents only, each document is a unit.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from rag_pipeline.answering.answer import Citation
from rag_pipeline.evaluation.known_questions import Gold, KnownQuestion
from rag_pipeline.search import SearchResult

Place = SearchResult | Citation
"""A result, or what an answer cites."""
PASSAGE_SHARE = 0.8
"""Share of a passage's words, in any order, that a chunk must contain to count as it."""
_NOT_WORD = re.compile(r"[\W_]+")


def gold_units(question: KnownQuestion) -> list[str]:
    """Return the units that answer a question, each once."""
    return list(dict.fromkeys(_unit(gold, _scale(question)) for gold in question.gold))


def ranked_units(question: KnownQuestion, results: Sequence[SearchResult]) -> list[str]:
    """Return the distinct units of the results, in order."""
    scale = _scale(question)
    units: dict[str, None] = {}
    for result in results:
        for unit in _units(question, result, scale):
            units.setdefault(unit)
    return list(units)


def _scale(question: KnownQuestion) -> str:
    if all(gold.page is not None for gold in question.gold):
        return "page"
    if all(gold.text and gold.page is None for gold in question.gold):
        return "passage"
    return "document"


def _unit(gold: Gold, scale: str) -> str:
    if scale == "page":
        return f"{gold.doc}, page {gold.page}"
    return gold.doc if scale == "document" else f"{gold.doc}: {letters(gold.text)}"


def _units(question: KnownQuestion, result: SearchResult, scale: str) -> list[str]:
    doc = next(
        (gold.doc for gold in question.gold if is_document(result, gold.doc)), result.source_path
    )
    if scale == "page":
        pages = result.pages or range(result.page_start, result.page_end + 1)
        return [f"{doc}, page {page}" for page in pages]
    if scale == "document":
        return [doc]
    held = [
        _unit(gold, scale)
        for gold in question.gold
        if is_document(result, gold.doc) and holds(result.content, gold.text)
    ]
    return held or [f"chunk {result.chunk_id}"]


def is_document(place: Place, name: str) -> bool:
    """Return whether a place is in a document, given by file name or end of path."""
    return name in (place.document, place.source_path) or place.source_path.endswith(f"/{name}")


def holds(content: str, passage: str) -> bool:
    """Return whether a text contains a passage: its letters and digits, or most of its words.

    >>> holds("| Oil filter | QF-1142/B |", "Oil filter QF-1142/B")
    True
    """
    if letters(passage) in letters(content):
        return True
    words = set(_NOT_WORD.sub(" ", passage.lower()).split())
    held = words.intersection(_NOT_WORD.sub(" ", content.lower()).split())
    return len(words) >= 5 and len(held) >= PASSAGE_SHARE * len(words)


def letters(text: str) -> str:
    """Return the letters and digits of a text, lower case."""
    return _NOT_WORD.sub("", text.lower())
