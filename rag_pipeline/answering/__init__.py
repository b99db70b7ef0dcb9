"""Answers with citations: by a chat model, or as sentences of the documents."""

from rag_pipeline.answering.answer import Answer, Citation, Computation, Quote
from rag_pipeline.answering.answer_stream import AnswerStream
from rag_pipeline.answering.answerer import Answerer, Turn
from rag_pipeline.answering.extractive import extract_answer

__all__ = [
    "Answer",
    "AnswerStream",
    "Answerer",
    "Citation",
    "Computation",
    "Quote",
    "Turn",
    "extract_answer",
]
