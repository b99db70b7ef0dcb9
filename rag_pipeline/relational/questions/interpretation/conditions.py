"""What limits the rows: values of the data, flags, missing dates, dates that are compared."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from rag_pipeline.relational.questions.computation import Condition
from rag_pipeline.relational.questions.interpretation.question_state import Question
from rag_pipeline.relational.questions.lexicon import is_hangul
from rag_pipeline.relational.questions.mentions import Mention, Place
from rag_pipeline.relational.questions.named_values import FoundValue, ValueColumn
from rag_pipeline.relational.questions.pieces import Piece
from rag_pipeline.relational.schema.joins import JoinTree, NotComputableError, paths_from


def take_orders_of_dates(question: Question) -> None:
    """`shipped after the required date`: two dates of the same row."""
    for index in question.indices("after", "before"):
        mentions = question.mention_before(index), question.mention_after(index)
        if mentions[0] is None or mentions[1] is None:
            continue
        if is_hangul(question.pieces[index].text):
            mentions = mentions[1], mentions[0]
        tables = set(question.tables)
        first, second = (_dates_of(question, m, tables) for m in mentions if m is not None)
        pairs = [(a, b) for a in first for b in second if a[0] == b[0] and a != b]
        if len(pairs) != 1:
            raise NotComputableError("it is not clear which dates are compared")
        (table, one), (_, other) = pairs[0]
        question.use(*(m for m in mentions if m is not None))
        question.use_pieces([index])
        if question.operators[index] == "before":
            one, other = other, one
        question.conditions.append(Condition("later", ValueColumn(table, (one,)), (other,)))


def _dates_of(question: Question, mention: Mention, tables: Iterable[str]) -> list[Place]:
    wanted = set(mention.concepts) - {"date"}
    return [
        place
        for table in tables
        for place in question.dates(table)
        if wanted and wanted <= question.namer.words[place]
    ]


def take_tables(question: Question) -> None:
    """Tables that are named without a part of their own limit the rows to those they have."""
    for mention in question.mentions:
        if mention.table in (None, question.absent):
            continue
        if mention is not question.group:
            question.tables.add(mention.table)
            question.use(mention)


def take_flags(question: Question) -> None:
    """Conditions that columns alone express: discontinued, with a discount, not yet shipped."""
    for mention in question.mentions:
        if question.is_used(mention):
            continue
        flags = [place for place in mention.columns if question.is_flag(place)]
        if len(flags) == 1:
            _flag(question, mention, flags[0])
        elif question.has("presence") and question.counted is not None:
            _presence(question, mention)
        elif question.has("not") and not any(p.kind == "number" for p in question.pieces):
            _not_yet(question, mention)


def _flag(question: Question, mention: Mention, place: Place) -> None:
    negated = question.indices("not")
    wanted = not negated
    question.use_pieces(negated)
    question.use(mention)
    question.tables.add(place[0])
    value: bool | int = wanted if question.is_declared_flag(place) else int(wanted)
    question.conditions.append(Condition("flag", ValueColumn(place[0], (place[1],)), (value,)))


def _presence(question: Question, mention: Mention) -> None:
    counted = question.counted
    places = [p for p in question.numbers(mention.columns) if counted and p[0] == counted.table]
    if len(places) != 1 or question.has("not"):
        return
    question.use(mention)
    question.use_pieces(question.indices("presence"))
    table, name = places[0]
    question.conditions.append(Condition("positive", ValueColumn(table, (name,))))


def _not_yet(question: Question, mention: Mention) -> None:
    places = [
        place
        for table in question.tables
        for place in question.dates(table)
        if set(mention.concepts) <= question.namer.words[place]
    ]
    if len(places) != 1:
        return
    question.use(mention)
    question.use_pieces([*question.indices("yet"), *question.indices("not")])
    table, name = places[0]
    question.conditions.append(Condition("null", ValueColumn(table, (name,))))


def value_conditions(question: Question) -> list[Condition]:
    """Return a condition for each value of the data that the question names."""
    conditions = []
    for index, piece in enumerate(question.pieces):
        if piece.kind == "value":
            found = question.values[piece.start, piece.end]
            conditions.append(_value_condition(question, index, piece, found))
            question.use_pieces([index])
    columns = [one.column for one in conditions]
    if len(set(columns)) < len(columns):
        raise NotComputableError("it names two values of the same column")
    for column in columns:
        _require_own_conditions(question, column)
    return conditions


def _require_own_conditions(question: Question, column: ValueColumn) -> None:
    """`parts of the vendor of Rotor`: not those that are called Rotor."""
    if not _is_label(question, column):
        return
    for role in (question.counted, question.group):
        if role is not None and role.table == column.table:
            raise NotComputableError(f"it is not clear how one of {column.table} limits them")
    above = paths_from(question.schema, column.table)
    for mention in question.mentions:
        is_role = mention in (question.counted, question.group)
        if mention.table in above and mention.table != column.table and not is_role:
            raise NotComputableError(f"is the {mention.text} meant, or one of {column.table}?")


def _value_condition(
    question: Question, index: int, piece: Piece, found: Sequence[FoundValue]
) -> Condition:
    """Choose the column of a value: by the noun beside it, else by what it is a name of."""
    beside = [question.mention_after(index), question.mention_before(index)]
    for mention in beside:
        if mention is None:
            continue
        own = [one for one in found if one.column.table == mention.table]
        by_label = [one for one in own if _is_label(question, one.column)]
        own = by_label or own
        if mention.table is None:
            places = question.namer.with_words(mention.concepts)
            own = [one for one in found if _has_words(question, one.column, mention, places)]
            if len(own) > 1:
                named = question.tables
                own = [one for one in own if one.column.table in named]
            if len(own) == 1 and not question.is_used(mention):
                question.use(mention)
        if len(own) == 1:
            return _found_in(own[0])
    labels = [one for one in found if _is_label(question, one.column)]
    if len(labels) == 1:
        return _found_in(labels[0])
    if labels or len(found) > 1:
        named = question.tables | ({question.group.table or ""} if question.group else set())
        of_named = [one for one in labels or found if one.column.table in named]
        if len(of_named) != 1 or (not labels and _is_elsewhere(question, of_named[0], found)):
            raise NotComputableError(f"{piece.text} stands in several columns")
        return _found_in(of_named[0])
    return _found_in(found[0])


def _is_elsewhere(question: Question, one: FoundValue, found: Sequence[FoundValue]) -> bool:
    """Whether another table that the first one names has the value as well."""
    reachable = paths_from(question.schema, one.column.table)
    return any(
        other is not one and other.column.table in reachable and other.column != one.column
        for other in found
    )


def _found_in(found: FoundValue) -> Condition:
    return Condition("in", found.column, found.values)


def _has_words(
    question: Question, column: ValueColumn, mention: Mention, places: Sequence[Place]
) -> bool:
    wanted = set(mention.concepts)
    return any(
        (column.table, name) in places or wanted <= question.namer.words[column.table, name]
        for name in column.columns
    )


def _is_label(question: Question, column: ValueColumn) -> bool:
    info = question.schema.tables[column.table]
    return column.columns == info.label or set(column.columns) <= set(info.key) - (
        info.reference_columns
    )


def explains_link(question: Question, mention: Mention, tree: JoinTree) -> bool:
    """Whether a verb only names the relation that is followed: shipped by, `ship_via`."""
    words = set(mention.concepts)
    for step in tree.steps:
        for name in step.columns:
            if words <= set(question.schema.lexicon.name_concepts(name)):
                return True
    return False
