"""Pieces of a question to one computation, or to the reason why it is not computed.

Every piece must have found its part at the end: a noun that explains nothing, an operator without
effect, two readings of one word, all end in `NotComputableError`. Refusing is cheap; a wrong
number that is stated as exact is not.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Literal

from rag_pipeline.relational.questions.computation import Condition, Query
from rag_pipeline.relational.questions.interpretation.aggregates import (
    chosen_aggregate,
    divided_by,
    require_clear_count,
    share_whole,
)
from rag_pipeline.relational.questions.interpretation.amounts import find_measure, find_price
from rag_pipeline.relational.questions.interpretation.conditions import (
    explains_link,
    take_flags,
    take_orders_of_dates,
    take_tables,
    value_conditions,
)
from rag_pipeline.relational.questions.interpretation.periods import date_column, year_conditions
from rag_pipeline.relational.questions.interpretation.question_state import SUPERLATIVES, Question
from rag_pipeline.relational.questions.interpretation.subjects import (
    find_absent,
    find_counted,
    find_group,
    is_part,
)
from rag_pipeline.relational.questions.mentions import Mention, Place
from rag_pipeline.relational.schema.joins import (
    JoinTree,
    NotComputableError,
    join_tree,
    smallest_tree,
)


def interpret(question: Question) -> Query:
    """Return the computation. Raises `NotComputableError` with what is unclear."""
    unknown = [piece.text for piece in question.pieces if piece.kind == "unknown"]
    if unknown:
        raise NotComputableError(f"not understood: {' '.join(unknown)}")
    find_measure(question)
    find_group(question)
    find_price(question)
    find_counted(question)
    find_absent(question)
    take_tables(question)
    take_orders_of_dates(question)
    take_flags(question)
    values = value_conditions(question)
    if question.measure is None and question.counted is None:
        raise NotComputableError("it is not clear what is to be counted or added up")
    if question.measure is not None and question.counted is not None:
        raise NotComputableError("it asks for two numbers")
    places = _named_places(question, values)
    question.conditions += values
    tree = _joined_tables(question, places)
    absent = None
    if question.absent is not None and question.counted is not None:
        whole = smallest_tree(question.schema, {question.absent, str(question.counted.table)})
        if tree.base != question.counted.table:
            raise NotComputableError("it is not clear what does not occur in what")
        years, _, absent = year_conditions(question, whole)
        query = _assemble(question, tree, places, [], years)
        query = replace(query, absent=absent)
    else:
        years, without, tree = year_conditions(question, tree)
        query = _assemble(question, tree, places, years, without)
        query = _with_part(question, query)
    _require_everything_used(question, query, absent)
    return query


def _with_part(question: Question, query: Query) -> Query:
    """Group by year or month where one of them is asked for."""
    group = question.group
    if group is None or not is_part(group):
        return query
    years = [one for one in query.conditions if one.kind == "year"]
    part: Literal["year", "month"] = "year" if group.concepts == ("year",) else "month"
    if part == "month" and len(years) != 1:
        raise NotComputableError("months of which year?")
    column = years[0].column if years else date_column(question, query.tree)
    tree = join_tree(
        question.schema,
        query.tree.base,
        sorted({*query.tree.tables, column.table} - {query.tree.base}),
    )
    assert tree is not None
    return replace(query, tree=tree, group_column=None, group_part=(part, column))


def _named_places(question: Question, values: Sequence[Condition]) -> dict[str, Place]:
    """Choose the columns of group and counted thing, where they are no tables."""
    chosen: dict[str, Place] = {}
    named = set(question.tables) | {one.column.table for one in values}
    if question.measure is not None:
        named.add(question.measure.table)
    for role, mention in (
        ("group", question.group),
        ("counted", question.counted),
    ):
        if mention is not None and mention.table is None and not is_part(mention):
            chosen[role] = _column_of(question, mention, named)
    return chosen


def _column_of(question: Question, mention: Mention, named: Iterable[str]) -> Place:
    hints = [m for m in question.mentions if not question.is_used(m) and m.table is None]
    words = {word for hint in hints for word in hint.concepts}
    places = question.namer.with_words(mention.concepts, words)
    extra = {
        place: len(question.namer.words[place] - set(mention.concepts))
        for place in places
        if not question.is_quantity(place)
    }
    most = max(extra.values(), default=0)
    best = [place for place, count in extra.items() if count == most]
    if len(best) > 1:
        best = [place for place in best if place[0] in set(named)]
    if len(best) != 1:
        raise NotComputableError(f"{mention.text} stands in several tables, or in none")
    for hint in hints:
        if set(hint.concepts) <= question.namer.words[best[0]]:
            question.use(hint)
    return best[0]


def _joined_tables(question: Question, places: Mapping[str, Place]) -> JoinTree:
    wanted = set(question.tables) | {one.column.table for one in question.conditions}
    wanted |= {table for table, _ in places.values()}
    for mention in (question.group, question.counted):
        if mention is not None and mention.table is not None:
            wanted.add(mention.table)
    if question.measure is None:
        return smallest_tree(question.schema, wanted)
    tree = join_tree(question.schema, question.measure.table, sorted(wanted))
    if tree is None:
        raise NotComputableError("its conditions would count some rows more than once")
    return tree


def _assemble(
    question: Question,
    tree: JoinTree,
    places: Mapping[str, Place],
    years: list[Condition],
    without: list[Condition],
) -> Query:
    aggregate = chosen_aggregate(question)
    best = [name for name in question.operators.values() if name in SUPERLATIVES]
    group = question.group
    if group is not None and best:
        question.use_pieces(question.indices(*SUPERLATIVES))
    per = divided_by(question, aggregate)
    share = share_whole(question, years)
    counted = question.counted.table if question.counted else None
    if counted is not None:
        require_clear_count(question, tree, counted)
    if "counted" in places or counted is not None:
        question.use_pieces(question.indices("different"))
    question.use_pieces(question.indices("much"))
    return Query(
        tree,
        aggregate,
        counted,
        places.get("counted"),
        question.measure,
        per,
        None if per or group is None else group.table,
        places.get("group"),
        SUPERLATIVES[best[0]] if best and group is not None else None,
        tuple(question.conditions + years),
        tuple(without),
        share_of=share,
        different=question.has("different") and counted is not None,
    )


def _require_everything_used(question: Question, query: Query, absent: JoinTree | None) -> None:
    """Refuse what left a noun or an operator without effect."""
    for mention in question.mentions:
        if not question.is_used(mention) and not explains_link(
            question, mention, absent or query.tree
        ):
            raise NotComputableError(f"it is not clear what {mention.text} adds")
    harmless = {"which", "much", "by", "presence", "each", "year_mark"}
    for index, name in question.operators.items():
        if index not in question.used and name not in harmless:
            raise NotComputableError(f"it is not clear what {question.pieces[index].text} adds")
