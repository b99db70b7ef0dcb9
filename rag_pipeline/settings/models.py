"""The models: vectors, and words."""

from __future__ import annotations

from pathlib import Path
from urllib.parse import urlsplit

from pydantic import Field, SecretStr, field_validator, model_validator

from rag_pipeline.embedding_models import Provider, resolve_model
from rag_pipeline.settings.section import Section

KEY_VARIABLES = {
    "openai": "OPENAI_API_KEY",
    "voyage": "VOYAGE_API_KEY",
    "vertex": "GOOGLE_API_KEY",
}
"""Where each provider's own tools look for its key; read where RAG_EMBEDDING__API_KEY is unset."""


class EmbeddingSettings(Section):
    """Which model turns chunks into vectors; docs/models.md says which for what.

    `model` and `dimensions` are resolved when the settings are made: readers see the model's full
    name and true dimensions. Raises `SettingsError` for what the provider does not have.
    """

    provider: Provider = Field(default="local", description="Provider that computes the vectors")
    model: str = Field(default="", description='Name of the model; "" = the provider\'s default')
    dimensions: int = Field(
        default=0, ge=0, description="Length of a vector, 4000 at most; 0 = the model's own"
    )
    model_path: Path | None = Field(
        default=None, description="Folder of another local model: model.onnx and tokenizer.json"
    )
    document_prefix: str | None = Field(
        default=None, description="Set before a text to be found; unset = the model's own"
    )
    query_prefix: str | None = Field(
        default=None, description="Set before a question; unset = the model's own"
    )
    max_tokens: int = Field(
        default=0, ge=0, description="Longer texts are split and averaged; 0 = the model's limit"
    )
    batch_size: int = Field(default=16, ge=1, le=2048, description="Texts computed at once")
    threads: int = Field(default=0, ge=0, description="Threads of the local model; 0 = all cores")
    api_key: SecretStr | None = Field(
        default=None,
        description="Only by RAG_EMBEDDING__API_KEY; unset = the provider's own variable",
    )
    base_url: str | None = Field(
        default=None, description="Another server that speaks the provider's protocol"
    )
    project: str | None = Field(default=None, description="Google Cloud project of vertex")
    location: str = Field(default="us-central1", description="Google Cloud region of vertex")
    tokens_per_minute: int = Field(
        default=0, ge=0, description="Maximum tokens sent per minute; 0 = no limit"
    )
    requests_per_minute: int = Field(
        default=0, ge=0, description="Maximum requests per minute; 0 = no limit"
    )
    max_concurrent_requests: int = Field(default=4, ge=1, le=100, description="Requests at once")
    deadline_seconds: float = Field(
        default=120, gt=0, description="Deadline for a request, including retries"
    )

    @model_validator(mode="after")
    def _resolve(self) -> EmbeddingSettings:
        model, dimensions = resolve_model(
            self.provider,
            self.model,
            self.dimensions,
            model_path=self.model_path,
            document_prefix=self.document_prefix,
            max_tokens=self.max_tokens,
        )
        # The instance is not shared yet; afterwards it is frozen.
        object.__setattr__(self, "model", model)
        object.__setattr__(self, "dimensions", dimensions)
        return self


def chat_provider(base_url: str | None) -> str:
    """Name whose endpoint it is: `openai` (also where none is set), `ollama`, else `chat`.

    It stands in usage and prices, and only OpenAI's own endpoint is ever sent OPENAI_API_KEY.
    """
    if base_url is None:
        return "openai"
    parts = urlsplit(base_url)
    host = parts.hostname or ""
    if parts.scheme == "https" and (host == "openai.com" or host.endswith(".openai.com")):
        return "openai"
    return "ollama" if parts.port == 11434 or host in ("ollama", "ollama.com") else "chat"


class ChatSettings(Section):
    """The chat model that writes answers, and contexts of chunks; none unless `model` is set."""

    model: str = Field(
        default="",
        description='Name of the chat model; "" = none: answers are quoted, nothing is written',
    )
    base_url: str | None = Field(
        default=None,
        description="Endpoint that speaks OpenAI's protocol, such as http://localhost:11434/v1 "
        "(Ollama) or http://localhost:8000/v1 (vLLM); unset = OpenAI's",
    )
    temperature: float = Field(
        default=0.0, ge=0, le=2, description="0 = the likeliest words; higher = more varied"
    )
    max_tokens: int = Field(
        default=4096, ge=1, description="Length of an answer, what a model thinks before included"
    )
    deadline_seconds: float = Field(
        default=180, gt=0, description="Deadline for an answer, including retries"
    )
    max_concurrent_requests: int = Field(default=4, ge=1, le=100, description="Requests at once")
    api_key: SecretStr | None = Field(
        default=None,
        description="Only by RAG_CHAT__API_KEY; unset = OPENAI_API_KEY, for OpenAI's endpoint only",
    )

    @field_validator("base_url")
    @classmethod
    def _is_plain_url(cls, url: str | None) -> str | None:
        if url is None:
            return None
        parts = urlsplit(url)
        if parts.scheme not in ("http", "https") or not parts.hostname:
            raise ValueError("base_url is written http://host:port/v1")
        if parts.username or parts.query or parts.fragment:
            raise ValueError("base_url takes no password and no ?query; the key is a variable")
        return url.rstrip("/")

    @model_validator(mode="after")
    def _endpoint_has_a_model(self) -> ChatSettings:
        if self.base_url and not self.model:
            raise ValueError("base_url needs a model")
        return self

    @property
    def provider(self) -> str:
        """Whose endpoint it is, see `chat_provider`."""
        return chat_provider(self.base_url)
