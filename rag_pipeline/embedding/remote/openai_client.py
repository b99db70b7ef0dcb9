"""OpenAI's embeddings by its own library, and servers that speak the same protocol."""

from __future__ import annotations

from collections.abc import Sequence

from rag_pipeline.embedding.extras import import_extra
from rag_pipeline.embedding.remote.client_contract import (
    SETTINGS_HINT,
    EmbeddingReply,
    Purpose,
    in_order,
)
from rag_pipeline.embedding_models import EmbeddingModel, api_name
from rag_pipeline.errors import ProviderError
from rag_pipeline.remote import HttpFault, ReplyFault, Service, TransientFault, retry_after
from rag_pipeline.settings import EmbeddingSettings

SERVICE = Service(
    "openai",
    key_hint="set OPENAI_API_KEY (or RAG_EMBEDDING__API_KEY) to a valid key",
    quota_hint="add credit at platform.openai.com/settings/organization/billing",
    settings_hint=SETTINGS_HINT,
)


class OpenAiClient:
    """A `Client`; the library's own retries are off, because they ignore any deadline."""

    def __init__(self, settings: EmbeddingSettings, model: EmbeddingModel) -> None:
        self._openai = import_extra("openai", "openai")
        key = settings.api_key.get_secret_value() if settings.api_key else None
        if key is None and settings.base_url is None:
            raise ProviderError("openai: no key is set", hint=SERVICE.key_hint)
        self._client = self._openai.OpenAI(
            # Your own server may need no key, but the library does.
            api_key=key or "none",
            base_url=settings.base_url or "https://api.openai.com/v1",
            max_retries=0,
        )
        self._model = api_name(settings.model)
        shortened = settings.dimensions != model.dimensions
        # Models that cannot shorten their vectors refuse the parameter itself.
        self._options = {"dimensions": settings.dimensions} if shortened else {}

    def embed(self, texts: Sequence[str], purpose: Purpose, timeout: float) -> EmbeddingReply:
        """See `Client`; these models treat documents and questions alike."""
        del purpose
        openai = self._openai
        try:
            reply = self._client.embeddings.create(
                input=list(texts), model=self._model, timeout=timeout, **self._options
            )
        except openai.APIStatusError as error:
            raise HttpFault(
                error.status_code,
                error.message,
                code=error.code or "",
                retry_after=retry_after(error.response.headers),
            ).meaning(SERVICE) from error
        except openai.APIError as error:  # no connection, a timeout, a body that was cut
            raise TransientFault(f"openai: {_reason(error)}") from error
        except ValueError as error:
            raise ReplyFault(f"openai sent a reply without vectors: {error}") from error
        data = in_order(reply.data, [item.index for item in reply.data], "openai")
        tokens = reply.usage.total_tokens if reply.usage else None
        return EmbeddingReply([item.embedding for item in data], tokens)


def _reason(error: BaseException) -> str:
    """Return what the library says, with the cause it hides."""
    cause = error.__cause__
    return f"{error}" + (f" ({cause})" if cause and str(cause) not in str(error) else "")
