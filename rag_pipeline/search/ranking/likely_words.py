"""What words would likely give chunks in other languages than the question's. Pure.

No word of a Korean question stands in an English chunk, however well it answers; beside Korean
chunks, which have a few of the words by chance, it would lose. It therefore gets what words would
likely give it, were it in the question's language: the nearer its meaning, the more, up to nearly
what the best chunk got.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from rag_pipeline.search.scores import LegHit

_SHARE = 0.8
"""Share of the best chunk's words for the chunk of the nearest meaning; less than all of it, so
that the question's language comes first where both languages have the answer."""


def with_likely_words(
    words: Sequence[LegHit],
    meaning: Sequence[LegHit],
    languages: Mapping[int, str],
    language: str | None,
) -> list[LegHit]:
    """Return the text leg's hits with likely ones in other languages, best first.

    `meaning` is the vector leg's hits, best first; `languages` has those of its chunks. Nothing
    changes unless some of them are in `language`, that of the question, and some are not.

    >>> words, meaning = [LegHit(1, 2.0)], [LegHit(2, 0.9), LegHit(1, 0.8)]
    >>> [(hit.chunk_id, hit.raw_score) for hit in with_likely_words(
    ...     words, meaning, {1: "ko", 2: "en"}, "ko")]
    [(1, 2.0), (2, 1.6)]
    """
    if not words or language not in languages.values():
        return list(words)
    best = max(map(_plain, words))
    nearest, farthest = meaning[0].raw_score, meaning[-1].raw_score
    reach = max(1e-6, nearest - farthest)
    hits = {hit.chunk_id: hit for hit in words}
    for hit in meaning:
        if languages.get(hit.chunk_id, language) == language:
            continue
        likely = _SHARE * best * (hit.raw_score - farthest) / reach
        found = hits.get(hit.chunk_id, LegHit(hit.chunk_id, 0.0))
        if likely > found.raw_score:
            rest = likely - found.raw_score
            hits[hit.chunk_id] = found.plus("likely_words", rest, 1.0, rest)
    return sorted(hits.values(), key=lambda hit: (-hit.raw_score, hit.chunk_id))


def _plain(hit: LegHit) -> float:
    """Return a hit's score without a bonus, which does not set the scale of the leg."""
    return hit.raw_score * (1 - sum(clause.share for clause in hit.clauses if clause.is_bonus))
