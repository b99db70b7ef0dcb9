"""One document through the stages, in a worker process: frames from and to the artifact store."""

from __future__ import annotations

import hashlib
import logging
import time
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from functools import lru_cache
from pathlib import Path
from typing import Any

import pandas as pd

from rag_pipeline.analysis import to_search_vectors
from rag_pipeline.chat import ChatModel
from rag_pipeline.chunking import chunk, embedded_text, indexed_texts
from rag_pipeline.embedding import EMBEDDING_VERSION, Embedder, create_embedder
from rag_pipeline.errors import (
    ChangedMeanwhileError,
    DocumentError,
    InternalError,
    RagError,
    UnsafeFileError,
    UpstreamMissingError,
    WorkerCrashError,
)
from rag_pipeline.frames import FURNITURE_ROLES, SECTION
from rag_pipeline.parsing import Parser
from rag_pipeline.parsing.parsers import create_parser
from rag_pipeline.settings import ChatSettings, ChunkingSettings, EmbeddingSettings, Settings
from rag_pipeline.store.artifacts import ArtifactStore
from rag_pipeline.structure import infer_structure
from rag_pipeline.sync.documents.placing_sentences import open_chat, place_in_document
from rag_pipeline.sync.documents.previews import chunk_rows, page_previews
from rag_pipeline.sync.documents.sentence_vectors import remembering
from rag_pipeline.sync.documents.workers import Limits, WorkerCrashedError, WorkerLimitError
from rag_pipeline.sync.planning.fingerprints import BLOCKS, CHUNKS, EMBEDDINGS, STAGES, STRUCTURE
from rag_pipeline.sync.sources.places import kind_of
from rag_pipeline.usage import Usage, UsageMeter

logger = logging.getLogger(__name__)


@dataclass(frozen=True)
class StageTask:
    """What a worker is to do with one document."""

    source_hash: str
    paths: tuple[str, ...]
    """Every file with this content; the first that opens is read."""
    name: str
    stages: tuple[str, ...]
    """Stages to be done, in order; `chunk_embeddings` up to the texts."""
    fingerprints: dict[str, str]
    settings: Settings
    error: RagError | None = None
    """Why its file could not be copied to this machine."""


@dataclass(frozen=True)
class StageReport:
    """What a stage made, for people: counts, seconds, an outline."""

    stage: str
    seconds: float
    metadata: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class PreparedChunks:
    """Chunks with their search vectors, ready to be embedded and landed."""

    chunks: pd.DataFrame
    sections: pd.DataFrame
    texts: list[str]
    """What is embedded of each chunk: trail, context and content."""
    search_vectors: list[str]
    lexeme_counts: list[int]
    document: dict[str, Any]


@dataclass(frozen=True)
class StageResult:
    """What a worker returns: reports of the stages done, and either the chunks or an error."""

    source_hash: str
    reports: list[StageReport]
    prepared: PreparedChunks | None = None
    failed_stage: str | None = None
    error: RagError | None = None
    usage: list[Usage] = field(default_factory=list)
    """What services were asked for, also where the document failed in the end."""


def limits_of(task: StageTask) -> Limits:
    """Return what a process may take for the task: `parsing.max_seconds`, `max_memory_mb`."""
    settings = task.settings
    parsing = settings.parsing
    # Who waits for a service hangs by no fault of the document; services have time limits.
    may_wait = (
        parsing.parser != "local"
        or settings.chunking.llm_context
        or settings.embedding.provider != "local"
        or kind_of(settings.artifacts_location) != "local"
    )
    idle = None if may_wait else parsing.max_seconds
    return Limits(parsing.max_seconds, idle, parsing.max_memory_mb * 2**20)


def crash_error(task: StageTask, crash: WorkerCrashedError) -> DocumentError:
    """Return what to tell of a task whose process died, or was ended by `limits_of`."""
    if not isinstance(crash, WorkerLimitError):
        return WorkerCrashError(
            f"{crash}: a crash in the parser, or no memory left",
            document=task.name,
            hint="the other documents are not affected; please report it if it stays",
        )
    parsing = task.settings.parsing
    memory = crash.limit == "memory"
    name = "max_memory_mb" if memory else "max_seconds"
    value = parsing.max_memory_mb if memory else parsing.max_seconds
    return UnsafeFileError(
        str(crash),
        document=task.name,
        hint=f"if it is right, raise parsing.{name} ({value:g}) and run `rag retry`",
    )


