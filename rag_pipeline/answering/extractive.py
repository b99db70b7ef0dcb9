"""Answers without a chat model: what the documents say, quoted whole, with citations.

A question for a procedure gets its steps in order with their warnings; any other the sentence, row
or list item that holds most of what was asked, with what belongs to it in the same section.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from rag_pipeline.analysis import analyze, query_words
from rag_pipeline.answering.answer import Answer, Citation, Quote, not_found
from rag_pipeline.answering.content_units import content_units
from rag_pipeline.answering.row_units import is_of_rows, row_units
from rag_pipeline.embedding import Embedder
from rag_pipeline.search import SearchResponse, SearchResult
from rag_pipeline.text import TRAIL_SEPARATOR

CHUNKS = 5
"""Number of results that are read."""
MAX_QUOTES = 3
RELATIVE_SCORE = 0.7
"""Minimum score of further quotes, relative to the best one."""
_TRAIL_WEIGHT = 0.7
"""Weight of a word that only the headings above a unit have."""
_QUANTITY_SCORE = 0.5
"""Added for a unit with a quantity of the kind that the question asks for."""
_LITTLE = 0.4
"""Share of the question's words below which meaning decides: another language, other words."""

_ASKS_HOW = re.compile(
    r"\bhow\s+(?:do|does|to|can|could|should|must|may|is|are)\b"
    r"|\b(?:steps?|procedure|instructions?)\b|어떻게|방법|절차|순서|법$",
    re.IGNORECASE,
)
_ASKS_OFTEN = re.compile(r"\bhow\s+often\b|\binterval\b|얼마나 자주|주기", re.IGNORECASE)
_ASKS_TIME = re.compile(r"\bhow\s+long\b|\bwhen\b|언제|몇 (?:시간|분|일|년)", re.IGNORECASE)
_ASKS_NUMBER = re.compile(r"\bhow\s+(?:much|many|\w+)\b|얼마|몇", re.IGNORECASE)
_OFTEN = re.compile(
    r"\b(?:every|each|interval|once|twice|daily|weekly|monthly|yearly|annually)\b"
    r"|주기|마다|매[일주월년]",
    re.IGNORECASE,
)
_TIME = re.compile(
    r"\d\s?(?:h|min|s|hours?|minutes?|seconds?|days?|weeks?|months?|years?|시간|분|초|일|주|개월|년)"
    r"(?![^\W\d_가-힣])",
    re.IGNORECASE,
)
_NUMBER = re.compile(r"\d")


@dataclass(frozen=True)
class _Candidate:
    text: str
    result: SearchResult
    lexemes: frozenset[str]
    trail_lexemes: frozenset[str]


def extract_answer(question: str, response: SearchResponse, embedder: Embedder) -> Answer:
    """Quote what answers the question in the best results; say so if the search found nothing."""
    results = response.results[:CHUNKS]
    if not response.is_found:
        return not_found(question, "extractive", _nearest(results))
    procedure = _procedure(question, response.results)
    if procedure:
        return _answer(question, [(procedure[0], _whole(procedure), results[0].score)])
    candidates = _with_news(question, [one for result in results for one in _candidates(result)])
    if not candidates:
        return not_found(question, "extractive")
    scores = _scores(question, candidates, embedder, results[0].score)
    best = int(np.argmax(scores))
    chosen = [
        place
        for place in np.argsort(-scores, kind="stable").tolist()
        if scores[place] >= RELATIVE_SCORE * scores[best]
        and _section(candidates[place].result) == _section(candidates[best].result)
    ][:MAX_QUOTES]
    return _answer(
        question,
        [(candidates[i].result, candidates[i].text, float(scores[i])) for i in chosen],
    )


def _answer(question: str, found: Sequence[tuple[SearchResult, str, float]]) -> Answer:
    quotes = [
        Quote(text, score, Citation.of(number, f"[{number}]", result))
        for number, (result, text, score) in enumerate(found, start=1)
    ]
    return Answer(
        question,
        "\n".join(f"{quote.text} {quote.citation.marker}" for quote in quotes),
        "extractive",
        "answered",
        citations=[quote.citation for quote in quotes],
        quotes=quotes,
    )


def _nearest(results: Sequence[SearchResult]) -> list[str]:
    if not results:
        return []
    best = results[0]
    place = best.breadcrumb_trail or f"page {best.page}"
    return [f"the nearest text is {place} in {best.document}"]


