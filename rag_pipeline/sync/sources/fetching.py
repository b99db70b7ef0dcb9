"""Documents that lie elsewhere, copied here ahead of the workers that read them."""

from __future__ import annotations

import itertools
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from typing import TypeVar

from rag_pipeline.errors import ChangedMeanwhileError, RagError, RemoteFileError
from rag_pipeline.settings import WebSettings
from rag_pipeline.sync.sources.places import kind_of
from rag_pipeline.sync.sources.spool import Spool
from rag_pipeline.sync.sources.web_pages import fetch_page

FETCH_THREADS = 4
Item = TypeVar("Item")
Made = TypeVar("Made")


def local_copies(
    uris: Sequence[str], source_hash: str, name: str, spool: Spool, web: WebSettings
) -> tuple[str, ...]:
    """Return paths on this machine for a content that lies at `uris`: local files as they are.

    Raises `RemoteFileError` where a copy cannot be made, `ChangedMeanwhileError` where the content
    is another one by now.
    """
    local = tuple(uri for uri in uris if kind_of(uri) == "local")
    if local:
        return local
    if spool.path(source_hash).exists():
        return (str(spool.path(source_hash)),)
    for uri in uris[:-1]:
        try:
            return (str(_copy(uri, source_hash, name, spool, web)),)
        except RagError:
            continue
    return (str(_copy(uris[-1], source_hash, name, spool, web)),)


def prefetched(
    items: Iterable[Item], make: Callable[[Item], Made], is_slow: Callable[[Item], bool]
) -> Iterator[Made]:
    """Yield `make(item)` for each, in order; slow ones are made a few ahead, in threads."""
    source = iter(items)
    ahead: deque[Future[Made] | Item] = deque()
    with ThreadPoolExecutor(FETCH_THREADS) as threads:
        while True:
            for item in itertools.islice(source, FETCH_THREADS - len(ahead)):
                ahead.append(threads.submit(make, item) if is_slow(item) else item)
            if not ahead:
                return
            first = ahead.popleft()
            yield first.result() if isinstance(first, Future) else make(first)


def _copy(uri: str, source_hash: str, name: str, spool: Spool, web: WebSettings) -> Path:
    try:
        if kind_of(uri) == "remote":
            return spool.fetch(uri, source_hash, name)
        page = fetch_page(uri, web)
        assert page.content is not None  # without a condition a page always comes
        if spool.put(page.content) != source_hash:
            raise ChangedMeanwhileError(
                "changed after it was fetched", document=name, hint="run `rag sync` again"
            )
        return spool.path(source_hash)
    except ChangedMeanwhileError:
        raise
    except Exception as error:  # each file system has errors of its own
        raise RemoteFileError(
            f"{uri} cannot be read ({str(error) or type(error).__name__})",
            document=name,
            hint="check the network and the rights; the next sync tries again",
        ) from error
