"""The asset `retrieval_evaluation`: retrieval measured on known questions, and its checks."""

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import dagster as dg

from rag_pipeline.resources import SessionSource
from rag_pipeline.sync.planning.fingerprints import EMBEDDINGS

if TYPE_CHECKING:
    from rag_pipeline.evaluation import Evaluation

ASSET = "retrieval_evaluation"
CHECKS = {
    "recall_at_5": "Mean share of the gold among the first five (evaluation.min_recall_at_5).",
    "mrr": "Mean reciprocal rank of the first gold (evaluation.min_mrr).",
    "p95_ms": "Milliseconds within which 95 % of the searches end (evaluation.max_p95_ms).",
}


@dg.multi_asset(
    name=ASSET,
    specs=[
        dg.AssetSpec(
            ASSET,
            deps=[EMBEDDINGS],
            description="Retrieval on the questions of `evaluation.questions`, with the project's "
            "settings. The checks compare recall@5, MRR and p95 latency with the thresholds in "
            "rag.toml. The report is under `.rag/evaluation`. Skipped where no questions are set.",
            group_name="quality",
            kinds={"postgres"},
            owners=["team:data-engineering"],
            code_version="1",
            skippable=True,
        )
    ],
    check_specs=[
        dg.AssetCheckSpec(name, asset=ASSET, description=description)
        for name, description in CHECKS.items()
    ],
    can_subset=True,
)
def retrieval_evaluation(
    context: dg.AssetExecutionContext, session: dg.ResourceParam[SessionSource]
) -> Iterator[dg.MaterializeResult[None] | dg.AssetObservation]:
    """Measure retrieval and save the report; without questions there is nothing to measure."""
    # Here, and not above: searching and answering are no part of a sync, which loads all assets.
    from rag_pipeline.evaluation import (
        check_thresholds,
        current_settings,
        evaluate,
        read_questions,
        save_evaluation,
    )

    loaded = session.load()
    if loaded.evaluation.questions is None:
        skipped = (
            "skipped: no questions are set; name a file of them as evaluation.questions in "
            "rag.toml (docs/evaluation.md)"
        )
        context.log.info(skipped)
        yield dg.AssetObservation(ASSET, description=skipped)
        return
    path = loaded.project_dir / loaded.evaluation.questions
    questions = read_questions(path)
    with session.open() as opened:
        (evaluation,) = evaluate(opened.database, questions, [current_settings(loaded)])
    thresholds = check_thresholds(evaluation, loaded.evaluation)
    report = loaded.report_path
    save_evaluation(report, [evaluation], thresholds, path.name)
    for threshold in thresholds:
        context.log.info(str(threshold))
    yield dg.MaterializeResult(
        asset_key=ASSET,
        metadata=_metadata(evaluation) | {"report": dg.MetadataValue.path(report)},
        check_results=[
            dg.AssetCheckResult(
                check_name=threshold.name,
                passed=threshold.passed,
                metadata={"value": threshold.value, "threshold": threshold.limit},
            )
            for threshold in thresholds
        ],
    )


def _metadata(evaluation: "Evaluation") -> dict[str, dg.MetadataValue[Any]]:
    """Return the figures that the UI plots from one materialization to the next."""
    values = evaluation.by_group["all"]
    names = ("recall@1", "recall@5", "recall@10", "precision@5", "MRR", "nDCG@10")
    p50, p95 = evaluation.latency["search"]
    misses = "\n".join(
        f"- `{one.question.id}` {one.question.text.replace('`', ' ')}" for one in evaluation.misses
    )
    return {
        "questions": dg.MetadataValue.int(len(evaluation.asked)),
        **{name: dg.MetadataValue.float(values[name]) for name in names},
        "p50 ms": dg.MetadataValue.float(p50),
        "p95 ms": dg.MetadataValue.float(p95),
        "misses": dg.MetadataValue.md(misses or "none"),
    }


evaluation_job = dg.define_asset_job(
    "evaluation_job",
    selection=[retrieval_evaluation],
    description="Measure retrieval on known questions, and check it against the thresholds.",
)
