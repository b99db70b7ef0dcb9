"""Google's embeddings on Vertex AI, by `google-genai`."""

from __future__ import annotations

from collections.abc import Sequence

from rag_pipeline.embedding.extras import import_extra
from rag_pipeline.embedding.remote.client_contract import SETTINGS_HINT, EmbeddingReply, Purpose
from rag_pipeline.embedding_models import EmbeddingModel, api_name
from rag_pipeline.errors import ProviderError
from rag_pipeline.remote import HttpFault, ReplyFault, Service, TransientFault, retry_after
from rag_pipeline.settings import EmbeddingSettings

SERVICE = Service(
    "vertex",
    key_hint="run `gcloud auth application-default login` and set embedding.project, or set "
    "GOOGLE_API_KEY; the account needs the role Vertex AI User",
    quota_hint="enable billing for the Google Cloud project",
    settings_hint=SETTINGS_HINT,
)
_TASKS: dict[Purpose, str] = {"document": "RETRIEVAL_DOCUMENT", "query": "RETRIEVAL_QUERY"}


class VertexClient:
    """A `Client`: a project uses application default credentials, otherwise a key is needed."""

    def __init__(self, settings: EmbeddingSettings, model: EmbeddingModel) -> None:
        self._genai = import_extra("google.genai", "vertex")
        self._types = import_extra("google.genai.types", "vertex")
        self._errors = import_extra("google.genai.errors", "vertex")
        self._auth_error = import_extra("google.auth.exceptions", "vertex").GoogleAuthError
        key = settings.api_key.get_secret_value() if settings.api_key else None
        account = (
            {"project": settings.project, "location": settings.location}
            if settings.project or key is None
            else {"api_key": key}
        )
        options = self._types.HttpOptions(base_url=settings.base_url)
        try:
            self._client = self._genai.Client(vertexai=True, http_options=options, **account)
        except (ValueError, self._auth_error) as error:
            raise ProviderError(f"vertex: {error}", hint=SERVICE.key_hint) from error
        self._model = api_name(settings.model)
        shortened = settings.dimensions != model.dimensions
        self._dimensions = settings.dimensions if shortened else None
        # Models that read the task in the text itself take no parameter for it.
        self._has_tasks = not model.query_prefix

    def embed(self, texts: Sequence[str], purpose: Purpose, timeout: float) -> EmbeddingReply:
        """See `Client`; a text over the model's limit is an error, not cut."""
        config = self._types.EmbedContentConfig(
            task_type=_TASKS[purpose] if self._has_tasks else None,
            output_dimensionality=self._dimensions,
            auto_truncate=False,
            http_options=self._types.HttpOptions(timeout=max(1, round(timeout * 1000))),
        )
        try:
            reply = self._client.models.embed_content(
                model=self._model, contents=list(texts), config=config
            )
        except self._errors.APIError as error:
            headers = getattr(error.response, "headers", None) or {}
            message = f"{error.status or ''} {error.message or error.details}"
            fault = HttpFault(error.code, message, retry_after=retry_after(headers))
            raise fault.meaning(SERVICE) from error
        except self._auth_error as error:
            if getattr(error, "retryable", False):
                raise TransientFault(f"vertex: {error}") from error
            raise ProviderError(f"vertex: {error}", hint=SERVICE.key_hint) from error
        except (OSError, ValueError) as error:
            raise TransientFault(f"vertex: {type(error).__name__}: {error}") from error
        except Exception as error:
            if type(error).__module__.partition(".")[0] in ("httpx", "httpx2", "httpcore"):
                # Both versions of its HTTP library have no base class in common.
                raise TransientFault(f"vertex: {type(error).__name__}: {error}") from error
            raise
        embeddings = reply.embeddings or []
        for embedding in embeddings:
            if embedding.statistics and embedding.statistics.truncated:
                raise ReplyFault("vertex cut a text")
        counts = [e.statistics.token_count for e in embeddings if e.statistics]
        known = len(counts) == len(embeddings) and all(counts)
        tokens = round(sum(counts)) if known else None
        return EmbeddingReply([e.values for e in embeddings], tokens)
