"""Answers take turns in threads of their own, because each may wait minutes for a chat model.

Searches, lists and pages never wait for them: the threads of the server stay free.
"""

from __future__ import annotations

import asyncio
import contextlib
import threading
import time
from collections.abc import AsyncGenerator, Callable, Generator, Iterator
from contextlib import aclosing, closing, contextmanager
from typing import Any, Generic, TypeVar

from rag_pipeline.serve.problems import ProblemError
from rag_pipeline.settings import Settings

WAITING = 32
"""Answers that may wait for their turn; more of them are refused."""
RETRY_SECONDS = 5
"""After which a refused client may ask again; an answer seldom takes less."""
_END: Any = object()
Piece = TypeVar("Piece")


class AnswerTurns:
    """Lets as many answers run at once as the chat model takes; more of them wait.

    Belongs to one event loop. A client that hangs up while it waits leaves the queue. One that
    hangs up later keeps its turn until the chat model sends the next piece.
    """

    def __init__(self, settings: Settings) -> None:
        chat = settings.chat
        # Without a chat model an answer costs about as much as a search.
        at_once = chat.max_concurrent_requests if chat.model else settings.serve.max_concurrent
        self._turns = asyncio.Semaphore(at_once)
        self._most = at_once + WAITING
        self._admitted = 0
        self._running: set[_Reading[Any]] = set()
        self._is_stopping = False

    @contextmanager
    def place(self) -> Iterator[None]:
        """Hold a place among the answers that run or wait.

        Raises `ProblemError` (503, with `Retry-After`) if there is none.
        """
        if self._admitted >= self._most:
            raise ProblemError(
                503,
                f"{self._admitted} questions are being answered or wait for their turn",
                "ask again in a few seconds, or raise chat.max_concurrent_requests",
                headers={"Retry-After": str(RETRY_SECONDS)},
            )
        self._admitted += 1
        try:
            yield
        finally:
            self._admitted -= 1

    async def run(self, function: Callable[[], Piece]) -> Piece:
        """Return what a function returns, once its turn has come."""
        async with aclosing(self.iterate(function() for _ in range(1))) as pieces:
            async for piece in pieces:
                return piece
        raise ProblemError(503, "the server is stopping", "ask again later")

    async def iterate(self, pieces: Generator[Piece, None, None]) -> AsyncGenerator[Piece]:
        """Yield what a generator yields, once its turn has come, and raise what it raises.

        Ends early if the server stops.
        """
        await self._turns.acquire()
        if self._is_stopping:
            return
        reading = _Reading(pieces, self._end)
        self._running.add(reading)
        reading.thread.start()
        try:
            while (piece := await reading.arrived.get()) is not _END:
                yield piece
        finally:
            reading.is_wanted = False
        if reading.error is not None:
            raise reading.error

    def stop(self) -> None:
        """End all answers, and let nobody wait any more. Call it in the event loop."""
        self._is_stopping = True
        for reading in self._running:
            reading.arrived.put_nowait(_END)
        for _ in range(self._most):
            self._turns.release()

    def join(self, seconds: float) -> None:
        """Wait a while for the threads, so that the usage of their answers is recorded."""
        deadline = time.monotonic() + seconds
        for reading in tuple(self._running):
            reading.thread.join(max(0.0, deadline - time.monotonic()))

    def _end(self, reading: _Reading[Any]) -> None:
        self._running.discard(reading)
        self._turns.release()


class _Reading(Generic[Piece]):
    """Reads a generator in a thread, and hands its pieces to the event loop that made this."""

    def __init__(
        self, pieces: Generator[Piece, None, None], on_end: Callable[[_Reading[Piece]], None]
    ) -> None:
        self._pieces = pieces
        self._on_end = on_end
        self._loop = asyncio.get_running_loop()
        # A daemon does not keep the process from ending while a chat model is silent.
        self.thread = threading.Thread(target=self._run, daemon=True, name="answer")
        self.arrived: asyncio.Queue[Piece] = asyncio.Queue()
        self.error: BaseException | None = None
        self.is_wanted = True

    def _run(self) -> None:
        """Read to the end, or until nobody wants more."""
        try:
            with closing(self._pieces):
                for piece in self._pieces:
                    self._tell(self.arrived.put_nowait, piece)
                    if not self.is_wanted:
                        break
        except BaseException as error:  # the one who waits raises it
            self.error = error
        self._tell(self.arrived.put_nowait, _END)
        self._tell(self._on_end, self)

    def _tell(self, function: Callable[..., None], *arguments: object) -> None:
        with contextlib.suppress(RuntimeError):  # the loop ends with the server
            self._loop.call_soon_threadsafe(function, *arguments)
