"""A logical form in words, for readings that a person chooses between."""

from __future__ import annotations

from rag_pipeline.relational.questions.forms.logical_form import (
    AnyOf,
    Arithmetic,
    ColumnAt,
    Compare,
    DaysBetween,
    During,
    Exists,
    Filter,
    Form,
    FullName,
    GroupBy,
    Missing,
    OneOf,
    Overall,
    Path,
)

_KINDS = {
    "count": "number",
    "count_distinct": "number of different",
    "sum": "total",
    "average": "average",
    "minimum": "lowest",
    "maximum": "highest",
    "share": "percentage",
    "list": "list",
}


def describe(form: Form) -> str:
    """Return a form as a sentence: “number of customers with country = Brazil”."""
    measure = form.measure
    what = f" {_expression(measure.expression)}" if measure.expression is not None else ""
    parts = [f"{_KINDS[measure.kind]}{what} of {form.base}"]
    if measure.per:
        target = measure.per[-1].target
        parts.append(f"per row of {target}" + ("" if measure.per_all else " that has any"))
    if form.group is not None:
        empty = ", also those with none" if form.with_empty else ""
        parts.append(f"for each {_group(form.group)}{empty}")
    if form.having is not None:
        parts.append(f"where that is {form.having[0]} {form.having[1]}")
    filters = [*form.filters, *measure.part]
    if filters:
        parts.append("with " + " and ".join(_filter(one) for one in filters))
    return " ".join(parts)


def _group(group: GroupBy) -> str:
    if group.column is not None:
        return f"{group.period + ' of ' if group.period else ''}{_expression(group.column)}"
    return f"{_path(group.path)}{group.table}" if not group.path else _path(group.path).rstrip(".")


def _path(path: Path) -> str:
    """Return a way by its keys: each table with the column that leads to it."""
    return "".join(f"{link.target} ({', '.join(link.columns)})." for link in path)


def _expression(one: object) -> str:
    if isinstance(one, ColumnAt):
        return f"{_path(one.path)}{one.name}" if one.path else f"{one.table}.{one.name}"
    if isinstance(one, Arithmetic):
        return f"{_expression(one.left)} {one.operator} {_expression(one.right)}"
    if isinstance(one, DaysBetween):
        return f"days from {_expression(one.start)} to {_expression(one.end)}"
    if isinstance(one, FullName):
        return " ".join(_expression(part) for part in one.parts)
    if isinstance(one, Overall):
        what = {"average": "average", "minimum": "lowest", "maximum": "highest"}[one.kind]
        which = " and ".join(_filter(condition) for condition in one.filters)
        return f"the {what} {_expression(one.column)} of {one.base}" + (which and f" [{which}]")
    return str(one)


def _filter(one: Filter) -> str:
    if isinstance(one, Compare):
        return f"{_expression(one.left)} {one.operator} {_expression(one.right)}"
    if isinstance(one, OneOf):
        sign = "≠" if one.negated else "="
        none = " or none" if one.or_missing else ""
        return f"{_expression(one.column)} {sign} {' or '.join(map(str, one.values))}{none}"
    if isinstance(one, Missing):
        return f"{'some' if one.negated else 'no'} {_expression(one.column)}"
    if isinstance(one, During):
        sides = [f"from {one.start}"] if one.start else []
        sides += [f"before {one.end}"] if one.end else []
        none = " or none" if one.or_missing else ""
        sign = "not " if one.negated else ""
        return f"{_expression(one.column)} {sign}{' and '.join(sides)}{none}"
    if isinstance(one, AnyOf):
        return "(" + " or ".join(_filter(condition) for condition in one.filters) + ")"
    return _exists(one)


def _exists(one: Exists) -> str:
    number = f"{one.count[0]} {one.count[1]} " if one.count else ""
    inner = " and ".join(_filter(condition) for condition in one.filters)
    at = f" of {_path(one.path)}" if one.path else ""
    by = f"{one.link.table} ({', '.join(one.link.columns)})"
    return f"{'no' if one.negated else ''}{number or ' '}{by}{at}".strip() + (
        f" [{inner}]" if inner else ""
    )
