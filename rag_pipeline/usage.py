"""What a provider was asked for, and what it is estimated to cost.

Whoever calls a provider counts in a `UsageMeter`; whoever runs the work takes the counts and
writes them to the table `usage`. Local models count nothing.
"""

from __future__ import annotations

import threading
from collections.abc import Mapping
from dataclasses import dataclass, replace

DEFAULT_PRICES: dict[str, float] = {
    "openai/text-embedding-3-small": 0.02,
    "openai/text-embedding-3-large": 0.13,
    "openai/text-embedding-ada-002": 0.10,
    "openai/gpt-6.1-terra": 1.00,
    "openai/gpt-6.1-terra/output": 5.00,
    "openai/gpt-6-astra": 10.00,
    "openai/gpt-6-astra/output": 50.00,
    "openai/gpt-6-sol": 2.00,
    "openai/gpt-6-sol/output": 10.00,
    "openai/gpt-6-luna": 0.10,
    "openai/gpt-6-luna/output": 0.50,
    "openai/gpt-5.6-sol": 4.00,
    "openai/gpt-5.6-sol/output": 20.00,
    "openai/gpt-5.6-terra": 2.00,
    "openai/gpt-5.6-terra/output": 12.00,
    "openai/gpt-5.6-luna": 0.20,
    "openai/gpt-5.6-luna/output": 1.20,
    "openai/gpt-5.4": 2.50,
    "openai/gpt-5.4/output": 15.00,
    "openai/gpt-5.4-mini": 0.75,
    "openai/gpt-5.4-mini/output": 4.50,
    "openai/gpt-5.4-nano": 0.20,
    "openai/gpt-5.4-nano/output": 1.25,
    "openai/gpt-5-mini": 0.25,
    "openai/gpt-5-mini/output": 2.00,
    "openai/gpt-5-nano": 0.05,
    "openai/gpt-5-nano/output": 0.40,
    "openai/gpt-4.1": 2.00,
    "openai/gpt-4.1/output": 8.00,
    "openai/gpt-4.1-mini": 0.40,
    "openai/gpt-4.1-mini/output": 1.60,
    "openai/gpt-4.1-nano": 0.10,
    "openai/gpt-4.1-nano/output": 0.40,
    "openai/gpt-4o": 2.50,
    "openai/gpt-4o/output": 10.00,
    "openai/gpt-4o-mini": 0.15,
    "openai/gpt-4o-mini/output": 0.60,
    "voyage/voyage-context-4": 0.12,
    "voyage/voyage-context-3": 0.18,
    "voyage/voyage-4-large": 0.12,
    "voyage/voyage-4": 0.06,
    "voyage/voyage-4-lite": 0.02,
    "voyage/voyage-code-4": 0.12,
    "voyage/voyage-code-3": 0.18,
    "voyage/voyage-3.5": 0.06,
    "voyage/voyage-3.5-lite": 0.02,
    "voyage/voyage-3-large": 0.18,
    "voyage/voyage-finance-2": 0.12,
    "voyage/voyage-law-2": 0.12,
    "voyage/voyage-multilingual-2": 0.12,
    "vertex/gemini-embedding-001": 0.15,
    "vertex/gemini-embedding-2": 0.20,
    "vertex/text-embedding-005": 0.10,
    "vertex/text-multilingual-embedding-002": 0.10,
    "document_ai/ocr": 1.50,
    "document_ai/ocr_add_on": 6.0,
    "document_ai/form_parser": 30.0,
    "document_ai/layout_parser": 10.0,
}
"""US dollars per million tokens, and per thousand pages for Document AI: list prices as published
in 2026 (looked up in November 2026), to be overridden by the setting `prices`. Voyage's first 200
million tokens of a model are free and not counted off; nor are cached prompts of chat models, nor
added what long prompts (above 272,000 tokens) cost more. `text-embedding-005` and
`text-multilingual-embedding-002` are billed by the character (0.025 a million): four to a token."""

_TOKENS_PER_PRICE = 1_000_000
_PAGES_PER_PRICE = 1_000


@dataclass(frozen=True)
class Usage:
    """Calls of one kind to one model, summed up.

    `operation` is what was asked for: `embed_documents`, `embed_query`, `parse`, `chat`.
    """

    provider: str
    model: str
    operation: str
    requests: int = 0
    tokens: int = 0
    output_tokens: int = 0
    pages: int = 0

    @property
    def price_key(self) -> str:
        """The entry of the price table: `openai/text-embedding-3-small`."""
        return f"{self.provider}/{self.model}"


class UsageMeter:
    """Adds up calls, from any thread, until somebody takes the sums."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._sums: dict[tuple[str, str, str], Usage] = {}

    def add(self, usage: Usage) -> None:
        """Count one or more calls."""
        key = (usage.provider, usage.model, usage.operation)
        with self._lock:
            before = self._sums.get(key, Usage(*key))
            self._sums[key] = replace(
                before,
                requests=before.requests + usage.requests,
                tokens=before.tokens + usage.tokens,
                output_tokens=before.output_tokens + usage.output_tokens,
                pages=before.pages + usage.pages,
            )

    def take(self) -> list[Usage]:
        """Return the sums since the last call, and start again from zero."""
        with self._lock:
            sums, self._sums = list(self._sums.values()), {}
        return sums


def estimate_usd(usage: Usage, prices: Mapping[str, float] | None = None) -> float | None:
    """Estimate the cost in US dollars; None where the price is not known.

    `prices` go before `DEFAULT_PRICES`; the key of output tokens is `PROVIDER/MODEL/output`.

    >>> estimate_usd(Usage("openai", "text-embedding-3-small", "embed_documents", tokens=500_000))
    0.01
    """
    table = {**DEFAULT_PRICES, **(prices or {})}
    price = table.get(usage.price_key)
    if price is None:
        return 0.0 if usage.provider in ("local", "ollama") else None
    if usage.pages:
        return usage.pages * price / _PAGES_PER_PRICE
    output = usage.output_tokens * table.get(f"{usage.price_key}/output", 0.0)
    return (usage.tokens * price + output) / _TOKENS_PER_PRICE
