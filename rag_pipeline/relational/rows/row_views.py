"""Records as a template sees them: names that people read, values as text, sums, groups."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from functools import cached_property
from typing import Any

from sqlalchemy import Column

from rag_pipeline.relational.rows.row_reading import Record
from rag_pipeline.relational.schema.amounts_of_tables import LineAmount, line_amounts
from rag_pipeline.relational.schema.relation_tree import key_of_group, table_of_group
from rag_pipeline.relational.schema.table_schema import Schema, is_date, is_flag, is_text
from rag_pipeline.text import clean_text, one_line

MAX_VALUE_CHARACTERS = 2_000
CUT = " … (cut)"
"""Ends a value that is longer."""
NONE = {"en": "none", "ko": "없음"}
STATE_WORDS = frozenset({"status", "state", "grade", "type", "reason", "return", "result"})
"""Last words of columns whose values are counted in a group's head."""
_Values = frozenset[tuple[str, str]]
"""Last words of columns' names, with values."""
_DATE = re.compile(r"\d{4}-\d{2}-\d{2}")


@dataclass(frozen=True)
class Field:
    """A column's name as shown, and its value as text."""

    name: str
    value: str


@dataclass(frozen=True)
class Group:
    """The rows of one table below a row."""

    name: str
    rows: list[View]
    sums: list[Field]
    """First and last of each date; how many are in which state; the whole amount, where lines have
    a price and a quantity."""
    named: list[Field]
    """What the rows name, by how many of them: `Rotor (3), Gasket`."""


@dataclass(frozen=True)
class View:
    """A row, ready to be shown."""

    name: str
    """What its table is called."""
    label: str
    fields: list[Field]
    named: list[Field]
    named_by: list[Field]
    """Rows of the same table that name this one: those who report to it."""
    groups: list[Group]
    record: Record = field(repr=False)

    @cached_property
    def size(self) -> int:
        """Rows below it."""
        return sum(len(g.rows) + sum(row.size for row in g.rows) for g in self.groups)


KEY_WORDS = frozenset({"id", "key", "code", "no", "number"})
"""Words of a foreign key's column that say nothing of its role."""


class Viewer:
    """Turns records into views, in one language."""

    def __init__(self, schema: Schema, language: str) -> None:
        self._schema = schema
        self._language = language
        self._amounts = line_amounts(schema)

    def view(self, record: Record) -> View:
        """Return the view of a root record.

        What rows repeat of it, such as the city in `ship_city`, is left out of them.
        """
        repeated = {
            (self._last_word(name), text)
            for name, value in record.values.items()
            if len(text := shown(value)) > 3
        }
        return self._view(record, frozenset(), frozenset(repeated), is_root=True)

    def _last_word(self, name: str) -> str:
        return self._schema.lexicon.name_concepts(name)[-1]

    def _view(
        self, record: Record, hidden: _Values, repeated: _Values, *, is_root: bool = False
    ) -> View:
        table = self._schema.tables[record.table]
        label = self.label(record)
        fields = [
            Field(self.name(name), text)
            for name, value in record.values.items()
            if (text := shown(_flagged(table.column(name), value)))
            and name not in table.label
            and (self._last_word(name), text) not in hidden
        ]
        below = hidden | repeated
        groups, named_by = [], []
        for name, records in record.children.items():
            if table_of_group(name) == record.table:
                labels = ", ".join(map(self.label, records)) or NONE[self._language]
                named_by.append(Field(self._group_name(name), labels))
            # Only the root says that there are none, else every row below would repeat it.
            elif records or is_root:
                groups.append(self._group(name, records, below))
        amount = self._amounts.get(table.name)
        if amount is not None and (total := amount.of(record.values)) is not None:
            fields.append(Field(self.name("amount"), shown(total)))
        return View(
            self.name(table.name), label, fields, self._named(record), named_by, groups, record
        )

    def _group(self, group: str, records: list[Record], hidden: _Values) -> Group:
        table = table_of_group(group)
        rows = [self._view(record, hidden, frozenset()) for record in records]
        sums = []
        for column in self._schema.tables[table].table.columns:
            if is_date(column):
                dates = sorted(shown(v) for r in records if (v := r.values.get(column.name)))
                if dates:
                    ends = dates[0] if dates[0] == dates[-1] else f"{dates[0]} – {dates[-1]}"
                    sums.append(Field(self.name(column.name), ends))
            elif found := self._states(column, records):
                sums.append(Field(self.name(column.name), found))
        total = amount_below(records, self._amounts)
        if total is not None:
            sums.append(Field(self.name("amount"), shown(total)))
        return Group(self._group_name(group), rows, sums, self._tally(records))

    def _group_name(self, group: str) -> str:
        """Return what rows below a row are called: `flights (from airport)`."""
        name = self.name(table_of_group(group))
        columns = key_of_group(group)
        if not columns:
            return name
        return f"{name} ({self.name(self._role_words('+'.join(columns)) or columns[0])})"

    def _states(self, column: Column[object], records: Sequence[Record]) -> str:
        """Return how many rows are in which state: `returned (2), shipped (5)`, or `2 / 7`."""
        values = [_flagged(column, record.values.get(column.name)) for record in records]
        if is_flag(column):
            known = [value for value in values if isinstance(value, bool)]
            return f"{sum(known)} / {len(known)}" if known else ""
        words = self._schema.lexicon.name_concepts(column.name)
        if len(records) < 2 or words[-1] not in STATE_WORDS or not is_text(column):
            return ""
        return _counted(Counter(shown(value) for value in values if value is not None))

    def _named(self, record: Record) -> list[Field]:
        return [
            Field(self._role(key, named), self._called(named))
            for key, named in record.references.items()
        ]

    def _role(self, key: str, named: Record) -> str:
        """Return what a named row is to this row (`referred by`), or its table's name."""
        words = self._role_words(key)
        concepts = set(self._schema.lexicon.name_concepts(words)) if words else set()
        if concepts <= {*self._schema.tables[named.table].concepts}:
            return self.name(named.table)
        return self.name(words)

    def _role_words(self, key: str) -> str:
        """Return the words of a key's columns that say what it means, joined by `_`."""
        words = self._schema.lexicon.shown(key, "en").split()
        return "_".join(word for word in words if word not in KEY_WORDS)

    def _called(self, record: Record) -> str:
        above = "; ".join(
            f"{self._role(key, named)} {self._called(named)}"
            for key, named in record.references.items()
        )
        label = self.label(record)
        return f"{label} ({above})" if above else label

    def _tally(self, records: Sequence[Record]) -> list[Field]:
        counts: dict[str, Counter[str]] = {}
        for record in records:
            for named in _all_named(record):
                counts.setdefault(named.table, Counter())[self.label(named)] += 1
        return [Field(self.name(table), _counted(tally)) for table, tally in counts.items()]

    def label(self, record: Record) -> str:
        """Return what a person calls a row: its name, or its key."""
        table = self._schema.tables[record.table]
        words = [shown(record.values.get(name)) for name in table.label]
        if table.label == table.key:
            words = [shown(value) for value in record.key]
        words += [
            text
            for name, value in record.values.items()
            if name not in table.label and name not in table.key and not record.children
            if _DATE.match(text := shown(value)) and len(record.values) <= 2
        ]
        return " ".join(word for word in words if word) or " ".join(map(shown, record.key))

    def name(self, identifier: str) -> str:
        """Return what a table or column is called."""
        return self._schema.lexicon.shown(identifier, self._language)


