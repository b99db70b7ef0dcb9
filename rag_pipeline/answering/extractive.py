"""An answer without a chat model: the best sentences, quoted word for word, each cited."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from rag_pipeline.analysis import query_lexemes
from rag_pipeline.answering.answer import Answer, Citation, Quote, not_found
from rag_pipeline.embedding import Embedder
from rag_pipeline.search import SearchResult
from rag_pipeline.sentence_borders import sentences
from rag_pipeline.text import one_line

CHUNKS = 5
"""Results that are read."""
MAX_QUOTES = 3
MIN_CHARACTERS = 12
MAX_CHARACTERS = 600
MIN_COVERAGE = 0.25
"""Share of the question's words, by rarity, that a quoted sentence must hold …"""
MIN_SIMILARITY = 0.84
"""… or else its cosine similarity to the question (the local model's values lie in .7–1)."""
RELATIVE_SCORE = 0.75
"""A further quote must be nearly as good as the best one."""


@dataclass(frozen=True)
class _Candidate:
    text: str
    result: SearchResult
    rank: int


def extract_answer(question: str, results: Sequence[SearchResult], embedder: Embedder) -> Answer:
    """Quote the sentences of the best results that answer the question, at most three.

    A sentence scores by the question's words that it holds, rare ones more, and by the similarity
    of meaning, half and half, a little less for each rank of its chunk.
    """
    candidates = _candidates(results[:CHUNKS])
    if not candidates:
        return not_found(question, "extractive")
    coverage = _coverage(question, candidates)
    vectors = embedder.embed_documents([candidate.text for candidate in candidates])
    similarity = vectors @ embedder.embed_query(question)
    # The model's similarities of anything with anything lie between .7 and .95.
    meaning = np.clip((similarity - 0.7) / 0.25, 0, 1)
    ranks = np.array([candidate.rank for candidate in candidates])
    scores = (0.5 * coverage + 0.5 * meaning) * (1 - 0.05 * ranks)
    relevant = (coverage >= MIN_COVERAGE) | (similarity >= MIN_SIMILARITY)
    order = [int(index) for index in np.argsort(-scores, kind="stable") if relevant[index]]
    if not order:
        return not_found(question, "extractive")
    floor = RELATIVE_SCORE * scores[order[0]]
    chosen = [index for index in order if scores[index] >= floor][:MAX_QUOTES]
    quotes = [
        Quote(
            candidates[index].text,
            float(scores[index]),
            Citation.of(number, f"[{number}]", candidates[index].result),
        )
        for number, index in enumerate(chosen, start=1)
    ]
    return Answer(
        question,
        " ".join(f"“{quote.text}” {quote.citation.marker}" for quote in quotes),
        "extractive",
        "answered",
        citations=[quote.citation for quote in quotes],
        quotes=quotes,
    )


def _candidates(results: Sequence[SearchResult]) -> list[_Candidate]:
    """Return the sentences (a table's rows, a list's items) of the results, each text once."""
    seen: set[str] = set()
    found: list[_Candidate] = []
    for rank, result in enumerate(results):
        for line in result.content.split("\n"):
            row = _table_row(line)
            for sentence in [row] if row is not None else sentences(line, result.language):
                text = one_line(sentence)
                if MIN_CHARACTERS <= len(text) <= MAX_CHARACTERS and text not in seen:
                    seen.add(text)
                    found.append(_Candidate(text, result, rank))
    return found


def _table_row(line: str) -> str | None:
    """Return the cells of a row of a Markdown table, "" for its rule; None for any other line."""
    line = line.strip()
    if not (line.startswith("|") and line.endswith("|")):
        return None
    cells = [cell.strip() for cell in line.strip("|").split("|")]
    return "" if all(set(cell) <= {"-", ":"} for cell in cells) else " · ".join(filter(None, cells))


def _coverage(question: str, candidates: Sequence[_Candidate]) -> np.ndarray:
    """Return, per candidate, the share of the question's words it holds, weighted by rarity."""
    languages = sorted({candidate.result.language for candidate in candidates})
    asked = set(query_lexemes(question, languages))
    held = [asked.intersection(query_lexemes(c.text, [c.result.language])) for c in candidates]
    counts = Counter(lexeme for lexemes in held for lexeme in lexemes)
    weights = {lexeme: math.log(1 + len(candidates) / counts[lexeme]) for lexeme in counts}
    # Words of the question that no candidate holds count as the rarest: the answer may lack them.
    total = sum(weights.get(lexeme, math.log(1 + len(candidates))) for lexeme in asked)
    if not total:
        return np.zeros(len(candidates))
    return np.array([sum(weights[lexeme] for lexeme in lexemes) / total for lexemes in held])
