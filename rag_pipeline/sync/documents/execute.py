"""Carrying out a plan: documents through the stages, embedded in batches, landed one by one."""

from __future__ import annotations

import logging
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from rag_pipeline.errors import (
    DatabaseUnavailableError,
    DocumentError,
    EmbeddingError,
    ProviderError,
    RagError,
    SettingsError,
    StoreError,
    UpstreamMissingError,
    WorkerCrashError,
)
from rag_pipeline.settings import Settings
from rag_pipeline.store.documents import (
    DocumentState,
    document_states,
    mark_failed,
    merge_fingerprints,
)
from rag_pipeline.store.embeddings import EmbeddingSpace
from rag_pipeline.store.landing import Landing, land
from rag_pipeline.store.usage_table import UsageEntry
from rag_pipeline.sync.documents.budget import Ledger
from rag_pipeline.sync.documents.embed import ChunkTexts, Vectors, VectorSource, batch_size
from rag_pipeline.sync.documents.stages import (
    PreparedChunks,
    StageReport,
    StageResult,
    StageTask,
    crash_error,
    limits_of,
    run_stages,
)
from rag_pipeline.sync.documents.workers import WorkerCrashedError, WorkerPool, default_workers
from rag_pipeline.sync.planning.fingerprints import BLOCKS, EMBEDDINGS, STAGES
from rag_pipeline.sync.planning.plan import failed_for_good, first_stale_stage
from rag_pipeline.sync.progress import report
from rag_pipeline.sync.sources.fetching import local_copies, prefetched
from rag_pipeline.sync.sources.places import kind_of
from rag_pipeline.sync.sources.refresh import spool_of
from rag_pipeline.sync.sync_context import SyncContext
from rag_pipeline.text import clean_text, one_line

RETRY_SECONDS = 1.0
WAIT_SECONDS = 5.0
"""For which chunks wait for more of them before they are embedded: so much work is lost at most."""

logger = logging.getLogger(__name__)


@dataclass(frozen=True)
class Outcome:
    """What became of one document: stages done, stages that were current, or an error."""

    source_hash: str
    name: str
    fingerprints: dict[str, str] = field(default_factory=dict)
    """What its stages are made with, where the document is known."""
    done: list[StageReport] = field(default_factory=list)
    reused: list[str] = field(default_factory=list)
    failed_stage: str | None = None
    error: str | None = None


@dataclass
class _Job:
    """A document on its way."""

    state: DocumentState
    settings: Settings
    fingerprints: dict[str, str]
    wanted: tuple[str, ...]
    todo: tuple[str, ...]
    attempts: int = 0

    @property
    def source_hash(self) -> str:
        return self.state.source_hash

    @property
    def name(self) -> str:
        # File names may hold line breaks and escapes, and stand in logs and messages.
        return one_line(clean_text(Path(self.state.uris[0]).name))

    @property
    def root(self) -> str | None:
        return self.state.roots[0] if self.state.roots else None

    @property
    def is_elsewhere(self) -> bool:
        return all(kind_of(uri) != "local" for uri in self.state.uris)


def process_documents(
    context: SyncContext, source_hashes: Sequence[str], stages: Sequence[str] = STAGES
) -> Iterator[Outcome]:
    """Bring documents up to date; yield an outcome for each as it lands or fails.

    `stages` are the stages asked for, in order. What is current is reused; a document that failed
    for good is tried again only if it is asked for alone. Raises `DatabaseUnavailableError` when
    the connection is lost: what has landed stays, and the next sync does the rest.
    """
    wanted = tuple(stage for stage in STAGES if stage in stages)
    with context.database.connection() as connection:
        space = context.space(connection)
        states = document_states(connection, space.space_id, source_hashes)
    known = {state.source_hash: state for state in states}
    jobs: list[_Job] = []
    for source_hash in source_hashes:
        state = known.get(source_hash)
        if state is None:
            yield Outcome(
                source_hash,
                source_hash[:12],
                failed_stage=wanted[0],
                error="the file is gone; materialize `sources` to bring the partitions up to date",
            )
            continue
        settings = context.profiles.settings_of(state)
        fingerprints = context.profiles.fingerprints_of(state)
        if len(source_hashes) > 1 and failed_for_good(
            state, fingerprints, context.settings.sync.quarantine_after
        ):
            job = _Job(state, settings, fingerprints, wanted, ())
            stage = state.failure_stage if state.failure_stage in wanted else wanted[-1]
            reason = f"{state.failure_reason} (failed before, not tried again)"
            yield Outcome(source_hash, job.name, fingerprints, failed_stage=stage, error=reason)
        else:
            todo = _todo(state, wanted, fingerprints)
            jobs.append(_Job(state, settings, fingerprints, wanted, todo))
    yield from _Execution(context, space).run(jobs)


