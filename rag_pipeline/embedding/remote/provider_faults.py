"""What can go wrong with a request, and what it means for the others.

Clients translate their library's errors into these: a `TransientFault` is tried again, a
`RefusedFault` lies with the texts sent, and a `ProviderError` ends everything.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
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


@contextmanager
def key_hidden(key: str | None) -> Iterator[None]:
    """Take the key out of what goes wrong within: some servers quote the one that they refuse.

    A library's error that quotes it is no cause any more, since causes stand in logs.
    """
    try:
        yield
    except (Fault, ProviderError) as error:
        if key:
            _hide(error, key)
        raise


def _hide(error: Exception, key: str) -> None:
    error.args = tuple(_without(key, str(part)) for part in error.args)
    if isinstance(error, ProviderError):
        error.message = _without(key, error.message)
    cause = error.__cause__ or error.__context__
    while cause is not None:
        if key in f"{cause} {cause!r}":
            error.__cause__ = error.__context__ = None
            return
        cause = cause.__cause__ or cause.__context__


def _without(key: str, text: str) -> str:
    """Replace a key, also where a long message was cut within it."""
    text = text.replace(key, "***")
    for length in range(len(key) - 1, 7, -1):
        if text.endswith(key[:length]):
            return text[:-length] + "***"
    return text


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
