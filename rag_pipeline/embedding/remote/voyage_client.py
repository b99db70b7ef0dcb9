"""Voyage's embeddings, plain and contextual, by its own library.

The library's client class drops the items' indices and downloads vocabularies to count tokens.
The layer beneath it does neither, so that is called instead.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from rag_pipeline.embedding.extras import import_extra
from rag_pipeline.embedding.remote.client_contract import (
    SETTINGS_HINT,
    EmbeddingReply,
    GroupReply,
    Purpose,
    in_order,
)
from rag_pipeline.embedding_models import EmbeddingModel, api_name
from rag_pipeline.errors import ProviderError
from rag_pipeline.remote import HttpFault, ReplyFault, Service, TransientFault, retry_after
from rag_pipeline.settings import EmbeddingSettings

SERVICE = Service(
    "voyage",
    key_hint="set VOYAGE_API_KEY (or RAG_EMBEDDING__API_KEY) to a valid key",
    quota_hint="add a payment method to the account of the key",
    settings_hint=SETTINGS_HINT,
)


class VoyageClient:
    """A `ContextualClient` that also serves plain models."""

    def __init__(self, settings: EmbeddingSettings, model: EmbeddingModel) -> None:
        self._voyageai = import_extra("voyageai", "voyage")
        if settings.api_key is None:
            raise ProviderError("voyage: no key is set", hint=SERVICE.key_hint)
        key = settings.api_key.get_secret_value()
        # The library chooses the server by the kind of key.
        default_url = self._voyageai.util.get_default_base_url(key)
        self._options: dict[str, object] = {
            "api_key": key,
            "base_url": settings.base_url or default_url,
            "model": api_name(settings.model),
        }
        if settings.dimensions != model.dimensions:
            self._options["output_dimension"] = settings.dimensions

    def embed(self, texts: Sequence[str], purpose: Purpose, timeout: float) -> EmbeddingReply:
        """See `Client`; a text over the model's limit is an error, not cut."""
        reply = self._call(
            self._voyageai.Embedding.create,
            input=list(texts),
            input_type=purpose,
            truncation=False,
            request_timeout=timeout,
        )
        return EmbeddingReply(_vectors(reply.data), _tokens(reply))

    def embed_groups(
        self, groups: Sequence[Sequence[str]], purpose: Purpose, timeout: float
    ) -> GroupReply:
        """See `ContextualClient`."""
        reply = self._call(
            self._voyageai.ContextualizedEmbedding.create,
            inputs=[list(group) for group in groups],
            input_type=purpose,
            request_timeout=timeout,
        )
        ordered = in_order(reply.data, [group.get("index") for group in reply.data], "voyage")
        return GroupReply([_vectors(group.get("data", [])) for group in ordered], _tokens(reply))

    def _call(self, create: Callable[..., Any], **request: Any) -> Any:
        errors = self._voyageai.error
        try:
            reply = create(**self._options, **request)
        except errors.VoyageError as error:
            if not error.http_status or error.http_status < 400:
                # No connection, a timeout, or a body that was cut.
                raise TransientFault(f"voyage: {error}") from error
            message = f"{error} {error.http_body or ''}"
            asked = retry_after(error.headers or {})
            fault = HttpFault(error.http_status, message, retry_after=asked)
            raise fault.meaning(SERVICE) from error
        except (ValueError, TypeError, KeyError, AttributeError) as error:
            raise ReplyFault(f"voyage sent a reply of another form: {error}") from error
        if not isinstance(reply.get("data"), list):
            raise ReplyFault("voyage sent a reply without data")
        return reply


def _vectors(items: Sequence[Any]) -> list[Any]:
    ordered = in_order(items, [item.get("index") for item in items], "voyage")
    return [item.get("embedding") for item in ordered]


def _tokens(reply: Any) -> int | None:
    usage = reply.get("usage") or {}
    return usage.get("total_tokens")
