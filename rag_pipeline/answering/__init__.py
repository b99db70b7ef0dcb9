"""Answers with citations."""

from rag_pipeline.answering.extractive import Answer, Citation, Quote, extract_answer

__all__ = ["Answer", "Citation", "Quote", "extract_answer"]
