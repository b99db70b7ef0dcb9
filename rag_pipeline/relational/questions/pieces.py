"""A question cut into pieces that are all understood: operators, nouns, values, numbers, fillers.

Every unit of the question (word, number, Korean syllable) must be part of a piece. Among all ways
to cut it the cheapest is taken: no unknown units, then the fewest pieces. What stays unknown makes
the question one that is not computed; nothing is skipped silently.
"""

from __future__ import annotations

import tomllib
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from functools import lru_cache
from importlib.resources import files
from typing import Any, Literal

from rag_pipeline.relational.schema.lexicon import UNIT, Lexicon, stem, units

PieceKind = Literal["operator", "noun", "value", "number", "filler", "particle", "unknown"]
_CLOSING = ")]}\"'”’』」"
"""A particle leans on the word before it across these."""
MAX_UNITS = 150
MAX_SPAN = 14
"""Units in one piece, at most."""
_YIELDING = frozenset({"counter", "trade", "spend"})
"""Operators that a word of the schema goes before: a table of purchases, a column of pay."""
_COST = {"unknown": 100.0, "particle": 0.6, "number": 0.8, "filler": 1.0, "operator": 0.9}


@dataclass(frozen=True)
class Unit:
    """A word, a number, or one Korean syllable, with its place in the question."""

    key: str
    start: int
    end: int
    glued: bool
    """Nothing stands between it and the unit before."""


@dataclass(frozen=True)
class Piece:
    """Some units, and what they were taken for."""

    kind: PieceKind
    value: str
    """Operator's name, concept, number; the text itself for values."""
    text: str
    start: int
    """First unit."""
    end: int
    """Behind its last unit."""


@dataclass(frozen=True)
class Span:
    """Consecutive units that may be a value of the data."""

    start: int
    end: int
    text: str


def cut_units(question: str) -> list[Unit]:
    """Return the units of a question."""
    found: list[Unit] = []
    for match in UNIT.finditer(question):
        between = question[found[-1].end : match.start()] if found else " "
        glued = not between.strip(_CLOSING)
        found.append(Unit(stem(match.group()), match.start(), match.end(), glued))
    return found


def candidate_spans(question: str, parts: Sequence[Unit]) -> list[Span]:
    """Return every stretch of the question that may be a value: it begins where a word does."""
    spans = []
    for i, first in enumerate(parts):
        if first.glued and _is_hangul(parts[i - 1].key) == _is_hangul(first.key):
            continue
        for j in range(i + 1, min(len(parts), i + MAX_SPAN) + 1):
            text = question[first.start : parts[j - 1].end]
            if len(text) >= 2:
                spans.append(Span(i, j, text))
    return spans


class Cutter:
    """Cuts questions by one schema's lexicon."""

    def __init__(
        self,
        lexicon: Lexicon,
        own: Mapping[tuple[str, ...], str] | None = None,
        present: Collection[str] = (),
        named: Collection[str] | None = None,
    ) -> None:
        """`own`: units of words that the schema or its owner adds, with their concepts.

        `present`: the concepts of the tables' names. A word for two of them stays unknown.
        `named`: those of all names; a value of the data goes before a noun that names nothing.
        """
        self._named = named
        self._entries: dict[tuple[str, ...], tuple[PieceKind, str]] = {}
        for form, concept in (own or {}).items():
            self._entries[form] = ("noun", concept)
        for form, concepts in lexicon.forms.items():
            meant = [concept for concept in concepts if concept in present]
            meant = meant or [one for one in concepts if one in (named or ())] or concepts[:1]
            is_bare = len(form) == 1 and _is_hangul(form[0])
            if is_bare and named is not None and meant[0] not in named:
                # A syllable of some longer word, not a mountain or a dog.
                continue
            if len(meant) == 1:
                self._entries.setdefault(form, ("noun", meant[0]))
        for kind, value, form in _operators():
            known = self._entries.get(form)
            is_other = known is None or (
                known[0] == "noun" and named is not None and known[1] not in named
            )
            is_firm = kind in ("operator", "number") and value not in _YIELDING
            if value in units_of_measure():
                # A company may have meters, or a table of minutes.
                is_firm = known is None or known[1] not in present
            if is_firm or is_other:
                self._entries[form] = (kind, value)

    def cut(
        self, question: str, parts: Sequence[Unit], values: Mapping[tuple[int, int], Any]
    ) -> list[Piece]:
        """Return the pieces in order; `values`: spans that the data has, by first unit and end."""
        keys = [unit.key for unit in parts]
        best: list[tuple[float, list[Piece]]] = [(0.0, [])]
        best += [(float("inf"), [])] * len(parts)
        for i in range(len(parts)):
            cost, pieces = best[i]
            if cost == float("inf"):
                continue
            for piece, price in self._from(question, parts, keys, i, values):
                if cost + price < best[piece.end][0]:
                    best[piece.end] = (cost + price, [*pieces, piece])
        return _without_glosses(question, parts, best[-1][1])

    def _from(
        self,
        question: str,
        parts: Sequence[Unit],
        keys: list[str],
        i: int,
        values: Mapping[tuple[int, int], Any],
    ) -> list[tuple[Piece, float]]:
        found: list[tuple[Piece, float]] = []

        def take(kind: PieceKind, value: str, end: int, cost: float) -> None:
            text = question[parts[i].start : parts[end - 1].end]
            found.append((Piece(kind, value, text, i, end), cost))

        take("unknown", keys[i], i + 1, _COST["unknown"])
        if keys[i][0].isdigit():
            take("number", keys[i], i + 1, _COST["number"])
        for end in range(i + 1, min(len(parts), i + MAX_SPAN) + 1):
            entry = self._entries.get(tuple(keys[i:end]))
            if entry is not None:
                kind, value = entry
                # A particle leans on the word before it.
                if kind != "particle" or (i > 0 and parts[i].glued) or end - i > 1:
                    take(kind, value, end, _COST.get(kind, 1.0))
            if (i, end) in values:
                text = question[parts[i].start : parts[end - 1].end]
                # A common word that is also a value is one where it is written like a name.
                is_name = end - i > 1 or (not text.islower() and i > 0)
                names_nothing = (
                    entry is not None
                    and entry[0] == "noun"
                    and self._named is not None
                    and entry[1] not in self._named
                )
                is_known = entry is not None and entry[0] != "unknown" and not names_nothing
                take("value", text, end, 0.9 if is_name or not is_known else 1.5)
        return found


