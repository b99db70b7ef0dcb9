"""Pieces of a question to one computation, or to the reason why it is not computed.

Every piece must have found its part at the end: a noun that explains nothing, an operator without
effect, two readings of one word, all end in `NotComputableError`. Refusing is cheap; a wrong
number that is stated as exact is not.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal

from rag_pipeline.relational.joins import (
    JoinTree,
    NotComputableError,
    join_tree,
    paths_from,
    smallest_tree,
)
from rag_pipeline.relational.measures import line_amounts
from rag_pipeline.relational.mentions import Mention, Namer, Place
from rag_pipeline.relational.pieces import Piece
from rag_pipeline.relational.query import Aggregate, Condition, Measure, Query
from rag_pipeline.relational.schema import Schema, is_date, is_flag, is_number
from rag_pipeline.relational.values import FoundValue, ValueColumn

DEFAULT_DATE_WORDS = frozenset({"date", "time", "at", "on", "create", "transaction"})
"""What a date's name may say for it to be the one that is meant by `in 1997`."""
SILENT = frozenset({"filler", "particle"})
SUPERLATIVES = {
    "max": True,
    "min": False,
    "most": True,
    "fewest": False,
    "expensive": True,
    "cheap": False,
}


@dataclass
class _Reading:
    """What has been understood so far."""

    used: set[int] = field(default_factory=set)
    """Pieces that have their part."""
    group: Mention | None = None
    counted: Mention | None = None
    measure: Measure | None = None
    conditions: list[Condition] = field(default_factory=list)
    tables: set[str] = field(default_factory=set)
    absent: str | None = None
    """A table in whose rows those that are counted do not occur."""


