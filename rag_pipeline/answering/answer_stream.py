"""An answer that arrives piece by piece."""

from __future__ import annotations

from rag_pipeline.answering.answer import Answer
from rag_pipeline.chat.text_stream import PieceStream


class AnswerStream(PieceStream[Answer]):
    """Yields the answer's text as it arrives; at the end, `answer` is complete and checked.

    Answers that are not streamed (extractive ones, "the documents do not say") are one piece.
    Raises what `Answerer.ask` raises; a `ChatError` midway carries the text so far.
    """

    @property
    def answer(self) -> Answer:
        """The whole answer; raises `ChatError` if the stream was not read to its end."""
        return self.whole
