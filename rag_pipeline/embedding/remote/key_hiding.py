"""Keeping the key out of messages and logs."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from rag_pipeline.errors import ProviderError
from rag_pipeline.remote import ServiceFault


@contextmanager
def key_hidden(key: str | None) -> Iterator[None]:
    """Remove the key from faults and errors raised inside: some servers quote a key they refuse.

    A library's error that quotes the key is dropped as the cause, because causes are logged.
    """
    try:
        yield
    except (ServiceFault, ProviderError) as error:
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
    """Replace the key, even if a long message was cut in the middle of it."""
    text = text.replace(key, "***")
    for length in range(len(key) - 1, 7, -1):
        if text.endswith(key[:length]):
            return text[:-length] + "***"
    return text
