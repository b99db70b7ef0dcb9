"""The grammar: tokens of a question to a logical form, one reading at a time.

A question has a measure, of which there are few kinds, perhaps a group and an order, and conditions.
English puts what belongs to a word behind it, Korean before it; the rest is the same. Whatever can
be taken in two ways is a choice, and every token must be used.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from rag_pipeline.relational.questions.choices import Choices
from rag_pipeline.relational.questions.conditions import Conditions
from rag_pipeline.relational.questions.logical_form import (
    ColumnAt,
    Exists,
    Expression,
    Form,
    GroupBy,
    Measure,
    MeasureKind,
    Path,
    Period,
)
from rag_pipeline.relational.questions.question_tokens import Token
from rag_pipeline.relational.questions.vocabulary import Amount, Place, Vocabulary
from rag_pipeline.relational.schema.table_schema import is_date, is_number
from rag_pipeline.relational.schema.ways import NotComputableError, forward

_PERIODS: dict[str, Period] = {"monthly": "month", "yearly": "year", "quarterly": "quarter"}
_AGGREGATES: dict[str, MeasureKind] = {
    "sum": "sum",
    "sum_amount": "sum",
    "avg": "average",
    "max": "maximum",
    "min": "minimum",
}
_HIGHEST = {"most", "max", "top"}
_LOWEST = {"fewest", "min", "bottom"}


class QuestionGrammar:
    """Reads the tokens of one question, taking one choice at every fork."""

    def __init__(self, vocabulary: Vocabulary, tokens: Sequence[Token], choices: Choices) -> None:
        self.vocabulary = vocabulary
        self.tokens = tokens
        self.choices = choices
        self.conditions = Conditions(vocabulary, tokens, choices)
        for token in tokens:
            token.used = token.is_modifier = False
        self._mark_modifiers()

    def _mark_modifiers(self) -> None:
        """Take `product` in `product category` for what it is: the last noun is the head."""
        for one, head in zip(self.tokens, self.tokens[1:], strict=False):
            tables = self.vocabulary.table_of(one), self.vocabulary.table_of(head)
            if one.end == head.start and tables[0] and tables[1] and tables[0] != tables[1]:
                ways = self.vocabulary.ways.between(tables[0], tables[1])
                one.used = one.is_modifier = any(len(way) == 1 for way in ways)

    def form(self) -> Form:
        """Return the logical form. Raises `NotComputableError`, naming what is not clear."""
        self._check_single()
        group = self._group()
        order = self._superlative()
        has_adjective = any(t.name.endswith((".highest", ".lowest")) for t in self.tokens)
        asks_number = self._ops("count", *_AGGREGATES, "share")
        target = self._which() if order or has_adjective or not asks_number else None
        if order is not None and order[0].name in ("max", "min") and target is None:
            order[0].used, order = False, None
        if order is not None and not (target or group):
            raise NotComputableError(f"it is not clear whose extreme “{order[0].text}” is")
        if target is not None and order is None and not has_adjective:
            form = self._rows(target) if group is None else None
        elif target is not None and group is not None:
            raise NotComputableError("it groups by two things")
        else:
            form = None
        form = form or self._adjective(target) or self._measure(order, target or group)
        self._use_joints()
        self._use("much", "which", "yet", "counter")
        for token in self._ops("from", "to"):
            token.used = not any(t.kind in ("number", "period") for t in self._beside(token))
        unused = [token for token in self.tokens if not token.used]
        if unused:
            words = ", ".join(f"“{token.text}”" for token in unused)
            raise NotComputableError(f"it is not clear what {words} means here")
        return form

    # -- looking around

    def _ops(self, *names: str) -> list[Token]:
        return [t for t in self.tokens if t.kind == "operator" and t.name in names and not t.used]

    def _use(self, *names: str) -> None:
        for token in self._ops(*names):
            token.used = True

    def _beside(self, token: Token) -> list[Token]:
        at = self._index(token)
        return [*self.tokens[max(0, at - 1) : at], *self.tokens[at + 1 : at + 2]]

    def _use_joints(self) -> None:
        """Take an `and` that joins conditions; between things it would ask for two of them."""
        for token in self._ops("and"):
            sides = self._beside(token)
            if len(sides) == 2 and (
                sides[1].name == "much"
                or all(s.kind in ("value", "number", "period") or s.is_condition for s in sides)
            ):
                token.used = True

    def _index(self, token: Token) -> int:
        return next(i for i, one in enumerate(self.tokens) if one is token)

    def _check_single(self) -> None:
        if len(self._ops("avg", "share", "between")) > 1:
            raise NotComputableError("it asks for two things at once")
        counts = self._ops("count")
        if len(counts) == 2 and counts[0].is_korean and counts[0].text.startswith("수"):
            # 고객 수는 몇 명: the number and the question for it are one
            counts[0].used = True
            counts = counts[1:]
        if len(counts) > 1:
            raise NotComputableError("it asks for two things at once")
        if counts and self._ops("much"):
            raise NotComputableError("it asks for two numbers at once")

    def _near(
        self, token: Token, wanted: Callable[[Token], bool], *, before: bool | None = None
    ) -> Token | None:
        """Return the next unused token that fits: behind an English word, before a Korean one."""
        at = self._index(token)
        back = token.is_korean if before is None else before
        ahead = self.tokens[:at][::-1] if back else self.tokens[at + 1 :]
        for one in ahead:
            if one.kind == "operator" and one.name in ("each", "which", "but", *_PERIODS):
                return None
            if not one.used and wanted(one):
                return one
        return None

    def _is_thing(self, token: Token) -> bool:
        return token.mention is not None and self.vocabulary.table_of(token) is not None

    def _is_measurable(self, token: Token) -> bool:
        return token.mention is not None and bool(self.vocabulary.amounts(token))

    # -- groups

    _is_alternative = False
    """Another number could be meant by the same word."""
    _is_by = False
    """The group was said with `by`, which is no division as `per` may be."""

    def _group(self) -> Token | None:
        """Return what is grouped by; a period's operator stands for itself."""
        periods = self._ops(*_PERIODS)
        found: list[Token] = list(periods)
        markers = self._ops("each")
        for token in markers:
            if token.text == "각각" and len(markers) > 1:
                token.used = True
                continue
            at = self._index(token)
            mention = next(
                (t for t in (self.tokens[:at][::-1] if token.is_korean else self.tokens[at + 1 :])
                 if t.kind == "mention" and not t.is_modifier),
                None,
            )
            following = self.tokens[at + 1 : at + 2]
            if following and token.text.lower() == "by" and (
                following[0].kind == "value" or following[0].name == "count"
            ):
                # made by Gold members; top 3 by number of orders
                token.used = True
                continue
            if mention is not None and token.text.lower() == "by" and self._is_agent(mention):
                token.used = True
                continue
            if mention is not None and self._is_measurable(mention) and (
                self._ops("top", "bottom", "which")
            ):
                token.used = True
                continue
            if mention is None or mention.used:
                raise NotComputableError(f"it is not clear what “{token.text}” belongs to")
            mention = self._compound(mention)
            self._is_by = token.text.lower() in ("by", "grouped by", "broken down by", "별", "별로")
            # `each staff member of …`: a role before the noun, as in `support employee`
            if not token.is_korean and self.vocabulary.roles(mention):
                following = self.tokens[self._index(mention) + 1 :][:1]
                if following and following[0].kind == "mention":
                    mention = following[0]
            token.used = mention.used = True
            found.append(mention)
        if len(found) > 1:
            raise NotComputableError("it groups by two things")
        for token in found:
            token.used = True
        return found[0] if found else None

    def _compound(self, mention: Token) -> Token:
        """Return what `customer country` groups by: the country of customers."""
        at = self._index(mention)
        pair = self.tokens[at - 1 : at + 1] if mention.is_korean else self.tokens[at : at + 2]
        if at == 0 and mention.is_korean or len(pair) < 2 or pair[0].end != pair[1].start:
            return mention
        owner, column = pair
        if not all(one.mention is not None for one in pair) or owner.is_modifier:
            return mention
        table = self.vocabulary.table_of(owner)
        if self.vocabulary.roles(owner) and not self.vocabulary.columns(owner):
            return mention
        places = [p for p in self.vocabulary.columns(column) if p[0] == table]
        if not places or column.mention is None or self.vocabulary.table_of(column):
            words = f"{owner.text} {column.text}"
            raise NotComputableError(f"it is not clear what “{words}” groups by")
        owner.used = True
        column.mention = replace(column.mention, columns=tuple(places))
        return column

    def _is_agent(self, mention: Token) -> bool:
        """Whether `by` names who did it: bought by customers, by the customer Frank Harris."""
        behind = self.tokens[self._index(mention) + 1 :][:1]
        if behind and behind[0].kind == "value" and behind[0].start == mention.end:
            return True
        is_plural = mention.text.lower().endswith("s") and not mention.is_korean
        return is_plural and self.choices.pick([True, False])

    def _grouping(self, base: str, token: Token) -> tuple[GroupBy, list[Token]]:
        """Return the group as seen from a base table."""
        vocabulary = self.vocabulary
        period = _PERIODS.get(token.name) if token.kind == "operator" else None
        if token.mention is not None and token.mention.concepts in (
            ("year",), ("month",), ("quarter",)
        ):
            period = token.mention.concepts[0]  # type: ignore[assignment]
        if period is not None:
            return GroupBy(column=self.conditions.date_column(base), period=period), []
        table = vocabulary.table_of(token)
        options: list[GroupBy] = []
        if table is not None and (table != base or self.conditions.roles()):
            for way in vocabulary.ways.between(base, table, self.conditions.roles()):
                path = forward(way)
                if path is not None and path:
                    options.append(GroupBy(path, table))
        if table is not None and table == base and not options:
            options.append(GroupBy((), table))
        if table is None:
            options = [
                GroupBy(column=ColumnAt(path, *place))
                for path, place in self.conditions.nearest_columns(base, token, self._tables())
            ]
        if not options:
            raise NotComputableError(
                f"rows of {base} do not belong to one “{token.text}” each"
            )
        chosen = self.choices.pick(options)
        self.conditions.use_roles(chosen.path)
        return chosen, []

    def _tables(self) -> list[str]:
        named = [self.vocabulary.table_of(t) for t in self.tokens if t.mention is not None]
        return [name for name in named if name is not None]

    # -- order

    def _superlative(self) -> tuple[Token, bool, int | None] | None:
        """Return the word for an extreme, whether the highest is meant, and how many."""
        limits = self._ops("top", "bottom")
        found = limits or self._ops("most", "fewest")
        if not found and self._ops("which"):
            found = self._ops("max", "min")
        if not found and self._ops("max", "min") and self._by_number() is not None:
            found = self._ops("max", "min")
        if not found:
            return None
        if len(found) > 1:
            raise NotComputableError("it asks for two extremes at once")
        token = found[0]
        token.used = True
        limit = None
        asked = next(iter(self._ops("which")), None)
        behind = self.tokens[self._index(asked) + 1 :][:1] if asked is not None else []
        if token.name in ("top", "bottom"):
            number = self._near(token, lambda t: t.kind == "number", before=False)
            if number is None:
                raise NotComputableError("it is not clear how many are meant")
            number.used = True
            limit = int(number.number)
        elif behind and behind[0].kind == "number" and not behind[0].is_korean:
            behind[0].used = True
            limit = int(behind[0].number)
        elif (number := self._by_number()) is not None:
            number.used = True
            limit = int(number.number)
        return token, token.name in _HIGHEST, limit

    def _by_number(self) -> Token | None:
        """Return a number right behind a Korean noun: `고객 3명`."""
        for before, token in zip(self.tokens, self.tokens[1:], strict=False):
            if token.kind == "number" and before.kind == "mention" and before.is_korean:
                return token
        return None

    def _which(self) -> Token | None:
        """Return the thing that is asked for: `which customer`, `top 5 countries`, `고객은 누구`."""
        asked = self._ops("which") or [t for t in self.tokens if t.name in ("top", "bottom")]
        adjectives = [t for t in self._ops() if "." in t.name]
        if not asked and not adjectives:
            return self._before_number()
        if not asked:
            return None
        token = asked[0]
        at = self._index(token)
        if token.is_korean and token.text in ("어떤", "어느", "무슨"):
            ahead = self.tokens[at + 1 :]
        elif token.is_korean:
            ahead = self.tokens[:at][::-1]
        else:
            ahead = self.tokens[at + 1 :]
        for one in ahead:
            if one.kind == "mention" and not one.used:
                if self.vocabulary.table_of(one) or self.vocabulary.columns(one):
                    if token.text.lower() == "what" and self._is_measurable(one):
                        return None
                    one.used = True
                    token.used = True
                    return one
                if not self.vocabulary.roles(one) and not self._is_period(one):
                    return None
                if self._is_period(one):
                    one.used = token.used = True
                    return one
            elif one.kind in ("operator", "value") and not one.is_korean:
                if one.name not in ("top", "bottom", "different", "named"):
                    break
        return None

    def _before_number(self) -> Token | None:
        number = next((t for t in self.tokens if t.kind == "number" and t.used), None)
        if number is None:
            return None
        before = self.tokens[self._index(number) - 1]
        if before.kind == "mention" and not before.used:
            before.used = True
            return before
        return None

    @staticmethod
    def _is_period(token: Token) -> bool:
        return token.mention is not None and token.mention.concepts in (
            ("year",), ("month",), ("quarter",)
        )

    # -- rows and facts

    def _rows(self, target: Token) -> Form:
        """Return the rows, or values of a column, that are asked for."""
        vocabulary = self.vocabulary
        table = vocabulary.table_of(target)
        if table is not None:
            names = vocabulary.schema.tables[table].label
            columns = tuple(ColumnAt((), table, name) for name in names)
        else:
            named = self._tables()
            places = vocabulary.columns(target)
            place = self.choices.pick([p for p in places if p[0] in named] or list(places))
            table, columns = place[0], (ColumnAt((), *place),)
        filters = self.conditions.filters(table)
        if not filters:
            raise NotComputableError("it asks for all rows, and for no number")
        return Form(table, Measure("list", columns=columns), filters)

    # -- measures

    def _adjective(self, target: Token | None) -> Form | None:
        """Return the rows of the longest, most expensive …; None without such an adjective."""
        found = [
            t
            for t in self.tokens
            if t.kind == "operator" and t.name.endswith((".highest", ".lowest"))
        ]
        if not found:
            return None
        token = found[0]
        name, degree = token.name.split(".")
        thing = target or self._near(token, self._is_thing, before=False)
        table = self.vocabulary.table_of(thing) if thing is not None else None
        if thing is None or table is None or len(found) > 1:
            raise NotComputableError(f"it is not clear what “{token.text}” belongs to")
        token.used = thing.used = True
        concepts = self.vocabulary.adjective_concepts(name)
        columns = [p for p in self.vocabulary.by_last_word(concepts) if p[0] == table]
        place = self.choices.pick(columns)
        info = self.vocabulary.schema.tables[table]
        shown = tuple(ColumnAt((), table, column) for column in info.label)
        measure = Measure("list", ColumnAt((), *place), columns=shown, shows=self.vocabulary.shows_value(name))
        self._use("which")
        filters = self.conditions.filters(table)
        return Form(table, measure, filters, descending=degree == "highest", limit=1)

    def _measure(
        self, order: tuple[Token, bool, int | None] | None, group: Token | None
    ) -> Form:
        share = self._ops("share")
        if share:
            return self._share(share[0], group)
        count = self._counted(order)
        if count is not None:
            return self._count_form(count, order, group)
        return self._amount_form(order, group)

    def _counted(self, order: tuple[Token, bool, int | None] | None) -> Token | None:
        """Return the thing or column whose rows or values are counted."""
        heads = self._ops("count")
        if heads:
            token = heads[0]
            token.used = True
            fits = self._is_countable
            found = self._near(token, fits) or self._near(token, fits, before=not token.is_korean)
            if found is None:
                raise NotComputableError("it is not clear what is counted")
            return found
        if order is not None and order[0].name in ("most", "fewest", "top", "bottom"):
            token = order[0]
            if token.name in ("top", "bottom"):
                return None
            found = self._near(token, self._is_countable)
            if found is not None and self._is_measurable(found) and not self._is_thing(found):
                return None
            return found
        return None

    def _is_countable(self, token: Token) -> bool:
        return token.mention is not None and bool(
            self.vocabulary.table_of(token) or self.vocabulary.columns(token)
        )

    def _count_form(
        self,
        counted: Token,
        order: tuple[Token, bool, int | None] | None,
        group: Token | None,
    ) -> Form:
        vocabulary = self.vocabulary
        counted.used = True
        different = self._ops("different")
        self._use("different")
        table = vocabulary.table_of(counted)
        measure = Measure("count")
        per: Token | None = None
        averaged = self._ops("avg")
        if averaged:
            if group is None or order is not None:
                raise NotComputableError("it is not clear what the average is of")
            per, group = group, None
            averaged[0].used = True
        if table is None:
            tables = [t for t in self._tables() if t]
            options = [p for p in vocabulary.columns(counted) if p[0] in tables]
            place = self.choices.pick(
                self._hinted(counted, tables) or options or list(vocabulary.columns(counted))
            )
            table = place[0]
            measure = Measure("count_distinct", ColumnAt((), *place))
            if not different and not counted.is_korean and group is None:
                different = [counted]
        elif different:
            label = vocabulary.schema.tables[table].label
            if len(label) == 1 and label != vocabulary.schema.tables[table].key:
                # Rows that share a name may be meant as one.
                by_name = Measure("count_distinct", ColumnAt((), table, label[0]))
                measure = self.choices.pick([measure, by_name])
        if self._ops(*(name for name in _AGGREGATES if name != "sum")):
            raise NotComputableError("it asks for two numbers at once")
        path: Path | None = None
        if per is not None:
            path = self._grouping(table, per)[0].path
            if not path:
                raise NotComputableError(f"rows of {table} do not belong to one “{per.text}” each")
            # Those who have none may be meant to count, too.
            per_all = self.choices.pick([False, True])
            measure = replace(measure, per=path, per_all=per_all)
        trade = self._ops("trade")
        if trade and not self._ops("not") and not different:
            lines = self.conditions.traded(trade[0], table)
            if lines is not None:
                return self._traded_form(table, lines, order, group)
        filters_base = table
        if group is not None and (joint := self._joint(table, group)) is not None:
            filters_base = joint
        grouping = self._grouping(filters_base, group)[0] if group is not None else None
        with_empty = (
            grouping is not None
            and grouping.table is not None
            and grouping.table != table
            and measure.kind == "count"
        )
        filters = self.conditions.filters(filters_base, grouping.path if grouping else ())
        return Form(
            filters_base,
            measure,
            filters,
            grouping,
            with_empty,
            descending=order[1] if order else None,
            limit=(order[2] or 1) if order else None,
        )

    def _hinted(self, counted: Token, tables: Sequence[str]) -> list[Place]:
        """Return columns that another word makes precise: countries that orders are shipped to."""
        assert counted.mention is not None
        for token in self.tokens:
            mention = token.mention
            if token.used or mention is None or mention.table or mention.columns:
                continue
            wanted = (*counted.mention.concepts, *mention.concepts)
            found = [p for p in self.vocabulary.namer.with_words(wanted) if p[0] in tables]
            if found:
                token.used = True
                return found
        return []

    def _joint(self, table: str, group: Token) -> str | None:
        """Return the join table whose rows are what a group has of a table (N:M), if it is one."""
        target = self.vocabulary.table_of(group)
        ways = self.vocabulary.ways.between(table, target) if target else []
        if not ways or any(forward(way) is not None for way in ways):
            return None
        shared = {
            way[0].link.table
            for way in ways
            if len(way) == 2 and not way[0].forward and way[1].forward
        }
        joints = [name for name in shared if self.vocabulary.schema.tables[name].is_join_table]
        return joints[0] if len(joints) == 1 and len(ways) == 1 else None

    def _traded_form(
        self,
        table: str,
        lines: tuple[str, Path],
        order: tuple[Token, bool, int | None] | None,
        group: Token | None,
    ) -> Form:
        """Return a form for things that were sold: as pieces, as lines, as different things."""
        base, path = lines
        info = self.vocabulary.schema.tables[table]
        amount = self.vocabulary.quantity_of(base)
        options = [Measure("count")]
        if amount is not None:
            options.append(Measure("sum", ColumnAt((), *amount)))
        measure = self.choices.pick(options)
        grouping = self._grouping(base, group)[0] if group is not None else None
        filters = self.conditions.filters(base, grouping.path if grouping else ())
        return Form(
            base,
            measure,
            filters,
            grouping,
            grouping is not None and grouping.table is not None,
            descending=order[1] if order else None,
            limit=(order[2] or 1) if order else None,
        )

    def _amount_form(
        self, order: tuple[Token, bool, int | None] | None, group: Token | None
    ) -> Form:
        aggregate, amount = self._amount(order)
        grouping = None
        measure = Measure(aggregate, amount.expression)
        if group is not None:
            chosen = self._grouping(amount.table, group)[0]
            if aggregate == "average" and not self._is_by and chosen.table not in (None, amount.table):
                is_per = self.choices.pick([True, False] if amount.is_column else [True])
                if is_per:
                    per_all = self.choices.pick([False, True]) if chosen.path else False
                    measure = Measure(
                        "sum", amount.expression, per=chosen.path, per_all=per_all
                    )
                else:
                    grouping = chosen
            else:
                grouping = chosen
        filters = self.conditions.filters(amount.table, grouping.path if grouping else ())
        if self._is_alternative and any(isinstance(one, Exists) for one in filters):
            raise NotComputableError("a total of the whole would be told for a part of it")
        with_empty = False
        if order is not None and not order[1] and grouping is not None and grouping.table:
            # Is the lowest total that of one who has none?
            with_empty = self.choices.pick([False, True])
        return Form(
            amount.table,
            measure,
            filters,
            grouping,
            with_empty,
            descending=order[1] if order else None,
            limit=(order[2] or 1) if order else None,
        )

    def _amount(
        self, order: tuple[Token, bool, int | None] | None
    ) -> tuple[MeasureKind, Amount]:
        """Return how numbers are put together, and which."""
        vocabulary = self.vocabulary
        heads = self._ops(*_AGGREGATES)
        found = [t for t in self.tokens if not t.used and self._is_measurable(t)]
        found = list({t.mention.concepts: t for t in found[::-1] if t.mention}.values())[::-1]
        spend = self._ops("spend")
        options: list[Amount] = []
        self._check_owner(found, heads)
        named_numbers = {t.mention.concepts for t in found if t.mention}
        for token in self.tokens:
            if token.mention is not None and token.mention.concepts in named_numbers:
                token.used = True
        if spend and not found:
            spend[0].used = True
            options = vocabulary.revenues()
        elif len(found) > 1 or (found and self._ops("times")):
            options = vocabulary.products(found, bool(self._ops("times")))
            self._use("times")
        elif found and found[0].name == "discount" and any(t.name.startswith("sum") for t in heads):
            options = vocabulary.discounts()
        elif found:
            options = vocabulary.amounts(found[0], self._ops("net"), self._ops("gross"))
            self._use("net", "gross")
        elif heads and vocabulary.totals():
            self._check_total(heads)
            options = vocabulary.totals()
        elif self._ops("trade") and self._ops("much"):
            options = vocabulary.revenues()
            self._use("trade")
        named = set(self._tables())
        mine = [one for one in options if one.is_column and one.table in named]
        options = mine or options
        if not options:
            raise NotComputableError("it is not clear which number is asked for")
        self._is_alternative = len(options) > 1
        amount = self.choices.pick(options)
        kinds = {_AGGREGATES[t.name] for t in heads}
        if len(kinds) > 1 and "sum" in kinds:
            kinds.discard("sum")
        for token in heads:
            token.used = True
        if len(kinds) > 1:
            raise NotComputableError("it asks for two numbers at once")
        if order is not None and not kinds:
            return ("sum", amount)
        if kinds:
            return next(iter(kinds)), amount
        if not amount.adds_up:
            raise NotComputableError("it does not say whether a total or an average is meant")
        return "sum", amount

    def _check_total(self, heads: Sequence[Token]) -> None:
        """Refuse `total customers`: a number of rows, or a sum?"""
        for token in heads:
            following = self.tokens[self._index(token) + 1 :][:1]
            if token.name == "sum" and following and following[0].start == token.end and (
                self.vocabulary.table_of(following[0])
            ):
                thing = following[0].text
                raise NotComputableError(
                    f"it can be read in several ways: how many {thing} are there?; "
                    f"or: what is the sum of the totals of {thing}?"
                )

    def _check_owner(self, found: Sequence[Token], heads: Sequence[Token]) -> None:
        """Refuse `the average cost of a visit`, where a visit has several costs."""
        if len(found) != 1 or not any(t.name in ("avg", "max", "min") for t in heads):
            return
        step = -1 if found[0].is_korean else 1
        beside = self.tokens[self._index(found[0]) + step :][:1]
        table = self.vocabulary.table_of(beside[0]) if beside else None
        owners = {one.table for one in self.vocabulary.amounts(found[0]) if one.is_column}
        if table is not None and owners and table not in owners and not beside[0].used:
            raise NotComputableError(
                f"a row of {table} may have several of “{found[0].text}”: "
                f"ask for the {found[0].text} of {' or '.join(sorted(owners))}, or for the total"
                f" {found[0].text} by {table}"
            )

    def _share(self, token: Token, group: Token | None) -> Form:
        token.used = True
        if group is not None:
            raise NotComputableError("shares by group are not computed")
        found = self._near(token, self._is_countable) or self._near(
            token, self._is_countable, before=not token.is_korean
        )
        measurable = [t for t in self.tokens if not t.used and self._is_measurable(t)]
        expression: Expression | None = None
        if measurable and (found is None or measurable[0] is found or not self._is_thing(found)):
            _, amount = self._amount(None)
            base, expression = amount.table, amount.expression
        elif found is not None and (table := self.vocabulary.table_of(found)) is not None:
            found.used = True
            base = table
        else:
            raise NotComputableError("it is not clear what the share is of")
        part = self.conditions.filters(base)
        if len(part) != 1:
            raise NotComputableError("it is not clear which part of which whole is meant")
        return Form(base, Measure("share", expression, part=part))


__all__ = ["Place", "QuestionGrammar", "is_date", "is_number"]
