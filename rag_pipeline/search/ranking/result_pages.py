"""Finds the page of a chunk that most likely has the answer. Pure.

A chunk keeps a procedure or table whole, even across a page break. Readers want the page with the
words they asked for.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

from rag_pipeline.analysis import analyze
from rag_pipeline.search.legs.bm25_postings import K1, B
from rag_pipeline.search.legs.closeness import closest_together

_LENGTH = 60.0
"""Number of words below which a match on a page counts more, like BM25's average length."""
CLOSENESS = 1.5
"""Weight of words that are close together, relative to BM25. For the pages of 267 chunks across a
break (docs/benchmarks.md), 1 to 1.5 with windows of 20 to 40 are about equal."""


def text_by_page(content: str, regions: Sequence[Mapping[str, float]]) -> dict[int, str]:
    """Return the text of each page, in the order of `regions`.

    A region's text runs from its `start` to that of the next one; the first also has what precedes
    it. Regions stored before they had starts give every page the whole text.
    """
    if not all("start" in region for region in regions):
        return {int(region["page"]): content for region in regions}
    texts: dict[int, list[str]] = {}
    starts = [0, *(int(region["start"]) for region in regions[1:]), len(content)]
    for number, region in enumerate(regions):
        part = content[starts[number] : starts[number + 1]]
        texts.setdefault(int(region["page"]), []).append(part)
    return {page: "\n".join(parts) for page, parts in texts.items()}


def ranked_pages(
    content: str,
    regions: Sequence[Mapping[str, float]],
    language: str,
    factors: Mapping[str, float],
) -> tuple[int, ...]:
    """Return the chunk's pages, those with most of the query's words close together first.

    `factors` are the query's lexemes, each with weight × inverse document frequency. Pages that
    match equally well stay in the order of the text.
    """
    texts = text_by_page(content, regions)
    if len(texts) < 2 or not factors:
        return tuple(texts)
    scores = {page: _match(text, language, factors) for page, text in texts.items()}
    return tuple(sorted(texts, key=lambda page: -scores[page]))


def _match(text: str, language: str, factors: Mapping[str, float]) -> float:
    """Return BM25 of a page plus the greatest sum of factors within a window."""
    lexemes = analyze(text, language)
    length = len({position for _, position in lexemes})
    found = sorted((position, lexeme) for lexeme, position in lexemes if lexeme in factors)
    counts = Counter(lexeme for _, lexeme in found)
    norm = K1 * (1 - B + B * length / _LENGTH)
    by_words = sum(
        factors[lexeme] * (K1 + 1) * count / (count + norm) for lexeme, count in counts.items()
    )
    return round(by_words + CLOSENESS * closest_together(found, factors), 9)
