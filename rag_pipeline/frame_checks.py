"""Whether a frame is what its schema says, at little cost for a one-page document's ten rows."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
import pandas as pd
import pandera.pandas as pa

from rag_pipeline.errors import DocumentError


def check(frame: pd.DataFrame, schema: type[pa.DataFrameModel]) -> pd.DataFrame:
    """Return a copy of `frame` with the schema's dtypes, every column validated.

    Raises `DocumentError` naming the column, the rule and an offending value. pandera declares the
    rules and judges columns; one that plainly keeps them (`PlainRule`) is not handed to it: on
    small frames that takes longer than all that is done with them.
    """
    rules = _rules(schema)
    names = [str(name) for name in frame if not rules.is_strict or name in rules.columns]
    checked = frame.copy() if len(names) == len(frame.columns) else frame[names].copy()
    problems = [
        _problem(checked, name, column)
        for name, column in rules.columns.items()
        if name not in names or not rules.plain[name].is_kept(checked[name])
    ]
    if any(problems):
        found = "; ".join(filter(None, problems))
        raise DocumentError(f"{schema.__name__} frame is malformed ({found})")
    return checked


@dataclass(frozen=True)
class PlainRule:
    """What a column must be, as far as that can be told without pandera."""

    dtype: str
    nullable: bool
    unique: bool
    low: float | None = None
    high: float | None = None
    """Bounds of values, or of a text's length."""
    allowed: frozenset[str] | None = None
    is_whole: bool = True
    """Whether the column has no rule of another kind."""

    @classmethod
    def of(cls, column: pa.Column) -> PlainRule:
        """Return the rule that a schema's column declares."""
        facts: dict[str, Any] = {}
        for rule in column.checks:
            if rule.name == "greater_than_or_equal_to":
                facts["low"] = rule.statistics["min_value"]
            elif rule.name == "less_than_or_equal_to":
                facts["high"] = rule.statistics["max_value"]
            elif rule.name == "str_length":
                facts["low"] = rule.statistics["min_value"]
                facts["high"] = rule.statistics["max_value"]
            elif rule.name == "isin":
                facts["allowed"] = frozenset(rule.statistics["allowed_values"])
            else:
                facts["is_whole"] = False
        return cls(str(column.dtype), bool(column.nullable), bool(column.unique), **facts)

    def is_kept(self, values: pd.Series) -> bool:
        """Return whether a column has the dtype and keeps the rule; False: pandera must say."""
        dtype = "object" if self.dtype == "str" else self.dtype
        if not self.is_whole or str(values.dtype) != dtype:
            return False
        if dtype == "object":
            return self._keeps_objects(values.tolist())
        if dtype == "Int64":
            numbers = values.dropna()
            has_all = self.nullable or len(numbers) == len(values)
            return has_all and self._keeps_numbers(numbers.to_numpy(dtype="int64"))
        return self._keeps_numbers(values.to_numpy())

    def _keeps_numbers(self, values: np.ndarray[Any, Any]) -> bool:
        if self.allowed is not None or (values.dtype.kind == "f" and bool(np.isnan(values).any())):
            return False
        if self.unique and len(np.unique(values)) < len(values):
            return False
        return self._is_within(values)

    def _keeps_objects(self, values: list[Any]) -> bool:
        if self.dtype == "object":
            plain = self.low is None and self.high is None and self.allowed is None
            has_all = self.nullable or not pd.isna(pd.Series(values, dtype=object)).any()
            return bool(plain and not self.unique and has_all)
        if not set(map(type, values)) <= {str}:
            return False
        if self.unique and len(set(values)) < len(values):
            return False
        if self.allowed is not None and not self.allowed.issuperset(values):
            return False
        return self._is_within(np.array([len(value) for value in values]))

    def _is_within(self, values: np.ndarray[Any, Any]) -> bool:
        low, high = self.low, self.high
        if len(values) == 0 or (low is None and high is None):
            return True
        is_low = low is not None and values.min() < low
        is_high = high is not None and values.max() > high
        return not (is_low or is_high)


@dataclass(frozen=True)
class _Rules:
    """A schema, read once."""

    columns: dict[str, pa.Column]
    plain: dict[str, PlainRule]
    is_strict: bool


@lru_cache
def _rules(schema: type[pa.DataFrameModel]) -> _Rules:
    read = schema.to_schema()
    columns = {str(name): column for name, column in read.columns.items()}
    plain = {name: PlainRule.of(column) for name, column in columns.items()}
    return _Rules(columns, plain, read.strict == "filter")


def _problem(frame: pd.DataFrame, name: str, column: pa.Column) -> str | None:
    """Convert one column in place; return the rule it breaks, with a value that breaks it."""
    if name not in frame:
        return f"{name} column_in_dataframe: {name}"
    try:
        values = frame[name] = _converted(frame[name], str(column.dtype))
    except (TypeError, ValueError) as error:
        return f"{name} coerce_dtype('{column.dtype}'): {str(error)[:80]}"
    if not column.nullable and values.hasnans:
        return f"{name} not_nullable: {values[values.isna()].iloc[0]}"
    if column.unique and not values.is_unique:
        return f"{name} field_uniqueness: {values[values.duplicated()].iloc[0]}"
    for rule in column.checks:
        result = rule(values)
        if not result.check_passed:
            return f"{name} {rule.error}: {str(result.failure_cases.iloc[0])[:80]}"
    return None


def _converted(values: pd.Series, dtype: Any) -> pd.Series:
    if dtype != "str":
        converted: pd.Series = values.astype(dtype)
        return converted
    if set(map(type, values)) <= {str}:
        return values.astype(object)
    return values.astype(object).map(str, na_action="ignore")  # `astype(str)` would spell out None
