"""Which implementation of `Embedder` the settings name."""

from __future__ import annotations

import threading
from pathlib import Path
from weakref import WeakValueDictionary

from rag_pipeline.embedding.embedder import Embedder
from rag_pipeline.embedding_models import Provider, find_model
from rag_pipeline.settings import EmbeddingSettings

# A loaded model takes about 100 MB, so whoever needs the same one shares it.
_local: WeakValueDictionary[tuple[EmbeddingSettings, Path, str | None], Embedder] = (
    WeakValueDictionary()
)
_local_lock = threading.Lock()


def create_embedder(
    settings: EmbeddingSettings, cache_dir: Path, version: str | None = None
) -> Embedder:
    """Return the embedder that `settings` names; `cache_dir` keeps model files between runs.

    `version` is that of an existing space: the bundled model then computes as that space's vectors
    were computed, and by default as this machine chose. Nothing is loaded, read or called before
    the first call. While the embedder of the bundled model is in use, the same arguments return it
    again.
    """
    if settings.provider == "local":
        if settings.model_path is None:
            from rag_pipeline.embedding.local.local_embedder import LocalEmbedder

            with _local_lock:
                key = (settings, cache_dir.resolve(), version)
                embedder = _local.get(key)
                if embedder is None:
                    embedder = _local[key] = LocalEmbedder(settings, cache_dir, version)
            return embedder
        from rag_pipeline.embedding.local.own_model import FolderEmbedder

        return FolderEmbedder(settings, cache_dir)
    from rag_pipeline.embedding.remote.client_contract import Connect
    from rag_pipeline.embedding.remote.contextual_embedder import ContextualRemoteEmbedder
    from rag_pipeline.embedding.remote.ollama_client import OllamaClient
    from rag_pipeline.embedding.remote.openai_client import OpenAiClient
    from rag_pipeline.embedding.remote.remote_embedder import RemoteEmbedder
    from rag_pipeline.embedding.remote.vertex_client import VertexClient
    from rag_pipeline.embedding.remote.voyage_client import VoyageClient

    clients: dict[Provider, Connect] = {
        "openai": OpenAiClient,
        "voyage": VoyageClient,
        "vertex": VertexClient,
        "ollama": OllamaClient,
    }
    model = find_model(settings.provider, settings.model, settings.dimensions)
    assert model is not None, "settings are resolved"
    kind = ContextualRemoteEmbedder if model.contextual else RemoteEmbedder
    return kind(settings, model, clients[settings.provider])


def check_key(embedder: Embedder) -> None:
    """Raise `ProviderError` if a service's key is missing; nothing is sent."""
    if embedder.provider == "local":
        return
    from rag_pipeline.embedding.remote.remote_embedder import RemoteEmbedder

    if isinstance(embedder, RemoteEmbedder):
        embedder.connect()