def _todo(
    state: DocumentState, wanted: tuple[str, ...], fingerprints: dict[str, str]
) -> tuple[str, ...]:
    """Return the wanted stages from the first stale one on."""
    first = first_stale_stage(state, fingerprints)
    if first is None:
        return ()
    return tuple(stage for stage in wanted if STAGES.index(stage) >= STAGES.index(first))


@dataclass(frozen=True)
class _Waiting:
    """A document whose chunks wait to be embedded."""

    job: _Job
    result: StageResult
    prepared: PreparedChunks


class _Execution:
    """One pass over jobs: workers run the stages, this process embeds and lands."""

    def __init__(self, context: SyncContext, space: EmbeddingSpace) -> None:
        self._context = context
        self._space = space
        self._ledger = Ledger.of(context)
        self._vectors = VectorSource(context.database, context.embedder, space, self._ledger)
        self._pool = WorkerPool[StageTask, StageResult](
            run_stages, context.settings.sync.workers or default_workers(), limits_of
        )
        self._spool = spool_of(context.settings)
        self._together = batch_size(context.embedder)
        self._waiting: list[_Waiting] = []
        self._embedded_at = time.monotonic()
        self._again: list[_Waiting] = []

    def run(self, jobs: list[_Job]) -> Iterator[Outcome]:
        for job in jobs:
            if not job.todo:
                yield Outcome(job.source_hash, job.name, job.fingerprints, reused=list(job.wanted))
        # The largest first: else one that is begun last keeps a single worker busy in the end.
        todo = sorted((job for job in jobs if job.todo), key=lambda job: -job.state.size)
        by_hash = {job.source_hash: job for job in todo}
        tasks = prefetched(
            by_hash.values(), lambda job: self._task(job, job.todo), lambda job: job.is_elsewhere
        )
        for task, result in self._pool.run(tasks, len(by_hash)):
            job = by_hash[task.source_hash]
            self._spool.drop(job.source_hash)
            if isinstance(result, WorkerCrashedError):
                yield self._fail(job, task.stages[0], crash_error(task, result), [])
                continue
            for stage_report in result.reports:
                report(stage_report.stage, 1, int(stage_report.metadata.get("pages", 0)))
            yield from self._take(job, self._retry_from_start(job, result) or result)
        yield from self._embed_and_land()
        while self._again:
            time.sleep(RETRY_SECONDS)
            self._waiting, self._again = self._again, []
            yield from self._embed_and_land()

    def _take(self, job: _Job, result: StageResult) -> Iterator[Outcome]:
        """Fail, note, or queue for embedding what a worker returned."""
        self._ledger.note([UsageEntry(usage, job.source_hash, job.root) for usage in result.usage])
        self._ledger.check()
        if isinstance(result.error, (StoreError, ProviderError, SettingsError)):
            raise result.error  # a full disk, a bad key: no fault of this document
        if result.error is not None:
            yield self._fail(job, result.failed_stage or "", result.error, result.reports)
        elif result.prepared is None:
            yield self._note_stages(job, result)
        else:
            self._waiting.append(_Waiting(job, result, result.prepared))
            many = sum(len(item.prepared.chunks) for item in self._waiting) >= self._together
            if many or time.monotonic() - self._embedded_at >= WAIT_SECONDS:
                yield from self._embed_and_land()

    def _task(self, job: _Job, stages: tuple[str, ...]) -> StageTask:
        """Return what a worker is to do; a file that lies elsewhere is copied here first."""
        paths = tuple(job.state.uris)
        error: RagError | None = None
        if BLOCKS in stages and job.is_elsewhere:
            try:
                paths = local_copies(
                    paths, job.source_hash, job.name, self._spool, job.settings.web
                )
            except RagError as problem:
                error = problem
        return StageTask(
            job.source_hash, paths, job.name, stages, job.fingerprints, job.settings, error
        )

    def _retry_from_start(self, job: _Job, result: StageResult) -> StageResult | None:
        """Do all stages when an upstream frame is missing from the artifact store.

        Only where all stages are wanted: whoever asks for one stage alone is told what is missing.
        """
        upstream_missing = isinstance(result.error, UpstreamMissingError)
        if not upstream_missing or job.wanted != STAGES or job.todo == STAGES:
            return None
        job.todo = STAGES
        ((_, again),) = self._pool.run([self._task(job, STAGES)])
        return None if isinstance(again, WorkerCrashedError) else again

    def _note_stages(self, job: _Job, result: StageResult) -> Outcome:
        with self._context.database.connection() as connection:
            merge_fingerprints(connection, job.source_hash, _made_with(job, result.reports))
        return self._outcome(job, result.reports)

    def _outcome(self, job: _Job, reports: list[StageReport]) -> Outcome:
        done = {item.stage for item in reports}
        reused = [stage for stage in job.wanted if stage not in done]
        return Outcome(job.source_hash, job.name, job.fingerprints, reports, reused)

    def _fail(self, job: _Job, stage: str, error: RagError, reports: list[StageReport]) -> Outcome:
        # A second crash on the same file is the file's own.
        crashed_again = isinstance(error, WorkerCrashError) and job.state.failure_count > 0
        permanent = (isinstance(error, DocumentError) and error.permanent) or crashed_again
        with self._context.database.connection() as connection:
            if reports:
                merge_fingerprints(connection, job.source_hash, _made_with(job, reports))
            if isinstance(error, UpstreamMissingError):
                return self._failed_outcome(job, stage, error, reports)
            mark_failed(
                connection,
                job.source_hash,
                stage=stage,
                reason=str(error),
                permanent=permanent,
                fingerprint=job.fingerprints[stage],
            )
        logger.info("%s failed at %s: %s", job.name, stage, error)
        return self._failed_outcome(job, stage, error, reports)

    def _failed_outcome(
        self, job: _Job, stage: str, error: RagError, reports: list[StageReport]
    ) -> Outcome:
        return Outcome(
            job.source_hash,
            job.name,
            job.fingerprints,
            done=reports,
            reused=[s for s in job.wanted if s not in job.todo],
            failed_stage=stage,
            error=str(error),
        )

    def _embed_and_land(self) -> Iterator[Outcome]:
        """Embed all waiting documents in one call, then land each in its own transaction."""
        waiting, self._waiting = self._waiting, []
        if not waiting:
            return
        self._context.database.check_sync_lock()
        start = time.perf_counter()
        found = self._vectors.vectors([self._texts(item) for item in waiting])
        report(EMBEDDINGS, sum(not isinstance(result, EmbeddingError) for result in found))
        chunks = sum(len(item.prepared.chunks) for item in waiting)
        seconds = (time.perf_counter() - start) / max(1, chunks)
        for item, result in zip(waiting, found, strict=True):
            if isinstance(result, EmbeddingError):
                yield from self._embedding_failed(item, result)
            else:
                yield self._land(item, result, seconds * len(result))
        self._embedded_at = time.monotonic()

    def _embedding_failed(self, item: _Waiting, error: EmbeddingError) -> Iterator[Outcome]:
        item.job.attempts += 1
        if not error.permanent and item.job.attempts < self._context.settings.sync.attempts:
            self._again.append(item)
            return
        # One error may stand for several documents; each is told under its own name.
        own = EmbeddingError(error.message, document=item.job.name, hint=error.hint)
        yield self._fail(item.job, EMBEDDINGS, own, item.result.reports)

    def _texts(self, item: _Waiting) -> ChunkTexts:
        job, prepared, embedder = item.job, item.prepared, self._context.embedder
        return ChunkTexts.of(embedder, job.source_hash, job.root, prepared.chunks, prepared.texts)

    def _land(self, item: _Waiting, embeddings: Vectors, embed_seconds: float) -> Outcome:
        job, result, prepared = item.job, item.result, item.prepared
        start = time.perf_counter()
        document = prepared.document
        warnings = list(document["warnings"])
        if prepared.chunks.empty:
            warnings.append("nothing to search in it: it has no text but running heads")
        landing = Landing(
            source_hash=job.source_hash,
            title=document["title"],
            page_count=document["page_count"],
            language=document["language"],
            warnings=warnings,
            fingerprints=job.fingerprints,
            chunks=prepared.chunks,
            sections=prepared.sections,
            search_vectors=prepared.search_vectors,
            lexeme_counts=prepared.lexeme_counts,
            embeddings=embeddings,
        )
        self._context.database.check_sync_lock()
        try:
            with self._context.database.connection() as connection:
                landed = land(connection, self._space.space_id, landing)
        except DatabaseUnavailableError:
            raise
        except RagError as error:
            return self._fail(job, EMBEDDINGS, error, result.reports)
        if not landed:
            return Outcome(
                job.source_hash,
                job.name,
                job.fingerprints,
                done=result.reports,
                failed_stage=EMBEDDINGS,
                error="the file was removed while it was processed",
            )
        seconds = embed_seconds + time.perf_counter() - start
        embedded = StageReport(
            EMBEDDINGS,
            seconds,
            {
                "pages": document["page_count"],
                "vectors": len(embeddings),
                "model": self._space.model,
                "dimensions": self._space.dimensions,
                **self._cost(job),
            },
        )
        return self._outcome(job, [*result.reports, embedded])

    def _cost(self, job: _Job) -> dict[str, Any]:
        """What the document cost in this run; nothing where no service was called."""
        spent = self._ledger.by_document.get(job.source_hash)
        if spent is None:
            return {}
        return {
            "requests": spent.requests,
            "tokens sent": spent.tokens,
            "estimated USD": round(spent.usd, 6),
        }


def _made_with(job: _Job, reports: list[StageReport]) -> dict[str, str]:
    return {item.stage: job.fingerprints[item.stage] for item in reports}
