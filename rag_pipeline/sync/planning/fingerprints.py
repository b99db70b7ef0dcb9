"""The four stages, and what makes their results current: code version, settings, upstream."""

from __future__ import annotations

import hashlib
import json
from typing import Any

from rag_pipeline.code_versions import (
    ANALYSIS_VERSION,
    CHUNKING_VERSION,
    EMBEDDING_VERSION,
    PARSER_VERSION,
    PROMPT_VERSION,
    STRUCTURE_VERSION,
)
from rag_pipeline.settings import Settings
from rag_pipeline.settings.document_stages import OWN_CONTEXT

BLOCKS = "document_blocks"
STRUCTURE = "document_structure"
CHUNKS = "contextual_chunks"
EMBEDDINGS = "chunk_embeddings"
STAGES = (BLOCKS, STRUCTURE, CHUNKS, EMBEDDINGS)
"""In order: each reads what the one before it wrote."""

CODE_VERSIONS = {
    BLOCKS: PARSER_VERSION,
    STRUCTURE: STRUCTURE_VERSION,
    CHUNKS: CHUNKING_VERSION,
    EMBEDDINGS: f"{EMBEDDING_VERSION}.{ANALYSIS_VERSION}",
}
_PARSING_LIMITS = {
    "max_unpacked_mb",
    "max_unpacked_ratio",
    "max_file_mb",
    "max_pages",
    "max_seconds",
    "max_memory_mb",
}
"""They decide whether a file is read, not what comes of it."""
_CHUNKING_READS = {
    "strategy",
    "target_tokens",
    "major_heading_level",
    "parent_tokens",
    "llm_context",
}
_STRATEGY_READS = {
    "contextual": {"small_section_tokens"},
    "fixed_size": {"overlap_tokens"},
    "sentence": {"overlap_tokens"},
    "paragraph": {"min_tokens"},
    "recursive": {"min_tokens", "unit", "separators"},
    "by_headers": {"min_tokens"},
    "semantic": {"min_tokens"},
    "code": {"small_section_tokens"},
}
"""What else a strategy reads; a setting that it does not read makes nothing stale."""
PARTS = 3
"""Of a fingerprint: code version, settings, upstream."""


def stage_fingerprints(settings: Settings) -> dict[str, str]:
    """Return the fingerprint of every stage under these settings: `CODE:SETTINGS:UPSTREAM`.

    It covers the stage's code version, the settings it reads, and its upstream's fingerprint: a
    change anywhere above makes everything below it stale, and nothing else. The three parts tell
    which of them changed (`why_stale`).
    """
    read_by = _settings_read(settings)
    versions = CODE_VERSIONS
    if settings.parsing.parser != "local":
        from rag_pipeline.parsing.parsers import create_parser

        # Covers the processor and the options that change what comes back.
        parser = create_parser(settings.parsing, settings.document_ai)
        versions = {**versions, BLOCKS: parser.version}
    fingerprints: dict[str, str] = {}
    upstream = ""
    for stage in STAGES:
        parts = (versions[stage], _digest(read_by[stage]), _digest(upstream))
        upstream = fingerprints[stage] = ":".join(parts)
    return fingerprints


def why_stale(stage: str, stored: str | None, wanted: str) -> str:
    """Say in words why a stage's stored result is not current.

    >>> why_stale("contextual_chunks", "1:aaaa:bbbb", "2:aaaa:bbbb")
    'the code of contextual_chunks changed (version 1 to 2)'
    """
    if stored is None:
        return f"{stage} was not done yet"
    before, after = stored.split(":"), wanted.split(":")
    if len(before) != PARTS:
        return f"{stage} is of an earlier release"
    reasons = []
    if before[0] != after[0]:
        reasons.append(f"the code of {stage} changed (version {before[0]} to {after[0]})")
    if before[1] != after[1]:
        reasons.append(f"the settings of {stage} changed")
    return " and ".join(reasons) or f"what {stage} reads was made anew"


def _settings_read(settings: Settings) -> dict[str, Any]:
    # A variant of one's own (prefix, limit, files) is part of the model's name.
    model = settings.embedding.model_dump(include={"provider", "model", "dimensions"})
    strategy = settings.chunking.strategy
    chunks = settings.chunking.model_dump(
        mode="json", include=_CHUNKING_READS | _STRATEGY_READS.get(strategy, set())
    )
    if strategy == "semantic":
        chunks = {**chunks, "embedding": model}  # its borders are where the vectors turn
    if settings.chunking.llm_context:
        chat = settings.chat
        chunks = {**chunks, "chat": [chat.provider, chat.model, chat.temperature, PROMPT_VERSION]}
    words = settings.chunking.surrounding_characters
    return {
        BLOCKS: settings.parsing.model_dump(mode="json", exclude=_PARSING_LIMITS),
        STRUCTURE: settings.structure.model_dump(mode="json"),
        CHUNKS: chunks,
        EMBEDDINGS: model if strategy in OWN_CONTEXT else {**model, "surroundings": words},
    }


def _digest(value: Any) -> str:
    text = json.dumps(value, sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()[:12]


def data_version(source_hash: str, fingerprint: str) -> str:
    """Return the version of one stage's result for one document, for Dagster's staleness."""
    return hashlib.sha256(f"{source_hash}{fingerprint}".encode()).hexdigest()[:16]
