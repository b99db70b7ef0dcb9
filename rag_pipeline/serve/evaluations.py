"""Reads the last evaluation that `rag eval` or the asset stored in the data folder."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from typing import Any

from rag_pipeline.serve.reply_models import EvaluationReply
from rag_pipeline.settings import Settings


def last_evaluation(settings: Settings) -> EvaluationReply:
    """Return the figures of the last evaluation; an unreadable file counts as absent."""
    report_path = settings.report_path
    figures = report_path.with_name(f"{report_path.name}.json")
    has_report = report_path.is_file()
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
    """Return the whole report as HTML, or None if there is none."""
    try:
        return settings.report_path.read_bytes()
    except OSError:
        return None
