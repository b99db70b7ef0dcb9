"""Reads the citations in a model's answer and checks them against the given chunks. Pure."""

from __future__ import annotations

import re
from collections.abc import Sequence

from rag_pipeline.answering.answer import Citation
from rag_pipeline.answering.answer_context import ContextChunk

_ID = r"c\d+"
_GROUP = re.compile(
    rf"[\[【(](?:chunks?\s+)?({_ID}(?:\s*(?:,|;|and|및|와|과)\s*{_ID})*)[\]】)]", re.IGNORECASE
)
# Some models leave out the letter. A number in brackets right after a Latin letter or a digit is an
# index or a register ("GPIO[3]"), not a citation.
_NUMBERS = re.compile(r"(?<![A-Za-z0-9_])[\[【](\d{1,3}(?:\s*[,;]\s*\d{1,3})*)[\]】]")


def cited_numbers(text: str) -> list[int]:
    """Return the numbers of the cited chunks, each once, in order.

    >>> cited_numbers("Turn it [c2]. Wait [c1, c2].")
    [2, 1]
    >>> cited_numbers("Turn it [2].")
    [2]
    """
    groups = _GROUP.findall(text) or _NUMBERS.findall(text)
    return list(dict.fromkeys(int(n) for group in groups for n in re.findall(r"\d+", group)))


def check_citations(text: str, chunks: Sequence[ContextChunk]) -> tuple[list[Citation], list[str]]:
    """Return the citations of given chunks, and the problems with the others."""
    given = {chunk.number: chunk for chunk in chunks}
    numbers = cited_numbers(text)
    citations = [cite(given[number]) for number in numbers if number in given]
    problems = [
        f"cites c{number}, a chunk that was not given" for number in numbers if number not in given
    ]
    if not numbers:
        problems.append("cites no chunk: nothing shows that the documents say this")
    return citations, problems


def cite(chunk: ContextChunk) -> Citation:
    """Return the citation of a chunk of the context."""
    return Citation.of(chunk.number, f"[{chunk.id}]", chunk.result)
