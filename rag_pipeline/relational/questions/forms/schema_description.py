"""The schema as a chat model is told it: tables, columns, keys, and values of categories."""

from __future__ import annotations

from sqlalchemy import Connection, select

from rag_pipeline.relational.rows.row_views import shown
from rag_pipeline.relational.schema.amounts_of_tables import line_amounts
from rag_pipeline.relational.schema.table_schema import Schema, TableInfo, is_text

MAX_CATEGORY_VALUES = 12
"""Different values that a text column may have to be told to the model."""


def describe_schema(connection: Connection, schema: Schema) -> str:
    """Return tables, columns, keys, categories and amounts as text."""
    lines = []
    amounts = line_amounts(schema)
    for table in schema.tables.values():
        columns = ", ".join(
            f"{c.name} {str(c.type).lower().split('(')[0]}" for c in table.table.columns
        )
        lines.append(f"table {table.name} ({columns}); key: {', '.join(table.key) or 'none'}")
        for link in table.foreign_keys:
            own, target = ", ".join(link.columns), ", ".join(link.target_columns)
            lines.append(f"  {own} refers to {link.target} ({target})")
        if table.label != table.key:
            lines.append(f"  a row is called by {', '.join(table.label)}")
        if (amount := amounts.get(table.name)) is not None:
            off = f" * (1 - {amount.discount})" if amount.discount else ""
            lines.append(f"  revenue of a row: {amount.price} * {amount.quantity}{off}")
        lines += [
            f"  values of {name}: {values}" for name, values in _categories(connection, table)
        ]
    return "\n".join(lines)


def _categories(connection: Connection, table: TableInfo) -> list[tuple[str, str]]:
    """Return the text columns with few values, and those."""
    found = []
    for column in table.table.columns:
        length = getattr(column.type, "length", None)
        if not is_text(column) or column.name in table.key or (length or 0) > 60:
            continue
        statement = select(column).where(column.is_not(None)).distinct()
        rows = connection.execute(statement.limit(MAX_CATEGORY_VALUES + 1)).scalars().all()
        if 1 < len(rows) <= MAX_CATEGORY_VALUES:
            found.append((column.name, ", ".join(sorted(shown(one)[:60] for one in rows))))
    return found
