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
from rag_pipeline.relational.schema.lexicon import is_hangul, stem
from rag_pipeline.relational.schema.ways import NotComputableError

TokenKind = Literal["operator", "mention", "value", "number", "period"]
_MONTHS = (
    "january february march april may june july august september october november december".split()
)
_SCALES = {
    "thousand": 10**3,
    "ten_thousand": 10**4,
    "million": 10**6,
    "hundred_million": 10**8,
    "billion": 10**9,
}
_PARTS = {
    "first_half": (0, 6),
    "second_half": (6, 6),
    "quarter_1": (0, 3),
    "quarter_2": (3, 3),
    "quarter_3": (6, 3),
    "quarter_4": (9, 3),
}
"""Parts of a year: the months before them, and how many they have."""
_PLAIN = {word: word for word in ("year", "month", "quarter", "name")}
_COMPARING = frozenset({"more", "less", "at_least", "at_most", "money", *units_of_measure()})
_AUXILIARIES = frozenset({"did", "do", "does", "was", "were", "been", "is", "are"})
_YEARS = range(1900, 2101)


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
        has_period = any(_period(pieces, at) for at in range(len(pieces)))
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


def _period(  # noqa: PLR0911, PLR0915
    pieces: Sequence[Piece], index: int
) -> Token | None:
    """Return the year, month or day that is written here."""

    def number(at: int) -> int | None:
        is_there = at < len(pieces) and pieces[at].kind == "number"
        return int(pieces[at].value) if is_there and pieces[at].value.isdigit() else None

    def operator(at: int) -> str:
        is_there = at < len(pieces) and pieces[at].kind == "operator"
        return pieces[at].value if is_there else ""

    def text_of(at: int) -> str:
        return pieces[at].text if at < len(pieces) and pieces[at].kind == "filler" else ""

    def year_behind(at: int) -> int | None:
        """The year of `May and July 2023`, also for the first."""
        is_range = operator(at) in ("and", "to", "or") and operator(at + 1) in _MONTHS
        return number(at + 2) if is_range else None

    def year_before(at: int) -> int | None:
        """The year of 2023년 5월부터 7월까지, also for the last."""
        marks = [i for i in range(1, at) if operator(i) == "year_mark"]
        follows = at >= 2 and any(operator(i) == "month_mark" for i in range(at - 3, at))
        return number(marks[-1] - 1) if marks and follows else None

    def part(end: int, year: int | None, name: str) -> Token | None:
        """A half or a quarter of a year."""
        whole = made(end, year)
        if whole is None or whole.period is None or year is None:
            return None
        first, months = 1 + _PARTS[name][0], _PARTS[name][1]
        start = datetime.date(year, first, 1)
        after = datetime.date(year + (first + months > 12), (first + months - 1) % 12 + 1, 1)
        whole.period = (start, after)
        return whole

    def made(end: int, year: int | None, month: int = 0, day: int = 0) -> Token | None:
        if year is None or year not in _YEARS:
            return None
        try:
            first = datetime.date(year, month or 1, day or 1)
        except ValueError:
            return None
        if text_of(index + 1) == "s" or operator(index + 1) == "decade_mark":
            after = datetime.date(year + 10, 1, 1)
        elif day:
            after = first + datetime.timedelta(days=1)
        elif month:
            after = datetime.date(year + month // 12, month % 12 + 1, 1)
        else:
            after = datetime.date(year + 1, 1, 1)
        text = " ".join(piece.text for piece in pieces[index:end])
        return Token("period", text, text, index, end, period=(first, after))

    if operator(index) in _PARTS:
        return part(index + 2, number(index + 1), operator(index))
    if operator(index) in _MONTHS:
        month = _MONTHS.index(operator(index)) + 1
        day = number(index + 1)
        if day is not None and (made_ := made(index + 3, number(index + 2), month, day)):
            return made_
        return made(index + 2, day, month) or made(index + 1, year_behind(index + 1), month)
    if operator(index + 1) == "month_mark" and (before := year_before(index)) is not None:
        return made(index + 2, before, number(index) or 0)
    year = number(index)
    iso = pieces[index].value if pieces[index].kind == "number" else ""
    if iso.count("-") == 2:
        y, m, d = map(int, iso.split("-"))
        return made(index + 1, y, m, d)
    if year is None:
        return None
    if operator(index + 1) in _MONTHS:
        month = _MONTHS.index(operator(index + 1)) + 1
        return made(index + 3, number(index + 2), month, year)
    at = index + 1 + (operator(index + 1) == "year_mark")
    if operator(at) in _PARTS:
        return part(at + 1, year, operator(at))
    if operator(index + 1) == "decade_mark" or text_of(index + 1) == "s":
        return made(index + 2, year) if year % 10 == 0 else None
    if operator(index + 1) == "year_mark":
        month_at, day_at = number(index + 2), number(index + 4)
        if month_at and operator(index + 3) == "month_mark":
            if day_at and operator(index + 5) == "day_mark":
                return made(index + 6, year, month_at, day_at)
            return made(index + 4, year, month_at)
        return made(index + 2, year)
    text = pieces[index].text
    return made(index + 1, year) if len(text) == 4 and text.isdigit() else None
