"""The last evaluation, as `rag eval` left it in the data folder."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from rag_pipeline.serve.replies import EvaluationReply
from rag_pipeline.settings import Settings

REPORT = Path("evaluation") / "report.html"
FIGURES = Path("evaluation") / "report.html.json"


def last_evaluation(settings: Settings) -> EvaluationReply:
    """Return the figures of the last evaluation; a file that is none counts as absent."""
    figures = settings.data_path / FIGURES
    has_report = (settings.data_path / REPORT).is_file()
    try:
        read: Any = json.loads(figures.read_text(encoding="utf-8"))
        made_at = datetime.fromtimestamp(figures.stat().st_mtime, UTC)
        return EvaluationReply(
            is_there=True,
            made_at=made_at,
            questions_name=read["questions_name"],
            thresholds=read["thresholds"],
            settings=[{**one, "questions": len(one["questions"])} for one in read["settings"]],
            has_report=has_report,
        )
    except (OSError, ValueError, KeyError, TypeError):
        return EvaluationReply(is_there=False, has_report=has_report)


def report(settings: Settings) -> bytes | None:
    """Return the whole report as HTML; None where there is none."""
    try:
        return (settings.data_path / REPORT).read_bytes()
    except OSError:
        return None
