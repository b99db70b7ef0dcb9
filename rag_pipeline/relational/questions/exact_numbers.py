"""Exact numbers: a question to SQL over the schema, run read-only, shown with its answer."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from decimal import Decimal
from typing import Any, Literal

from sqlalchemy import Connection, Engine, func, select

from rag_pipeline.relational.questions.computation import Query, build, by_name, missing_groups
from rag_pipeline.relational.questions.interpretation.interpret import interpret
from rag_pipeline.relational.questions.interpretation.question_state import Question
from rag_pipeline.relational.questions.mentions import Place
from rag_pipeline.relational.questions.question_cutting import CutQuestion, QuestionReader
from rag_pipeline.relational.rows.row_views import shown
from rag_pipeline.relational.schema.connecting import reading
from rag_pipeline.relational.schema.joins import NotComputableError
from rag_pipeline.relational.schema.table_schema import Schema, is_number

COMPUTING = frozenset("count sum sum_amount avg most fewest max min expensive cheap share".split())
"""Operators that only a computation answers."""


@dataclass(frozen=True)
class ExactAnswer:
    """What was computed, and how; or why nothing was."""

    question: str
    columns: list[str] = field(default_factory=list)
    rows: list[list[Any]] = field(default_factory=list)
    """Names, and last the number; numbers are exact, sums and averages rounded to cents."""
    sql: str | None = None
    """The statement that was run, its values written in."""
    reason: str | None = None
    """Why it could not be computed; None where it was."""
    method: Literal["rules", "chat"] = "rules"
    """Who read the question: rules, whose numbers are exact, or a chat model that wrote the SQL."""
    source: str = ""
    """The relational source whose database was asked."""
    is_about_data: bool = False
    """The question asks for a computation and names anything of the schema or the data. What does
    not is left to documents: no chat model is asked for SQL."""

    @property
    def is_computed(self) -> bool:
        """Whether `rows` answer the question."""
        return self.reason is None

    @property
    def text(self) -> str:
        """The answer on a line, or that it could not be computed."""
        if self.reason is not None:
            return f"could not be computed: {self.reason}"
        return "; ".join(", ".join(shown(cell) for cell in row) for row in self.rows) or "none"


class ExactAnswerer:
    """Answers questions for numbers over one database."""

    def __init__(
        self,
        engine: Engine,
        schema: Schema,
        *,
        timeout_seconds: float = 30,
        row_limit: int = 100,
    ) -> None:
        """Statements run at most `timeout_seconds` and return at most `row_limit` rows."""
        self._engine = engine
        self._schema = schema
        self._timeout = timeout_seconds
        self._limit = row_limit
        self.reader = QuestionReader(schema)
        self._flags: frozenset[Place] | None = None

    def answer(self, question: str) -> ExactAnswer:
        """Compute a number, or say why not. Raises `SourceError` where the database is away."""
        with reading(self._engine, self._timeout) as connection:
            cut = self.reader.read(connection, question)
            if cut is None:
                return ExactAnswer(question, reason="it is empty, or too long")
            try:
                answer = self._run(connection, question, self._query(connection, cut))
            except NotComputableError as error:
                answer = ExactAnswer(question, reason=str(error))
        return replace(answer, is_about_data=self._is_about_data(cut))

    def _query(self, connection: Connection, cut: CutQuestion) -> Query:
        if self._flags is None:
            self._flags = _flag_columns(connection, self._schema)
        namer = self.reader.namer
        return interpret(Question(self._schema, namer, cut.pieces, cut.values, self._flags))

    def _is_about_data(self, cut: CutQuestion) -> bool:
        computes = any(p.kind == "operator" and p.value in COMPUTING for p in cut.pieces)
        return computes and (
            any(p.kind == "value" for p in cut.pieces)
            or any(m.table or m.columns for m in self.reader.namer.mentions(cut.pieces))
        )

    def _run(self, connection: Connection, question: str, query: Query) -> ExactAnswer:
        dialect = connection.dialect
        statement = build(query, self._schema, dialect.name, self._limit + 1)
        sql = str(statement.compile(dialect=dialect, compile_kwargs={"literal_binds": True}))
        rows = [list(row) for row in connection.execute(statement)]
        columns = list(statement.selected_columns.keys())
        if query.descending is False:
            missing = missing_groups(query, self._schema, dialect.name)
            if missing is not None and connection.execute(missing).scalar_one():
                return ExactAnswer(question, sql=sql, reason="some have none at all")
        if query.different and (named := by_name(query, self._schema)) is not None:
            other = connection.execute(build(named, self._schema, dialect.name, self._limit + 1))
            if sorted(map(str, other.all())) != sorted(map(str, map(tuple, rows))):
                reason = f"some of {query.counted} share a name: rows, or names?"
                return ExactAnswer(question, sql=sql, reason=reason)
        if query.descending is not None:
            rows = _best(rows)
        elif len(rows) > self._limit:
            reason = f"it has more than {self._limit} rows"
            return ExactAnswer(question, sql=sql, reason=reason)
        names = [tuple(row[:-1]) for row in rows]
        if query.group_table is not None and len(set(names)) < len(names):
            reason = f"several of {query.group_table} share a name"
            return ExactAnswer(question, sql=sql, reason=reason)
        if query.measure is not None and rows and all(row[-1] is None for row in rows):
            return ExactAnswer(question, sql=sql, reason="there are no rows to compute it from")
        return ExactAnswer(question, columns, [_named(row) for row in rows], sql)


def _best(rows: list[list[Any]]) -> list[list[Any]]:
    """Return the first row, and those that share its number."""
    return [row for row in rows if row[-1] == rows[0][-1]]


def _named(row: list[Any]) -> list[Any]:
    """Join a person's names; numbers stay numbers."""
    number = row[-1]
    if isinstance(number, float):
        number = Decimal(repr(number))
    names = [shown(cell) for cell in row[:-1]]
    return [" ".join(names), number] if names else [number]


def _flag_columns(connection: Connection, schema: Schema) -> frozenset[Place]:
    """Return whole-number columns that hold nothing but 0 and 1, both of them."""
    found = set()
    for table in schema.tables.values():
        columns = [
            column
            for column in table.table.columns
            if is_number(column)
            and column.type.python_type is int
            and column.name not in table.reference_columns
            and column.name not in table.key
        ]
        if not columns:
            continue
        ends = [end(column) for column in columns for end in (func.min, func.max)]
        row = connection.execute(select(*ends)).one()
        for index, column in enumerate(columns):
            if row[2 * index] == 0 and row[2 * index + 1] == 1:
                found.add((table.name, column.name))
    return frozenset(found)
