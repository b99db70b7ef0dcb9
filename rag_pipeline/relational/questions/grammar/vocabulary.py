"""What the words of a question mean in one schema: tables, columns, roles of keys, amounts."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field, replace
from decimal import Decimal

from rag_pipeline.relational.questions.forms.logical_form import Arithmetic, ColumnAt, Expression
from rag_pipeline.relational.questions.forms.metrics import Metric, parse_metric
from rag_pipeline.relational.questions.mentions import Namer, Place
from rag_pipeline.relational.questions.pieces import (
    grammar_data,
    unit_words,
    units_of_measure,
)
from rag_pipeline.relational.questions.question_tokens import Token
from rag_pipeline.relational.schema.amounts_of_tables import LineAmount, line_amounts
from rag_pipeline.relational.schema.lexicon import stem
from rag_pipeline.relational.schema.table_schema import (
    ForeignKey,
    Schema,
    is_date,
    is_flag,
    is_number,
)
from rag_pipeline.relational.schema.ways import Ways

_TOTALS = frozenset({"total", "amount", "revenue"})
_DATE_WORDS = frozenset({"date", "time", "at", "on", "create", "start", "issue"})
"""Words of a date that is the time of the row itself."""


@dataclass(frozen=True)
class Amount:
    """A number that rows of a table have."""

    table: str
    expression: Expression
    adds_up: bool
    """It is an amount: without another word its total is meant."""
    is_column: bool = False


@dataclass
class Vocabulary:
    """Looks up words in one schema."""

    schema: Schema
    namer: Namer
    metrics: Sequence[Metric] = ()
    flags: Collection[Place] = frozenset()
    """Whole-number columns that hold nothing but 0 and 1."""
    ways: Ways = field(init=False)
    _dated: list[str] | None = field(default=None, init=False)

    def __post_init__(self) -> None:
        self.ways = Ways(self.schema)
        self.lines: dict[str, LineAmount] = line_amounts(self.schema)
        self._metrics = {
            metric.name: Amount(metric.table, parse_metric(metric, self.schema), True)
            for metric in self.metrics
        }

    def table_of(self, token: Token) -> str | None:
        """Return the table that a token names."""
        return token.mention.table if token.mention else None

    def columns(self, token: Token) -> tuple[Place, ...]:
        """Return the columns that a token names; keys that refer to other rows are no values."""
        places = token.mention.columns if token.mention else ()
        return tuple(p for p in places if p[1] not in self.schema.tables[p[0]].reference_columns)

    def roles(self, token: Token) -> list[ForeignKey]:
        """Return the foreign keys whose columns a token names: `support` → support_rep_id."""
        if token.mention is None or token.mention.table is not None:
            return []
        wanted = set(token.mention.concepts)
        named = set(token.mention.columns)
        return [
            link
            for table in self.schema.tables.values()
            for link in table.foreign_keys
            if wanted <= self.schema.role_words(link)
            or any((link.table, name) in named for name in link.columns)
        ]

    def dates_like(self, token: Token) -> list[Place]:
        """Return dates whose name has the token's words: `hired` → hire_date."""
        if token.mention is None:
            return []
        wanted = set(token.mention.concepts) - {"date"}
        if dates := [p for p in token.mention.columns if self.is_date(p)]:
            return dates
        return [
            place
            for place, words in self.namer.words.items()
            if wanted and wanted <= words and self.is_date(place)
        ]

    def dates(self, table: str) -> list[Place]:
        """Return a table's dates; only its own one, where the names tell (`order_date`)."""
        info = self.schema.tables[table]
        found = [(table, c.name) for c in info.table.columns if is_date(c)]
        own = [
            p
            for p in found
            if not set(self.schema.lexicon.name_concepts(p[1])) - {"date", *info.concepts}
        ]
        return own if len(own) == 1 else found

    def dated_tables(self, places: Sequence[Place] = ()) -> list[str]:
        """Return the tables of some dates; without any, those that have a date of their own."""
        if places:
            return list(dict.fromkeys(table for table, _ in places))
        if self._dated is None:
            self._dated = [
                name for name in self.schema.tables if self.own_dates(name, is_base=True)
            ]
        return self._dated

    def own_dates(self, table: str, *, is_base: bool = False) -> list[Place]:
        """Return the date that says when a row came about: order_date of orders, created_at.

        Of the rows that are asked about (`is_base`), what has no name, one date, and nothing that
        belongs to it is something that happened then.
        """
        info = self.schema.tables[table]
        own = {*_DATE_WORDS, *info.concepts}
        found = [
            p for p in self.dates(table) if set(self.schema.lexicon.name_concepts(p[1])) <= own
        ]
        is_event = is_base and info.label == info.key and not self.schema.incoming(table)
        if not found and is_event and len(self.dates(table)) == 1:
            return self.dates(table)
        return found

    def is_date(self, place: Place) -> bool:
        """Whether a column holds dates."""
        return is_date(self.schema.tables[place[0]].column(place[1]))

    def is_flag(self, place: Place) -> bool:
        """Whether a column holds yes or no."""
        return place in self.flags or self.is_boolean(place)

    def is_boolean(self, place: Place) -> bool:
        """Whether a column is declared as true or false."""
        return is_flag(self.schema.tables[place[0]].column(place[1]))

    def is_number(self, place: Place) -> bool:
        """Whether a column holds numbers that are no keys."""
        info = self.schema.tables[place[0]]
        is_key = place[1] in info.reference_columns or place[1] in info.key
        return is_number(info.column(place[1])) and not is_key and not self.is_flag(place)

    def is_number_of(self, place: Place) -> bool:
        """Whether a column holds numbers of things: bed_count, number_of_beds."""
        words = self.schema.lexicon.name_concepts(place[1])
        return len(words) > 1 and bool({"count", "number", "quantity"} & set(words))

    def amounts(
        self, token: Token, net: Sequence[Token] = (), gross: Sequence[Token] = ()
    ) -> list[Amount]:
        """Return the numbers that a token may name: revenue, an amount, a column."""
        if token.mention is None or token.mention.table is not None:
            return []
        concepts = token.mention.concepts
        if len(concepts) == 1 and concepts[0] in self._metrics:
            return [self._metrics[concepts[0]]]
        columns = [
            Amount(place[0], ColumnAt((), *place), _adds_up(self, place), True)
            for place in token.mention.columns
            if self.is_number(place)
        ]
        if concepts == ("revenue",):
            return columns or self.revenues(gross=bool(gross))
        if concepts in (("amount",), ("order", "amount"), ("invoice", "amount")):
            if columns:
                return columns
            kinds = [False] if net else [True] if gross else [False, True]
            return [one for kind in kinds for one in self.revenues(gross=kind)]
        return columns or [
            Amount(place[0], ColumnAt((), *place), False, True)
            for place in self.stand_in(token)
            if self.is_number(place)
        ]

    def revenues(self, *, gross: bool = False) -> list[Amount]:
        """Return what may be meant by revenue: lines added up, and columns of totals."""
        if "revenue" in self._metrics:
            return [self._metrics["revenue"]]
        found = [
            Amount(name, line_expression(amount, gross=gross), True)
            for name, amount in self.lines.items()
            if amount.discount is not None or self._is_sale(name)
        ]
        return found + [
            replace(one, is_column=False)
            for one in self.totals()
            if self.dates(one.table) or one.table in self.lines
        ]

    def _is_sale(self, table: str) -> bool:
        """Lines of something that has a date, not a price list."""
        links = self.schema.tables[table].foreign_keys
        return bool(self.dates(table)) or any(self.dates(link.target) for link in links)

    def discounts(self) -> list[Amount]:
        """Return the amounts that were taken off."""
        found = []
        for name, amount in self.lines.items():
            if amount.discount is not None:
                gross = line_expression(amount, gross=True)
                off = Arithmetic("*", gross, ColumnAt((), name, amount.discount))
                found.append(Amount(name, off, True))
        return found

    def totals(self) -> list[Amount]:
        """Return columns that are called total, amount or revenue."""
        return [
            Amount(place[0], ColumnAt((), *place), True, True)
            for place, words in self.namer.words.items()
            if words & _TOTALS and len(words) == 1 and self.is_number(place)
        ]

    def products(self, tokens: Sequence[Token], is_said: bool) -> list[Amount]:
        """Return the product of two columns of a table: `price times stock`."""
        if not is_said:
            return []
        sets = [[p for p in self.columns(t) if self.is_number(p)] for t in tokens]
        sets = [places for places in sets if places]
        tables = set.intersection(*({p[0] for p in places} for places in sets)) if sets else set()
        found = []
        for table in sorted(tables):
            mine = {p for places in sets for p in places if p[0] == table}
            if len(mine) == 2:
                left, right = (ColumnAt((), *place) for place in sorted(mine))
                found.append(Amount(table, Arithmetic("*", left, right), True))
        return found

    def by_last_word(self, concepts: Collection[str]) -> list[Place]:
        """Return numbers and dates whose name has one of the concepts."""
        wanted = {*concepts, *map(stem, concepts)}
        units = {unit_words()[stem(one)] for one in concepts if stem(one) in unit_words()}
        return [
            place
            for place, words in self.namer.words.items()
            if (words & wanted or self.namer.units.get(place) in units)
            and (self.is_number(place) or self.is_date(place))
        ]

    def measured_in(self, unit: str) -> list[Place]:
        """Return the numbers whose name has a unit that measures the same: kg for grams."""
        wanted = units_of_measure()[unit].measures
        return [
            place
            for place, name in self.namer.units.items()
            if units_of_measure()[name].measures == wanted and self.is_number(place)
        ]

    def stand_in(self, token: Token) -> list[Place]:
        """Return the columns for a word that the schema does not have: cost → price."""
        if token.mention is None or token.mention.table or token.mention.columns:
            return []
        others = grammar_data()["stands_for"].get(token.mention.concepts[0], [])
        return self.by_last_word(others)

    def adjective_concepts(self, name: str) -> list[str]:
        """Return what an adjective is about: long → duration, length."""
        return list(grammar_data()["adjectives"][name]["concepts"])

    def shows_value(self, name: str) -> bool:
        """Whether the number is told along with the row: a price is, a length is not."""
        return bool(grammar_data()["adjectives"][name].get("shows_value"))

    def quantity_of(self, table: str) -> Place | None:
        """Return the column that says how many pieces a line is about."""
        amount = self.lines.get(table)
        return (table, amount.quantity) if amount else None

    def factor(self, unit: str, place: Place) -> Decimal | None:
        """Return how many of a column's units one of `unit` is, if the column's name tells."""
        own, asked = self.namer.units.get(place), units_of_measure()[unit]
        if own is None or units_of_measure()[own].measures != asked.measures:
            return None
        return asked.size / units_of_measure()[own].size


def _adds_up(vocabulary: Vocabulary, place: Place) -> bool:
    return bool(vocabulary.namer.words[place] & _TOTALS)


def line_expression(amount: LineAmount, *, gross: bool) -> Expression:
    """Return price × quantity, × (1 − discount) where there is one."""
    price, quantity = (ColumnAt((), amount.table, n) for n in (amount.price, amount.quantity))
    product = Arithmetic("*", price, quantity)
    if gross or amount.discount is None:
        return product
    kept = Arithmetic("-", Decimal(1), ColumnAt((), amount.table, amount.discount))
    return Arithmetic("*", product, kept)
