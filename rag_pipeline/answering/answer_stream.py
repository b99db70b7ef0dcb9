"""An answer that arrives piece by piece."""

from __future__ import annotations

from rag_pipeline.answering.answer import Answer
from rag_pipeline.chat.text_stream import PieceStream


class AnswerStream(PieceStream[Answer]):
    """Yields the answer's text as it comes; `answer` is the whole, checked, once it has ended.

    What is not streamed (an extractive answer, "the documents do not say") comes as one piece.
    Raises what `Answerer.ask` raises; a `ChatError` in the middle carries the text up to there.
    """

    @property
    def answer(self) -> Answer:
        """The whole answer; raises `ChatError` where the stream was not read to its end."""
        return self.whole
