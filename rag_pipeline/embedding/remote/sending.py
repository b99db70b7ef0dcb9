"""Sending requests: several at once, with retries, and halving those that are refused."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from typing import Generic, TypeVar

from rag_pipeline.embedding.remote.client_contract import SETTINGS_HINT
from rag_pipeline.errors import EmbeddingError, ProviderError
from rag_pipeline.remote import (
    GaveUpFault,
    Limiter,
    Patience,
    RefusedFault,
    ReplyFault,
    Stopped,
    TransientFault,
    send_with_retries,
)
from rag_pipeline.settings import EmbeddingSettings

Item = TypeVar("Item")
Result = TypeVar("Result")
Send = Callable[[Sequence[Item], float], list[Result]]
"""Sends items with a timeout in seconds, and returns the result of each, in order."""


class Sender(Generic[Item, Result]):
    """Sends the requests of one embedder; safe to use from several threads.

    `size` gives the tokens of an item. `halve` splits an item that the provider finds too long in
    spite of the estimate (an empty list: it cannot be split), and `join` combines the results of
    the halves. `probe` sends something harmless with a timeout: if that is refused too, the
    settings are wrong and not the texts.
    """

    def __init__(
        self,
        limiter: Limiter,
        settings: EmbeddingSettings,
        *,
        size: Callable[[Item], int],
        halve: Callable[[Item], list[Item]],
        join: Callable[[list[Item], list[Result]], Result],
        probe: Callable[[float], object],
    ) -> None:
        self._limiter = limiter
        self._deadline = settings.deadline_seconds
        self._concurrency = settings.max_concurrent_requests
        self._size = size
        self._halve = halve
        self._join = join
        self._probe = probe
        self._probe_lock = threading.Lock()
        self._served = False

    def send_all(
        self, requests: Sequence[Sequence[Item]], send: Send[Item, Result]
    ) -> Iterator[tuple[Sequence[Item], list[Result | RefusedFault]]]:
        """Send requests, several at once, and yield each with its results as it lands.

        A refused request is halved, and each half lands separately; an item that is refused alone
        has the fault as its result. When a request fails for good, those under way are still
        yielded and no other is started; then its error is raised: a `ProviderError`, or an
        `EmbeddingError` if the deadline has passed.
        """
        stop = threading.Event()
        if [len(items) for items in requests] == [1]:  # a query: not worth starting a thread
            yield requests[0], [self._send_item(requests[0][0], send, stop)]
            return
        failure: BaseException | None = None
        waiting = deque(requests)
        running: dict[Future[list[Result | RefusedFault] | None], Sequence[Item]] = {}
        with ThreadPoolExecutor(self._concurrency) as pool:
            try:
                while True:
                    while waiting and len(running) < 2 * self._concurrency and not stop.is_set():
                        items = waiting.popleft()
                        running[pool.submit(self._send_or_stop, items, send, stop)] = items
                    if not running:
                        break
                    for future in wait(running, return_when=FIRST_COMPLETED).done:
                        items = running.pop(future)
                        error = future.exception()
                        if error is not None:
                            failure = failure or (None if isinstance(error, Stopped) else error)
                        elif (results := future.result()) is not None:
                            yield items, results
                        else:
                            half = len(items) // 2
                            waiting.extendleft([items[half:], items[:half]])
            finally:
                stop.set()  # also when the caller gives up
        if failure:
            raise failure

    def _send_or_stop(
        self, items: Sequence[Item], send: Send[Item, Result], stop: threading.Event
    ) -> list[Result | RefusedFault] | None:
        """Send one request; None if it is refused and should be halved."""
        try:
            if len(items) == 1:
                return [self._send_item(items[0], send, stop)]
            try:
                return list(self._retry(items, send, stop))
            except RefusedFault as fault:
                self._check_settings(fault, stop)
                return None
        except BaseException:
            stop.set()  # here, not where it is noticed: the next request would be under way by then
            raise

    def _send_item(
        self, item: Item, send: Send[Item, Result], stop: threading.Event
    ) -> Result | RefusedFault:
        try:
            return self._retry([item], send, stop)[0]
        except RefusedFault as fault:
            if fault.too_long:
                return self._send_halves(item, fault, send, stop)
            self._check_settings(fault, stop)
            return fault

    def _send_halves(
        self, item: Item, fault: RefusedFault, send: Send[Item, Result], stop: threading.Event
    ) -> Result | RefusedFault:
        halves = self._halve(item)
        results: list[Result] = []
        for half in halves:
            result = self._send_item(half, send, stop)
            if isinstance(result, RefusedFault):
                return result
            results.append(result)
        return self._join(halves, results) if results else fault

    def _retry(
        self, items: Sequence[Item], send: Send[Item, Result], stop: threading.Event
    ) -> list[Result]:
        """Send until it succeeds, is refused, or its deadline passes."""
        try:
            results = send_with_retries(
                lambda seconds: send(items, seconds),
                Patience(self._deadline),
                limiter=self._limiter,
                tokens=sum(map(self._size, items)),
                stop=stop,
            )
        except GaveUpFault as fault:
            if not fault.is_late:
                raise RefusedFault(str(fault.last), bad_reply=True) from fault.last
            raise EmbeddingError(
                str(fault),
                hint="the next sync tries again; raise embedding.deadline_seconds, or lower "
                "tokens_per_minute and max_concurrent_requests",
            ) from fault.last
        self._served = True
        return results

    def _check_settings(self, refused: RefusedFault, stop: threading.Event) -> None:
        """Raise `ProviderError` if the provider refuses whatever it is sent."""
        if refused.too_long:
            return
        with self._probe_lock:
            if self._served:
                return
            try:
                with self._limiter.slot(1, stop):
                    self._probe(self._deadline)
            except (RefusedFault, ReplyFault) as fault:
                raise ProviderError(str(fault), hint=SETTINGS_HINT) from refused
            except TransientFault:
                return  # undecided: the text is blamed, and the next sync tries it again
            self._served = True
