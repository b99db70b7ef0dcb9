"""Measures that need no model: the gold section first, facts, foreign and cut sentences. Pure.

A fact counts as said if one of its spellings is in the answer; spaces,
punctuation and case do not matter, but a number is only found as a whole number.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from rag_pipeline.answering import Answer
from rag_pipeline.evaluation.known_questions import KnownQuestion
from rag_pipeline.evaluation.matching import Place, is_document, letters
from rag_pipeline.line_marks import list_marker
from rag_pipeline.search import SearchResponse
from rag_pipeline.sentence_borders import sentences
from rag_pipeline.text import one_line

_THOUSANDS = re.compile(r"(?<![\d.,])\d{1,3}(?:[ ,]\d{3})+(?!\d)")
_NUMBER = re.compile(r"\d+(?:[.,]\d+)?")
_NOT_LETTER = re.compile(r"[^\w%°<>]|_")
_END = re.compile(r"[.!?:;…。！？：；][\"'”’»)\]]*$")


@dataclass(frozen=True)
class AnswerCounts:
    """What one question found and quoted; the counts of all questions are added up."""

    is_negative: bool = False
    said_not_found: bool = False
    gold_first: bool = False
    """Whether the first result is from a gold section."""
    facts: int = 0
    """Number of known facts."""
    facts_said: int = 0
    sentences: int = 0
    """Number of quoted sentences; list items and table rows count as sentences."""
    foreign: int = 0
    """Quoted sentences that are neither from a gold section nor contain a fact."""
    quotes: int = 0
    cut: int = 0
    """Quotes that begin or end in the middle of a sentence."""


def is_found(response: SearchResponse) -> bool:
    """Return whether a search found anything; nearest results may be listed all the same."""
    return bool(getattr(response, "is_found", response.results))


def count(question: KnownQuestion, response: SearchResponse, answer: Answer | None) -> AnswerCounts:
    """Count what a search, and the answer quoted from it if there is one, did for a question."""
    not_found = not is_found(response) or (answer is not None and answer.status == "not_found")
    if question.is_negative:
        return AnswerCounts(True, not_found)
    first = response.results[0] if is_found(response) else None
    gold_first = first is not None and is_gold(question, first)
    if answer is None:
        return AnswerCounts(False, not_found, gold_first)
    contents = {result.chunk_id: result.content for result in response.results}
    quoted = [
        (sentence, quote.citation) for quote in answer.quotes for sentence in _sentences(quote.text)
    ]
    return AnswerCounts(
        False,
        not_found,
        gold_first,
        facts=len(question.facts),
        facts_said=sum(has_fact(answer.text, fact) for fact in question.facts),
        sentences=len(quoted),
        foreign=sum(
            not is_gold(question, place)
            and not any(has_fact(sentence, fact) for fact in question.facts)
            for sentence, place in quoted
        ),
        quotes=len(answer.quotes),
        cut=sum(
            is_cut(quote.text, contents.get(quote.citation.chunk_id, "")) for quote in answer.quotes
        ),
    )


def shares(counted: Iterable[AnswerCounts]) -> dict[str, float]:
    """Return the measures of all questions, those that apply, each 0..1.

    >>> shares([AnswerCounts(False, False, True, facts=2, facts_said=1), AnswerCounts(True, True)])
    {'gold section first': 1.0, 'facts said': 0.5, 'negatives recognised': 1.0, 'false alarms': 0.0}
    """
    rows = list(counted)
    positive = [row for row in rows if not row.is_negative]
    negative = [row for row in rows if row.is_negative]
    pairs = {
        "gold section first": (sum(row.gold_first for row in positive), len(positive)),
        "facts said": (sum(row.facts_said for row in rows), sum(row.facts for row in rows)),
        "foreign sentences": (
            sum(row.foreign for row in rows),
            sum(row.sentences for row in rows),
        ),
        "cut sentences": (sum(row.cut for row in rows), sum(row.quotes for row in rows)),
        "negatives recognised": (sum(row.said_not_found for row in negative), len(negative)),
        "false alarms": (
            sum(row.said_not_found for row in positive),
            len(positive) if negative else 0,
        ),
    }
    return {name: part / whole for name, (part, whole) in pairs.items() if whole}


def is_gold(question: KnownQuestion, place: Place) -> bool:
    """Return whether a place is in a gold section; in a gold page where no section is known."""
    golds = [gold for gold in question.gold if is_document(place, gold.doc)]
    if question.sections:
        heading = letters(place.breadcrumb_trail.rpartition(" > ")[2])
        return bool(golds) and heading in map(letters, question.sections)
    pages = place.pages or range(place.page_start, place.page_end + 1)
    return any(gold.page is None or gold.page in pages for gold in golds)


def has_fact(text: str, spellings: Sequence[str]) -> bool:
    """Return whether a text says a fact in one of its spellings.

    >>> has_fact("Tighten it with 85 N·m.", ["85 Nm"]), has_fact("a pressure of 14 bar", ["4 bar"])
    (True, False)
    """
    said = _comparable(text)
    return any(_comparable(one) in said for one in spellings)


def _comparable(text: str) -> str:
    """Return letters and digits only, with every number between signs of its own."""
    text = unicodedata.normalize("NFKC", text).casefold().translate({ord("<"): " ", ord(">"): " "})
    text = _THOUSANDS.sub(lambda number: re.sub("[ ,]", "", number[0]), text)
    text = _NUMBER.sub(lambda number: f"<{re.sub('[.,]', 'd', number[0])}>", text)
    return _NOT_LETTER.sub("", text)


def is_cut(quote: str, source: str) -> bool:
    """Return whether a quote begins or ends in the middle of a sentence of the source.

    It ends there if it has no terminal punctuation although its line, or the next one, goes on.
    Rows of tables and whole items of lists are not cut, nor is what the source does not have word
    for word.

    >>> text = "You need: oil, a vessel for 20 L, and a torque\\nwrench.\\n1. Drain the oil"
    >>> [is_cut(quote, text) for quote in ("You need: oil,", text[:46], "wrench.", "Drain the oil")]
    [True, True, True, False]
    """
    place = re.search(r"\s+".join(map(re.escape, quote.split())), source)
    if place is None:
        return False
    before, after = source[: place.start()], source[place.end() :]
    return _goes_on(quote.strip(), before, after) or _has_begun(quote.strip(), before)


def _goes_on(quote: str, before: str, after: str) -> bool:
    if _END.search(quote) or _is_row(_line_of(before, quote)):
        return False
    rest, _, below = after.partition("\n")
    if rest.strip():
        return True
    following = below.partition("\n")[0]
    # A capital may open a sentence, a heading or a label: only what cannot is sure to go on.
    opens = list_marker(following.strip()) or _is_row(following) or following.strip()[:1].isupper()
    return bool(following.strip()) and not opens


def _has_begun(quote: str, before: str) -> bool:
    if not quote[:1].islower():
        return False
    above, _, begun = before.rpartition("\n")
    if _is_row(begun):
        return False
    if begun.strip():
        return not _END.search(begun.strip()) and not list_marker(f"{begun.strip()} {quote}")
    previous = above.rpartition("\n")[2].strip()
    return bool(previous) and not _END.search(previous) and not _is_row(previous)


def _line_of(before: str, quote: str) -> str:
    """Return the line of the source in which a quote ends, up to its end."""
    return (before + quote).rpartition("\n")[2]


def _is_row(line: str) -> bool:
    return line.lstrip().startswith("|")


def _sentences(text: str) -> list[str]:
    """Return the sentences of a quote; a line is a sentence of its own."""
    parts = [part for line in text.splitlines() for part in sentences(line)]
    return [part for part in map(one_line, parts) if part]
