"""What can go wrong with a request, and what it means for the others.

Clients translate their library's errors into these: a `TransientFault` is tried again, a
`RefusedFault` lies with the texts sent, and a `ProviderError` ends everything.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from rag_pipeline.errors import ProviderError
from rag_pipeline.remote import BAD_KEY, NO_QUOTA, retry_after


class Fault(Exception):  # noqa: N818 - faults of requests; errors are for the user
    """A request failed; `str(fault)` is what the provider said."""


class TransientFault(Fault):
    """It may succeed when it is sent again: too many requests, a server's error, a lost line."""

    def __init__(self, message: str, *, retry_after: float | None = None) -> None:
        super().__init__(message)
        self.retry_after = retry_after
        """Seconds that the provider asks to wait."""


class ReplyFault(TransientFault):
    """The reply failed the checks: wrong count, order, dimensions or values."""


class RefusedFault(Fault):
    """The provider does not take these texts, or answers them wrongly each time."""

    def __init__(self, message: str, *, too_long: bool = False, bad_reply: bool = False) -> None:
        super().__init__(message)
        self.too_long = too_long
        self.bad_reply = bad_reply


@dataclass(frozen=True)
class Service:
    """How a provider is called in messages, and where its key and bill are looked after."""

    name: str
    key_hint: str
    quota_hint: str


SETTINGS_HINT = "check embedding.model, dimensions, base_url and location"
_REFUSED = frozenset({400, 413, 422})
_FATAL = frozenset({401, 402, 403, 404})
_SETTING = re.compile(r"dimension|unsupported model|model .*not (found|exist|support)", re.I)
_TOO_LONG = re.compile(
    r"context length|too long|too large|max\w* (allowed )?tokens|token limit|tokens? .*exceed"
    r"|exceed\w* .*tokens?",
    re.IGNORECASE,
)


def fault_of(
    service: Service,
    status: int,
    message: str,
    *,
    code: str | None = None,
    headers: Mapping[str, str] | None = None,
) -> Exception:
    """Return what an HTTP error status means: a `Fault`, or a `ProviderError` with the fix named.

    `code` is the provider's own name of the error, where it has one.
    """
    text = f"{service.name} answered {status}: {' '.join(message.split())[:300]}"
    if status == 429 and NO_QUOTA.search(f"{code} {message}"):
        return ProviderError(text, hint=service.quota_hint)
    if status in (401, 403) or (status in _REFUSED and BAD_KEY.search(message)):
        return ProviderError(text, hint=service.key_hint)
    if status == 402:
        return ProviderError(text, hint=service.quota_hint)
    if status in _FATAL or (status in _REFUSED and _SETTING.search(message)):
        return ProviderError(text, hint=SETTINGS_HINT)
    if status in _REFUSED:
        return RefusedFault(text, too_long=status == 413 or bool(_TOO_LONG.search(message)))
    return TransientFault(text, retry_after=retry_after(headers or {}))
