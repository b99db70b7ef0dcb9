"""The tokens of a question: operators, things of the schema, values, numbers and periods."""

from __future__ import annotations

import datetime
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Literal

from rag_pipeline.relational.questions.mentions import Mention, Namer
from rag_pipeline.relational.questions.named_values import FoundValue
from rag_pipeline.relational.questions.pieces import Piece, unit_form, units_of_measure
from rag_pipeline.relational.questions.written_periods import period_at
from rag_pipeline.relational.schema.lexicon import is_hangul, stem
from rag_pipeline.relational.schema.ways import NotComputableError

TokenKind = Literal["operator", "mention", "value", "number", "period"]
_SCALES = {
    "thousand": 10**3,
    "ten_thousand": 10**4,
    "million": 10**6,
    "hundred_million": 10**8,
    "billion": 10**9,
}
_PLAIN = {word: word for word in ("year", "month", "quarter", "name")}
_COMPARING = frozenset({"more", "less", "at_least", "at_most", "money", *units_of_measure()})
_AUXILIARIES = frozenset({"did", "do", "does", "was", "were", "been", "is", "are"})


@dataclass(eq=False)
class Token:
    """A part of the question that means one thing; it must be used, or nothing is computed."""

    kind: TokenKind
    name: str
    text: str
    start: int
    """First piece."""
    end: int
    mention: Mention | None = None
    values: Sequence[FoundValue] = ()
    noun: str = ""
    """Of a value: the concept that the word has in names of the schema, too."""
    number: Decimal = Decimal(0)
    period: tuple[datetime.date, datetime.date] | None = None
    """First day, and the first day after it."""
    used: bool = field(default=False)
    has_auxiliary: bool = False
    """`did` or `was` stands before it: of `tools that Ann did rent`, tools are the object."""
    particle: str = ""
    """The Korean particle behind it."""
    is_modifier: bool = False
    """A table before another one that it belongs to: `product` in `product category`."""

    @property
    def is_condition(self) -> bool:
        """Whether it is part of a comparison: a sign, an adjective, a unit."""
        return self.kind == "operator" and (
            self.name.endswith((".more", ".less")) or self.name in _COMPARING
        )

    @property
    def is_verb(self) -> bool:
        """Whether it is a verb that names a thing: rented, for rentals."""
        if self.mention is None or self.is_korean:
            return False
        noun, own = self.mention.concepts[-1], stem(self.text)
        return self.text.lower().endswith("ed") or (noun != own and noun.startswith(own))

    @property
    def is_korean(self) -> bool:
        """Whether it is written in Korean, where what belongs to it stands before it."""
        return is_hangul(self.text)


def tokens_of(
    pieces: Sequence[Piece], values: Mapping[tuple[int, int], Sequence[FoundValue]], namer: Namer
) -> list[Token]:
    """Return a question's tokens in order. Raises `NotComputableError` for an unknown word."""
    unknown = [piece.text for piece in pieces if piece.kind == "unknown"]
    if unknown:
        words = ", ".join(f"“{word}”" for word in _joined(pieces))
        raise NotComputableError(f"it has words that are not known here: {words}")
    found: list[Token] = []
    mentions = {mention.start: mention for mention in namer.mentions(pieces)}
    index = 0
    while index < len(pieces):
        token = (
            _period(pieces, index)
            or _unit(pieces, index, found, namer)
            or _plain(pieces, index, values, mentions, namer)
        )
        if token is not None and found and token is found[-1]:
            index = token.end
            continue
        if token is not None:
            earlier = (one.text.lower() for one in pieces[:index] if one.kind == "filler")
            token.has_auxiliary = any(text in _AUXILIARIES for text in earlier)
            behind = pieces[token.end] if token.end < len(pieces) else None
            token.particle = behind.text if behind and behind.kind == "particle" else ""
            found.append(token)
        index = token.end if token is not None else index + 1
    return found


def _period(pieces: Sequence[Piece], index: int) -> Token | None:
    """Return the period that is written here."""
    found = period_at(pieces, index)
    if found is None:
        return None
    days = (found.first, found.after)
    return Token("period", found.text, found.text, index, found.end, period=days)


def _unit(
    pieces: Sequence[Piece], index: int, found: Sequence[Token], namer: Namer
) -> Token | None:
    """Return a unit that is a column, or part of its name: `total hours`, `labor hours`."""
    piece = pieces[index]
    if piece.kind != "operator" or piece.value not in units_of_measure():
        return None
    last = found[-1] if found else None
    if last is not None and last.kind == "number":
        return None
    if last is not None and last.mention is not None and last.end == index:
        units = {namer.units.get(place) for place in last.mention.columns}
        if piece.value in units:
            last.end = index + 1
            return last
    columns = namer.with_words((stem(unit_form(piece.value)),))
    mention = Mention((piece.value,), index, index + 1, None, columns)
    return (
        Token("mention", mention.text, piece.text, index, index + 1, mention=mention)
        if columns
        else None
    )


def _joined(pieces: Sequence[Piece]) -> list[str]:
    """Return unknown stretches; Korean syllables that stand together are one."""
    found: list[str] = []
    before = -2
    for piece in pieces:
        if piece.kind == "unknown":
            if found and piece.start == before and is_hangul(piece.text):
                found[-1] += piece.text
            else:
                found.append(piece.text)
            before = piece.end
    return found


def _plain(  # noqa: PLR0911
    pieces: Sequence[Piece],
    index: int,
    values: Mapping[tuple[int, int], Sequence[FoundValue]],
    mentions: Mapping[int, Mention],
    namer: Namer,
) -> Token | None:
    piece = pieces[index]
    if piece.kind == "noun" and index in mentions:
        mention = mentions[index]
        is_named = bool(mention.table or mention.columns)
        has_period = any(period_at(pieces, at) for at in range(len(pieces)))
        is_date = has_period and piece.value in namer.date_words
        if not is_named and (piece.start, piece.end) in values and not is_date:
            found = values[piece.start, piece.end]
            return Token(
                "value", piece.text, piece.text, index, index + 1, values=found, noun=piece.value
            )
        text = " ".join(one.text for one in pieces[mention.start : mention.end])
        return Token("mention", mention.text, text, index, mention.end, mention=mention)
    if piece.kind == "value":
        found = values[piece.start, piece.end]
        return Token("value", piece.text, piece.text, index, index + 1, values=found)
    if piece.kind == "number":
        number = Decimal(piece.value.replace(",", ""))
        end = index + 1
        while end < len(pieces) and pieces[end].value in _SCALES and pieces[end].kind == "operator":
            number *= _SCALES[pieces[end].value]
            end += 1
        return Token("number", piece.value, piece.text, index, end, number=number)
    plain = _PLAIN.get(piece.text.lower().rstrip("s"))
    if piece.kind == "operator" and plain is not None:
        # `year` has the stem of `yearly`, `name` that of `named`: here it is the noun.
        mention = Mention((plain,), index, index + 1)
        return Token("mention", plain, piece.text, index, index + 1, mention=mention)
    if piece.kind == "particle" and piece.text in ("와", "과"):
        return Token("operator", "and", piece.text, index, index + 1)
    if piece.kind == "particle" and piece.text == "나":
        return Token("operator", "or", piece.text, index, index + 1)
    if piece.kind == "operator":
        return Token("operator", piece.value, piece.text, index, index + 1)
    return None
