"""Commands that evaluate: `rag eval`, `rag eval generate`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from typer.core import TyperGroup

from rag_pipeline.cli.application import AsOption, JsonOption, app, open_readers
from rag_pipeline.console.terminal import err, out, print_json, safe
from rag_pipeline.errors import SettingsError, SourceError
from rag_pipeline.text import counted

if TYPE_CHECKING:
    from rag_pipeline.settings import Settings

EXIT_BELOW_THRESHOLD = 3


class _QuestionsOrCommand(TyperGroup):
    """`rag eval FILE` runs an evaluation; `rag eval generate` is a command of its own."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Name the command `run` if none is named."""
        if not args or (args[0] not in self.commands and args[0] not in ("--help", "-h")):
            args = ["run", *args]
        return super().parse_args(ctx, args)


evaluation_app = typer.Typer(
    cls=_QuestionsOrCommand,
    help="Measure retrieval (and answers) on questions with known answers.\n\n"
    "Example: rag eval QUESTIONS.jsonl",
)
app.add_typer(evaluation_app, name="eval")

QuestionsArgument = Annotated[
    Path | None,
    typer.Argument(help="JSON Lines (docs/evaluation.md); default: evaluation.questions."),
]
VariantOption = Annotated[
    list[str] | None,
    typer.Option(
        help='Other settings for the same questions: "words: search.weights.vector=0", '
        '"other: space=PROVIDER/MODEL/DIMENSIONS". May be given more than once.'
    ),
]
AnswersOption = Annotated[
    bool,
    typer.Option(
        "--answers/--no-answers",
        help="Answer by quotes, and have the chat model, if set, answer and judge.",
    ),
]
ReportOption = Annotated[
    Path | None, typer.Option(help="HTML report; default: evaluation/report.html under .rag.")
]
CheckOption = Annotated[
    bool,
    typer.Option("--check", help="Exit with status 3 below the thresholds in [evaluation]."),
]


@evaluation_app.command("run")
def run(
    questions: QuestionsArgument = None,
    variant: VariantOption = None,
    answers: AnswersOption = True,
    report: ReportOption = None,
    check: CheckOption = False,
    principals: AsOption = None,
    as_json: JsonOption = False,
) -> None:
    """Measure recall, precision, MRR, nDCG and latency, and compare settings side by side.

    `rag eval QUESTIONS.jsonl` is the short form.

    Example: rag eval run samples/questions.jsonl --variant "words: search.weights.vector=0"
    """

    from rag_pipeline.console.evaluation_output import print_evaluation
    from rag_pipeline.console.progress_bars import counting
    from rag_pipeline.evaluation import (
        check_thresholds,
        current_settings,
        evaluate,
        parse_variant,
        read_questions,
        save_evaluation,
    )

    # Before the working directory becomes the project's.
    given = questions.resolve() if questions is not None else None
    target = report.resolve() if report is not None else None
    with open_readers(principals) as (settings, database):
        path = given or _configured(settings)
        asked = read_questions(path)
        variants = [
            current_settings(settings),
            *(parse_variant(text, settings) for text in variant or []),
        ]
        total = len(asked) * len(variants)
        if answers and settings.chat.model:
            err.print(f"{settings.chat.model} answers and judges: at most {2 * total} calls")
        with counting("questions", total, not as_json) as advance:
            evaluations = evaluate(database, asked, variants, answers=answers, on_question=advance)
    thresholds = check_thresholds(evaluations[0], settings.evaluation)
    target = target or settings.report_path
    figures = save_evaluation(target, evaluations, thresholds, path.name)
    if as_json:
        print_json({"report": target, **figures})
    else:
        print_evaluation(evaluations, thresholds, target)
    if check and not all(one.passed for one in thresholds):
        raise typer.Exit(EXIT_BELOW_THRESHOLD)


@evaluation_app.command()
def generate(
    output: Annotated[Path, typer.Argument(help="File to write the drafts to (JSON Lines).")],
    count: Annotated[int, typer.Option(min=1, max=10_000, help="Passages to ask about.")] = 50,
    seed: Annotated[int, typer.Option(help="Another number chooses other passages.")] = 0,
    principals: AsOption = None,
    as_json: JsonOption = False,
) -> None:
    """Have the chat model draft questions from your documents, for you to review.

    Example: rag eval generate drafts.jsonl --count 30
    """
    import json

    from rag_pipeline.chat import create_chat
    from rag_pipeline.console.progress_bars import counting
    from rag_pipeline.evaluation import draft_questions
    from rag_pipeline.evaluation.saving import write_file

    target = output.resolve()
    if target.exists():
        raise SourceError(f"{output} exists", hint="it may hold your review; name another file")
    with open_readers(principals) as (settings, database):
        chat = create_chat(settings.chat)
        if chat is None:
            raise SettingsError(
                "drafting questions needs a chat model", hint="set [chat] model in rag.toml"
            )
        with counting("passages", count, not as_json) as advance:
            drafts = draft_questions(
                database, settings, chat, count, seed=seed, on_question=advance
            )
    lines = [json.dumps(draft, ensure_ascii=False) + "\n" for draft in drafts]
    write_file(target, "".join(lines))
    if as_json:
        print_json({"file": target, "questions": drafts})
    else:
        out.print(f"{counted(len(drafts), 'draft')} in {safe(output)}: review them before use")


def _configured(settings: Settings) -> Path:
    if settings.evaluation.questions is None:
        raise SettingsError(
            "no questions are given", hint="name a file, or set evaluation.questions in rag.toml"
        )
    return (settings.project_dir / settings.evaluation.questions).resolve()
