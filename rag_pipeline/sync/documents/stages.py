"""Runs one document's stages in a worker process; frames go through the artifact store."""

from __future__ import annotations

import hashlib
import logging
import time
from collections.abc import Iterable
from dataclasses import replace
from functools import lru_cache
from pathlib import Path
from typing import Any

import pandas as pd

from rag_pipeline.analysis import to_search_vectors
from rag_pipeline.chat import ChatModel
from rag_pipeline.chunking import chunk, embedded_text, indexed_texts
from rag_pipeline.embedding import Embedder, create_embedder
from rag_pipeline.errors import (
    ChangedMeanwhileError,
    InternalError,
    RagError,
    UpstreamMissingError,
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
from rag_pipeline.sync.documents.stage_tasks import (
    PreparedChunks,
    StageReport,
    StageResult,
    StageTask,
)
from rag_pipeline.sync.planning.fingerprints import BLOCKS, CHUNKS, EMBEDDINGS, STAGES, STRUCTURE
from rag_pipeline.usage import Usage, UsageMeter

logger = logging.getLogger(__name__)


def run_stages(task: StageTask) -> StageResult:
    """Run the task's stages; a document's error is returned, not raised.

    Raises `MemoryError` if the process reaches its memory limit.
    """
    artifacts = ArtifactStore(task.settings.artifacts_location)
    stages = _not_kept(artifacts, task)
    result = _run_stages(artifacts, task, stages)
    if isinstance(result.error, UpstreamMissingError) and stages != task.stages:
        result = _run_stages(artifacts, task, task.stages)  # the stored frame is damaged
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
        raise  # the process cannot continue
    except BaseException as error:  # our bug or a library's panic fails this document alone
        logger.exception("%s failed at %s", task.name, stage)
        fault = InternalError(
            f"{type(error).__name__}: {error}",
            document=task.name,
            hint="this is a fault of the program: please report it",
        )
        return StageResult(task.source_hash, reports, failed_stage=stage, error=fault)
    return StageResult(task.source_hash, reports)


def _not_kept(artifacts: ArtifactStore, task: StageTask) -> tuple[str, ...]:
    """Return the stages whose frames are not stored yet.

    A sync that was killed before a document landed leaves frames behind.
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
    """Return the stage's frame, the document's attributes, and metadata for display."""
    if stage == BLOCKS:
        return _parse(task)
    assert frame is not None
    if stage == STRUCTURE:
        structured = infer_structure(frame, task.settings.structure)
        return structured, document, _structure_metadata(structured)
    assert stage == CHUNKS
    chunks = _chunk(task, frame, document["title"])
    searched = chunks[chunks["kind"] != SECTION]  # parents have no vectors
    metadata = {"chunks": len(searched), "tokens": int(searched["token_count"].sum())}
    return chunks, document, metadata


def _parse(task: StageTask) -> tuple[pd.DataFrame, dict[str, Any], dict[str, Any]]:
    path = _current_path(task)
    parsed = _worker_parser(task.settings).parse(path, document=task.name)
    _count(parsed.usage)
    if not _has_content(path, task.source_hash):
        raise ChangedMeanwhileError(
            "changed while it was being read", document=task.name, hint="run `rag sync` again"
        )
    shared = {"language": parsed.language, "warnings": list(parsed.warnings)}
    document = {"title": parsed.title, "page_count": parsed.page_count, **shared}
    return parsed.blocks, document, {"blocks": len(parsed.blocks), **shared}


def _chunk(task: StageTask, frame: pd.DataFrame, title: str | None) -> pd.DataFrame:
    settings = task.settings
    embedder = _worker_embedder(settings.embedding, settings.models_path)
    artifacts = ArtifactStore(settings.artifacts_location)
    model = f"{embedder.provider}/{embedder.model}/{embedder.dimensions}/{embedder.version}"
    try:
        chunks = chunk(
            frame,
            settings.chunking,
            embedder.count_tokens,
            title=title,
            embed=remembering(embedder.embed_documents, artifacts, task.source_hash, model),
        )
    finally:
        _count(embedder.take_usage())
    if not settings.chunking.llm_context:
        return chunks
    chat = _worker_chat(settings.chat)
    body = "\n".join(frame.loc[~frame["role"].isin(FURNITURE_ROLES), "text"])
    try:
        return place_in_document(
            chunks,
            body,
            title,
            task.source_hash,
            chat,
            settings.chat,
            artifacts,
            embedder.count_tokens,
        )
    finally:
        _count(chat.take_usage())


def _shown(stage: str, task: StageTask, frame: pd.DataFrame) -> dict[str, Any]:
    """Return what Dagster's UI shows for a stage in addition to its counts."""
    if stage == BLOCKS:
        return {"files": [Path(path).name for path in task.paths]}
    if stage == STRUCTURE:
        pages = task.settings.sync.preview_pages
        return {"previews": page_previews(task.paths, frame, pages)}
    return {"chunk rows": chunk_rows(frame)}


def _current_path(task: StageTask) -> Path:
    """Return the document's first file that still has its content.

    New bytes must never land under an old hash; the next sync picks up the new content.
    """
    for path in task.paths:
        if _has_content(Path(path), task.source_hash):
            return Path(path)
    raise ChangedMeanwhileError(
        "changed or disappeared after the folder was scanned",
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
    columns = ("role", "heading_level", "text", "page_number", "group_id")
    outline: list[dict[str, Any]] = []
    tables = set()
    for role, level, text, page, group in zip(
        *(structured[name].tolist() for name in columns), strict=True
    ):
        if role == "heading":
            known = 1 if level is pd.NA else int(level)
            outline.append({"level": known, "title": " ".join(text.split()), "page": int(page)})
        elif role == "table" and group is not pd.NA:
            tables.add(group)
    return {"headings": len(outline), "tables": len(tables), "outline": outline}


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
"""This process's calls to services since the last task."""

_PARSERS: dict[str, Parser] = {}


def _count(usages: Iterable[Usage]) -> None:
    for usage in usages:
        _METER.add(usage)


def _worker_parser(settings: Settings) -> Parser:
    """Return this process's parser for the settings, so connections and rate limits are shared."""
    parsing, service = settings.parsing, settings.document_ai
    key = f"{parsing.model_dump_json()}{service.model_dump_json()}{settings.artifacts_location}"
    if key not in _PARSERS:
        replies = ArtifactStore(settings.artifacts_location)
        _PARSERS[key] = create_parser(parsing, service, replies, meter=_METER)
    return _PARSERS[key]


@lru_cache(maxsize=1)
def _worker_chat(settings: ChatSettings) -> ChatModel:
    """Return this process's chat model, so its rate limits are shared."""
    return open_chat(settings)


@lru_cache(maxsize=1)
def _worker_embedder(settings: EmbeddingSettings, models_path: Path) -> Embedder:
    """Return this process's embedder: its tokenizer is slow to load; its weights stay unloaded."""
    return create_embedder(settings, models_path)
