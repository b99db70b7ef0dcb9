"""What goes to a worker process and what comes back: one document's stages and their results."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from rag_pipeline.errors import DocumentError, RagError, UnsafeFileError, WorkerCrashError
from rag_pipeline.settings import Settings
from rag_pipeline.sync.sources.places import kind_of
from rag_pipeline.sync.workers.worker_limits import Limits, WorkerCrashedError, WorkerLimitError
from rag_pipeline.usage import Usage

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True)
class StageTask:
    """The work to do on one document."""

    source_hash: str
    paths: tuple[str, ...]
    """All files with this content; the first that opens is read."""
    name: str
    stages: tuple[str, ...]
    """Stages to run, in order; `chunk_embeddings` stops before the embedding itself."""
    fingerprints: dict[str, str]
    settings: Settings
    error: RagError | None = None
    """Why the file could not be copied to this machine."""


@dataclass(frozen=True)
class StageReport:
    """What a stage produced, for display: counts, seconds, an outline."""

    stage: str
    seconds: float
    metadata: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class PreparedChunks:
    """Chunks and their search vectors, ready to be embedded and landed."""

    chunks: pd.DataFrame
    sections: pd.DataFrame
    texts: list[str]
    """Text to embed for each chunk: trail, context and content."""
    search_vectors: list[str]
    lexeme_counts: list[int]
    document: dict[str, Any]


@dataclass(frozen=True)
class StageResult:
    """A worker's result: reports of completed stages, and either the chunks or an error."""

    source_hash: str
    reports: list[StageReport]
    prepared: PreparedChunks | None = None
    failed_stage: str | None = None
    error: RagError | None = None
    usage: list[Usage] = field(default_factory=list)
    """Calls to services, including those for a document that failed."""


def limits_of(task: StageTask) -> Limits:
    """Return the limits for a task, from `parsing.max_seconds` and `max_memory_mb`."""
    settings = task.settings
    parsing = settings.parsing
    # Waiting for a service is not the document's fault, and services have their own time limits.
    may_wait = (
        parsing.parser != "local"
        or settings.chunking.llm_context
        or settings.embedding.provider != "local"
        or kind_of(settings.artifacts_location) != "local"
    )
    idle = None if may_wait else parsing.max_seconds
    return Limits(parsing.max_seconds, idle, parsing.max_memory_mb * 2**20)


def crash_error(task: StageTask, crash: WorkerCrashedError) -> DocumentError:
    """Return the error for a task whose process died or exceeded `limits_of`."""
    if not isinstance(crash, WorkerLimitError):
        return WorkerCrashError(
            f"{crash}: a crash in the parser, or no memory left",
            document=task.name,
            hint="other documents are not affected; please report this if it persists",
        )
    parsing = task.settings.parsing
    memory = crash.limit == "memory"
    name = "max_memory_mb" if memory else "max_seconds"
    value = parsing.max_memory_mb if memory else parsing.max_seconds
    return UnsafeFileError(
        str(crash),
        document=task.name,
        hint=f"if the file is legitimate, raise parsing.{name} ({value:g}) and run `rag retry`",
    )
