"""Everything in one object, for notebooks and programs: add documents, search, ask.

It has the stages, store and settings of `rag sync`, without Dagster. Later `rag sync` runs keep
what is added here up to date, and `rag status` shows it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from copy import copy
from dataclasses import dataclass, field, replace
from pathlib import Path
from types import TracebackType
from typing import Any, Unpack

from rag_pipeline.answering import Answer, Answerer, AnswerStream, Turn
from rag_pipeline.chat import ChatModel, create_chat
from rag_pipeline.embedding import create_embedder
from rag_pipeline.errors import DocumentError, RagError, SettingsError, SourceError
from rag_pipeline.relational.search_opening import create_searcher
from rag_pipeline.search import Filters, Searcher, SearchResponse
from rag_pipeline.search.filters import Filtered, listed
from rag_pipeline.search.search_request import RankingOptions, SearchOptions
from rag_pipeline.settings import Settings
from rag_pipeline.store.database import Database
from rag_pipeline.store.source_tables import SourceRoot, register_roots
from rag_pipeline.sync.documents.document_jobs import Outcome
from rag_pipeline.sync.documents.execute import process_documents
from rag_pipeline.sync.finish import finish
from rag_pipeline.sync.planning.estimate import check_cost
from rag_pipeline.sync.planning.refresh import current_plan, refresh_sources
from rag_pipeline.sync.sources.places import given_root
from rag_pipeline.sync.sync_context import SyncContext, waiting_for_vectors

LOCK_WAIT_SECONDS = 3600.0
"""How long to wait for another sync."""
VECTOR_ONLY = {"text": 0.0, "vector": 1.0}


@dataclass(frozen=True)
class Added:
    """What became of documents that were added."""

    files: dict[str, int]
    """Files by what the scan saw: new, changed, renamed, copied, removed, unchanged."""
    done: list[str] = field(default_factory=list)
    """Names of the documents that were processed."""
    current: int = 0
    """Documents that were up to date already."""
    failures: dict[str, str] = field(default_factory=dict)
    """Reasons by name."""
    problems: list[str] = field(default_factory=list)
    """Files and folders that could not be read."""


class RagSystem:
    """A knowledge base: its settings, its database, its models.

    `project_dir` is the folder of rag.toml and `.rag/` (default: `RAG_HOME`, or the nearest from
    the current folder upwards), or a `Settings` object. Further arguments replace single settings.
    Models load on first use. Safe to use from several threads. Close it, or use it in a `with`.

    `principals` are those who search and ask (`["user:kim", "group:service"]`): they find what any
    of them may read. None means everything or, if `security.enabled` is on, what
    `security.principals` may read.

    Raises `SettingsError`, and `DatabaseUnavailableError` if Postgres cannot be reached.
    """

    def __init__(
        self,
        project_dir: str | Path | Settings | None = None,
        *,
        principals: Sequence[str] | None = None,
        **settings: Any,
    ) -> None:
        if isinstance(project_dir, Settings):
            self.settings = project_dir
        else:
            folder = Path(project_dir) if project_dir is not None else None
            if folder is not None:
                folder.mkdir(parents=True, exist_ok=True)
            self.settings = Settings.load(folder, **settings)
        database = Database.open(self.settings)
        self.database = database.for_readers(principals)
        # If only the settings restrict this one, it may still be lent to others.
        self._lent = database if principals is None else self.database
        self._embedder = create_embedder(self.settings.embedding, self.settings.models_path)
        self._searcher = create_searcher(self.database, self.settings, embedder=self._embedder)
        self._chat: ChatModel | None = None

    def reading_as(self, principals: Sequence[str]) -> RagSystem:
        """Return this knowledge base as other principals see it, with the same models.

        Cheap, for servers with many readers. Close this one at the end, not the returned ones.
        Raises `StoreError` if this one was opened for principals itself.
        """
        other = copy(self)
        other.database = other._lent = self._lent.for_readers(principals)
        other._searcher = self._searcher.reading_from(other.database)
        return other

    def add_document(
        self,
        path_or_url: str | Path,
        *,
        tags: Sequence[str] = (),
        readers: Sequence[str] = ("public",),
        on_outcome: Callable[[Outcome], None] = lambda _: None,
    ) -> Added:
        """Add one file, web page or stored object, or bring it up to date.

        Raises `SourceError` if it is missing or no document, `DocumentError` if it fails.
        """
        root = given_root(path_or_url)
        if Path(root.root).is_dir():
            raise SourceError(f"{path_or_url} is a folder", hint="use add_directory")
        added = self._add(root, tags, readers, on_outcome, again=True)
        if added.failures:
            # The reason names the document already.
            raise DocumentError("; ".join(added.failures.values()))
        if not added.done and not added.current:
            raise SourceError(
                "; ".join(added.problems) or f"{path_or_url} is no document that can be read"
            )
        return added

    def add_directory(
        self,
        path: str | Path,
        extensions: Iterable[str] | None = None,
        *,
        tags: Sequence[str] = (),
        readers: Sequence[str] = ("public",),
        on_outcome: Callable[[Outcome], None] = lambda _: None,
    ) -> Added:
        """Add the documents of a folder (or its URL), or bring them up to date.

        `extensions` limits them, such as `["pdf", "docx"]`. `failures` lists documents that fail;
        the others are stored. Raises `SourceError` if it is no folder.
        """
        root = given_root(path)
        if Path(root.root).is_file():
            raise SourceError(f"{path} is a file", hint="use add_document")
        if extensions is not None:
            endings = [extension.lower().lstrip("*.") for extension in extensions]
            if not all(endings):
                raise SettingsError("an extension is empty", hint='write "pdf" or ".pdf"')
            root = SourceRoot(root.root, include=tuple(f"**/*.{ending}" for ending in endings))
        return self._add(root, tags, readers, on_outcome)

    def search(
        self,
        query: str,
        *,
        limit: int | None = None,
        use_hybrid: bool = True,
        source_type: str | Sequence[str] | None = None,
        tags: str | Sequence[str] | None = None,
        filters: Filtered | None = None,
        **options: Unpack[RankingOptions],
    ) -> SearchResponse:
        """Return the best chunks; `use_hybrid=False` searches by meaning alone.

        `source_type` is a file name extension (`pdf`), and `tags` match any tag of the source;
        `options` are further fields of `SearchRequest`.
        """
        chosen = _search_options(use_hybrid, source_type, tags, filters, options)
        chosen["limit"] = limit
        return self._searcher.search(query, **chosen)

    def ask(
        self,
        question: str,
        *,
        use_hybrid: bool = True,
        source_type: str | Sequence[str] | None = None,
        tags: str | Sequence[str] | None = None,
        filters: Filtered | None = None,
        history: Sequence[Turn] = (),
        **options: Unpack[RankingOptions],
    ) -> Answer:
        """Answer a question from the documents, citing every statement; arguments as in `search`.

        `history` holds the earlier turns: `[("user", "…"), ("assistant", "…")]`. Without a chat
        model in the settings the answer quotes. Raises `ProviderError` and `ChatError`.
        """
        chosen = _search_options(use_hybrid, source_type, tags, filters, options)
        return self._answerer().ask(question, history=history, **chosen)

    def stream(
        self,
        question: str,
        *,
        use_hybrid: bool = True,
        source_type: str | Sequence[str] | None = None,
        tags: str | Sequence[str] | None = None,
        filters: Filtered | None = None,
        history: Sequence[Turn] = (),
        **options: Unpack[RankingOptions],
    ) -> AnswerStream:
        """Answer like `ask`, piece by piece; at the end the stream's `answer` is complete."""
        chosen = _search_options(use_hybrid, source_type, tags, filters, options)
        return self._answerer().stream(question, history=history, **chosen)

    @property
    def searcher(self) -> Searcher:
        """The searcher, for complete requests."""
        return self._searcher

    def close(self) -> None:
        """Close the connections; an embedded Postgres keeps running (`rag db stop` ends it)."""
        self.database.whole.close()

    def __enter__(self) -> RagSystem:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def _answerer(self) -> Answerer:
        if self._chat is None:
            self._chat = create_chat(self.settings.chat)
        return Answerer(self.database, self.settings, self._searcher, self._chat)

    def _add(
        self,
        root: SourceRoot,
        tags: Sequence[str],
        readers: Sequence[str],
        on_outcome: Callable[[Outcome], None],
        *,
        again: bool = False,
    ) -> Added:
        """Do what a sync of this root does; `again` also retries permanent failures."""
        if isinstance(tags, str) or isinstance(readers, str):
            raise SettingsError("tags and readers are lists", hint='write tags=["manual"]')
        root = SourceRoot(root.root, root.include, root.exclude, tuple(tags), tuple(readers))
        # Whoever adds a document need not be one of its readers.
        database = self.database.whole
        with database.sync_lock(LOCK_WAIT_SECONDS):
            with database.connection() as connection:
                register_roots(connection, [root])
            scanned = refresh_sources(self.settings, database, [root.root])
            plan = current_plan(self.settings, database, [root.root])
            hashes = list(plan.stale)
            if again:
                hashes += [state.source_hash for state in plan.failed]
            # Other threads may search meanwhile: they find a document with its vectors or not yet.
            settings = waiting_for_vectors(self.settings)
            context = SyncContext.of(settings, database, "library", embedder=self._embedder)
            check_cost(context, hashes)
            added = Added(scanned.changes.counts(), current=plan.current, problems=scanned.problems)
            for outcome in process_documents(context, hashes):
                on_outcome(outcome)
                if outcome.error is None:
                    added.done.append(outcome.name)
                else:
                    added.failures[outcome.name] = outcome.error
            finish(context)
        return added


def _search_options(
    use_hybrid: bool,
    source_type: str | Sequence[str] | None,
    tags: str | Sequence[str] | None,
    filters: Filtered | None,
    options: RankingOptions,
) -> SearchOptions:
    """Return the options of the `SearchRequest`."""
    found = SearchOptions(filters=Filters.of(filters))
    found.update(options)  # type: ignore[typeddict-item]
    if not use_hybrid:
        if "weights" in options:
            raise RagError("weights were given, and use_hybrid=False", hint="give one of them")
        found["weights"] = VECTOR_ONLY
    further = {"source_types": listed(source_type), "tags": listed(tags)}
    for name, wanted in further.items():
        if wanted and getattr(found["filters"], name):
            raise RagError(f"{name} are given twice", hint="once, beside the filters or in them")
    update: dict[str, Any] = {name: wanted for name, wanted in further.items() if wanted}
    found["filters"] = replace(found["filters"], **update)
    return found
