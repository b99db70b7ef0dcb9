"""How values are put together: counts, sums, averages, extremes, shares."""

from __future__ import annotations

from rag_pipeline.relational.questions.computation import Aggregate, Condition
from rag_pipeline.relational.questions.interpretation.question_state import SUPERLATIVES, Question
from rag_pipeline.relational.questions.mentions import Mention
from rag_pipeline.relational.schema.amounts_of_tables import line_amounts
from rag_pipeline.relational.schema.joins import JoinTree, NotComputableError, paths_from


def chosen_aggregate(question: Question) -> Aggregate:
    """Return how values are put together. A superlative without group is the value's own."""
    names = set(question.operators.values())
    if len(names & set(SUPERLATIVES)) > 1:
        raise NotComputableError("it asks for two extremes")
    if question.measure is None:
        # 총 몇 건: a total of things that are counted is their count.
        question.use_pieces(question.indices("sum"))
        if names & {"sum_amount", "avg", "max", "min"}:
            raise NotComputableError("is a count meant, or a sum?")
        return "count"
    derived = question.measure.kind != "column"
    if "avg" in names:
        question.use_pieces(question.indices("avg"))
        if names & {"sum", "sum_amount", "share"}:
            raise NotComputableError("is a sum meant, or an average?")
        if derived and _per_mention(question) is None:
            raise NotComputableError("an average per what?")
        if not derived and _is_average_unclear(question):
            raise NotComputableError("an average of rows, or per what is named?")
        return "sum" if derived else "avg"
    if names & {"sum", "sum_amount"}:
        question.use_pieces(question.indices("sum", "sum_amount"))
        if names & {"max", "min"} and question.group is None:
            raise NotComputableError("a sum has no extremes without a group")
        return "sum"
    if derived:
        if names & {"max", "min"} and question.group is None:
            raise NotComputableError("the extreme of what?")
        return "sum"
    return _column_aggregate(question, names)


def _is_average_unclear(question: Question) -> bool:
    """`average cost per visit`, `average cost of a visit`: of single costs, or of visits' sums?

    A department has a name and groups; what has only a number is a thing that sums are of.
    """
    per = _per_mention(question)
    if per is None:
        return _unnamed_owner(question) is not None
    assert per.table is not None
    info = question.schema.tables[per.table]
    return _is_count_like(question) or info.label == info.key


def _unnamed_owner(question: Question) -> str | None:
    """Return a table above the measure's that is asked for itself, while the measure's is not."""
    measure = question.measure
    assert measure is not None
    named = {mention.table for mention in question.mentions if mention.table}
    if measure.table in named:
        return None
    limited = {condition.column.table for condition in question.conditions}
    group = question.group.table if question.group else None
    above = paths_from(question.schema, measure.table).keys() - {measure.table}
    return next(iter(sorted((named & above) - limited - {group})), None)


def _is_count_like(question: Question) -> bool:
    measure = question.measure
    assert measure is not None
    words = question.namer.words[measure.table, measure.columns[0]]
    return bool(words & {"quantity", "count", "amount"})


def _column_aggregate(question: Question, names: set[str]) -> Aggregate:
    assert question.measure is not None
    own = question.group is not None and question.group.table == question.measure.table
    if own and names & {"expensive", "cheap"}:
        return "max"
    if "max" in names or "min" in names:
        if question.group is not None and not own:
            raise NotComputableError("is the sum meant, or the single extreme?")
        if _unnamed_owner(question) is not None:
            raise NotComputableError("is the single extreme meant, or that of the sums?")
        question.use_pieces(question.indices("max", "min"))
        return "max" if "max" in names else "min"
    raise NotComputableError("is a sum meant, or an average?")


def _per_mention(question: Question) -> Mention | None:
    """`average revenue per order`: the sum, divided by the number of orders."""
    has_per = any(
        question.pieces[i].text.lower() in ("per", "당") for i in question.indices("each")
    )
    group = question.group
    return group if has_per and group is not None and group.table is not None else None


def divided_by(question: Question, aggregate: Aggregate) -> str | None:
    """Return the table by whose rows a sum is divided: revenue per order."""
    measure = question.measure
    if measure is None or measure.kind == "column" or aggregate != "sum":
        return None
    mention = _per_mention(question) if question.has("avg") else None
    if mention is None:
        return None
    if question.has(*SUPERLATIVES):
        raise NotComputableError("an average and an extreme at once")
    return mention.table


def share_whole(question: Question, years: list[Condition]) -> tuple[Condition, ...] | None:
    """Return what the whole of a share fulfils; None where no share is asked for."""
    if not question.has("share"):
        return None
    if len(question.conditions) != 1 or question.group is not None:
        raise NotComputableError("it is not clear what the share is of")
    question.use_pieces(question.indices("share"))
    return tuple(years)


def require_clear_count(question: Question, tree: JoinTree, counted: str) -> None:
    """`How many products were ordered`: kinds of products, or pieces?"""
    if tree.base == counted or question.has("different"):
        return
    lines = line_amounts(question.schema)
    links = {link.target for link in question.schema.tables[tree.base].foreign_keys}
    has_children = any(link.target == tree.base for link in tree.steps)
    if tree.base in lines and counted in links and not has_children:
        line = question.schema.tables[tree.base]
        owners = [link for link in line.foreign_keys if link.target == counted]
        others = [link for link in line.foreign_keys if link.target != counted]
        # An order has its lines; a product only stands in them.
        if owners and others and not _is_parent(question, tree.base, counted):
            raise NotComputableError(f"are different {counted} meant, or their quantity?")


def _is_parent(question: Question, line: str, table: str) -> bool:
    """Whether rows of `line` are named after `table`: invoice_items of invoices."""
    own = question.schema.tables[table].concepts
    return question.schema.tables[line].concepts[: len(own)] == own