class Interpreter:
    """Reads the pieces of one question."""

    def __init__(
        self,
        schema: Schema,
        namer: Namer,
        pieces: Sequence[Piece],
        values: Mapping[tuple[int, int], list[FoundValue]],
        flags: frozenset[Place],
    ) -> None:
        """`flags`: number columns that hold 0 and 1 only."""
        self._schema = schema
        self._namer = namer
        self._pieces = pieces
        self._values = values
        self._flags = flags
        self._mentions = namer.mentions(pieces)
        self._reading = _Reading()
        self._operators = {i: p.value for i, p in enumerate(pieces) if p.kind == "operator"}

    def query(self) -> Query:
        """Return the computation. Raises `NotComputableError` with what is unclear."""
        unknown = [piece.text for piece in self._pieces if piece.kind == "unknown"]
        if unknown:
            raise NotComputableError(f"not understood: {' '.join(unknown)}")
        self._find_measure()
        self._find_group()
        self._find_price()
        self._find_counted()
        self._find_absent()
        self._take_tables()
        self._take_orders_of_dates()
        self._take_flags()
        values = self._value_conditions()
        reading = self._reading
        if reading.measure is None and reading.counted is None:
            raise NotComputableError("it is not clear what is to be counted or added up")
        if reading.measure is not None and reading.counted is not None:
            raise NotComputableError("it asks for two numbers")
        places = self._places(values)
        reading.conditions += values
        tree = self._tree(places)
        absent = None
        if reading.absent is not None and reading.counted is not None:
            whole = smallest_tree(self._schema, {reading.absent, str(reading.counted.table)})
            if tree.base != reading.counted.table:
                raise NotComputableError("it is not clear what does not occur in what")
            years, _, absent = self._years(whole)
            query = self._assemble(tree, places, [], years)
            query = replace(query, absent=absent)
        else:
            years, without, tree = self._years(tree)
            query = self._assemble(tree, places, years, without)
            query = self._with_part(query)
        self._require_everything_used(query, absent)
        return query

    def _with_part(self, query: Query) -> Query:
        """Group by year or month where one of them is asked for."""
        group = self._reading.group
        if group is None or not self._is_part(group):
            return query
        years = [one for one in query.conditions if one.kind == "year"]
        part: Literal["year", "month"] = "year" if group.concepts == ("year",) else "month"
        if part == "month" and len(years) != 1:
            raise NotComputableError("months of which year?")
        column = years[0].column if years else self._date_column(query.tree)
        tree = join_tree(
            self._schema,
            query.tree.base,
            sorted({*query.tree.tables, column.table} - {query.tree.base}),
        )
        assert tree is not None
        return replace(query, tree=tree, group_column=None, group_part=(part, column))

    def _is_part(self, mention: Mention) -> bool:
        return mention.concepts in (("year",), ("month",)) and not mention.columns

    # What is computed ---------------------------------------------------------------------------

    def _find_measure(self) -> None:
        """Find what is added up: named amounts first, then products, then single columns."""
        for find in (self._product, self._discount, self._amount):
            self._reading.measure = find()
            if self._reading.measure is not None:
                return

    def _product(self) -> Measure | None:
        """`price times stock`; or what is known as one: the value of a stock."""
        for index in self._indices("times"):
            left = self._mention_before(index)
            right = self._mention_after(index)
            if left is None or right is None:
                raise NotComputableError("it is not clear what is multiplied")
            self._use_pieces([index])
            return self._product_of(left, right)
        for first, second in zip(self._mentions, self._mentions[1:], strict=False):
            if second.concepts == ("amount",) and first.end == second.start:
                prices = self._namer.with_words({"price"})
                tables = {table for table, _ in self._numbers(first.columns)}
                places = [p for p in self._numbers(prices) if p[0] in tables]
                if first.concepts == ("stock",) and len(places) == 1:
                    self._use(first, second)
                    (table, price) = places[0]
                    stock = [n for t, n in self._numbers(first.columns) if t == table]
                    if len(stock) == 1:
                        self._reading.tables.add(table)
                        return Measure(table, "product", (price, stock[0]))
        return None

    def _product_of(self, left: Mention, right: Mention) -> Measure:
        pairs = [
            (a, b)
            for a in self._numbers(left.columns)
            for b in self._numbers(right.columns)
            if a[0] == b[0]
        ]
        if len(pairs) != 1:
            raise NotComputableError(f"{left.text} times {right.text} can be read in several ways")
        (table, one), (_, other) = pairs[0]
        self._use(left, right)
        # `the stock value (price times stock)` names the product once more.
        for first, second in zip(self._mentions, self._mentions[1:], strict=False):
            if second.concepts == ("amount",) and first.end == second.start:
                words = self._namer.words[table, one] | self._namer.words[table, other]
                if set(first.concepts) <= words:
                    self._use(first, second)
        return Measure(table, "product", (one, other))

    def _discount(self) -> Measure | None:
        """The amount of discounts given; not the discount's rate."""
        for mention in self._mentions:
            if mention.concepts != ("discount",):
                continue
            totals = [i for i in self._indices("sum_amount") if self._is_near(i, mention)]
            totals += [i for i in self._indices("sum") if self._is_near(i, mention)]
            amounts = [
                other
                for other in self._mentions
                if other.concepts == ("amount",)
                and (other.start == mention.end or self._is_near(other.start, mention))
            ]
            if totals or amounts:
                if not totals and not self._has("sum"):
                    raise NotComputableError("is the sum of the discounts meant?")
                self._use_pieces([*totals, *self._indices("sum"), *self._indices("much")])
                self._use(mention, *amounts)
                return self._line_measure("discount")
        return None

    def _amount(self) -> Measure | None:
        """Revenue: the amount of lines, or the one column that is called so."""
        revenue = [m for m in self._mentions if m.concepts == ("revenue",)]
        amount = [m for m in self._mentions if m.concepts == ("amount",) and not self._is_used(m)]
        if not revenue and not amount:
            return None
        net, gross = self._indices("net"), self._indices("gross")
        kind = "gross" if gross else "net"
        columns = [
            place
            for word in ("revenue", "amount", "total", "subtotal")
            for place in self._numbers(self._namer.with_words({word}))
        ]
        amounts = line_amounts(self._schema)
        if len(amounts) + len(set(columns)) != 1:
            raise NotComputableError("the data has several amounts, or none, that may be meant")
        if not revenue and not (net or gross):
            line = next(iter(amounts.values()), None)
            if line is not None and line.discount is not None:
                raise NotComputableError("is the amount before or after discounts meant?")
        self._use(*revenue, *amount)
        self._use_pieces([*net, *gross])
        if columns:
            if net or gross:
                raise NotComputableError("the data does not tell amounts before from after")
            table, name = columns[0]
            return Measure(table, "column", (name,))
        return self._line_measure(kind)

    def _line_measure(self, kind: str) -> Measure:
        amounts = list(line_amounts(self._schema).values())
        if len(amounts) != 1:
            raise NotComputableError("the data has several amounts, or none, that may be meant")
        assert kind in ("net", "gross", "discount")
        if kind == "discount" and amounts[0].discount is None:
            raise NotComputableError("the data has no discounts")
        return Measure(amounts[0].table, kind, amount=amounts[0])  # type: ignore[arg-type]

    def _find_price(self) -> None:
        """The most expensive X: the one whose own price is the highest."""
        group = self._reading.group
        if not self._has("expensive", "cheap"):
            return
        prices = self._numbers(self._namer.with_words({"price"}))
        own = [place for place in prices if group is not None and place[0] == group.table]
        if len(own) != 1 or self._reading.measure is not None:
            raise NotComputableError("it is not clear whose price is meant")
        self._reading.measure = Measure(own[0][0], "column", (own[0][1],))

    def _single_column(self) -> None:
        """A number's column that nothing else has explained."""
        reading = self._reading
        candidates = [
            mention
            for mention in self._mentions
            if not self._is_used(mention) and mention.table is None
            if self._numbers(mention.columns)
        ]
        if len(candidates) != 1:
            return
        mention = candidates[0]
        places = [p for p in self._numbers(mention.columns) if p not in self._flags]
        named = {m.table for m in self._mentions if m.table}
        if len(places) > 1:
            places = [place for place in places if place[0] in named]
        if len(places) != 1:
            raise NotComputableError(f"{mention.text} stands in several tables, or in none")
        self._use(mention)
        reading.measure = Measure(places[0][0], "column", (places[0][1],))

    # By what, and of what -----------------------------------------------------------------------

    def _find_group(self) -> None:
        """Find what the number is given for each of: `which X`, `each X`, `X별`."""
        found: list[Mention] = []
        has_best = any(op in SUPERLATIVES for op in self._operators.values())
        for index, operator in self._operators.items():
            if operator not in ("which", "each", "by"):
                continue
            mention = self._mention_at(index, "which" if operator == "which" else "each")
            if operator == "by" and mention is not None and not self._is_by_group(index, mention):
                mention = None
            if operator == "which" and not has_best:
                if mention is not None and mention.table and not self._is_what(index):
                    raise NotComputableError("it asks for rows, not for a number")
                mention = None
            if (
                operator == "by"
                and self._pieces[index + 1 : index + 2]
                and (self._pieces[index + 1].kind == "number")
            ):
                raise NotComputableError("it is not clear from when to when")
            if mention is not None and not self._is_used(mention):
                found.append(mention)
            self._use_pieces([index])
        # 가장 X-은 Y: the noun behind is what is asked for.
        unique = list(dict.fromkeys(found))
        if len(unique) > 1:
            raise NotComputableError("it asks for several things at once")
        if unique:
            self._reading.group = unique[0]
            self._use(unique[0])
        elif has_best and self._has("which") and not self._has("max", "min"):
            raise NotComputableError("it is not clear what is compared")

    def _is_what(self, index: int) -> bool:
        """`What is the …` asks for the number itself, `which` for a thing."""
        return self._pieces[index].text.lower() == "what"

    def _is_by_group(self, index: int, mention: Mention) -> bool:
        """`revenue by country`, but not `placed by customers`."""
        before = self._pieces[index - 1] if index else None
        is_plural = self._pieces[mention.end - 1].text.lower().endswith("s")
        return (
            before is not None
            and before.kind == "noun"
            and not before.text.lower().endswith("ed")
            and not is_plural
        )

    def _mention_at(self, index: int, role: str) -> Mention | None:
        piece = self._pieces[index]
        if not _is_hangul(piece.text):
            after = self._mention_after(index)
            return self._last_of_run(after) if after is not None else None
        if role == "which" and piece.text in ("어떤", "어느", "무슨"):
            after = self._mention_after(index)
            return self._last_of_run(after) if after is not None else None
        if role == "each" and piece.text.startswith("각"):
            return None
        return self._mention_before(index)

    def _find_counted(self) -> None:
        """Find what is counted: after `how many`, before 몇 개, beside `most`."""
        reading = self._reading
        for name in ("count", "most", "fewest"):
            for index in self._indices(name):
                if _is_hangul(self._pieces[index].text):
                    mention = self._mention_before(index)
                    # 가장 많이 주문된: how often, or how many pieces?
                    is_adverb = self._pieces[index].text.endswith(("이", "게"))
                    if name != "count" and not is_adverb and mention in (None, reading.group):
                        mention = self._mention_after(index)
                else:
                    mention = self._mention_after(index, through=("different",))
                    mention = self._last_of_run(mention) if mention is not None else None
                if mention is None or mention == reading.group:
                    raise NotComputableError("it is not clear what is counted")
                if reading.counted not in (None, mention):
                    raise NotComputableError("it counts two things")
                reading.counted = mention
                self._use(mention)
                self._use_pieces([index])
        if reading.measure is None and reading.counted is None:
            if self._has("share"):
                index = self._indices("share")[0]
                is_korean = _is_hangul(self._pieces[index].text)
                side = self._mention_before if is_korean else self._mention_after
                mention = side(index)
                if mention is not None and mention.table:
                    reading.counted = mention
                    self._use(mention)
            if reading.counted is None:
                self._single_column()

    def _find_absent(self) -> None:
        """`never placed an order`, `주문한 적이 없는`: rows that occur in no row of a table."""
        counted = self._reading.counted
        negations = self._indices("not", "never")
        if not negations or self._has("but") or counted is None or counted.table is None:
            return
        index = negations[-1]
        is_korean = _is_hangul(self._pieces[index].text)
        mention = self._mention_before(index) if is_korean else self._mention_after(index)
        if mention is None or mention.table is None or mention == counted:
            return
        others = [m for m in self._mentions if m.table and m not in (mention, counted)]
        if others or self._reading.group is not None or mention.table == counted.table:
            raise NotComputableError("it is not clear what does not occur in what")
        self._reading.absent = mention.table
        self._use(mention)
        self._use_pieces(negations)

    def _take_orders_of_dates(self) -> None:
        """`shipped after the required date`: two dates of the same row."""
        for index in self._indices("after", "before"):
            mentions = self._mention_before(index), self._mention_after(index)
            if mentions[0] is None or mentions[1] is None:
                continue
            if _is_hangul(self._pieces[index].text):
                mentions = mentions[1], mentions[0]
            tables = set(self._reading.tables)
            first, second = (self._dates_of(m, tables) for m in mentions if m is not None)
            pairs = [(a, b) for a in first for b in second if a[0] == b[0] and a != b]
            if len(pairs) != 1:
                raise NotComputableError("it is not clear which dates are compared")
            (table, one), (_, other) = pairs[0]
            self._use(*(m for m in mentions if m is not None))
            self._use_pieces([index])
            if self._operators[index] == "before":
                one, other = other, one
            self._reading.conditions.append(
                Condition("later", ValueColumn(table, (one,)), (other,))
            )

    def _dates_of(self, mention: Mention, tables: Iterable[str]) -> list[Place]:
        wanted = set(mention.concepts) - {"date"}
        return [
            place
            for table in tables
            for place in self._dates(table)
            if wanted and wanted <= self._namer.words[place]
        ]

    def _take_tables(self) -> None:
        """Tables that are named without a part of their own limit the rows to those they have."""
        for mention in self._mentions:
            if mention.table in (None, self._reading.absent):
                continue
            if mention is not self._reading.group:
                self._reading.tables.add(mention.table)
                self._use(mention)

    def _take_flags(self) -> None:
        """Conditions that columns alone express: discontinued, with a discount, not yet shipped."""
        for mention in self._mentions:
            if self._is_used(mention):
                continue
            flags = [place for place in mention.columns if self._is_flag(place)]
            if len(flags) == 1:
                self._flag(mention, flags[0])
            elif self._has("presence") and self._reading.counted is not None:
                self._presence(mention)
            elif self._has("not") and not any(p.kind == "number" for p in self._pieces):
                self._not_yet(mention)

    def _flag(self, mention: Mention, place: Place) -> None:
        negated = self._indices("not")
        wanted = not negated
        self._use_pieces(negated)
        self._use(mention)
        self._reading.tables.add(place[0])
        value: bool | int = wanted if self._is_declared_flag(place) else int(wanted)
        self._reading.conditions.append(
            Condition("flag", ValueColumn(place[0], (place[1],)), (value,))
        )

    def _presence(self, mention: Mention) -> None:
        counted = self._reading.counted
        places = [p for p in self._numbers(mention.columns) if counted and p[0] == counted.table]
        if len(places) != 1 or self._has("not"):
            return
        self._use(mention)
        self._use_pieces(self._indices("presence"))
        table, name = places[0]
        self._reading.conditions.append(Condition("positive", ValueColumn(table, (name,))))

    def _not_yet(self, mention: Mention) -> None:
        places = [
            place
            for table in self._reading.tables
            for place in self._dates(table)
            if set(mention.concepts) <= self._namer.words[place]
        ]
        if len(places) != 1:
            return
        self._use(mention)
        self._use_pieces([*self._indices("yet"), *self._indices("not")])
        table, name = places[0]
        self._reading.conditions.append(Condition("null", ValueColumn(table, (name,))))

    # Conditions ---------------------------------------------------------------------------------

    def _value_conditions(self) -> list[Condition]:
        conditions = []
        for index, piece in enumerate(self._pieces):
            if piece.kind == "value":
                found = self._values[piece.start, piece.end]
                conditions.append(self._value_condition(index, piece, found))
                self._use_pieces([index])
        columns = [one.column for one in conditions]
        if len(set(columns)) < len(columns):
            raise NotComputableError("it names two values of the same column")
        for column in columns:
            self._require_own_conditions(column)
        return conditions

    def _require_own_conditions(self, column: ValueColumn) -> None:
        """`products of the supplier of Chai`: not those that are called Chai."""
        if not self._is_label(column):
            return
        for role in (self._reading.counted, self._reading.group):
            if role is not None and role.table == column.table:
                raise NotComputableError(f"it is not clear how one of {column.table} limits them")
        above = paths_from(self._schema, column.table)
        for mention in self._mentions:
            is_role = mention in (self._reading.counted, self._reading.group)
            if mention.table in above and mention.table != column.table and not is_role:
                raise NotComputableError(f"is the {mention.text} meant, or one of {column.table}?")

    def _value_condition(self, index: int, piece: Piece, found: Sequence[FoundValue]) -> Condition:
        """Choose the column of a value: by the noun beside it, else by what it is a name of."""
        beside = [self._mention_after(index), self._mention_before(index)]
        for mention in beside:
            if mention is None:
                continue
            own = [one for one in found if one.column.table == mention.table]
            by_label = [one for one in own if self._is_label(one.column)]
            own = by_label or own
            if mention.table is None:
                places = self._namer.with_words(mention.concepts)
                own = [one for one in found if self._has_words(one.column, mention, places)]
                if len(own) > 1:
                    named = self._reading.tables
                    own = [one for one in own if one.column.table in named]
                if len(own) == 1 and not self._is_used(mention):
                    self._use(mention)
            if len(own) == 1:
                return self._in(own[0])
        labels = [one for one in found if self._is_label(one.column)]
        if len(labels) == 1:
            return self._in(labels[0])
        if labels or len(found) > 1:
            named = self._reading.tables | (
                {self._reading.group.table or ""} if self._reading.group else set()
            )
            of_named = [one for one in labels or found if one.column.table in named]
            if len(of_named) != 1 or (not labels and self._is_elsewhere(of_named[0], found)):
                raise NotComputableError(f"{piece.text} stands in several columns")
            return self._in(of_named[0])
        return self._in(found[0])

    def _is_elsewhere(self, one: FoundValue, found: Sequence[FoundValue]) -> bool:
        """Whether another table that the first one names has the value as well."""
        reachable = paths_from(self._schema, one.column.table)
        return any(
            other is not one and other.column.table in reachable and other.column != one.column
            for other in found
        )

    def _in(self, found: FoundValue) -> Condition:
        return Condition("in", found.column, found.values)

    def _has_words(self, column: ValueColumn, mention: Mention, places: Sequence[Place]) -> bool:
        wanted = set(mention.concepts)
        return any(
            (column.table, name) in places or wanted <= self._namer.words[column.table, name]
            for name in column.columns
        )

    def _is_label(self, column: ValueColumn) -> bool:
        info = self._schema.tables[column.table]
        return column.columns == info.label or set(column.columns) <= set(info.key) - (
            info.reference_columns
        )

    # Columns, joins, dates ----------------------------------------------------------------------

    def _places(self, values: Sequence[Condition]) -> dict[str, Place]:
        """Choose the columns of group and counted thing, where they are no tables."""
        chosen: dict[str, Place] = {}
        named = set(self._reading.tables) | {one.column.table for one in values}
        if self._reading.measure is not None:
            named.add(self._reading.measure.table)
        for role, mention in (
            ("group", self._reading.group),
            ("counted", self._reading.counted),
        ):
            if mention is not None and mention.table is None and not self._is_part(mention):
                chosen[role] = self._column_of(mention, named)
        return chosen

    def _column_of(self, mention: Mention, named: Iterable[str]) -> Place:
        hints = [m for m in self._mentions if not self._is_used(m) and m.table is None]
        words = {word for hint in hints for word in hint.concepts}
        places = self._namer.with_words(mention.concepts, words)
        extra = {
            place: len(self._namer.words[place] - set(mention.concepts))
            for place in places
            if not self._is_quantity(place)
        }
        most = max(extra.values(), default=0)
        best = [place for place, count in extra.items() if count == most]
        if len(best) > 1:
            best = [place for place in best if place[0] in set(named)]
        if len(best) != 1:
            raise NotComputableError(f"{mention.text} stands in several tables, or in none")
        for hint in hints:
            if set(hint.concepts) <= self._namer.words[best[0]]:
                self._use(hint)
        return best[0]

    def _tree(self, places: Mapping[str, Place]) -> JoinTree:
        reading = self._reading
        wanted = set(reading.tables) | {one.column.table for one in reading.conditions}
        wanted |= {table for table, _ in places.values()}
        for mention in (reading.group, reading.counted):
            if mention is not None and mention.table is not None:
                wanted.add(mention.table)
        if reading.measure is None:
            return smallest_tree(self._schema, wanted)
        tree = join_tree(self._schema, reading.measure.table, sorted(wanted))
        if tree is None:
            raise NotComputableError("its conditions would count some rows more than once")
        return tree

    def _years(self, tree: JoinTree) -> tuple[list[Condition], list[Condition], JoinTree]:
        """Return the conditions on years, those for `but not`, and the tree with their table."""
        numbers = [i for i, piece in enumerate(self._pieces) if piece.kind == "number"]
        months = self._months(numbers)
        numbers = [index for index in numbers if index not in self._reading.used]
        years = []
        for index in numbers:
            text = self._pieces[index].value
            if not (text.isdigit() and 1800 <= int(text) <= 2200):
                raise NotComputableError(f"it is not clear what {text} is")
            years.append(int(text))
            self._use_pieces([index])
        self._use_pieces(self._indices("year_mark"))
        if months and len(years) != 1:
            raise NotComputableError("a month of which year?")
        if not years:
            return [], [], tree
        column = self._date_column(tree)
        wanted = sorted({*tree.tables, column.table} - {tree.base})
        larger = join_tree(self._schema, tree.base, wanted)
        assert larger is not None
        conditions = [Condition("year", column, (year,)) for year in years]
        if len(years) == 1:
            conditions = [self._beyond(numbers[0], conditions[0])]
            return conditions + [Condition("month", column, (m,)) for m in months], [], larger
        buts = self._indices("but")
        nots = self._indices("not")
        counts = self._reading.counted is not None and self._reading.counted.table is not None
        if not (
            len(years) == 2
            and len(buts) == 1
            and len(nots) == 1
            and counts
            and numbers[0] < buts[0] < numbers[1]
            and nots[0] > buts[0]
        ):
            raise NotComputableError("it is not clear how the years belong together")
        self._use_pieces([*buts, *nots])
        return conditions[:1], conditions[1:], larger

    def _months(self, numbers: Sequence[int]) -> list[int]:
        """Return the months that are named: March, 3월; at most one."""
        months = []
        for index, name in self._operators.items():
            if name.startswith("month_") and name != "month_mark":
                months.append(int(name.removeprefix("month_")))
                self._use_pieces([index])
            elif name == "month_mark":
                number = self._pieces[index - 1].value if index - 1 in numbers else ""
                if not (number.isdigit() and 1 <= int(number) <= 12):
                    raise NotComputableError("it is not clear which month is meant")
                months.append(int(number))
                self._use_pieces([index - 1, index])
        if len(months) > 1:
            raise NotComputableError("it names several months")
        return months

    def _beyond(self, index: int, year: Condition) -> Condition:
        """`before 1997`, `after 1997`; Korean does not say whether the year itself is meant."""
        before = index - 1
        name = self._operators.get(before)
        if name not in ("before", "after"):
            return year
        self._use_pieces([before])
        kind: Literal["year_before", "year_after"] = (
            "year_before" if name == "before" else "year_after"
        )
        return Condition(kind, year.column, year.values)

    def _date_column(self, tree: JoinTree) -> ValueColumn:
        """Choose the date that a year is of: the one that a verb names, else the table's own."""
        hints = [m for m in self._mentions if m.table is None and not self._is_role(m)]
        reachable = paths_from(self._schema, tree.base)
        for hint in hints:
            places = [
                place
                for table in tree.tables
                for place in self._dates(table)
                if set(hint.concepts) <= self._namer.words[place]
            ]
            if len(places) == 1:
                if self._is_used(hint) or self._explains_link(hint, tree):
                    raise NotComputableError(f"is the year that of {hint.text}?")
                self._use(hint)
                return ValueColumn(places[0][0], (places[0][1],))
        for distance in sorted({len(ways[0]) for ways in reachable.values()}):
            tables = [t for t, ways in reachable.items() if len(ways[0]) == distance]
            places = [p for t in tables for p in self._dates(t) if self._is_default_date(p)]
            if len(places) > 1:
                raise NotComputableError("it is not clear which date the year is of")
            if places:
                return ValueColumn(places[0][0], (places[0][1],))
        raise NotComputableError("it is not clear which date the year is of")

    def _is_default_date(self, place: Place) -> bool:
        # The words leave out those of the table itself: `order_date` of an order is its date.
        return self._namer.words[place] <= DEFAULT_DATE_WORDS

    # The whole ----------------------------------------------------------------------------------

    def _assemble(
        self,
        tree: JoinTree,
        places: Mapping[str, Place],
        years: list[Condition],
        without: list[Condition],
    ) -> Query:
        reading = self._reading
        aggregate = self._aggregate()
        best = [name for name in self._operators.values() if name in SUPERLATIVES]
        group = reading.group
        if group is not None and best:
            self._use_pieces(self._indices(*SUPERLATIVES))
        per = self._per(aggregate)
        share = self._share_whole(years)
        counted = reading.counted.table if reading.counted else None
        if counted is not None:
            self._require_clear_count(tree, counted)
        if "counted" in places or counted is not None:
            self._use_pieces(self._indices("different"))
        self._use_pieces(self._indices("much"))
        return Query(
            tree,
            aggregate,
            counted,
            places.get("counted"),
            reading.measure,
            per,
            None if per or group is None else group.table,
            places.get("group"),
            SUPERLATIVES[best[0]] if best and group is not None else None,
            tuple(reading.conditions + years),
            tuple(without),
            share_of=share,
        )

    def _aggregate(self) -> Aggregate:
        """Return how values are put together. A superlative without group is the value's own."""
        reading = self._reading
        names = set(self._operators.values())
        if len(names & set(SUPERLATIVES)) > 1:
            raise NotComputableError("it asks for two extremes")
        if reading.measure is None:
            # 총 몇 건: a total of things that are counted is their count.
            self._use_pieces(self._indices("sum"))
            if names & {"sum_amount", "avg", "max", "min"}:
                raise NotComputableError("is a count meant, or a sum?")
            return "count"
        derived = reading.measure.kind != "column"
        if "avg" in names:
            self._use_pieces(self._indices("avg"))
            if names & {"sum", "sum_amount", "share"}:
                raise NotComputableError("is a sum meant, or an average?")
            if derived and self._per_mention() is None:
                raise NotComputableError("an average per what?")
            if not derived and self._per_mention() is not None and self._is_count_like():
                raise NotComputableError("an average of rows, or per what is named?")
            return "sum" if derived else "avg"
        if names & {"sum", "sum_amount"}:
            self._use_pieces(self._indices("sum", "sum_amount"))
            if names & {"max", "min"} and reading.group is None:
                raise NotComputableError("a sum has no extremes without a group")
            return "sum"
        if derived:
            if names & {"max", "min"} and reading.group is None:
                raise NotComputableError("the extreme of what?")
            return "sum"
        return self._column_aggregate(names)

    def _is_count_like(self) -> bool:
        measure = self._reading.measure
        assert measure is not None
        words = self._namer.words[measure.table, measure.columns[0]]
        return bool(words & {"quantity", "count", "amount"})

    def _column_aggregate(self, names: set[str]) -> Aggregate:
        reading = self._reading
        assert reading.measure is not None
        own = reading.group is not None and reading.group.table == reading.measure.table
        if own and names & {"expensive", "cheap"}:
            return "max"
        if "max" in names or "min" in names:
            if reading.group is not None and not own:
                raise NotComputableError("is the sum meant, or the single extreme?")
            self._use_pieces(self._indices("max", "min"))
            return "max" if "max" in names else "min"
        raise NotComputableError("is a sum meant, or an average?")

    def _per_mention(self) -> Mention | None:
        """`average revenue per order`: the sum, divided by the number of orders."""
        has_per = any(self._pieces[i].text.lower() in ("per", "당") for i in self._indices("each"))
        group = self._reading.group
        return group if has_per and group is not None and group.table is not None else None

    def _per(self, aggregate: Aggregate) -> str | None:
        measure = self._reading.measure
        if measure is None or measure.kind == "column" or aggregate != "sum":
            return None
        mention = self._per_mention() if self._has("avg") else None
        if mention is None:
            return None
        if self._has(*SUPERLATIVES):
            raise NotComputableError("an average and an extreme at once")
        return mention.table

    def _share_whole(self, years: list[Condition]) -> tuple[Condition, ...] | None:
        if not self._has("share"):
            return None
        reading = self._reading
        if len(reading.conditions) != 1 or reading.group is not None:
            raise NotComputableError("it is not clear what the share is of")
        self._use_pieces(self._indices("share"))
        return tuple(years)

    def _require_clear_count(self, tree: JoinTree, counted: str) -> None:
        """`How many products were ordered`: kinds of products, or pieces?"""
        if tree.base == counted or self._has("different"):
            return
        lines = line_amounts(self._schema)
        links = {link.target for link in self._schema.tables[tree.base].foreign_keys}
        has_children = any(link.target == tree.base for link in tree.steps)
        if tree.base in lines and counted in links and not has_children:
            line = self._schema.tables[tree.base]
            owners = [link for link in line.foreign_keys if link.target == counted]
            others = [link for link in line.foreign_keys if link.target != counted]
            # An order has its lines; a product only stands in them.
            if owners and others and not self._is_parent(tree.base, counted):
                raise NotComputableError(f"are different {counted} meant, or their quantity?")

    def _is_parent(self, line: str, table: str) -> bool:
        """Whether rows of `line` are named after `table`: order_details of orders."""
        own = self._schema.tables[table].concepts
        return self._schema.tables[line].concepts[: len(own)] == own

    def _require_everything_used(self, query: Query, absent: JoinTree | None) -> None:
        """Refuse what left a noun or an operator without effect."""
        for mention in self._mentions:
            if not self._is_used(mention) and not self._explains_link(
                mention, absent or query.tree
            ):
                raise NotComputableError(f"it is not clear what {mention.text} adds")
        harmless = {"which", "much", "by", "presence", "each", "year_mark"}
        for index, name in self._operators.items():
            if index not in self._reading.used and name not in harmless:
                raise NotComputableError(f"it is not clear what {self._pieces[index].text} adds")

    def _explains_link(self, mention: Mention, tree: JoinTree) -> bool:
        """Whether a verb only names the relation that is followed: shipped by, `ship_via`."""
        words = set(mention.concepts)
        for step in tree.steps:
            for name in step.columns:
                if words <= set(self._schema.lexicon.name_concepts(name)):
                    return True
        return False

    # Small helpers ------------------------------------------------------------------------------

    def _indices(self, *names: str) -> list[int]:
        return [i for i, name in self._operators.items() if name in names]

    def _has(self, *names: str) -> bool:
        return bool(self._indices(*names))

    def _use(self, *mentions: Mention) -> None:
        for mention in mentions:
            self._reading.used |= set(range(mention.start, mention.end))

    def _use_pieces(self, indices: Iterable[int]) -> None:
        self._reading.used |= set(indices)

    def _is_used(self, mention: Mention) -> bool:
        return mention.start in self._reading.used

    def _is_role(self, mention: Mention) -> bool:
        return mention in (self._reading.group, self._reading.counted)

    def _mention_after(self, index: int, through: Sequence[str] = ()) -> Mention | None:
        """Return the mention that follows; only fillers (and operators in `through`) between."""
        for place in range(index + 1, len(self._pieces)):
            piece = self._pieces[place]
            if piece.kind == "noun":
                return next(m for m in self._mentions if m.start <= place < m.end)
            if piece.kind not in SILENT and piece.value not in through:
                return None
        return None

    def _mention_before(self, index: int) -> Mention | None:
        for place in range(index - 1, -1, -1):
            piece = self._pieces[place]
            if piece.kind == "noun":
                return next(m for m in self._mentions if m.start <= place < m.end)
            if piece.kind not in SILENT and piece.value not in ("which", "each", "different"):
                return None
        return None

    def _last_of_run(self, mention: Mention) -> Mention:
        """`product category`: the last noun of a run is the thing, those before say which."""
        following = {m.start: m for m in self._mentions}
        while mention.end in following and following[mention.end].table is not None:
            # `customers ordered`: a plural and a verb are no compound.
            last = self._pieces[mention.end - 1].text.lower()
            behind = self._pieces[following[mention.end].end - 1].text.lower()
            if last.endswith("s") or behind.endswith(("ed", "ing")):
                break
            mention = following[mention.end]
        return mention

    def _is_near(self, index: int, mention: Mention) -> bool:
        return mention in (self._mention_after(index), self._mention_before(index))

    def _numbers(self, places: Iterable[Place]) -> list[Place]:
        return [
            (table, name)
            for table, name in places
            if is_number(self._schema.tables[table].column(name))
            and name not in self._schema.tables[table].reference_columns
            and name not in self._schema.tables[table].key
        ]

    def _dates(self, table: str) -> list[Place]:
        columns = self._schema.tables[table].table.columns
        return [(table, column.name) for column in columns if is_date(column)]

    def _is_quantity(self, place: Place) -> bool:
        return bool(self._numbers([place])) and place not in self._flags

    def _is_flag(self, place: Place) -> bool:
        return self._is_declared_flag(place) or place in self._flags

    def _is_declared_flag(self, place: Place) -> bool:
        return is_flag(self._schema.tables[place[0]].column(place[1]))


def _is_hangul(text: str) -> bool:
    return any("가" <= letter <= "힣" for letter in text)
