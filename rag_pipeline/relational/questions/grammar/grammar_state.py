"""What the parts of the grammar share: tokens, choices, and how to look around."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from rag_pipeline.relational.questions.forms.logical_form import (
    DaysBetween,
    MeasureKind,
    Period,
)
from rag_pipeline.relational.questions.grammar.choices import Choices
from rag_pipeline.relational.questions.grammar.conditions import Conditions
from rag_pipeline.relational.questions.grammar.vocabulary import Vocabulary
from rag_pipeline.relational.questions.question_tokens import Token

PERIODS: dict[str, Period] = {"monthly": "month", "yearly": "year", "quarterly": "quarter"}
AGGREGATES: dict[str, MeasureKind] = {
    "sum": "sum",
    "sum_amount": "sum",
    "avg": "average",
    "max": "maximum",
    "min": "minimum",
}
HIGHEST = {"most", "max", "top"}
LOWEST = {"fewest", "min", "bottom"}


class GrammarState:
    """Tokens, choices and conditions of one reading."""

    _is_alternative = False
    """Another number could be meant by the same word."""
    _is_by = False
    """The group was said with `by`, which is no division as `per` may be."""

    _is_every = False
    _days: tuple[str, DaysBetween] | None = None
    """The table and the days from one date to another that are asked for."""

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
            text = one.text.lower()
            is_verb = head.text.lower().endswith("ed")
            if is_verb or (not one.is_korean and text.endswith("s")):
                continue
            if one.end == head.start and tables[0] and tables[1] and tables[0] != tables[1]:
                ways = self.vocabulary.ways.between(tables[0], tables[1])
                one.used = one.is_modifier = any(len(way) == 1 for way in ways)

    def _ops(self, *names: str) -> list[Token]:
        return [t for t in self.tokens if t.kind == "operator" and t.name in names and not t.used]

    def _use(self, *names: str) -> None:
        for token in self._ops(*names):
            token.used = True

    def _use_joints(self) -> None:
        """Take an `and` that joins conditions; between things it would ask for two of them."""
        for token in self._ops("and"):
            sides = self._beside(token)
            if len(sides) == 2 and (
                sides[1].name == "much" or all(self._is_conditional(side) for side in sides)
            ):
                token.used = True

    def _is_conditional(self, token: Token) -> bool:
        return (
            token.kind in ("value", "number", "period")
            or token.is_condition
            or token.name in ("not", "presence")
            or id(token) in self.conditions.conditional
        )

    def _beside(self, token: Token) -> list[Token]:
        at = self._index(token)
        return [*self.tokens[max(0, at - 1) : at], *self.tokens[at + 1 : at + 2]]

    def _index(self, token: Token) -> int:
        return next(i for i, one in enumerate(self.tokens) if one is token)

    def _near(
        self, token: Token, wanted: Callable[[Token], bool], *, before: bool | None = None
    ) -> Token | None:
        """Return the next unused token that fits: behind an English word, before a Korean one."""
        at = self._index(token)
        back = token.is_korean if before is None else before
        ahead = self.tokens[:at][::-1] if back else self.tokens[at + 1 :]
        for one in ahead:
            is_border = one.name in ("each", "which", "but", *PERIODS) and one.text != "각각"
            if one.kind == "operator" and is_border:
                return None
            if not one.used and wanted(one):
                return one
        return None

    def _is_thing(self, token: Token) -> bool:
        return token.mention is not None and self.vocabulary.table_of(token) is not None

    def _is_measurable(self, token: Token) -> bool:
        return token.mention is not None and bool(self.vocabulary.amounts(token))

    def _is_countable(self, token: Token) -> bool:
        """A thing, or a column with different values; yes and no are conditions."""
        if token.mention is None or self._is_before_head(token):
            return False
        return bool(
            self.vocabulary.table_of(token)
            or any(not self.vocabulary.is_flag(p) for p in self.vocabulary.columns(token))
        )

    def _is_before_head(self, token: Token) -> bool:
        """Whether a column stands before the thing it belongs to: `high priority tasks`."""
        following = self.tokens[self._index(token) + 1 :][:1]
        return (
            not token.is_korean
            and self.vocabulary.table_of(token) is None
            and bool(following)
            and following[0].start == token.end
            and self.vocabulary.table_of(following[0]) is not None
        )

    def _tables(self) -> list[str]:
        named = [self.vocabulary.table_of(t) for t in self.tokens if t.mention is not None]
        return [name for name in named if name is not None]

    @staticmethod
    def _is_period(token: Token) -> bool:
        return token.mention is not None and token.mention.concepts in (
            ("year",),
            ("month",),
            ("quarter",),
        )
