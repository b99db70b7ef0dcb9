"""Measures of amounts: sums, averages, extremes, shares."""

from __future__ import annotations

from collections.abc import Sequence

from rag_pipeline.relational.questions.forms.logical_form import (
    ColumnAt,
    Exists,
    Expression,
    Form,
    FullName,
    Measure,
    MeasureKind,
    OneOf,
)
from rag_pipeline.relational.questions.grammar.grammar_groups import Grouping
from rag_pipeline.relational.questions.grammar.grammar_state import (
    AGGREGATES,
)
from rag_pipeline.relational.questions.grammar.vocabulary import Amount
from rag_pipeline.relational.questions.question_tokens import Token
from rag_pipeline.relational.schema.ways import NotComputableError


class Totals(Grouping):
    """Sums, averages and extremes of amounts, and shares."""

    def _amount_form(
        self, order: tuple[Token, bool, int | None] | None, group: Token | None
    ) -> Form:
        aggregate, amount = self._amount(order)
        if aggregate == "list":
            return self._fact(amount, group)
        grouping = None
        measure = Measure(aggregate, amount.expression)
        if group is not None:
            chosen = self._grouping(amount.table, group)[0]
            if (
                aggregate == "average"
                and order is None
                and not self._is_by
                and chosen.table not in (None, amount.table)
            ):
                is_per = self.choices.pick([True, False] if amount.is_column else [True])
                if is_per:
                    per_all = self.choices.pick([False, True]) if chosen.path else False
                    measure = Measure("sum", amount.expression, per=chosen.path, per_all=per_all)
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

    def _fact(self, amount: Amount, group: Token | None) -> Form:
        """Return the number of the one row that is named: the salary of Tom Baert."""
        label = {ColumnAt((), amount.table, n) for n in self._label(amount.table)}
        filters = self.conditions.filters(amount.table)
        named = [
            one
            for one in filters
            if isinstance(one, OneOf)
            and not one.negated
            and set(one.column.parts if isinstance(one.column, FullName) else [one.column]) <= label
        ]
        if group is not None or not named or not isinstance(amount.expression, ColumnAt):
            raise NotComputableError("it does not say whether a total or an average is meant")
        return Form(amount.table, Measure("list", columns=(amount.expression,)), filters)

    def _label(self, table: str) -> tuple[str, ...]:
        return self.vocabulary.schema.tables[table].label

    def _amount(  # noqa: PLR0912
        self, order: tuple[Token, bool, int | None] | None
    ) -> tuple[MeasureKind, Amount]:
        """Return how numbers are put together, and which."""
        vocabulary = self.vocabulary
        heads = self._ops(*AGGREGATES)
        found = [t for t in self.tokens if not t.used and self._is_measurable(t)]
        found = list({t.mention.concepts: t for t in found[::-1] if t.mention}.values())[::-1]
        spend = self._ops("spend")
        options: list[Amount] = []
        self._check_owner(found, heads)
        named_numbers = {t.mention.concepts for t in found if t.mention}
        for token in self.tokens:
            if token.mention is not None and token.mention.concepts in named_numbers:
                token.used = True
        if self._days is not None:
            options = [Amount(*self._days, False, True)]
        elif spend and not found:
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
        kinds = {AGGREGATES[t.name] for t in heads}
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
        return ("sum" if amount.adds_up else "list"), amount

    def _check_total(self, heads: Sequence[Token]) -> None:
        """Refuse `total customers`: a number of rows, or a sum?"""
        for token in heads:
            following = self.tokens[self._index(token) + 1 :][:1]
            if (
                token.name == "sum"
                and following
                and following[0].start == token.end
                and (self.vocabulary.table_of(following[0]))
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
            kind, amount = self._amount(None)
            if kind == "list":
                raise NotComputableError("it does not say what the share is of")
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
