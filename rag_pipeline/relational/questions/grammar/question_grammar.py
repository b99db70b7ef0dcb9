"""The grammar: tokens of a question to a logical form, one reading at a time.

A question has a measure, of which there are few kinds, perhaps a group and an order, and
conditions. English puts what belongs to a word behind it, Korean before it; the rest is the same.
Whatever can be taken in two ways is a choice, and every token must be used.
"""

from __future__ import annotations

from collections.abc import Sequence

from rag_pipeline.relational.questions.forms.logical_form import (
    ColumnAt,
    Comparison,
    Form,
    GroupBy,
    Measure,
)
from rag_pipeline.relational.questions.grammar.condition_state import SIGNS
from rag_pipeline.relational.questions.grammar.far_conditions import check_ways
from rag_pipeline.relational.questions.grammar.grammar_amounts import Totals
from rag_pipeline.relational.questions.grammar.grammar_counts import Counting
from rag_pipeline.relational.questions.grammar.grammar_state import (
    AGGREGATES,
)
from rag_pipeline.relational.questions.question_tokens import Token
from rag_pipeline.relational.schema.table_schema import ForeignKey
from rag_pipeline.relational.schema.ways import NotComputableError


class QuestionGrammar(Counting, Totals):
    """Reads the tokens of one question, taking one choice at every fork."""

    def form(self) -> Form:
        """Return the logical form. Raises `NotComputableError`, naming what is not clear."""
        try:
            return self._form()
        except NotComputableError as error:
            if "“" in str(error) or not self.tokens:
                raise
            left = [token for token in self.tokens if not token.used] or self.tokens
            raise NotComputableError(f"{error}: {_quoted(left)}") from None

    def _form(self) -> Form:
        self.conditions.mark_relative()
        self._days = self.conditions.measured_days()
        self._check_single()
        group = self._group()
        order = self._superlative()
        has_adjective = any(t.name.endswith((".highest", ".lowest")) for t in self.tokens)
        asks_number = self._ops("count", *AGGREGATES, "share")
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
        self._use("much", "which", "yet", "counter", "all", "altogether")
        for token in self._ops("from", "to"):
            token.used = not any(t.kind in ("number", "period") for t in self._beside(token))
        unused = [token for token in self.tokens if not token.used]
        if unused:
            raise NotComputableError(f"it is not clear what {_quoted(unused)} means here")
        check_ways(form, self._tables(), self.vocabulary.schema)
        return form

    def _check_single(self) -> None:
        shares = self._ops("share")
        if len(shares) == 2 and shares[0].is_korean:
            # 비율은 몇 퍼센트: what is asked for, and the question for it
            shares[1].used = True
        if len(single := self._ops("avg", "share")) > 1:
            raise NotComputableError(f"it asks for two things at once: {_quoted(single)}")
        counts = self._ops("count")
        if counts and counts[0].is_korean and counts[0].text.startswith("수"):
            # 고객 수는 몇 명, 고객 수는 얼마: the number and the question for it are one
            for token in [*counts[1:], *self._ops("much")][:1]:
                token.used = True
            counts = [counts[0], *counts[2:]]
        if len(counts) > 1 or (counts and self._ops("much")):
            asked = _quoted([*counts, *self._ops("much")])
            raise NotComputableError(f"it asks for two numbers at once: {asked}")

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
            if not places and (roles := self.conditions.asked_roles(target)):
                return self._role_rows(self.choices.pick(roles))
            place = self.choices.pick([p for p in places if p[0] in named] or list(places))
            table, columns = place[0], (ColumnAt((), *place),)
            if (having := self._having(table)) is not None:
                filters = self.conditions.filters(table)
                group = GroupBy(column=columns[0])
                return Form(table, Measure("count"), filters, group, having=having, names_only=True)
        filters = self.conditions.filters(table)
        if not filters:
            raise NotComputableError("it asks for all rows, and for no number")
        return Form(table, Measure("list", columns=columns), filters)

    def _role_rows(self, link: ForeignKey) -> Form:
        """Return whom the key of a row names: the mentor of Adam Lang."""
        names = self.vocabulary.schema.tables[link.target].label
        columns = tuple(ColumnAt((link,), link.target, name) for name in names)
        filters = self.conditions.filters(link.table)
        if not filters:
            raise NotComputableError("it asks for all rows, and for no number")
        return Form(link.table, Measure("list", columns=columns), filters)

    def _having(self, table: str) -> tuple[Comparison, int] | None:
        """Return what is said of the number of a table's rows: `more than 5 vehicles`."""
        for number in [t for t in self.tokens if t.kind == "number" and not t.used]:
            at = self._index(number)
            before, behind = self.tokens[max(0, at - 1) : at], self.tokens[at + 1 : at + 3]
            is_counter = bool(behind) and behind[0].name == "counter"
            sides = [*before, *behind[is_counter : is_counter + 1]]
            signs = [t for t in sides if t.name in SIGNS and t.kind == "operator"]
            things = [t for t in sides if self.vocabulary.table_of(t) == table]
            if len(signs) == 1 and len(things) == 1 and number.number == int(number.number):
                for token in (number, *signs, *things, *behind[:is_counter]):
                    token.used = True
                return SIGNS[signs[0].name], int(number.number)
        return None

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
        step = -1 if token.is_korean else 1
        at = self._index(token) + step
        named = self.tokens[at : at + 1] if at >= 0 else []
        columns = [
            p
            for one in named
            if not one.used
            for p in self.vocabulary.columns(one)
            if p[0] == table and self.vocabulary.is_number(p)
        ]
        shows_value = bool(columns) or self.vocabulary.shows_value(name)
        for one in named if columns else ():
            one.used = True
        concepts = self.vocabulary.adjective_concepts(name)
        columns = columns or [p for p in self.vocabulary.by_last_word(concepts) if p[0] == table]
        place = self.choices.pick(columns)
        info = self.vocabulary.schema.tables[table]
        shown = tuple(ColumnAt((), table, column) for column in info.label)
        measure = Measure("list", ColumnAt((), *place), columns=shown, shows=shows_value)
        self._use("which")
        limit = self._limit(token)
        filters = self.conditions.filters(table)
        return Form(table, measure, filters, descending=degree == "highest", limit=limit)

    def _limit(self, adjective: Token) -> int:
        """Return how many are asked for: the 3 longest, 가장 긴 차량 3대."""
        at = self._index(adjective)
        before = self.tokens[max(0, at - 1) : at]
        numbers = [t for t in before if t.kind == "number" and not adjective.is_korean]
        if adjective.is_korean and (behind := self._by_number()) is not None:
            numbers = [behind]
        for number in numbers:
            number.used = True
        return int(numbers[0].number) if numbers else 1

    def _measure(self, order: tuple[Token, bool, int | None] | None, group: Token | None) -> Form:
        share = self._ops("share")
        if share:
            return self._share(share[0], group)
        count = self._counted(order)
        if count is not None:
            return self._count_form(count, order, group)
        return self._amount_form(order, group)


def _quoted(tokens: Sequence[Token]) -> str:
    return ", ".join(f"“{token.text}”" for token in tokens)
