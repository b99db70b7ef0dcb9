"""Where the chat model is, and what to tell the user when it does not answer."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property

from rag_pipeline.errors import ProviderError
from rag_pipeline.remote import Service
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
        """Read the settings; raises `ProviderError` if the key is missing or cannot be sent."""
        key = settings.api_key.get_secret_value().strip() if settings.api_key else ""
        base_url = settings.base_url or OPENAI_URL
        endpoint = cls(settings.provider, settings.model, base_url, key or None)
        key_hint = endpoint.service.key_hint
        if endpoint.provider == "openai" and not key:
            raise ProviderError("openai: no key is set for the chat model", hint=key_hint)
        if not (key.isascii() and key.isprintable()):
            # Checked here, because libraries quote a header they reject, key and all.
            raise ProviderError(
                f"{endpoint.provider}: the key has characters that no key has", hint=key_hint
            )
        return endpoint

    @property
    def url(self) -> str:
        """Where questions are posted."""
        return f"{self.base_url}/chat/completions"

    @cached_property
    def service(self) -> Service:
        """Next steps if the key is refused, the money is used up, or address or model is wrong."""
        settings_hint = f"check chat.model and chat.base_url ({self.base_url}; most end in /v1)"
        if self.provider == "ollama":
            settings_hint = f"run `ollama pull {self.model}`; chat.base_url ends in /v1"
        if self.provider == "openai":
            key_hint = "set OPENAI_API_KEY (or RAG_CHAT__API_KEY) to a valid key"
            quota_hint = "add credit at platform.openai.com/settings/organization/billing"
        else:
            key_hint = f"set RAG_CHAT__API_KEY to the key that {self.base_url} asks for"
            quota_hint = f"see your account with {self.base_url}"
        return Service(self.provider, key_hint, quota_hint, settings_hint)

    @property
    def start_hint(self) -> str:
        """Next step if nothing listens at the address."""
        start = "start it with `ollama serve`" if self.provider == "ollama" else "is it running?"
        return f"{start}; the address is chat.base_url"
