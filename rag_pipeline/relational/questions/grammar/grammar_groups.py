"""Groups, extremes, and the thing that a question asks for."""

from __future__ import annotations

from dataclasses import replace

from rag_pipeline.relational.questions.forms.logical_form import (
    ColumnAt,
    GroupBy,
)
from rag_pipeline.relational.questions.grammar.grammar_state import (
    HIGHEST,
    PERIODS,
    GrammarState,
)
from rag_pipeline.relational.questions.mentions import Mention
from rag_pipeline.relational.questions.question_tokens import Token
from rag_pipeline.relational.schema.ways import NotComputableError, forward

_PERSON = frozenset({"who", "whom", "누구"})


class Grouping(GrammarState):
    """Groups, extremes, and the thing that is asked for."""

    def _group(self) -> Token | None:
        """Return what is grouped by; a period's operator stands for itself."""
        periods = self._ops(*PERIODS)
        found: list[Token] = list(periods)
        markers = self._ops("each")
        for token in markers:
            if token.text == "각각" and len(markers) > 1:
                token.used = True
                continue
            at = self._index(token)
            mention = next(
                (
                    t
                    for t in (self.tokens[:at][::-1] if token.is_korean else self.tokens[at + 1 :])
                    if t.kind == "mention" and not t.is_modifier
                ),
                None,
            )
            following = self.tokens[at + 1 : at + 2]
            if (
                following
                and token.text.lower() == "by"
                and (following[0].kind == "value" or following[0].name == "count")
            ):
                # made by Gold members; top 3 by number of orders
                token.used = True
                continue
            if mention is not None and token.text.lower() == "by" and self._is_agent(mention):
                token.used = True
                continue
            if (
                mention is not None
                and self._is_measurable(mention)
                and (self._ops("top", "bottom", "which"))
            ):
                token.used = True
                continue
            if mention is None or mention.used:
                raise NotComputableError(f"it is not clear what “{token.text}” belongs to")
            mention = self._compound(mention)
            self._is_every = token.text.lower() == "every"
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
        if (at == 0 and mention.is_korean) or len(pair) < 2 or pair[0].end != pair[1].start:
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
        period = PERIODS.get(token.name) if token.kind == "operator" else None
        if token.mention is not None and token.mention.concepts in (
            ("year",),
            ("month",),
            ("quarter",),
        ):
            period = token.mention.concepts[0]
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
        if table is None and not vocabulary.columns(token):
            # By reviewer: whom a key of that role names.
            for link in vocabulary.roles(token):
                for way in vocabulary.ways.between(base, link.table):
                    if (path := forward(way)) is not None:
                        options.append(GroupBy((*path, link), link.target))
        if table is None and not options:
            options = [
                GroupBy(column=ColumnAt(path, *place))
                for path, place in self.conditions.nearest_columns(base, token, self._tables())
            ]
        if not options:
            raise NotComputableError(f"rows of {base} do not belong to one “{token.text}” each")
        chosen = self.choices.pick(options)
        self.conditions.use_roles(chosen.path)
        return chosen, []

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
            words = " and ".join(f"“{one.text}”" for one in found)
            raise NotComputableError(f"it asks for two extremes at once: {words}")
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
        return token, token.name in HIGHEST, limit

    def _by_number(self) -> Token | None:
        """Return a number right behind a Korean noun: `고객 3명`."""
        for before, token in zip(self.tokens, self.tokens[1:], strict=False):
            if token.kind == "number" and before.kind == "mention" and before.is_korean:
                return token
        return None

    def _which(self) -> Token | None:  # noqa: PLR0911, PLR0912
        """Return the thing asked for: `which customer`, `top 5 countries`, `고객은 누구`."""
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
        is_person, is_crossed = token.text.lower() in _PERSON, False
        for one in ahead:
            if one.kind == "mention" and not one.used:
                is_role = not self.vocabulary.columns(one) and bool(self.vocabulary.roles(one))
                if (
                    is_person
                    and not is_role
                    and (is_crossed or self.vocabulary.table_of(one) is None)
                ):
                    return self._owner(token, one)
                if self.vocabulary.table_of(one) or self.vocabulary.columns(one):
                    if token.text.lower() == "what" and self._is_measurable(one):
                        return None
                    one.used = True
                    token.used = True
                    return one
                following = ahead[ahead.index(one) + 1 :][:1]
                is_named = bool(following) and following[0].mention is not None
                is_asked = is_person and is_role and one.end + 1 >= token.start
                if self.vocabulary.roles(one) and (
                    is_asked or (not one.is_korean and not is_named)
                ):
                    one.used = token.used = True
                    return one
                if not self.vocabulary.roles(one) and not self._is_period(one):
                    return None
                if self._is_period(one):
                    one.used = token.used = True
                    return one
            elif (
                one.kind in ("operator", "value")
                and not one.is_korean
                and one.name not in ("top", "bottom", "different", "named", "all")
            ):
                if not (is_person and one.name in ("max", "min")):
                    break
                is_crossed = True
        return None

    def _owner(self, token: Token, column: Token) -> Token:
        """Return the thing whose column is named: `who has the highest salary`."""
        owners = {p[0] for p in self.vocabulary.columns(column) if self.vocabulary.is_number(p)}
        found = [self.vocabulary.schema.tables[name] for name in owners]
        if len(found) != 1 or found[0].label == found[0].key:
            raise NotComputableError(f"it is not clear what “{token.text}” asks for")
        table = found[0].name
        token.used = True
        mention = Mention(found[0].concepts, token.start, token.end, table)
        return Token("mention", table, token.text, token.start, token.end, mention=mention)

    def _before_number(self) -> Token | None:
        number = next((t for t in self.tokens if t.kind == "number" and t.used), None)
        if number is None:
            return None
        before = self.tokens[self._index(number) - 1]
        if before.kind == "mention" and not before.used:
            before.used = True
            return before
        return None

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
