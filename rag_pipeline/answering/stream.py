"""An answer that arrives piece by piece."""

from __future__ import annotations

from collections.abc import Generator, Iterator
from types import TracebackType

from rag_pipeline.answering.answer import Answer
from rag_pipeline.errors import ChatError


class AnswerStream(Iterator[str]):
    """Yields the answer's text as it comes; `answer` is the whole, checked, once it has ended.

    What is not streamed (an extractive answer, "the documents do not say") comes as one piece.
    Who stops before the end should `close` it, or use it in a `with`. Raises what `Answerer.ask`
    raises; a `ChatError` in the middle carries the text up to there.
    """

    def __init__(self, pieces: Generator[str, None, Answer]) -> None:
        self._pieces = pieces
        self._answer: Answer | None = None

    def __next__(self) -> str:
        try:
            return next(self._pieces)
        except StopIteration as end:
            self._answer = self._answer or end.value
            raise StopIteration from None

    @property
    def answer(self) -> Answer:
        """The whole answer; raises `ChatError` where the stream was not read to its end."""
        if self._answer is None:
            raise ChatError("the answer was not read to its end, or did not reach it")
        return self._answer

    def close(self) -> None:
        """Hang up; what was not read yet is lost."""
        self._pieces.close()

    def __enter__(self) -> AnswerStream:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()
