"""Numbers that the owner of a database defines, in `rag.toml` or in a dbt semantic model."""

from __future__ import annotations

import ast
import re
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path
from typing import Any

import yaml  # type: ignore[import-untyped]

from rag_pipeline.errors import SettingsError
from rag_pipeline.relational.questions.forms.logical_form import Arithmetic, ColumnAt, Expression
from rag_pipeline.relational.schema.table_schema import Schema, is_number
from rag_pipeline.settings import RelationalSettings

_OPERATORS: dict[type[ast.operator], Any] = {ast.Add: "+", ast.Sub: "-", ast.Mult: "*"}
_REFERENCE = re.compile(r"""ref\(\s*['"]([^'"]+)['"]\s*\)""")


@dataclass(frozen=True)
class Metric:
    """An expression over one table's columns that is added up."""

    name: str
    table: str
    expression: str
    words: tuple[str, ...] = ()


def metrics_of(settings: RelationalSettings, project_dir: Path) -> list[Metric]:
    """Return the metrics of a source: its own, and those of its dbt semantic model.

    Raises `SettingsError` for a file that cannot be read.
    """
    found = [Metric(m.name, m.table, m.expression, tuple(m.words)) for m in settings.metric]
    if settings.dbt_semantic_model is not None:
        found += dbt_metrics(project_dir / settings.dbt_semantic_model)
    return found


def dbt_metrics(path: Path) -> list[Metric]:
    """Return the sums of a dbt semantic model, and the simple metrics over them.

    Measures that are not sums, and metrics that are not `simple`, are left out. Raises
    `SettingsError` for a file that cannot be read.
    """
    try:
        data = yaml.safe_load(path.read_text(encoding="utf-8")) or {}
    except (OSError, yaml.YAMLError) as error:
        raise SettingsError(f"the dbt semantic model {path} cannot be read: {error}") from error
    measures: dict[str, Metric] = {}
    for model in data.get("semantic_models", []):
        reference = _REFERENCE.search(str(model.get("model", "")))
        table = reference.group(1) if reference else str(model["name"])
        for measure in model.get("measures", []):
            if measure.get("agg") == "sum":
                expression = str(measure.get("expr", measure["name"]))
                measures[measure["name"]] = Metric(measure["name"], table, expression)
    found = dict(measures)
    for metric in data.get("metrics", []):
        base = metric.get("type_params", {}).get("measure")
        base = base.get("name") if isinstance(base, dict) else base
        if metric.get("type") == "simple" and base in measures:
            label = (metric["label"],) if metric.get("label") else ()
            known = measures[base]
            found[metric["name"]] = Metric(metric["name"], known.table, known.expression, label)
    return list(found.values())


def parse_metric(metric: Metric, schema: Schema) -> Expression:
    """Return a metric's expression, typed. Raises `SettingsError`, naming what is wrong."""

    def fail(reason: str) -> SettingsError:
        return SettingsError(f"the metric {metric.name}: {reason}", hint="see docs/relational.md")

    info = schema.tables.get(metric.table)
    if info is None:
        raise fail(f"there is no table {metric.table}")

    def parsed(node: ast.expr) -> Expression:
        if isinstance(node, ast.BinOp) and type(node.op) in _OPERATORS:
            return Arithmetic(_OPERATORS[type(node.op)], parsed(node.left), parsed(node.right))
        if isinstance(node, ast.Constant) and isinstance(node.value, int | float):
            return Decimal(str(node.value))
        if isinstance(node, ast.Name):
            if node.id not in info.table.columns or not is_number(info.column(node.id)):
                raise fail(f"{metric.table} has no number {node.id}")
            return ColumnAt((), metric.table, node.id)
        raise fail(f"“{ast.unparse(node)}” is not one of columns, numbers, + - * and brackets")

    try:
        return parsed(ast.parse(metric.expression, mode="eval").body)
    except SyntaxError:
        raise fail(f"“{metric.expression}” is no expression") from None
