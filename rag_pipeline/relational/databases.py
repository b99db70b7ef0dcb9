"""The databases of all relational sources, as questions see them: opened once, asked many times."""

from __future__ import annotations

import time
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field, replace

from sqlalchemy import Engine

from rag_pipeline.chat import ChatModel
from rag_pipeline.errors import RagError
from rag_pipeline.relational.narrowing import NamedRows, named_rows
from rag_pipeline.relational.questions.exact_numbers import ExactAnswer, ExactAnswerer
from rag_pipeline.relational.questions.forms.metrics import Metric, metrics_of
from rag_pipeline.relational.schema.connecting import open_engine, reading
from rag_pipeline.relational.schema.lexicon import Lexicon
from rag_pipeline.relational.schema.relation_tree import build_tree, tables_of
from rag_pipeline.relational.schema.table_schema import Schema, read_schema, restricted
from rag_pipeline.settings import RelationalSettings, find_project_dir, may_read
from rag_pipeline.store.database import Database

SCHEMA_SECONDS = 300.0
"""How long a schema that was read is taken for current."""


Place = tuple[str, str | None]
"""Where a database is: its URL, or the variable that holds it; and the schema."""


@dataclass(frozen=True)
class _Opened:
    """A database and all its tables."""

    engine: Engine
    schema: Schema
    read_at: float = field(default_factory=time.monotonic)


@dataclass(frozen=True)
class SourceDatabase:
    """One database, with the sources that are roots in it."""

    sources: list[RelationalSettings]
    opened: _Opened
    schema: Schema
    """What may be read of it."""
    answerer: ExactAnswerer

    @property
    def engine(self) -> Engine:
        """What opens connections to it."""
        return self.opened.engine

    @property
    def names(self) -> list[str]:
        """Names of its sources."""
        return [source.name for source in self.sources]

    @property
    def roots(self) -> dict[str, list[str]]:
        """Names of the sources by their root table."""
        found: dict[str, list[str]] = {}
        for source in self.sources:
            found.setdefault(source.root, []).append(source.name)
        return found

    @property
    def timeout_seconds(self) -> float:
        """The longest that a statement may run."""
        return self.sources[0].timeout_seconds

    def named_rows(self, question: str) -> list[NamedRows]:
        """Return the root rows that a question names. Raises `SourceError`."""
        with reading(self.engine, self.timeout_seconds) as connection:
            return named_rows(connection, self.answerer.reader, question, list(self.roots))

    def by_chat(self, chat: ChatModel, question: str) -> ExactAnswer:
        """Let a chat model write the logical form."""
        from rag_pipeline.relational.questions.forms.generated_form import answer_by_chat

        return answer_by_chat(chat, self.answerer, question)


@dataclass
class _Cache:
    """What was read, shared by all who ask."""

    opened: dict[Place, _Opened] = field(default_factory=dict)
    known: dict[tuple[Place, tuple[str, ...]], SourceDatabase] = field(default_factory=dict)
    """By place, and the sources that may be read."""


