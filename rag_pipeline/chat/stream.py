"""An answer that arrives piece by piece."""

from __future__ import annotations

from collections.abc import Generator, Iterator
from types import TracebackType

from rag_pipeline.chat.messages import ChatReply
from rag_pipeline.errors import ChatError


class ChatStream(Iterator[str]):
    """Yields the answer's text as it comes; `reply` is the whole, once the end was reached.

    The request leaves with the first piece asked for. Who stops before the end should `close` it
    (or use it in a `with`), which hangs up and makes room for the next request. Iterating raises
    what `ChatModel.complete` raises; a `ChatError` in the middle carries the text up to there.

    >>> with chat.stream(messages) as stream:            # doctest: +SKIP
    ...     for piece in stream:
    ...         print(piece, end="", flush=True)
    >>> stream.reply.finish_reason                       # doctest: +SKIP
    'stop'
    """

    def __init__(self, pieces: Generator[str, None, ChatReply]) -> None:
        self._pieces = pieces
        self._reply: ChatReply | None = None

    def __next__(self) -> str:
        try:
            return next(self._pieces)
        except StopIteration as end:
            self._reply = self._reply or end.value
            raise StopIteration from None

    @property
    def reply(self) -> ChatReply:
        """The whole answer; raises `ChatError` where the stream was not read to its end."""
        if self._reply is None:
            raise ChatError("the answer was not read to its end, or did not reach it")
        return self._reply

    def close(self) -> None:
        """Hang up; what was not read yet is lost."""
        self._pieces.close()

    def __enter__(self) -> ChatStream:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()
