"""Measures that count: rows, different values, things that were sold."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from rag_pipeline.relational.questions.forms.logical_form import (
    ColumnAt,
    Form,
    Measure,
    Path,
)
from rag_pipeline.relational.questions.grammar.grammar_groups import Grouping
from rag_pipeline.relational.questions.grammar.grammar_state import (
    AGGREGATES,
)
from rag_pipeline.relational.questions.mentions import Place
from rag_pipeline.relational.questions.pieces import units_of_measure
from rag_pipeline.relational.questions.question_tokens import Token
from rag_pipeline.relational.schema.ways import NotComputableError


class Counting(Grouping):
    """Numbers of rows and of different values."""

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

    def _count_form(  # noqa: PLR0912, PLR0915
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
            if vocabulary.is_number(place) and not different:
                # How many passengers: their sum, or different numbers of them?
                total = Measure("sum", ColumnAt((), *place))
                is_total = vocabulary.is_number_of(place) or counted.name in units_of_measure()
                kinds = [total] if is_total else [measure, total]
                measure = self.choices.pick(kinds)
            if not different and not counted.is_korean and group is None:
                different = [counted]
        elif different:
            label = vocabulary.schema.tables[table].label
            if len(label) == 1 and label != vocabulary.schema.tables[table].key:
                # Rows that share a name may be meant as one.
                by_name = Measure("count_distinct", ColumnAt((), table, label[0]))
                measure = self.choices.pick([measure, by_name])
        if self._ops(*(name for name in AGGREGATES if name != "sum")):
            raise NotComputableError("it asks for two numbers at once")
        path: Path | None = None
        if per is not None:
            # Certificates per nurse: what is counted are the rows that join them.
            table = self._joint(table, per) or table
            path = self._grouping(table, per)[0].path
            if not path:
                raise NotComputableError(f"rows of {table} do not belong to one “{per.text}” each")
            # Those who have none may be meant to count, too.
            per_all = self.choices.pick([False, True])
            measure = replace(measure, per=path, per_all=per_all)
        acts = None if different else self._acts(table)
        if acts is not None and self.choices.pick([False, True]):
            # Different tools that were rented, or how often they were?
            table, measure = acts, Measure("count")
        trade = self._ops("trade")
        if trade and not self._ops("not") and not different:
            lines = self.conditions.traded(trade[0], table)
            if lines is not None:
                return self._traded_form(lines, order, group)
        filters_base = table
        if group is not None and (joint := self._joint(table, group)) is not None:
            if self._is_every:
                raise NotComputableError(f"“every {group.text}” may mean all of them, or each one")
            filters_base = joint
        grouping = self._grouping(filters_base, group)[0] if group is not None else None
        with_empty = (
            grouping is not None
            and grouping.table is not None
            and grouping.table != table
            and measure.kind == "count"
        )
        path = grouping.path if grouping else ()
        filters = self.conditions.filters(filters_base, path)
        return Form(
            filters_base,
            measure,
            filters,
            grouping,
            with_empty,
            descending=order[1] if order else None,
            limit=(order[2] or 1) if order else None,
        )

    def _acts(self, table: str) -> str | None:
        """Return the table that a verb names, of which the counted thing is the object."""
        if self._ops("not"):
            return None
        for token in self.tokens:
            acts = self.vocabulary.table_of(token)
            if acts is None or acts == table or not (token.has_auxiliary and token.is_verb):
                continue
            ways = self.vocabulary.ways.between(acts, table)
            if any(len(way) == 1 and way[0].forward for way in ways):
                return acts
        return None

    def _traded_form(
        self,
        base: str,
        order: tuple[Token, bool, int | None] | None,
        group: Token | None,
    ) -> Form:
        """Return a form for things that were sold: as pieces, as lines, as different things."""
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

    def _hinted(self, counted: Token, tables: Sequence[str]) -> list[Place]:
        """Return columns that another word makes precise: countries that orders are shipped to."""
        assert counted.mention is not None
        for token in self.tokens:
            mention = token.mention
            if token.used or mention is None or mention.table:
                continue
            if not all(self.vocabulary.is_date(place) for place in mention.columns):
                continue
            wanted = (*counted.mention.concepts, *mention.concepts)
            found = [p for p in self.vocabulary.namer.with_words(wanted) if p[0] in tables]
            if found:
                token.used = True
                return found
        return []
