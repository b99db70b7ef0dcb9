"""Years and months that a question names, and the dates that they are of."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from rag_pipeline.relational.questions.computation import Condition
from rag_pipeline.relational.questions.interpretation.conditions import explains_link
from rag_pipeline.relational.questions.interpretation.question_state import Question
from rag_pipeline.relational.questions.mentions import Place
from rag_pipeline.relational.questions.named_values import ValueColumn
from rag_pipeline.relational.schema.joins import JoinTree, NotComputableError, join_tree, paths_from

DEFAULT_DATE_WORDS = frozenset({"date", "time", "at", "on", "create", "transaction"})
"""What a date's name may say for it to be the one that is meant by `in 1997`."""


def year_conditions(
    question: Question, tree: JoinTree
) -> tuple[list[Condition], list[Condition], JoinTree]:
    """Return the conditions on years, those for `but not`, and the tree with their table."""
    numbers = [i for i, piece in enumerate(question.pieces) if piece.kind == "number"]
    months = _months(question, numbers)
    numbers = [index for index in numbers if index not in question.used]
    years = []
    for index in numbers:
        text = question.pieces[index].value
        if not (text.isdigit() and 1800 <= int(text) <= 2200):
            raise NotComputableError(f"it is not clear what {text} is")
        years.append(int(text))
        question.use_pieces([index])
    question.use_pieces(question.indices("year_mark"))
    if months and len(years) != 1:
        raise NotComputableError("a month of which year?")
    if not years:
        return [], [], tree
    column = date_column(question, tree)
    wanted = sorted({*tree.tables, column.table} - {tree.base})
    larger = join_tree(question.schema, tree.base, wanted)
    assert larger is not None
    conditions = [Condition("year", column, (year,)) for year in years]
    if len(years) == 1:
        conditions = [_beyond(question, numbers[0], conditions[0])]
        return conditions + [Condition("month", column, (m,)) for m in months], [], larger
    buts = question.indices("but")
    nots = question.indices("not")
    counts = question.counted is not None and question.counted.table is not None
    if not (
        len(years) == 2
        and len(buts) == 1
        and len(nots) == 1
        and counts
        and numbers[0] < buts[0] < numbers[1]
        and nots[0] > buts[0]
    ):
        raise NotComputableError("it is not clear how the years belong together")
    question.use_pieces([*buts, *nots])
    return conditions[:1], conditions[1:], larger


def _months(question: Question, numbers: Sequence[int]) -> list[int]:
    """Return the months that are named: March, 3월; at most one."""
    months = []
    for index, name in question.operators.items():
        if name.startswith("month_") and name != "month_mark":
            months.append(int(name.removeprefix("month_")))
            question.use_pieces([index])
        elif name == "month_mark":
            number = question.pieces[index - 1].value if index - 1 in numbers else ""
            if not (number.isdigit() and 1 <= int(number) <= 12):
                raise NotComputableError("it is not clear which month is meant")
            months.append(int(number))
            question.use_pieces([index - 1, index])
    if len(months) > 1:
        raise NotComputableError("it names several months")
    return months


def _beyond(question: Question, index: int, year: Condition) -> Condition:
    """`before 1997`, `after 1997`; Korean does not say whether the year itself is meant."""
    before = index - 1
    name = question.operators.get(before)
    if name not in ("before", "after"):
        return year
    question.use_pieces([before])
    kind: Literal["year_before", "year_after"] = "year_before" if name == "before" else "year_after"
    return Condition(kind, year.column, year.values)


def date_column(question: Question, tree: JoinTree) -> ValueColumn:
    """Choose the date that a year is of: the one that a verb names, else the table's own."""
    hints = [m for m in question.mentions if m.table is None and not question.is_role(m)]
    reachable = paths_from(question.schema, tree.base)
    for hint in hints:
        places = [
            place
            for table in tree.tables
            for place in question.dates(table)
            if set(hint.concepts) <= question.namer.words[place]
        ]
        if len(places) == 1:
            if question.is_used(hint) or explains_link(question, hint, tree):
                raise NotComputableError(f"is the year that of {hint.text}?")
            question.use(hint)
            return ValueColumn(places[0][0], (places[0][1],))
    for distance in sorted({len(ways[0]) for ways in reachable.values()}):
        tables = [t for t, ways in reachable.items() if len(ways[0]) == distance]
        places = [p for t in tables for p in question.dates(t) if _is_default_date(question, p)]
        if len(places) > 1:
            raise NotComputableError("it is not clear which date the year is of")
        if places:
            return ValueColumn(places[0][0], (places[0][1],))
    raise NotComputableError("it is not clear which date the year is of")


def _is_default_date(question: Question, place: Place) -> bool:
    """`order_date` of an order is its date, and so is `ordered_on`."""
    own = set(question.schema.tables[place[0]].concepts)
    return question.namer.words[place] - own <= DEFAULT_DATE_WORDS
