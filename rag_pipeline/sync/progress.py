"""Progress of a sync, reported to a listener such as a progress bar, if there is one."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass


@dataclass(frozen=True)
class Progress:
    """One step: how many documents, pages and newly embedded texts and tokens left a stage."""

    stage: str
    documents: int
    pages: int = 0
    texts: int = 0
    tokens: int = 0
    read_bytes: int = 0
    """Size of documents that were read, whatever came of them."""
    found_tokens: int = 0
    """Tokens of their chunks, which are to be embedded or taken from the cache."""
    settled_tokens: int = 0
    """Tokens of chunks that need no vectors any more: embedded, cached or failed."""


_listener: ContextVar[Callable[[Progress], None] | None] = ContextVar("listener", default=None)


@contextmanager
def listening(listener: Callable[[Progress], None]) -> Iterator[None]:
    """Send every report in this context to `listener`."""
    token = _listener.set(listener)
    try:
        yield
    finally:
        _listener.reset(token)


def report(stage: str, documents: int, pages: int = 0, **counts: int) -> None:
    """Report progress to the listener, if there is one; `counts` are fields of `Progress`."""
    listener = _listener.get()
    if listener is not None:
        listener(Progress(stage, documents, pages, **counts))