class Databases:
    """Opens databases when they are first asked; safe to share by threads.

    What is asked of a database sees what its sources may be read of: nothing that they exclude,
    and where not all of them may be read, the tables of those that may.
    """

    def __init__(
        self,
        sources: Sequence[RelationalSettings],
        readable: Collection[str] | None = None,
        cache: _Cache | None = None,
    ) -> None:
        """`readable`: names of the sources that may be read, None = all.

        Sources that share a database (with several root tables) are one.
        """
        self._groups: dict[Place, list[RelationalSettings]] = {}
        for source in sources:
            place = (source.url or source.url_variable or "", source.db_schema)
            self._groups.setdefault(place, []).append(source)
        self._sources = sources
        self._readable = readable
        self._cache = cache or _Cache()

    def readable_from(self, database: Database) -> Databases:
        """Return the same databases as whoever `database` is open to may read them."""
        names = [one.name for one in readable_sources(self._sources, database)]
        return Databases(self._sources, names, self._cache)

    def __bool__(self) -> bool:
        return bool(self._groups) and (self._readable is None or bool(self._readable))

    def reachable(self, notes: list[str]) -> list[SourceDatabase]:
        """Return the databases that can be read; `notes` gets why others cannot."""
        found = []
        for place, sources in self._groups.items():
            try:
                if (database := self._database(place, sources)) is not None:
                    found.append(database)
            except RagError as error:
                notes.append(f"relational source {sources[0].name}: {error}")
        return found

    def answer(self, question: str, chat: ChatModel | None = None) -> ExactAnswer:
        """Compute a number from the one database that a question is about.

        Where two databases would both answer, none is taken. A chat model is asked for SQL only
        where the rules refuse a question that asks for a computation over the data. A database
        that is away is the reason why nothing could be computed. Raises `ProviderError` and
        `ChatError`.
        """
        notes: list[str] = []
        refused: list[tuple[SourceDatabase, ExactAnswer]] = []
        computed = []
        for database in self.reachable(notes):
            try:
                answer = database.answerer.answer(question)
            except RagError as error:
                notes.append(f"relational source {database.names[0]}: {error}")
                continue
            answer = replace(answer, source=database.names[0])
            if answer.is_computed:
                computed.append(answer)
            else:
                refused.append((database, answer))
        if len(computed) > 1:
            return ExactAnswer(question, reason="several databases could answer it: name one")
        if computed:
            return computed[0]
        about = [database for database, answer in refused if answer.is_about_data]
        if chat is not None and len(about) == 1:
            return replace(about[0].by_chat(chat, question), source=about[0].names[0])
        if refused:
            return refused[0][1]
        return ExactAnswer(question, reason="; ".join(notes) or "there is no relational source")

    def _database(self, place: Place, sources: list[RelationalSettings]) -> SourceDatabase | None:
        mine = [one for one in sources if self._readable is None or one.name in self._readable]
        if not mine:
            return None
        opened = self._cache.opened.get(place)
        if opened is None or time.monotonic() - opened.read_at > SCHEMA_SECONDS:
            words = {name: forms for source in sources for name, forms in source.words.items()}
            synonyms: dict[str, list[str]] = {}
            for one in (synonym for source in sources for synonym in source.synonym):
                synonyms.setdefault(one.means, []).extend(one.words)
            engine = open_engine(sources[0])
            schema = read_schema(engine, Lexicon(words, synonyms), sources[0].db_schema)
            opened = self._cache.opened[place] = _Opened(engine, schema)
        view = (place, tuple(one.name for one in mine))
        known = self._cache.known.get(view)
        if known is None or known.opened is not opened:
            tables = None
            if len(mine) < len(sources):
                trees = [build_tree(opened.schema, one) for one in mine]
                tables = {name for tree in trees for name in tables_of(tree)}
            excluded = {name for source in mine for name in source.exclude}
            schema = restricted(opened.schema, tables, excluded)
            answerer = ExactAnswerer(
                opened.engine,
                schema,
                timeout_seconds=mine[0].timeout_seconds,
                row_limit=mine[0].row_limit,
                metrics=_metrics(mine, schema),
            )
            known = self._cache.known[view] = SourceDatabase(mine, opened, schema, answerer)
        return known


def _metrics(sources: Sequence[RelationalSettings], schema: Schema) -> list[Metric]:
    """Return the sources' metrics over tables that may be read."""
    folder = find_project_dir()
    found = [metric for source in sources for metric in metrics_of(source, folder)]
    return [metric for metric in found if metric.table in schema.tables]


def readable_sources(
    sources: Sequence[RelationalSettings], database: Database
) -> list[RelationalSettings]:
    """Return the sources that whoever this database is open to may read."""
    return [source for source in sources if may_read(source.readers, database.principals)]
