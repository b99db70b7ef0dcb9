"""What can be added up: amounts as price × quantity × (1 − discount), told by kinds of columns."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from typing import Any

from rag_pipeline.relational.schema.table_schema import Schema, TableInfo, is_number


@dataclass(frozen=True)
class LineAmount:
    """The columns of one table that make an amount."""

    table: str
    price: str
    quantity: str
    discount: str | None = None
    """A fraction of the price, 0..1."""

    def of(self, values: Mapping[str, Any]) -> Decimal | None:
        """Return a row's amount; None where a part is missing or the discount is no fraction."""
        parts = [_decimal(values.get(self.price)), _decimal(values.get(self.quantity))]
        off = _decimal(values.get(self.discount)) if self.discount else Decimal(0)
        if parts[0] is None or parts[1] is None or off is None or not 0 <= off <= 1:
            return None
        return parts[0] * parts[1] * (1 - off)


def line_amounts(schema: Schema) -> dict[str, LineAmount]:
    """Return the amount of each table that has one price and one quantity, by table."""
    found = {name: line_amount(schema, table) for name, table in schema.tables.items()}
    return {name: amount for name, amount in found.items() if amount is not None}


def line_amount(schema: Schema, table: TableInfo) -> LineAmount | None:
    """Return the amount of a table's rows, if there is exactly one way to read it."""
    numbers = {
        column.name: schema.lexicon.name_concepts(column.name)
        for column in table.table.columns
        if is_number(column) and column.name not in table.reference_columns
    }

    def only(kind: str) -> list[str]:
        return [name for name, words in numbers.items() if words[-1:] == (kind,)]

    prices, quantities, discounts = only("price"), only("quantity"), only("discount")
    if len(prices) != 1 or len(quantities) != 1 or len(discounts) > 1:
        return None
    return LineAmount(table.name, prices[0], quantities[0], next(iter(discounts), None))


def _decimal(value: Any) -> Decimal | None:
    if value is None or isinstance(value, bool):
        return None
    try:
        return Decimal(str(value))
    except InvalidOperation:
        return None
