"""Commands that measure: eval, eval generate."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from typer.core import TyperGroup

from rag_pipeline.cli.application import AsOption, JsonOption, app, open_readers
from rag_pipeline.console.terminal import counted, err, out, print_json, safe
from rag_pipeline.errors import SettingsError, SourceError

if TYPE_CHECKING:
    from rag_pipeline.settings import Settings

EXIT_BELOW_THRESHOLD = 3


class _QuestionsOrCommand(TyperGroup):
    """`rag eval FILE` measures; `rag eval generate` is a command of its own."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Name the command that measures where none is named."""
        if not args or (args[0] not in self.commands and args[0] not in ("--help", "-h")):
            args = ["run", *args]
        return super().parse_args(ctx, args)


evaluation_app = typer.Typer(
    cls=_QuestionsOrCommand,
    help="Measure retrieval (and answers) on questions with known answers.\n\n"
    "Example: rag eval QUESTIONS.jsonl",
)
app.add_typer(evaluation_app, name="eval")


@evaluation_app.command("run")
def run(
    questions: Annotated[
        Path | None,
        typer.Argument(help="JSON Lines (docs/evaluation.md); default: evaluation.questions."),
    ] = None,
    variant: Annotated[
        list[str] | None,
        typer.Option(
            help='Other settings on the same questions: "words: search.weights.vector=0", '
            '"other: space=PROVIDER/MODEL/DIMENSIONS". Repeat it for more.'
        ),
    ] = None,
    answers: Annotated[
        bool,
        typer.Option(
            "--answers/--no-answers",
            help="Have the chat model answer and judge each question too, where one is set.",
        ),
    ] = True,
    report: Annotated[
        Path | None, typer.Option(help="HTML report; default: evaluation/report.html under .rag.")
    ] = None,
    check: Annotated[
        bool, typer.Option("--check", help="Exit status 3 below the thresholds of [evaluation].")
    ] = False,
    principals: AsOption = None,
    as_json: JsonOption = False,
) -> None:
    """Measure recall, precision, MRR, nDCG and latency, and compare settings side by side.

    `rag eval QUESTIONS.jsonl` is short for it.

    Example: rag eval run samples/questions.jsonl --variant "words: search.weights.vector=0"
    """

    from rag_pipeline.console import evaluation_output as console
    from rag_pipeline.console.progress_bars import counting
    from rag_pipeline.evaluation import (
        check_thresholds,
        current_settings,
        evaluate,
        parse_variant,
        read_questions,
        save_evaluation,
    )

    # Before the commands' folder becomes the project's.
    given = questions.resolve() if questions is not None else None
    target = report.resolve() if report is not None else None
    with open_readers(principals) as (settings, database):
        path = given or _configured(settings)
        asked = read_questions(path)
        variants = [
            current_settings(settings),
            *(parse_variant(text, settings) for text in variant or []),
        ]
        answers = answers and bool(settings.chat.model)
        if answers:
            calls = 2 * len(asked) * len(variants)
            err.print(f"{settings.chat.model} answers and judges: {calls} calls at most")
        total = len(asked) * len(variants)
        with counting("questions", total, not as_json) as advance:
            evaluations = evaluate(database, asked, variants, answers=answers, on_question=advance)
    thresholds = check_thresholds(evaluations[0], settings.evaluation)
    target = target or settings.report_path
    figures = save_evaluation(target, evaluations, thresholds, path.name)
    if as_json:
        print_json({"report": target, **figures})
    else:
        console.print_evaluation(evaluations, thresholds, target)
    if check and not all(one.passed for one in thresholds):
        raise typer.Exit(EXIT_BELOW_THRESHOLD)


@evaluation_app.command()
def generate(
    output: Annotated[Path, typer.Argument(help="File to write the drafts to (JSON Lines).")],
    count: Annotated[int, typer.Option(min=1, max=10_000, help="Passages to ask about.")] = 50,
    seed: Annotated[int, typer.Option(help="Another number takes other passages.")] = 0,
    principals: AsOption = None,
    as_json: JsonOption = False,
) -> None:
    """Draft questions from your own documents by the chat model, for you to review.

    Example: rag eval generate drafts.jsonl --count 30
    """
    import json

    from rag_pipeline.chat import create_chat
    from rag_pipeline.console.progress_bars import counting
    from rag_pipeline.evaluation import draft_questions
    from rag_pipeline.evaluation.saving import write_file

    target = output.resolve()
    if target.exists():
        raise SourceError(f"{output} exists", hint="your review is in it? Name another file")
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