def _section(result: SearchResult) -> tuple[str, str]:
    return result.source_hash, result.breadcrumb_trail


def _procedure(question: str, results: Sequence[SearchResult]) -> list[SearchResult]:
    """Return the chunks of the procedure that is asked for, in order; none if it is not one.

    Asked for by "how do I", or by words that are no question and that its heading consists of.
    """
    first = results[0]
    is_asked = _ASKS_HOW.search(question) or ("?" not in question and _is_named(question, first))
    if not is_asked or _quantity(question) is not None:
        return []
    same = [one for one in results if one.kind == "procedure" and _section(one) == _section(first)]
    return sorted(same, key=lambda one: one.chunk_index)


def _is_named(question: str, result: SearchResult) -> bool:
    """Return whether the question has all words of the heading, or the heading all of it."""
    heading = result.breadcrumb_trail.rpartition(TRAIL_SEPARATOR)[2].lstrip("0123456789. ")
    languages = [result.language]
    asked, named = query_words(question, languages), query_words(heading, languages)
    return bool(asked and named) and any(
        all(any(not word.isdisjoint(other) for other in words) for word in wanted)
        for wanted, words in ((asked, named), (named, asked))
    )


def _quantity(question: str) -> re.Pattern[str] | None:
    """Return what a unit must contain to hold the quantity that a question asks for."""
    if _ASKS_OFTEN.search(question):
        return _OFTEN
    if _ASKS_TIME.search(question):
        return _TIME
    rest = _ASKS_HOW.sub("", question)
    return _NUMBER if _ASKS_NUMBER.search(rest) else None


def _whole(chunks: Sequence[SearchResult]) -> str:
    """Return a procedure's text, a line a sentence, step or warning.

    Its section, where the search brought that, has steps of chunks that were not found, too.
    """
    first = chunks[0]
    texts = [first.context] if first.context else [one.content for one in chunks]
    return "\n".join(
        unit
        for text in texts
        for unit in content_units(text, first.breadcrumb_trail, first.language)
    )


def _candidates(result: SearchResult) -> list[_Candidate]:
    trail = frozenset(lexeme for lexeme, _ in analyze(result.breadcrumb_trail, result.language))
    if is_of_rows(result):
        units = row_units(result)
    else:
        units = {
            unit: unit
            for unit in content_units(result.content, result.breadcrumb_trail, result.language)
        }
    return [
        _Candidate(
            unit,
            result,
            frozenset(lexeme for lexeme, _ in analyze(words, result.language)),
            trail,
        )
        for unit, words in units.items()
    ]


def _with_news(question: str, candidates: Sequence[_Candidate]) -> list[_Candidate]:
    """Leave out what says no word but the question's: a title that it names answers nothing."""
    languages = sorted({one.result.language for one in candidates})
    asked = {lexeme for language in languages for lexeme, _ in analyze(question, language)}
    return [one for one in candidates if not one.lexemes <= asked]


def _scores(
    question: str, candidates: Sequence[_Candidate], embedder: Embedder, best_score: float
) -> np.ndarray:
    """Return each candidate's share of the question's words, by rarity, and its other signs."""
    languages = sorted({one.result.language for one in candidates})
    words = query_words(question, languages)
    counts = [sum(not word.isdisjoint(one.lexemes) for one in candidates) for word in words]
    weights = np.array([math.log(1 + len(candidates) / max(1, count)) for count in counts])
    shares = np.array(
        [
            [
                1.0
                if not word.isdisjoint(one.lexemes)
                else _TRAIL_WEIGHT * (not word.isdisjoint(one.trail_lexemes))
                for word in words
            ]
            for one in candidates
        ]
    ).reshape(len(candidates), len(words))
    coverage = shares @ weights / max(1e-9, float(weights.sum()))
    quantity = _quantity(question)
    if quantity is not None:
        fits = [quantity.search(one.text) is not None for one in candidates]
        coverage = coverage + _QUANTITY_SCORE * np.array(fits)
    if coverage.max(initial=0.0) < _LITTLE:
        vectors = embedder.embed_documents([one.text for one in candidates])
        similarity = vectors @ embedder.embed_query(question)
        spread = max(1e-6, float(np.ptp(similarity)))
        coverage = coverage + (similarity - similarity.min()) / spread
    ranks = np.array([one.result.score / max(1e-9, best_score) for one in candidates])
    scores: np.ndarray = coverage * ranks
    return scores