def _without_glosses(question: str, parts: Sequence[Unit], pieces: Sequence[Piece]) -> list[Piece]:
    """Take an unknown word before a bracket for a translation of what is in it: 과일(Fruit)."""
    kept: list[Piece] = []
    for piece in pieces:
        before = question[parts[piece.start - 1].end : parts[piece.start].start]
        if piece.kind == "value" and piece.start and before.strip() == "(":
            while kept and kept[-1].kind == "unknown":
                gone = kept.pop()
                if not parts[gone.start].glued:
                    break
        kept.append(piece)
    return kept


@lru_cache(maxsize=1)
def grammar_data() -> dict[str, Any]:
    """Return the words that questions are built with, as they are in `operators.toml`."""
    path = files("rag_pipeline.relational.questions").joinpath("operators.toml")
    return tomllib.loads(path.read_text(encoding="utf-8"))


@dataclass(frozen=True)
class UnitOfMeasure:
    """Minutes, kilograms: what they measure, and how much one is."""

    measures: str
    size: Decimal


@lru_cache(maxsize=1)
def units_of_measure() -> dict[str, UnitOfMeasure]:
    """Return the units of measure by name."""
    listed = grammar_data()["units"].items()
    return {name: UnitOfMeasure(one["of"], Decimal(one["size"])) for name, one in listed}


@lru_cache(maxsize=1)
def unit_words() -> dict[str, str]:
    """Return the units' names by the stems of their forms."""
    return {
        stem(form): name for name, one in grammar_data()["units"].items() for form in one["forms"]
    }


@lru_cache(maxsize=1)
def rhythm_words() -> frozenset[str]:
    """Return the stems of words that group or measure, but in columns' names: monthly, hourly."""
    rhythms = [grammar_data()["operators"][name] for name in ("monthly", "yearly", "quarterly")]
    single = {stem(word) for words in rhythms for word in words if " " not in word}
    return frozenset(single | set(unit_words()))


def unit_form(name: str) -> str:
    """Return the word for a unit."""
    return str(grammar_data()["units"][name]["forms"][0])


@lru_cache(maxsize=1)
def _operators() -> list[tuple[PieceKind, str, tuple[str, ...]]]:
    data = grammar_data()
    found: list[tuple[PieceKind, str, tuple[str, ...]]] = []
    for word in data["fillers"]["words"]:
        found.append(("filler", word, units(word)))
    for word in data["fillers"]["particles"]:
        found.append(("particle", word, units(word)))
    for name, words in data["operators"].items():
        found += [("operator", name, units(word)) for word in words]
    for name, one in data["units"].items():
        found += [("operator", name, units(word)) for word in one["forms"]]
    for name, words in data["numbers"].items():
        found += [("number", name, units(word)) for word in words]
    for name, adjective in data["adjectives"].items():
        for degree in ("more", "less", "highest", "lowest"):
            found += [("operator", f"{name}.{degree}", units(word)) for word in adjective[degree]]
    return found


def _is_hangul(text: str) -> bool:
    return "가" <= text[0] <= "힣"
