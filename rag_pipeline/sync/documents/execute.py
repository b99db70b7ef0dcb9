"""Carries out a sync plan: workers run the stages; this process embeds in batches and lands."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence

from rag_pipeline.embedding.embedder_factory import check_key
from rag_pipeline.errors import (
    EmbeddingError,
    ProviderError,
    RagError,
    SettingsError,
    StoreError,
    UpstreamMissingError,
)
from rag_pipeline.store.documents import (
    document_states,
    merge_fingerprints,
)
from rag_pipeline.store.embeddings import EmbeddingSpace
from rag_pipeline.store.statistics import refresh_statistics
from rag_pipeline.store.usage_table import UsageEntry
from rag_pipeline.sync.documents.budget import Ledger
from rag_pipeline.sync.documents.document_failures import record_failure
from rag_pipeline.sync.documents.document_groups import GroupPool
from rag_pipeline.sync.documents.document_jobs import DocumentJob, Outcome, document_jobs
from rag_pipeline.sync.documents.document_writing import DocumentWriter, WaitingDocument, Written
from rag_pipeline.sync.documents.embed import VectorSource, batch_size
from rag_pipeline.sync.documents.stage_tasks import (
    StageReport,
    StageResult,
    StageTask,
    crash_error,
)
from rag_pipeline.sync.documents.vector_filling import (
    RETRY_SECONDS,
    LandedDocument,
    VectorFilling,
    embedded_report,
    error_of,
    tried_again,
)
from rag_pipeline.sync.planning.fingerprints import BLOCKS, CHUNKS, EMBEDDINGS, STAGES
from rag_pipeline.sync.planning.refresh import spool_of
from rag_pipeline.sync.progress import report
from rag_pipeline.sync.sources.fetching import local_copies, prefetched
from rag_pipeline.sync.sync_context import SyncContext
from rag_pipeline.sync.workers.worker_limits import WorkerCrashedError
from rag_pipeline.sync.workers.worker_pool import default_workers

WAIT_SECONDS = 5.0
"""Maximum seconds chunks are buffered before embedding; bounds the work lost in a crash."""

LAND_TOGETHER = 100
"""Documents written in one transaction at most."""


def process_documents(
    context: SyncContext,
    source_hashes: Sequence[str],
    stages: Sequence[str] = STAGES,
    *,
    words_only: bool = False,
) -> Iterator[Outcome]:
    """Bring documents up to date; yield an outcome for each when it is complete or has failed.

    Documents become searchable by words first, and get their vectors when all of them are; with
    `sync.wait_vectors`, each lands with its vectors.

    `stages` are the stages to bring up to date; current ones are reused. With `words_only`, all but
    vectors are brought up to date, and a document's outcome comes when it is searched by words; a
    later call makes the vectors. A document in quarantine
    is retried only if it is the only one asked for. Raises `ProviderError` before anything is
    parsed if the key of a service or the credentials of Document AI are missing. Raises
    `DatabaseUnavailableError` when the connection is lost: landed documents stay, and the next sync
    does the rest.
    """
    wanted = tuple(stage for stage in STAGES if stage in stages or words_only)
    with context.database.connection() as connection:
        space = context.space(connection)
        states = document_states(connection, space.space_id, source_hashes)
    jobs, outcomes = document_jobs(context.profiles, states, source_hashes, wanted)
    if any(job.todo for job in jobs):
        _check_keys(context, jobs)
    yield from outcomes
    yield from _Execution(context, space, words_only=words_only).run(jobs)


def _check_keys(context: SyncContext, jobs: Sequence[DocumentJob]) -> None:
    if any(EMBEDDINGS in job.todo for job in jobs):
        check_key(context.embedder)
    for job in jobs:
        if CHUNKS in job.todo and job.settings.chunking.llm_context:
            from rag_pipeline.sync.documents.placing_sentences import open_chat

            open_chat(job.settings.chat)
            break
    for job in jobs:
        if BLOCKS in job.todo and job.is_sent_whole:
            from rag_pipeline.parsing.document_ai.service.google_clients import check_credentials

            check_credentials(job.settings.document_ai)
            break


class _Execution:
    """One pass over jobs."""

    def __init__(self, context: SyncContext, space: EmbeddingSpace, *, words_only: bool) -> None:
        self._context = context
        self._words_only = words_only
        self._space = space
        self._ledger = Ledger.of(context)
        self._vectors = VectorSource(context.database, context.embedder, space, self._ledger)
        self._pool = GroupPool(context.settings.sync.workers or default_workers())
        self._spool = spool_of(context.settings)
        self._together = batch_size(context.embedder)
        self._waiting: list[WaitingDocument] = []
        self._embedded_at = time.monotonic()
        self._again: list[WaitingDocument] = []
        self._landed: list[LandedDocument] = []
        self._ready: list[WaitingDocument] = []
        self._writer = DocumentWriter(context, space, self._fail)

    def run(self, jobs: list[DocumentJob]) -> Iterator[Outcome]:
        for job in jobs:
            if not job.todo:
                yield job.outcome([])
        # Largest first; otherwise a large one started last keeps a single worker busy at the end.
        by_hash: dict[str, DocumentJob] = {}
        for job in sorted((job for job in jobs if job.todo), key=lambda job: -job.state.size):
            if job.lacks_only_vectors and self._words_only:
                yield job.outcome([])
            elif job.lacks_only_vectors:
                self._landed.append(LandedDocument(job, job.state.page_count or 0))
            else:
                by_hash[job.source_hash] = job
        tasks = prefetched(
            by_hash.values(), lambda job: self._task(job, job.todo), lambda job: job.is_elsewhere
        )
        sizes = {job.source_hash: job.state.size for job in by_hash.values()}
        for results in self._pool.run(tasks, sizes):
            for task, result in results:
                yield from self._take_result(by_hash[task.source_hash], task, result)
            if len(self._ready) >= LAND_TOGETHER or not self._pool.is_ahead:
                yield from self._land_words()
        yield from self._land_words()
        yield from self._embed_and_land()
        while self._again:
            time.sleep(RETRY_SECONDS)
            self._waiting, self._again = self._again, []
            yield from self._embed_and_land()
        yield from self._fill()

    def _take_result(
        self, job: DocumentJob, task: StageTask, result: StageResult | WorkerCrashedError
    ) -> Iterator[Outcome]:
        self._spool.drop(job.source_hash)
        report(EMBEDDINGS, 0, read_bytes=job.state.size)
        if isinstance(result, WorkerCrashedError):
            yield self._fail(job, task.stages[0], crash_error(task, result), [])
            return
        for stage_report in result.reports:
            report(stage_report.stage, 1, int(stage_report.metadata.get("pages", 0)))
        yield from self._take(job, self._retry_from_start(job, result) or result)

    def _fill(self) -> Iterator[Outcome]:
        """Give what has landed its vectors."""
        if not self._landed:
            return
        # Searches by words correct typing errors from here on.
        with self._context.database.connection() as connection:
            refresh_statistics(connection)
        filling = VectorFilling(self._context, self._space, self._ledger, self._vectors, self._fail)
        yield from filling.run(self._landed)

    def _take(self, job: DocumentJob, result: StageResult) -> Iterator[Outcome]:
        """Handle a worker's result: record a failure or stages, or queue chunks for embedding."""
        self._ledger.note([UsageEntry(usage, job.source_hash, job.root) for usage in result.usage])
        self._ledger.check()
        # A full disk or bad key is not this document's fault.
        if isinstance(result.error, StoreError):
            place = f"{job.name}: {result.error.message}"
            raise StoreError(place, hint=result.error.hint) from result.error
        if isinstance(result.error, (ProviderError, SettingsError)):
            raise result.error
        if result.error is not None:
            yield self._fail(job, result.failed_stage or "", result.error, result.reports)
        elif result.prepared is None:
            yield self._note_stages(job, result)
        elif not self._context.settings.sync.wait_vectors:
            self._ready.append(WaitingDocument(job, result, result.prepared))
        else:
            self._waiting.append(WaitingDocument(job, result, result.prepared))
            report(EMBEDDINGS, 0, found_tokens=int(result.prepared.chunks["token_count"].sum()))
            many = sum(len(item.prepared.chunks) for item in self._waiting) >= self._together
            if many or time.monotonic() - self._embedded_at >= WAIT_SECONDS:
                yield from self._embed_and_land()

    def _task(self, job: DocumentJob, stages: tuple[str, ...]) -> StageTask:
        """Return the worker's task; remote files are copied to this machine first."""
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

    def _retry_from_start(self, job: DocumentJob, result: StageResult) -> StageResult | None:
        """Run all stages if an upstream frame is missing from the artifact store.

        Only if all stages are wanted; a request for a single stage reports what is missing.
        """
        upstream_missing = isinstance(result.error, UpstreamMissingError)
        if not upstream_missing or job.wanted != STAGES or job.todo == STAGES:
            return None
        job.todo = STAGES
        again = self._pool.run_one(self._task(job, STAGES))
        return None if isinstance(again, WorkerCrashedError) else again

    def _note_stages(self, job: DocumentJob, result: StageResult) -> Outcome:
        with self._context.database.connection() as connection:
            merge_fingerprints(connection, job.source_hash, job.made_with(result.reports))
        return job.outcome(result.reports)

    def _fail(
        self, job: DocumentJob, stage: str, error: RagError, reports: list[StageReport]
    ) -> Outcome:
        return record_failure(self._context.database, job, stage, error, reports)

    def _embed_and_land(self) -> Iterator[Outcome]:
        """Embed all waiting documents in one call, then land them."""
        waiting, self._waiting = self._waiting, []
        if not waiting:
            return
        self._context.database.check_sync_lock()
        start = time.perf_counter()
        found = self._vectors.vectors([item.texts(self._context.embedder) for item in waiting])
        report(
            EMBEDDINGS,
            sum(not isinstance(result, EmbeddingError) for result in found),
            settled_tokens=sum(int(item.prepared.chunks["token_count"].sum()) for item in waiting),
        )
        chunks = sum(len(item.prepared.chunks) for item in waiting)
        seconds = (time.perf_counter() - start) / max(1, chunks)
        for item, result in zip(waiting, found, strict=True):
            if isinstance(result, EmbeddingError):
                yield from self._embedding_failed(item, result)
        embedded = [
            (item, result)
            for item, result in zip(waiting, found, strict=True)
            if not isinstance(result, EmbeddingError)
        ]
        items, vectors = [item for item, _ in embedded], [result for _, result in embedded]
        for written, matrix in zip(self._writer.write(items, vectors), vectors, strict=True):
            yield written.failure or self._landed_whole(written, len(matrix), seconds)
        self._embedded_at = time.monotonic()

    def _landed_whole(self, written: Written, vectors: int, seconds: float) -> Outcome:
        item = written.item
        item.job.compared = written.compared
        pages, took = item.prepared.document["page_count"], seconds * vectors + written.seconds
        done = embedded_report(self._space, self._ledger, item.job, pages, vectors, took)
        return item.job.outcome([*item.result.reports, done])

    def _land_words(self) -> Iterator[Outcome]:
        """Make what is ready searchable by words; vectors follow when all documents are."""
        ready, self._ready = self._ready, []
        for written in self._writer.write(ready, [None] * len(ready)):
            if written.failure is not None:
                yield written.failure
                continue
            item = written.item
            item.job.compared = written.compared
            pages = item.prepared.document["page_count"]
            if self._words_only:
                yield item.job.outcome(item.result.reports)
                continue
            document = LandedDocument(item.job, pages, item.result.reports, written.seconds)
            self._landed.append(document)

    def _embedding_failed(self, item: WaitingDocument, error: EmbeddingError) -> Iterator[Outcome]:
        if tried_again(item.job, error, self._context.settings.sync.attempts):
            self._again.append(item)
            return
        yield self._fail(item.job, EMBEDDINGS, error_of(item.job, error), item.result.reports)
