"""Saves an evaluation: a report for people, and its figures for programs."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Sequence
from dataclasses import asdict
from datetime import UTC, datetime
from pathlib import Path

from rag_pipeline.errors import SourceError
from rag_pipeline.evaluation.evaluate import Evaluation
from rag_pipeline.evaluation.html_report import write_report
from rag_pipeline.evaluation.thresholds import Threshold


def save_evaluation(
    report: Path,
    evaluations: Sequence[Evaluation],
    thresholds: Sequence[Threshold],
    questions_name: str,
) -> dict[str, object]:
    """Write the report and `REPORT.json`, which `rag serve` shows; return the latter's values.

    Raises `SourceError` if a file cannot be written.
    """
    html = write_report(
        evaluations,
        questions_name=questions_name,
        made_at=datetime.now(UTC),
        thresholds=thresholds,
    )
    figures: dict[str, object] = {
        "questions_name": questions_name,
        "thresholds": {one.name: one.passed for one in thresholds},
        "settings": [_plain(evaluation) for evaluation in evaluations],
    }
    write_file(report, html)
    text = json.dumps(figures, ensure_ascii=False, indent=2) + "\n"
    write_file(report.with_name(f"{report.name}.json"), text)
    return figures


def _plain(evaluation: Evaluation) -> dict[str, object]:
    return {
        "setting": evaluation.variant.name,
        "changes": evaluation.variant.changes,
        "measures": evaluation.by_group,
        "latency_ms": {stage: one._asdict() for stage, one in evaluation.latency.items()},
        "without_model": evaluation.without_model,
        "judged": evaluation.judged,
        "differences": [asdict(one) for one in evaluation.differences],
        "misses": [
            {"id": one.question.id, "rank": one.rank, "found": one.found[:5]}
            for one in evaluation.misses
        ],
        "questions": evaluation.by_question,
    }


def write_file(path: Path, text: str) -> None:
    """Write a file completely or not at all, creating its folder. Raises `SourceError`."""
    partial = path.with_name(f".{path.name}.partial")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        partial.write_text(text, encoding="utf-8")
        partial.replace(path)
    except OSError as error:
        with contextlib.suppress(OSError):
            partial.unlink(missing_ok=True)
        raise SourceError(f"{path} cannot be written: {error.strerror}") from error
