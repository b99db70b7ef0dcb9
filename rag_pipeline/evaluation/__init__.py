"""Evaluates retrieval and answers: measures, comparisons, reports."""

from rag_pipeline.evaluation.evaluate import Evaluation, evaluate
from rag_pipeline.evaluation.generate import draft_questions
from rag_pipeline.evaluation.html_report import write_report
from rag_pipeline.evaluation.known_questions import Gold, KnownQuestion, read_questions
from rag_pipeline.evaluation.saving import save_evaluation
from rag_pipeline.evaluation.thresholds import Threshold, check_thresholds
from rag_pipeline.evaluation.variants import Variant, current_settings, parse_variant

__all__ = [
    "Evaluation",
    "Gold",
    "KnownQuestion",
    "Threshold",
    "Variant",
    "check_thresholds",
    "current_settings",
    "draft_questions",
    "evaluate",
    "parse_variant",
    "read_questions",
    "save_evaluation",
    "write_report",
]
