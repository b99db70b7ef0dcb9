"""Comparisons with what the data says: an average, another row, another column of the row."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from rag_pipeline.relational.questions.forms.logical_form import (
    ColumnAt,
    Compare,
    Comparison,
    Expression,
    Filter,
    Overall,
)
from rag_pipeline.relational.questions.grammar.condition_state import SIGNS
from rag_pipeline.relational.questions.grammar.value_conditions import ValueConditions, is_one_of
from rag_pipeline.relational.questions.mentions import Place
from rag_pipeline.relational.questions.question_tokens import Token
from rag_pipeline.relational.schema.ways import NotComputableError, forward


@dataclass(frozen=True)
class _Relative:
    """A sign between a column and what it is compared with."""

    places: Sequence[Place]
    """The columns that may be meant."""
    sign: Token
    reference: Token


class RelativeConditions(ValueConditions):
    """Above average, cheaper than the Torpex, a distance over the planned distance."""

    _relative: Sequence[_Relative] = ()

    def mark_relative(self) -> None:
        """Take the signs that compare with no number, with what stands on their sides."""
        found = [self._relative_at(t) for t in self.tokens if self._sign_of(t) is not None]
        self._relative = [one for one in found if one is not None]

    def _sign_of(self, token: Token) -> Comparison | None:
        if token.kind != "operator" or token.used:
            return None
        if token.name.endswith(".more"):
            return ">"
        return "<" if token.name.endswith(".less") else SIGNS.get(token.name)

    def _relative_at(self, sign: Token) -> _Relative | None:
        step = -1 if sign.is_korean else 1
        reference = self._beside(sign, step)
        if reference is None or reference.used or sign.name == "only":
            return None
        sides = [self._beside(sign, -2 if sign.is_korean else -1)]
        if reference.name == "avg" and not sign.is_korean:
            sides.append(self._beside(reference, 1))
        thing = next((one for one in sides if one is not None and self._measured(one)), None)
        if thing is not None:
            places = self._measured(thing)
        elif "." in sign.name:
            concepts = self.vocabulary.adjective_concepts(sign.name.split(".")[0])
            places = self.vocabulary.by_last_word(concepts)
        else:
            return None
        is_column = bool(reference.mention and thing and self._numbers(reference))
        if not (reference.name == "avg" or reference.kind == "value" or is_column):
            return None
        for one in (sign, reference, thing):
            if one is not None:
                one.used = True
        return _Relative(places, sign, reference)

    def _measured(self, token: Token) -> Sequence[Place]:
        if token.mention is None or token.used:
            return []
        return self._numbers(token) or [
            p for p in self.vocabulary.stand_in(token) if self.vocabulary.is_number(p)
        ]

    def _with_relative(self, filters: tuple[Filter, ...]) -> tuple[Filter, ...]:
        """Return the filters with these comparisons; an average may be that of the filtered."""
        added: list[Filter] = []
        for one in self._relative:
            way, place = self._nearest(one.places, one.sign)
            path = forward(way)
            sign = self._sign_named(one.sign)
            if path is None:
                raise NotComputableError(f"it is not clear whose “{one.sign.text}” it is")
            left = ColumnAt(path, *place)
            added.append(Compare(left, sign, self._reference(one, left, filters)))
        return (*filters, *added)

    def _sign_named(self, token: Token) -> Comparison:
        token.used = False
        sign = self._sign_of(token)
        token.used = True
        assert sign is not None
        return sign

    def _reference(self, one: _Relative, left: ColumnAt, filters: tuple[Filter, ...]) -> Expression:
        reference = one.reference
        own = ColumnAt((), left.table, left.name)
        if reference.name == "avg":
            options = [Overall("average", left.table, own)]
            if filters or left.path:
                options.append(Overall("average", self._base, left, filters))
            return self.choices.pick(options)
        if reference.kind == "value":
            named = [
                f for f in reference.values if f.column.table == left.table and self._is_name(f)
            ]
            if not named:
                raise NotComputableError(f"“{reference.text}” is no row of {left.table}")
            name = is_one_of(named[0].column, named[0].values, ())
            # Several rows may have that name: what holds for one of them must hold for all.
            ends = [
                Overall("minimum", left.table, own, (name,)),
                Overall("maximum", left.table, own, (name,)),
            ]
            return self.choices.pick(ends)
        others = [p for p in self._numbers(reference) if p[0] == left.table]
        if len(others) != 1:
            raise NotComputableError(f"it is not clear what “{reference.text}” is")
        return ColumnAt(left.path, *others[0])
