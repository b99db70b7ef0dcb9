"""The four stages, and what makes their results current: code version, settings, upstream."""

from __future__ import annotations

import hashlib
import json

from rag_pipeline.analysis import ANALYSIS_VERSION
from rag_pipeline.chunking import CHUNKING_VERSION
from rag_pipeline.embedding import EMBEDDING_VERSION
from rag_pipeline.parsing import PARSER_VERSION
from rag_pipeline.settings import Settings
from rag_pipeline.structure import STRUCTURE_VERSION

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


def stage_fingerprints(settings: Settings) -> dict[str, str]:
    """Return the fingerprint of every stage under these settings (16 hexadecimal digits).

    A stage's fingerprint covers its code version, the settings it reads, and its upstream's
    fingerprint: a change anywhere above makes everything below it stale, and nothing else.
    """
    embedding = settings.embedding
    read_by = {
        BLOCKS: settings.parsing.model_dump(mode="json"),
        STRUCTURE: settings.structure.model_dump(mode="json"),
        CHUNKS: settings.chunking.model_dump(mode="json"),
        EMBEDDINGS: embedding.model_dump(mode="json", include={"provider", "model", "dimensions"}),
    }
    fingerprints: dict[str, str] = {}
    upstream = ""
    for stage in STAGES:
        text = json.dumps([stage, CODE_VERSIONS[stage], read_by[stage], upstream], sort_keys=True)
        upstream = fingerprints[stage] = hashlib.sha256(text.encode()).hexdigest()[:16]
    return fingerprints


def data_version(source_hash: str, fingerprint: str) -> str:
    """Return the version of one stage's result for one document, for Dagster's staleness."""
    return hashlib.sha256(f"{source_hash}{fingerprint}".encode()).hexdigest()[:16]