def amount_below(records: Sequence[Record], amounts: dict[str, LineAmount]) -> Decimal | None:
    """Add up the amounts of all lines at or below some rows; None where there are none."""
    found = [
        total
        for record in _everything(records)
        if record.table in amounts
        if (total := amounts[record.table].of(record.values)) is not None
    ]
    return sum(found, Decimal(0)) if found else None


def _everything(records: Sequence[Record]) -> Iterator[Record]:
    for record in records:
        yield record
        for below in record.children.values():
            yield from _everything(below)


def _all_named(record: Record) -> Iterator[Record]:
    """Yield every row that a row, or one below it, names; upwards too."""
    for named in record.references.values():
        yield named
        yield from _all_named(named)
    for below in record.children.values():
        for child in below:
            yield from _all_named(child)


def keys_of(record: Record) -> dict[str, list[str]]:
    """Return the keys of every row in a record, by table."""
    found: dict[str, dict[str, None]] = {}

    def take(row: Record) -> None:
        found.setdefault(row.table, {}).setdefault(key_text(row.key))
        for named in row.references.values():
            take(named)
        for below in row.children.values():
            for child in below:
                take(child)

    take(record)
    return {table: list(keys) for table, keys in found.items()}


def _counted(tally: Counter[str]) -> str:
    return ", ".join(f"{label} ({n})" if n > 1 else label for label, n in tally.most_common())


def _flagged(column: Column[object], value: Any) -> Any:
    """SQLite keeps yes and no as numbers."""
    return bool(value) if is_flag(column) and value in (0, 1) else value


def key_text(key: Sequence[Any]) -> str:
    """Return a key as one text; parts of a composite key are separated by `|`."""
    return "|".join(str(part) for part in key)


def shown(value: Any) -> str:
    """Return a value as text; "" for null.

    >>> shown(Decimal("1250.50")), shown(True), shown(" a  b ")
    ('1250.5', 'yes', 'a b')
    """
    if value is None:
        return ""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float):
        value = Decimal(repr(value))
    if isinstance(value, Decimal):
        text = f"{round(value, 6):f}"
        return text.rstrip("0").rstrip(".") if "." in text else text
    text = one_line(clean_text(str(value)))
    if text.endswith(("T00:00:00", " 00:00:00", " 00:00:00.000000")):
        text = text[:10]
    return text if len(text) <= MAX_VALUE_CHARACTERS else text[:MAX_VALUE_CHARACTERS] + CUT
