"""Usage of providers, and its estimated cost.

Whatever calls a provider counts in a `UsageMeter`; whatever runs the work takes the counts and
writes them to the table `usage`. Local models count nothing.
"""

from __future__ import annotations

import threading
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

_TOKENS_PER_PRICE = 1_000_000
_PAGES_PER_PRICE = 1_000


def _read_prices() -> Iterator[tuple[str, float]]:
    table = tomllib.loads(Path(__file__).with_name("prices.toml").read_text(encoding="utf-8"))
    for provider, prices in table.items():
        for model, price in prices.items():
            first, *output = price if isinstance(price, list) else [price]
            yield f"{provider}/{model}", first
            yield from ((f"{provider}/{model}/output", one) for one in output)


DEFAULT_PRICES = dict(_read_prices())
"""US dollars per million tokens of `PROVIDER/MODEL` and of its `/output`, and per thousand pages
for Document AI, from `prices.toml`."""


@dataclass(frozen=True)
class Usage:
    """Calls of one kind to one model, added up.

    `operation` is one of `embed_documents`, `embed_query`, `parse`, `chat`.
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
    """Adds up calls, from any thread, until the sums are taken."""

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
        """Return the sums since the last call, and restart from zero."""
        with self._lock:
            sums, self._sums = list(self._sums.values()), {}
        return sums


def estimate_usd(usage: Usage, prices: Mapping[str, float] | None = None) -> float | None:
    """Estimate the cost in US dollars; None if the price is not known.

    `prices` override `DEFAULT_PRICES`; the key of output tokens is `PROVIDER/MODEL/output`.

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
