"""What all conditions of a question share: its tokens, the ways to things, negations."""

from __future__ import annotations

from collections.abc import Sequence

from rag_pipeline.relational.questions.forms.constraints import Constraint, Make
from rag_pipeline.relational.questions.forms.logical_form import (
    Comparison,
    Path,
)
from rag_pipeline.relational.questions.grammar.choices import Choices
from rag_pipeline.relational.questions.grammar.vocabulary import Vocabulary
from rag_pipeline.relational.questions.mentions import Place
from rag_pipeline.relational.questions.question_tokens import Token
from rag_pipeline.relational.schema.table_schema import ForeignKey
from rag_pipeline.relational.schema.ways import NotComputableError, Way, forward

SIGNS: dict[str, Comparison] = {
    "more": ">",
    "less": "<",
    "at_least": ">=",
    "at_most": "<=",
    "only": "=",
    "or_more": ">=",
    "or_less": "<=",
}
BEHIND = frozenset({"or_more", "or_less"})
"""Signs that stand behind the number in English, too."""


class ConditionState:
    """Tokens, choices and the conditions found so far, for those that add to them."""

    def __init__(self, vocabulary: Vocabulary, tokens: Sequence[Token], choices: Choices) -> None:
        self.vocabulary = vocabulary
        self.tokens = tokens
        self.choices = choices
        self._base = ""
        self._asked_role: Token | None = None
        self._group: Path = ()
        self._found: list[Constraint] = []
        self._negated: dict[int, int] = {}
        self._never: set[int] = set()
        self._links: set[ForeignKey] = set()
        self._anchors: dict[int, Way] = {}
        self.conditional: set[int] = set()
        """Tokens that are conditions: flags, dates, and what is negated."""

    def _ops(self, *names: str) -> list[Token]:
        return [t for t in self.tokens if t.kind == "operator" and t.name in names and not t.used]

    def _at(self, token: Token) -> int:
        return next(i for i, one in enumerate(self.tokens) if one is token)

    def _beside(self, token: Token, step: int) -> Token | None:
        at = self._at(token) + step
        return self.tokens[at] if 0 <= at < len(self.tokens) else None

    def direction(self, token: Token) -> list[ForeignKey]:
        """Return the keys that `from` or `to` before a value names, or 에서 or 로 behind it."""
        before = self._beside(token, -1)
        if before is not None and before.mention is not None and not token.is_korean:
            before = self._beside(before, -1)
        word = before.name if before is not None and before.kind == "operator" else ""
        word = {"에서": "from", "로": "to", "으로": "to"}.get(token.particle, word)
        found = [
            link
            for link in self.vocabulary.schema.tables[self._base].foreign_keys
            if self.vocabulary.schema.role_words(link) == {word}
        ]
        if found and before is not None and before.name == word:
            before.used = True
        return found

    def roles(self) -> list[ForeignKey]:
        """Return the foreign keys that words of the question name."""
        asked = self._asked_role
        return [
            link
            for token in self.tokens
            if token is not asked
            for link in self.vocabulary.roles(token)
        ]

    def asked_roles(self, token: Token) -> list[ForeignKey]:
        """Return the keys of a role that is asked for; conditions are not about it."""
        self._asked_role = token
        return self.vocabulary.roles(token)

    def use_roles(self, path: Path) -> None:
        """Note keys that a group follows."""
        self._links |= set(path)

    def _way(self, table: str) -> Way:
        """Return a way from the base table; of several, each is a reading."""
        if table == self._base and not self._group:
            return ()
        ways = self.vocabulary.ways.between(self._base, table, self.roles())
        if table == self._base:
            return ()
        way = self.choices.pick(ways) if ways else None
        if way is None:
            raise NotComputableError(f"nothing relates {self._base} to {table}")
        return way

    def _numbers(self, token: Token) -> list[Place]:
        return [p for p in self.vocabulary.columns(token) if self.vocabulary.is_number(p)]

    def _clause(self, token: Token) -> int:
        """Return which side of `but` a token is on."""
        return sum(one.name == "but" for one in self.tokens[: self._at(token)])

    def _is_negated(self, token: Token) -> bool:
        return id(token) in self._negated

    def _companion(self, token: Token) -> Token | None:
        """Return the negated thing that a period belongs to: `did not order in 1997`."""
        for one in self.tokens:
            same = self._clause(one) == self._clause(token)
            if self._is_negated(one) and one is not token and one.kind != "value" and same:
                return one
        return None

    def _trade_way(self) -> Way | None:
        tables = set(self.vocabulary.lines) | {one.table for one in self.vocabulary.totals()}
        ways = [
            way
            for table in sorted(tables)
            for way in self.vocabulary.ways.between(self._base, table)
        ]
        if not ways:
            return None
        shortest = min(map(len, ways))
        best = [way for way in ways if len(way) == shortest]
        return best[0] if len(best) == 1 else None

    def _add(self, way: Way, make: Make | None, token: Token | None = None, **more: object) -> None:
        is_forward = forward(way) is not None
        group = self._negated.get(id(token), 0) if token is not None else 0
        if token is not None and not group and not is_forward:
            group = self._negation_around(token, way)
        self._links |= {step.link for step in way}
        negated = bool(group) and not is_forward
        count = more.get("count")
        self._found.append(Constraint(way, make, negated, group, count))  # type: ignore[arg-type]

    def _negation_around(self, token: Token, way: Way) -> int:
        """Return the negation that a condition is part of: `never bought Jazz`."""
        for one in self.tokens:
            if not self._is_negated(one) or one.kind == "value":
                continue
            if self._clause(one) != self._clause(token):
                continue
            table = self.vocabulary.table_of(one)
            other = (
                self._anchors[id(one)]
                if table
                else self._trade_way()
                if (one.name == "trade")
                else None
            )
            is_inside = self._at(one) < self._at(token) or one.is_korean
            if other and is_inside and way[: len(other)] == other:
                return self._negated[id(one)]
        return 0

    def _with_none(self, way: Way, table: str, columns: Sequence[str]) -> bool:
        """Choose whether rows without a value are meant by a negation, where there may be some."""
        tables = self.vocabulary.schema.tables
        keys = [(step.link.table, name) for step in way for name in step.link.columns]
        places = [*keys, *((table, name) for name in columns)]
        if not any(tables[owner].column(name).nullable for owner, name in places):
            return False
        return self.choices.pick([False, True])

    def _use(self, *names: str) -> None:
        for token in self._ops(*names):
            token.used = True

    def _nearest(self, places: Sequence[Place], token: Token) -> tuple[Way, Place]:
        """Choose the column nearest to any thing that the question names; equals are readings."""
        options: list[tuple[int, Way, Place]] = []
        for place in places:
            for anchor in [(), *self._anchors.values()]:
                at = anchor[-1].target if anchor else self._base
                for way in self.vocabulary.ways.between(at, place[0]):
                    options.append((len(way), joined(anchor, way), place))
        if not options:
            raise NotComputableError(f"it is not clear what “{token.text}” is compared with")
        best = min(cost for cost, _, _ in options)
        chosen = dict.fromkeys((way, place) for cost, way, place in options if cost == best)
        return self.choices.pick(list(chosen))


def joined(anchor: Way, way: Way) -> Way:
    """Return a way that goes on where another ends."""
    return (*anchor, *way)