def run_stages(task: StageTask) -> StageResult:
    """Do the task's stages; an error of the document is returned, not raised.

    Raises `MemoryError` where the process may reserve no more.
    """
    artifacts = ArtifactStore(task.settings.artifacts_location)
    stages = _not_kept(artifacts, task)
    result = _run_stages(artifacts, task, stages)
    if isinstance(result.error, UpstreamMissingError) and stages != task.stages:
        result = _run_stages(artifacts, task, task.stages)  # what was kept is damaged
    return replace(result, usage=[*result.usage, *_METER.take()])


def _run_stages(artifacts: ArtifactStore, task: StageTask, stages: tuple[str, ...]) -> StageResult:
    reports: list[StageReport] = []
    frame: pd.DataFrame | None = None
    document: dict[str, Any] = {}
    stage, done = stages[0], ""
    try:
        if task.error is not None and stages[0] == BLOCKS:
            raise task.error
        for stage in stages:
            if stage != BLOCKS and STAGES[STAGES.index(stage) - 1] != done:
                frame, document = _read_upstream(artifacts, task, stage)
            start = time.perf_counter()
            done = stage
            if stage == EMBEDDINGS:
                assert frame is not None
                prepared = _prepare(frame, document, task.settings.chunking)
                return StageResult(task.source_hash, reports, prepared)
            frame, document, metadata = _run_stage(stage, task, frame, document)
            artifacts.write(stage, task.source_hash, frame, task.fingerprints[stage], document)
            seconds = time.perf_counter() - start
            metadata = {"pages": document["page_count"], **metadata, **_shown(stage, task, frame)}
            reports.append(StageReport(stage, seconds, metadata))
    except RagError as error:
        return StageResult(task.source_hash, reports, failed_stage=stage, error=error)
    except (MemoryError, KeyboardInterrupt, SystemExit):
        raise  # the process is of no more use
    except BaseException as error:  # a fault of ours, or a panic of a library, fails it alone
        logger.exception("%s failed at %s", task.name, stage)
        fault = InternalError(
            f"{type(error).__name__}: {error}",
            document=task.name,
            hint="this is a fault of the program: please report it",
        )
        return StageResult(task.source_hash, reports, failed_stage=stage, error=fault)
    return StageResult(task.source_hash, reports)


def _not_kept(artifacts: ArtifactStore, task: StageTask) -> tuple[str, ...]:
    """Return the stages without those whose frames are there already.

    A sync that was killed before a document landed leaves them behind.
    """
    if task.stages[0] == BLOCKS:
        for kept in (CHUNKS, BLOCKS):
            rest = tuple(stage for stage in task.stages if STAGES.index(stage) > STAGES.index(kept))
            if rest and artifacts.has(kept, task.source_hash, task.fingerprints[kept]):
                return rest
    return task.stages


def _read_upstream(
    artifacts: ArtifactStore, task: StageTask, stage: str
) -> tuple[pd.DataFrame, dict[str, Any]]:
    upstream = STAGES[STAGES.index(stage) - 1]
    found = artifacts.read(upstream, task.source_hash, task.fingerprints[upstream])
    if found is None:
        raise UpstreamMissingError(
            f"{stage} needs a current {upstream}, and there is none",
            document=task.name,
            hint=f"materialize {upstream} as well, or run `rag sync`",
        )
    return found


