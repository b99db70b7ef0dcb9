"""Where the chat model is, and what to say to the user when it does not serve."""

from __future__ import annotations

from dataclasses import dataclass, field

from rag_pipeline.errors import ProviderError
from rag_pipeline.settings import ChatSettings

OPENAI_URL = "https://api.openai.com/v1"


@dataclass(frozen=True)
class Endpoint:
    """An address that speaks OpenAI's protocol."""

    provider: str
    model: str
    base_url: str
    key: str | None = field(repr=False)

    @classmethod
    def of(cls, settings: ChatSettings) -> Endpoint:
        """Read the settings; raises `ProviderError` for a key that cannot be sent, or none."""
        key = settings.api_key.get_secret_value().strip() if settings.api_key else ""
        base_url = settings.base_url or OPENAI_URL
        endpoint = cls(settings.provider, settings.model, base_url, key or None)
        if endpoint.provider == "openai" and not key:
            raise ProviderError("openai: no key is set for the chat model", hint=endpoint.key_hint)
        if not (key.isascii() and key.isprintable()):
            # Said here, because libraries quote a header that they do not take, key and all.
            raise ProviderError(
                f"{endpoint.provider}: the key has characters that no key has",
                hint=endpoint.key_hint,
            )
        return endpoint

    @property
    def url(self) -> str:
        """Where questions are posted."""
        return f"{self.base_url}/chat/completions"

    @property
    def key_hint(self) -> str:
        """Next step where the key is refused."""
        if self.provider == "openai":
            return "set OPENAI_API_KEY (or RAG_CHAT__API_KEY) to a valid key"
        return f"set RAG_CHAT__API_KEY to the key that {self.base_url} asks for"

    @property
    def quota_hint(self) -> str:
        """Next step where the money is used up."""
        if self.provider == "openai":
            return "add credit at platform.openai.com/settings/organization/billing"
        return f"see your account with {self.base_url}"

    @property
    def settings_hint(self) -> str:
        """Next step where the address or the model is unknown there."""
        if self.provider == "ollama":
            return f"run `ollama pull {self.model}`; chat.base_url ends in /v1"
        return f"check chat.model and chat.base_url ({self.base_url}; most end in /v1)"

    @property
    def start_hint(self) -> str:
        """Next step where nobody listens."""
        start = "start it with `ollama serve`" if self.provider == "ollama" else "is it running?"
        return f"{start}; the address is chat.base_url"
