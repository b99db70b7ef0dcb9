"""Output of `rag eval`: measures by setting, differences, latency, misses."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from rich.table import Table

from rag_pipeline.console.terminal import out, safe
from rag_pipeline.evaluation import Evaluation, Threshold
from rag_pipeline.evaluation.html_report import COLUMNS, rank_text, shown

MISSES = 10
"""Number of misses printed; the report has all."""


def print_evaluation(
    evaluations: Sequence[Evaluation], thresholds: Sequence[Threshold], report: Path
) -> None:
    """Print the evaluation of each setting, and where the report is."""
    out.print(_table(evaluations))
    for evaluation in evaluations[1:]:
        for one in evaluation.differences:
            sure = "" if one.is_sure else " [dim](not sure)[/]"
            out.print(
                f"{safe(evaluation.variant.name)}: {one.measure} {one.mean:+.3f} "
                f"[{one.low:+.3f}, {one.high:+.3f}], {one.better} better, {one.worse} worse{sure}"
            )
    first = evaluations[0]
    for name, values in first.by_group.items():
        if name != "all":
            out.print(
                f"[dim]{safe(name)}[/] ({values['questions']:.0f}): recall@5 "
                f"{values['recall@5']:.3f}, MRR {values['MRR']:.3f}, "
                f"gold section first {values['gold section first']:.3f}"
            )
    for evaluation in evaluations:
        for name, value in (evaluation.without_model | evaluation.judged).items():
            out.print(f"{safe(evaluation.variant.name)}: {safe(name)} {value:.3f}")
    for miss in first.misses[:MISSES]:
        out.print(f"[yellow]missed[/] {safe(miss.question.text)} [dim]({rank_text(miss)})[/]")
        out.print(
            f"       [dim]found {safe('; '.join(map(shown, miss.found[:3])) or 'nothing')}[/]"
        )
    if len(first.misses) > MISSES:
        out.print(f"[dim]{len(first.misses) - MISSES} more misses in the report[/]")
    for threshold in thresholds:
        mark = "[green]passed[/]" if threshold.passed else "[red]failed[/]"
        out.print(f"{mark} {safe(threshold)}")
    out.print(f"report  {safe(report)}")


def _table(evaluations: Sequence[Evaluation]) -> Table:
    """Return the measures as rows and the settings as columns."""
    table = Table(box=None, padding=(0, 2, 0, 0), header_style="dim")
    table.add_column(f"{evaluations[0].by_group['all']['questions']:.0f} questions")
    for evaluation in evaluations:
        table.add_column(safe(evaluation.variant.name), justify="right")
    for name in COLUMNS:
        values = [evaluation.by_group["all"][name] for evaluation in evaluations]
        table.add_row(name, *(f"{value:.3f}" for value in values))
    latencies = [evaluation.latency["search"] for evaluation in evaluations]
    table.add_row("p50 ms", *(f"{one.p50:.0f}" for one in latencies))
    table.add_row("p95 ms", *(f"{one.p95:.0f}" for one in latencies))
    return table
