"""Exact numbers: a question to SQL over the schema, run read-only, shown with its answer."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from decimal import ROUND_HALF_UP, Decimal
from typing import Any, Literal

from sqlalchemy import Connection, Engine, func, select

from rag_pipeline.relational.questions.forms.form_compiler import compile_form
from rag_pipeline.relational.questions.forms.form_description import describe
from rag_pipeline.relational.questions.forms.logical_form import Form
from rag_pipeline.relational.questions.forms.metrics import Metric
from rag_pipeline.relational.questions.grammar.choices import readings
from rag_pipeline.relational.questions.grammar.question_grammar import QuestionGrammar
from rag_pipeline.relational.questions.grammar.vocabulary import Vocabulary
from rag_pipeline.relational.questions.mentions import Place
from rag_pipeline.relational.questions.question_cutting import CutQuestion, QuestionReader
from rag_pipeline.relational.questions.question_tokens import tokens_of
from rag_pipeline.relational.rows.row_views import shown
from rag_pipeline.relational.schema.connecting import reading
from rag_pipeline.relational.schema.table_schema import Schema, is_number
from rag_pipeline.relational.schema.ways import NotComputableError

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
    """Who read the question: rules, whose numbers are exact, or a chat model."""
    source: str = ""
    """The relational source whose database was asked."""
    form: str = ""
    """What was computed, in words."""
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
        lines = (", ".join(shown(cell) or "none" for cell in row) for row in self.rows)
        return "; ".join(lines) or "none"


class ExactAnswerer:
    """Answers questions for numbers over one database."""

    def __init__(
        self,
        engine: Engine,
        schema: Schema,
        *,
        timeout_seconds: float = 30,
        row_limit: int = 1000,
        metrics: Sequence[Metric] = (),
    ) -> None:
        """Statements run at most `timeout_seconds` and return at most `row_limit` rows."""
        self.engine = engine
        self._schema = schema
        self.timeout_seconds = timeout_seconds
        self._limit = row_limit
        self.reader = QuestionReader(schema, metrics)
        self._vocabulary: Vocabulary | None = None

    def answer(self, question: str) -> ExactAnswer:
        """Compute a number, or say why not. Raises `SourceError` where the database is away."""
        with reading(self.engine, self.timeout_seconds) as connection:
            cut = self.reader.read(connection, question)
            if cut is None:
                return ExactAnswer(question, reason="it is empty, or too long")
            try:
                answer = self._agreed(connection, question, self.forms(connection, cut))
            except NotComputableError as error:
                answer = ExactAnswer(question, reason=str(error))
        return replace(answer, is_about_data=self._is_about_data(cut))

    def forms(self, connection: Connection, cut: CutQuestion) -> list[Form]:
        """Return every reading of a question. Raises `NotComputableError` where there is none."""
        if self._vocabulary is None:
            flags = _flag_columns(connection, self._schema)
            self._vocabulary = Vocabulary(
                self._schema, self.reader.namer, self.reader.metrics, flags
            )
        vocabulary = self._vocabulary
        tokens = tokens_of(cut.pieces, cut.values, self.reader.namer)
        return readings(lambda choices: QuestionGrammar(vocabulary, tokens, choices).form())

    def _is_about_data(self, cut: CutQuestion) -> bool:
        computes = any(p.kind == "operator" and p.value in COMPUTING for p in cut.pieces)
        return computes and (
            any(p.kind == "value" for p in cut.pieces)
            or any(m.table or m.columns for m in self.reader.namer.mentions(cut.pieces))
        )

    def _agreed(self, connection: Connection, question: str, forms: Sequence[Form]) -> ExactAnswer:
        """Run every reading; only what all of them say is an answer."""
        answers = [self.run(connection, question, form) for form in forms]
        computed = [one for one in answers if one.is_computed]
        if len({str(one.rows) for one in computed}) > 1:
            described = list(dict.fromkeys(describe(form) for form in forms))
            reason = "it can be read in several ways: " + "; or: ".join(described[:4])
            return ExactAnswer(question, reason=reason)
        return computed[0] if computed else answers[0]

    def run(
        self,
        connection: Connection,
        question: str,
        form: Form,
        *,
        method: Literal["rules", "chat"] = "rules",
    ) -> ExactAnswer:
        """Compile and run one logical form."""
        dialect = connection.dialect
        statement = compile_form(form, self._schema, dialect.name, self._limit + 1)
        sql = str(statement.compile(dialect=dialect, compile_kwargs={"literal_binds": True}))
        rows = [list(row) for row in connection.execute(statement)]
        if form.limit is not None:
            rows = _first(rows, form.limit)
        if len(rows) > self._limit:
            return ExactAnswer(question, sql=sql, reason=f"it has more than {self._limit} rows")
        if form.measure.expression is not None and all(row[-1] is None for row in rows):
            return ExactAnswer(
                question, sql=sql, reason=f"there are no rows to compute “{describe(form)}” from"
            )
        if form.group is not None and form.descending is None and _repeats(rows):
            return ExactAnswer(
                question, sql=sql, reason=f"several of {form.group.table} share a name"
            )
        columns = list(statement.selected_columns.keys())
        named = [self._named(row, form, dialect.name) for row in rows]
        return ExactAnswer(question, columns, named, sql, method=method, form=describe(form))

    def _named(self, row: list[Any], form: Form, dialect: str) -> list[Any]:
        """Join a person's names; numbers stay numbers, rounded to cents where they are broken."""
        if form.measure.kind == "list":
            name = " ".join(shown(cell) for cell in row[: len(form.measure.columns)])
            return [name, _rounded(row[-1], dialect)] if form.measure.shows else [name]
        number = _rounded(row[-1], dialect)
        if form.group is not None and form.group.period in ("month", "quarter"):
            mark = "-" if form.group.period == "month" else "-Q"
            width = 2 if form.group.period == "month" else 1
            return [f"{row[0]}{mark}{int(row[1]):0{width}d}", number]
        names = [shown(cell) for cell in row[:-1]]
        if form.names_only:
            return [" ".join(names)]
        return [" ".join(names), number] if names else [number]


def _repeats(rows: list[list[Any]]) -> bool:
    names = [tuple(row[:-1]) for row in rows]
    return len(set(names)) < len(names)


def _first(rows: list[list[Any]], count: int) -> list[list[Any]]:
    """Return the first rows, and those that share the last one's number."""
    if len(rows) <= count:
        return rows
    last = rows[count - 1][-1]
    return rows[:count] + [row for row in rows[count:] if row[-1] == last]


def _rounded(number: Any, dialect: str) -> Any:
    """Round to cents, half up; SQLite's decimals are written as SQLite does (2.5, not 2.50)."""
    if isinstance(number, float):
        number = Decimal(repr(number))
    if not isinstance(number, Decimal):
        return number
    cents = number.quantize(Decimal("0.01"), ROUND_HALF_UP)
    return Decimal(repr(float(cents))) if dialect == "sqlite" else cents


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
