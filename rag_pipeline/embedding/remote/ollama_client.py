"""Models served by Ollama, by its native `/api/embed`."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from typing import Any

import requests

from rag_pipeline.embedding.remote.client_contract import SETTINGS_HINT, EmbeddingReply, Purpose
from rag_pipeline.embedding_models import EmbeddingModel, api_name
from rag_pipeline.errors import ProviderError
from rag_pipeline.remote import (
    HttpFault,
    RefusedFault,
    ReplyFault,
    Service,
    TransientFault,
    retry_after,
)
from rag_pipeline.settings import EmbeddingSettings

DEFAULT_URL = "http://localhost:11434"
SERVICE = Service(
    "ollama",
    key_hint="set RAG_EMBEDDING__API_KEY to what the server in front of Ollama asks for",
    quota_hint="see the account of the server in front of Ollama",
    settings_hint=SETTINGS_HINT,
)


class OllamaClient:
    """A `Client`; Ollama returns the vectors in the order of the texts."""

    def __init__(self, settings: EmbeddingSettings, model: EmbeddingModel) -> None:
        self._url = (settings.base_url or DEFAULT_URL).rstrip("/") + "/api/embed"
        self._key = settings.api_key.get_secret_value() if settings.api_key else None
        # By default Ollama cuts long texts, which would go unnoticed.
        self._options: dict[str, Any] = {"model": api_name(settings.model), "truncate": False}
        if settings.dimensions != model.dimensions:
            self._options["dimensions"] = settings.dimensions
        self._threads = threading.local()  # a session is not safe for several threads

    def embed(self, texts: Sequence[str], purpose: Purpose, timeout: float) -> EmbeddingReply:
        """See `Client`; the prefix says what the `purpose` is."""
        del purpose
        request: dict[str, Any] = {**self._options, "input": list(texts)}
        try:
            response = self._session().post(self._url, json=request, timeout=timeout)
            body = response.json() if response.ok else None
        except requests.ConnectionError as error:
            raise TransientFault(
                f"ollama does not answer at {self._url}: start it with `ollama serve` ({error})"
            ) from error
        except requests.RequestException as error:
            raise TransientFault(f"ollama: {error}") from error
        if not response.ok:
            raise self._fault(response)
        if not isinstance(body, dict) or not isinstance(body.get("embeddings"), list):
            raise ReplyFault("ollama sent a reply without embeddings")
        return EmbeddingReply(body["embeddings"], body.get("prompt_eval_count"))

    def _fault(self, response: requests.Response) -> Exception:
        message = response.text
        if response.status_code == 404:
            return ProviderError(
                f"ollama: {message[:200]}", hint=f"run `ollama pull {self._options['model']}`"
            )
        if response.status_code == 500 and "NaN" in message:
            return ReplyFault(f"ollama computed no finite vector: {message[:200]}")
        if response.status_code == 500 and "context length" in message:
            return RefusedFault(f"ollama: {message[:200]}", too_long=True)
        asked = retry_after(response.headers)
        return HttpFault(response.status_code, message, retry_after=asked).meaning(SERVICE)

    def _session(self) -> requests.Session:
        if not hasattr(self._threads, "session"):
            self._threads.session = requests.Session()
            if self._key:
                self._threads.session.headers["Authorization"] = f"Bearer {self._key}"
        session: requests.Session = self._threads.session
        return session
