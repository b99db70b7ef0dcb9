"""What `not`, `without` and `never` are said of."""

from __future__ import annotations

from rag_pipeline.relational.questions.grammar.condition_state import SIGNS
from rag_pipeline.relational.questions.grammar.value_conditions import ValueConditions
from rag_pipeline.relational.questions.question_tokens import Token
from rag_pipeline.relational.schema.ways import NotComputableError


class NegatedThings(ValueConditions):
    """Finds the thing, value or period that each negation belongs to."""

    def _find_negations(self) -> None:
        for number, token in enumerate(self._ops("not"), start=1):
            at = self._at(token)
            if (following := self._beside(token, 1)) is not None and following.name == "all":
                raise NotComputableError(f"it is not clear what “{token.text} all” leaves")
            ahead = self.tokens[:at][::-1] if token.is_korean else self.tokens[at + 1 :]
            target = next(
                (
                    t
                    for t in ahead
                    if not t.used
                    and (t.kind in ("value", "mention", "period") or t.name in ("trade", *SIGNS))
                ),
                None,
            )
            target = self._apposed(target) if target is not None else None
            if target is None or id(target) in self._negated or target.name in SIGNS:
                raise NotComputableError(f"it is not clear what “{token.text}” negates")
            self._negated[id(target)] = number
            if token.is_korean and target.particle == "도":
                self._negate_also(target, 1000 * number)
            if "never" in token.text.lower() or self._ops("once"):
                self._never.add(id(target))
            token.used = True
            for but in self._ops("but"):
                but.used = self._at(but) < at
        if self._negated:
            for token in self._ops("once"):
                token.used = True

    def _negate_also(self, target: Token, number: int) -> None:
        """Negate what stands before, too: A도 B도 없는."""
        for one in self.tokens[: self._at(target)]:
            if one.particle == "도" and not one.used and one.kind in ("value", "mention"):
                number += 1
                self._negated[id(one)] = number

    def _apposed(self, thing: Token) -> Token:
        """Return the name beside a thing, of which both are negated: `not in the store North`."""
        table = self.vocabulary.table_of(thing)
        for step in (-1, 1):
            one = self._beside(thing, step)
            if table is None or one is None or one.used:
                continue
            is_beside = one.end == thing.start if step < 0 else one.start == thing.end
            if is_beside and any(f.column.table == table and self._is_name(f) for f in one.values):
                return one
        return thing
