"""Writes an evaluation as one HTML file: plots, tables, and what was missed. Pure.

The file is self-contained: it can be mailed, kept with a build, and opened offline. All text of
questions, documents and answers is escaped.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import datetime
from html import escape
from pathlib import PurePosixPath

from rag_pipeline.evaluation.evaluate import SHOWN, Asked, Evaluation
from rag_pipeline.evaluation.matching import gold_units
from rag_pipeline.evaluation.plots import bars, curves
from rag_pipeline.evaluation.ranking_measures import CURVE, MAIN
from rag_pipeline.evaluation.thresholds import Threshold

COLUMNS = ("recall@1", "recall@5", "recall@10", "precision@5", "hit@5", "MRR", "nDCG@10")
_STYLE = """
body{font:15px/1.5 system-ui,sans-serif;max-width:60rem;margin:2rem auto;padding:0 1rem;color:#111}
h1{font-size:1.5rem}h2{font-size:1.15rem;margin-top:2.2rem}
table{border-collapse:collapse;width:100%;font-variant-numeric:tabular-nums}
th,td{padding:.25rem .6rem;border-bottom:1px solid #e5e7eb;text-align:right;vertical-align:top}
th:first-child,td:first-child,.left td,.left th{text-align:left}
thead th{color:#6b7280;font-weight:600}
svg{width:100%;height:auto}svg text{font-size:11px;fill:#374151}
.legend{list-style:none;padding:0;display:flex;flex-wrap:wrap;gap:.3rem 1.2rem}
.legend span{display:inline-block;width:.8rem;height:.8rem;margin-right:.4rem}
.note{color:#6b7280}.bad{color:#b91c1c}.good{color:#047857}
"""


def write_report(
    evaluations: Sequence[Evaluation],
    *,
    questions_name: str,
    made_at: datetime,
    thresholds: Sequence[Threshold] = (),
) -> str:
    """Return the report as one HTML document."""
    first = evaluations[0]
    names = [evaluation.variant.name for evaluation in evaluations]
    parts = [
        f"<h1>Retrieval on {escape(questions_name)}</h1>",
        f'<p class="note">{len(first.asked)} questions, {made_at:%Y-%m-%d %H:%M %Z}</p>',
        *_thresholds(thresholds),
        "<h2>Ranking by setting</h2>",
        bars(
            {e.variant.name: {name: e.by_group["all"][name] for name in MAIN} for e in evaluations},
            "recall@5, MRR and nDCG@10 by setting",
        ),
        _table(
            ["setting", *COLUMNS],
            [[e.variant.name, *(e.by_group["all"][c] for c in COLUMNS)] for e in evaluations],
        ),
        *_changes(evaluations),
        "<h2>Recall by depth</h2>",
        curves(
            {
                e.variant.name: [e.by_group["all"][f"recall@{k}"] for k in CURVE]
                for e in evaluations
            },
            CURVE[0],
            "recall@k by setting, k from 1 to 20",
        ),
        *_differences(evaluations),
        *_groups(evaluations),
        "<h2>Latency</h2>",
        _latency(evaluations),
        *_without_model(evaluations),
        *_judged(evaluations),
        *(part for evaluation in evaluations for part in _misses(evaluation)),
    ]
    title = escape(f"Retrieval: {', '.join(names)}")
    return (
        f'<!doctype html>\n<html lang="en"><head><meta charset="utf-8"><title>{title}</title>'
        f"<style>{_STYLE}</style></head>\n<body>\n" + "\n".join(parts) + "\n</body></html>\n"
    )


def _table(columns: Sequence[str], rows: Iterable[Sequence[object]], kind: str = "") -> str:
    head = "".join(f"<th>{escape(column)}</th>" for column in columns)
    body = "".join(
        "<tr>" + "".join(f"<td>{_cell(value)}</td>" for value in row) + "</tr>" for row in rows
    )
    return f'<table class="{kind}"><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>'


def _cell(value: object) -> str:
    return f"{value:.3f}" if isinstance(value, float) else escape(str(value))


def _thresholds(thresholds: Sequence[Threshold]) -> list[str]:
    return [
        f'<p class="{"good" if one.passed else "bad"}">{"passed" if one.passed else "failed"}: '
        f"{escape(str(one))}</p>"
        for one in thresholds
    ]


def _changes(evaluations: Sequence[Evaluation]) -> list[str]:
    return [
        f'<p class="note">{escape(e.variant.name)}: {escape(e.variant.changes)}</p>'
        for e in evaluations
        if e.variant.changes
    ]


def _differences(evaluations: Sequence[Evaluation]) -> list[str]:
    rows = [
        [
            evaluation.variant.name,
            one.measure,
            f"{one.mean:+.3f}",
            f"{one.low:+.3f} … {one.high:+.3f}",
            f"{one.better} / {one.worse}",
            "yes" if one.is_sure else "no",
        ]
        for evaluation in evaluations
        for one in evaluation.differences
    ]
    if not rows:
        return []
    columns = ["setting", "measure", "difference", "95 % interval", "better / worse", "sure"]
    return [
        f"<h2>Differences from {escape(evaluations[0].variant.name)}</h2>",
        '<p class="note">Paired bootstrap over the questions; sure: the interval excludes 0.</p>',
        _table(columns, rows),
    ]


def _groups(evaluations: Sequence[Evaluation]) -> list[str]:
    names = [name for name in evaluations[0].by_group if name != "all"]
    if not names:
        return []
    rows = [
        [
            name,
            e.variant.name,
            int(e.by_group[name]["questions"]),
            *(e.by_group[name][m] for m in MAIN),
        ]
        for name in names
        for e in evaluations
    ]
    return [
        "<h2>By kind and language</h2>",
        _table(["questions", "setting", "n", *MAIN], rows),
    ]


def _latency(evaluations: Sequence[Evaluation]) -> str:
    rows = [
        [e.variant.name, stage, f"{p50:.1f}", f"{p95:.1f}"]
        for e in evaluations
        for stage, (p50, p95) in e.latency.items()
    ]
    return _table(["setting", "stage", "p50 ms", "p95 ms"], rows)


def _without_model(evaluations: Sequence[Evaluation]) -> list[str]:
    rows = [[e.variant.name, *pair] for e in evaluations for pair in e.without_model.items()]
    if not rows:
        return []
    note = (
        "Of the first result and of the sentences quoted as an answer; foreign sentences are "
        "neither from a gold section nor contain a fact, cut ones begin or end in mid-sentence. "
        "Negatives are questions that the documents do not answer; false alarms are answerable "
        "questions taken for negatives."
    )
    return [
        "<h2>Without a model</h2>",
        f'<p class="note">{note}</p>',
        _table(["setting", "measure", "share"], rows),
    ]


def _judged(evaluations: Sequence[Evaluation]) -> list[str]:
    rows = [[e.variant.name, name, value] for e in evaluations for name, value in e.judged.items()]
    if not rows:
        return []
    note = (
        "Judged by the chat model itself, 0 to 1: faithfulness is the share of an answer's "
        "statements that its context supports, relevancy whether it answers the question, "
        "agreement whether it says what the known answer says."
    )
    return [
        "<h2>Answers</h2>",
        f'<p class="note">{note}</p>',
        _table(["setting", "measure", "mean"], rows),
    ]


def _misses(evaluation: Evaluation) -> list[str]:
    misses = evaluation.misses
    if not misses:
        return []
    total = len(evaluation.by_question)
    heading = f"Missed by {evaluation.variant.name}: {len(misses)} of {total}"
    rows = [
        [
            f"{one.question.id}: {one.question.text}",
            "; ".join(shown(unit) for unit in gold_units(one.question)),
            "; ".join(shown(unit) for unit in one.found[:SHOWN]) or "nothing",
            rank_text(one),
        ]
        for one in misses
    ]
    return [
        f"<h2>{escape(heading)}</h2>",
        '<p class="note">No gold among the first five; what was found instead, best first.</p>',
        _table(["question", "gold", "found", "gold's rank"], rows, "left"),
    ]


def rank_text(one: Asked) -> str:
    """Return the rank of the gold, or that it was not found."""
    return "not found" if one.rank is None else str(one.rank)


def shown(unit: str) -> str:
    """Return a unit without its folder, shortened if it is long.

    >>> shown("/manuals/a.pdf, page 3")
    'a.pdf, page 3'
    """
    name = PurePosixPath(unit).name if unit.startswith("/") else unit
    return name if len(name) <= 100 else name[:99] + "…"
