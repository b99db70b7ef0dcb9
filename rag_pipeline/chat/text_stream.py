"""Text that arrives piece by piece, and the whole at its end."""

from __future__ import annotations

from collections.abc import Generator, Iterator
from types import TracebackType
from typing import Generic, Self, TypeVar

from rag_pipeline.chat.messages import ChatReply
from rag_pipeline.errors import ChatError

Whole = TypeVar("Whole")


class PieceStream(Iterator[str], Generic[Whole]):
    """Yields the pieces of a generator; at the end, `whole` is what the generator returned.

    To stop early, `close` it or use it in a `with` statement, which hangs up.
    """

    def __init__(self, pieces: Generator[str, None, Whole]) -> None:
        self._pieces = pieces
        self._whole: Whole | None = None

    def __next__(self) -> str:
        try:
            return next(self._pieces)
        except StopIteration as end:
            self._whole = self._whole or end.value
            raise StopIteration from None

    @property
    def whole(self) -> Whole:
        """The whole answer; raises `ChatError` if the stream was not read to its end."""
        if self._whole is None:
            raise ChatError("the answer was not read to its end, or did not reach it")
        return self._whole

    def close(self) -> None:
        """Hang up; unread pieces are lost."""
        self._pieces.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()


class ChatStream(PieceStream[ChatReply]):
    """A reply of the chat model as it arrives; at the end, `reply` is the whole.

    Reading the first piece sends the request; closing makes room for the next one. Iterating
    raises what `ChatModel.complete` raises; a `ChatError` in the middle carries the text so far.

    >>> with chat.stream(messages) as stream:            # doctest: +SKIP
    ...     for piece in stream:
    ...         print(piece, end="", flush=True)
    >>> stream.reply.finish_reason                       # doctest: +SKIP
    'stop'
    """

    @property
    def reply(self) -> ChatReply:
        """The whole reply; raises `ChatError` if the stream was not read to its end."""
        return self.whole
