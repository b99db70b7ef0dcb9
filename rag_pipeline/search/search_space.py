"""The embedding space to search, and its model: queries must be embedded by the same model."""

from __future__ import annotations

import threading

from psycopg import Connection
from psycopg.rows import TupleRow

from rag_pipeline.embedding import Embedder, create_embedder
from rag_pipeline.errors import SettingsError
from rag_pipeline.settings import EmbeddingSettings, Settings
from rag_pipeline.store.embeddings import EmbeddingSpace, active_space, known_spaces


def space_to_search(connection: Connection[TupleRow], name: str | None) -> EmbeddingSpace | None:
    """Return the space with a name (the version may be left out), by default the active one.

    Of several versions, the active one is meant, or else the newest. None if nothing has been
    embedded yet. Raises `SettingsError` for an unknown name.
    """
    if name is None:
        return active_space(connection)
    spaces = known_spaces(connection)
    found = [s for s in spaces if name in (s.name, s.name.rsplit("@", 1)[0])]
    if not found:
        known = ", ".join(space.name for space in spaces) or "none"
        raise SettingsError(f"there is no embedding space {name!r}", hint=f"known: {known}")
    return next((space for space in found if space.state == "active"), found[-1])


class SpaceEmbedders:
    """Creates and keeps the embedder of each space; safe to use from several threads."""

    def __init__(self, settings: Settings, embedder: Embedder | None = None) -> None:
        self._settings = settings
        self._lock = threading.Lock()
        self._embedders: dict[tuple[tuple[str, str, int], str | None], Embedder] = {}
        if embedder is not None:
            self._embedders[_identity(embedder), None] = embedder

    def of(self, space: EmbeddingSpace | None) -> Embedder:
        """Return the embedder of a space, by default the one in the settings.

        Raises `SettingsError` if the settings no longer describe the space's model.
        """
        identity = _identity(self._settings.embedding if space is None else space)
        with self._lock:
            embedder = self._kept(identity, None)
            if space is None or embedder.provider != "local" or embedder.version == space.version:
                return embedder
            # The vectors were made in another arithmetic than this machine chose.
            return self._kept(identity, space.version)

    def _kept(self, identity: tuple[str, str, int], version: str | None) -> Embedder:
        if (identity, version) not in self._embedders:
            own = self._settings.embedding
            settings = own if identity == _identity(own) else _settings_for(identity, own)
            self._embedders[identity, version] = create_embedder(
                settings, self._settings.models_path, version
            )
        return self._embedders[identity, version]


def _identity(model: EmbeddingSpace | EmbeddingSettings | Embedder) -> tuple[str, str, int]:
    return model.provider, model.model, model.dimensions


def _settings_for(identity: tuple[str, str, int], own: EmbeddingSettings) -> EmbeddingSettings:
    """Return settings for another space's model; keys come from the provider's variables."""
    provider, model, dimensions = identity
    if "#" in model:
        raise SettingsError(
            f"the embedding space {provider}/{model}/{dimensions} was made with other settings",
            hint="name its model in [embedding] again, or activate another space (`rag spaces`)",
        )
    shared: dict[str, object] = {"threads": own.threads, "deadline_seconds": own.deadline_seconds}
    if provider == own.provider:
        shared |= {"base_url": own.base_url, "api_key": own.api_key}
        shared |= {"project": own.project, "location": own.location}
    return EmbeddingSettings.model_validate(
        {"provider": provider, "model": model, "dimensions": dimensions, **shared}
    )