def _run_stage(
    stage: str, task: StageTask, frame: pd.DataFrame | None, document: dict[str, Any]
) -> tuple[pd.DataFrame, dict[str, Any], dict[str, Any]]:
    """Return the stage's frame, the document's attributes, and metadata for people."""
    settings = task.settings
    if stage == BLOCKS:
        path = _current_path(task)
        parsed = _worker_parser(settings).parse(path, document=task.name)
        _count(parsed.usage)
        if not _has_content(path, task.source_hash):
            raise ChangedMeanwhileError(
                "changed while it was read", document=task.name, hint="run `rag sync` again"
            )
        document = {
            "title": parsed.title,
            "page_count": parsed.page_count,
            "language": parsed.language,
            "warnings": list(parsed.warnings),
        }
        metadata = {
            "blocks": len(parsed.blocks),
            "language": parsed.language,
            "warnings": list(parsed.warnings),
        }
        return parsed.blocks, document, metadata
    assert frame is not None
    if stage == STRUCTURE:
        structured = infer_structure(frame, settings.structure)
        return structured, document, _structure_metadata(structured)
    assert stage == CHUNKS
    embedder = _worker_embedder(settings.embedding, settings.data_path)
    artifacts = ArtifactStore(settings.artifacts_location)
    model = f"{embedder.provider}/{embedder.model}/{embedder.dimensions}/{EMBEDDING_VERSION}"
    try:
        chunks = chunk(
            frame,
            settings.chunking,
            embedder.count_tokens,
            title=document["title"],
            embed=remembering(embedder.embed_documents, artifacts, task.source_hash, model),
        )
    finally:
        _count(embedder.take_usage())
    if settings.chunking.llm_context:
        chat = _worker_chat(settings.chat)
        body = "\n".join(frame.loc[~frame["role"].isin(FURNITURE_ROLES), "text"])
        try:
            chunks = place_in_document(
                chunks,
                body,
                document["title"],
                task.source_hash,
                chat,
                settings.chat,
                artifacts,
                embedder.count_tokens,
            )
        finally:
            _count(chat.take_usage())
    metadata = {"chunks": len(chunks), "tokens": int(chunks["token_count"].sum())}
    return chunks, document, metadata


def _shown(stage: str, task: StageTask, frame: pd.DataFrame) -> dict[str, Any]:
    """Return what people see of a stage in Dagster's UI, beside its counts."""
    if stage == BLOCKS:
        return {"files": [Path(path).name for path in task.paths]}
    if stage == STRUCTURE:
        pages = task.settings.sync.preview_pages
        return {"previews": page_previews(task.paths, frame, pages)}
    return {"chunk rows": chunk_rows(frame)}


def _current_path(task: StageTask) -> Path:
    """Return the first of the document's files that still has its content.

    New bytes must never land under the hash of old ones; the next sync takes the file anew.
    """
    for path in task.paths:
        if _has_content(Path(path), task.source_hash):
            return Path(path)
    raise ChangedMeanwhileError(
        "changed or went away after the folder was scanned",
        document=task.name,
        hint="run `rag sync` again",
    )


def _has_content(path: Path, source_hash: str) -> bool:
    try:
        with path.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest() == source_hash
    except OSError:
        return False


def _structure_metadata(structured: pd.DataFrame) -> dict[str, Any]:
    headings = structured[structured["role"] == "heading"]
    outline = [
        {"level": int(level), "title": " ".join(text.split()), "page": int(page)}
        for level, text, page in zip(
            headings["heading_level"].fillna(1),
            headings["text"],
            headings["page_number"],
            strict=True,
        )
    ]
    return {
        "headings": len(outline),
        "tables": int(structured.loc[structured["role"] == "table", "group_id"].nunique()),
        "outline": outline,
    }


def _prepare(
    frame: pd.DataFrame, document: dict[str, Any], settings: ChunkingSettings
) -> PreparedChunks:
    is_section = frame["kind"] == SECTION
    chunks = frame[~is_section].reset_index(drop=True)
    texts = [
        embedded_text(trail, context, content)
        for trail, context, content in zip(
            chunks["breadcrumb_trail"], chunks["context"], chunks["content"], strict=True
        )
    ]
    words = indexed_texts(chunks, settings)
    vectors, counts = to_search_vectors(words, document["language"])
    return PreparedChunks(chunks, frame[is_section], texts, vectors, counts, document)


_METER = UsageMeter()
"""What this process asked of services since the last task."""


_PARSERS: dict[str, Parser] = {}


def _count(usages: Iterable[Usage]) -> None:
    for usage in usages:
        _METER.add(usage)


def _worker_parser(settings: Settings) -> Parser:
    """Keep one per process and kind of source: a service's connections and limits are its."""
    parsing, service = settings.parsing, settings.document_ai
    key = f"{parsing.model_dump_json()}{service.model_dump_json()}{settings.artifacts_location}"
    if key not in _PARSERS:
        replies = ArtifactStore(settings.artifacts_location)
        _PARSERS[key] = create_parser(parsing, service, replies, meter=_METER)
    return _PARSERS[key]


@lru_cache(maxsize=1)
def _worker_chat(settings: ChatSettings) -> ChatModel:
    """Keep one per process: its limits are its."""
    return open_chat(settings)


@lru_cache(maxsize=1)
def _worker_embedder(settings: EmbeddingSettings, data_path: Path) -> Embedder:
    """Keep one per process: its tokenizer takes time to load, and its weights are not touched."""
    return create_embedder(settings, data_path / "models")
