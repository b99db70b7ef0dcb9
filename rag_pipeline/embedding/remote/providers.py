"""The services that can compute vectors, each with its client."""

from __future__ import annotations

from pathlib import Path

from rag_pipeline.embedding.remote.client_contract import Connect
from rag_pipeline.embedding.remote.ollama_client import OllamaClient
from rag_pipeline.embedding.remote.openai_client import OpenAiClient
from rag_pipeline.embedding.remote.remote_embedder import ContextualRemoteEmbedder, RemoteEmbedder
from rag_pipeline.embedding.remote.vertex_client import VertexClient
from rag_pipeline.embedding.remote.voyage_client import VoyageClient
from rag_pipeline.embedding_models import Provider, find_model
from rag_pipeline.settings import EmbeddingSettings

_CLIENTS: dict[Provider, Connect] = {
    "openai": OpenAiClient,
    "voyage": VoyageClient,
    "vertex": VertexClient,
    "ollama": OllamaClient,
}


def create_remote_embedder(settings: EmbeddingSettings, cache_dir: Path) -> RemoteEmbedder:
    """Return the embedder for the service and model that `settings` names."""
    model = find_model(settings.provider, settings.model, settings.dimensions)
    kind = ContextualRemoteEmbedder if model and model.contextual else RemoteEmbedder
    return kind(settings, cache_dir, _CLIENTS[settings.provider])
