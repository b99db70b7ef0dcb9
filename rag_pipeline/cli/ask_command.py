"""The command `rag ask`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from rag_pipeline.cli.application import (
    AsOption,
    JsonOption,
    SpaceOption,
    app,
    open_readers,
    readable,
)
from rag_pipeline.cli.filter_options import takes_filters
from rag_pipeline.console.terminal import err, print_json, safe

if TYPE_CHECKING:
    from rag_pipeline.search import Filters


@app.command()
@takes_filters
def ask(
    question: Annotated[
        str,
        typer.Argument(help="A question, in any language of the documents.", callback=readable),
    ],
    filters: Filters,
    extractive: Annotated[
        bool,
        typer.Option("--extractive", help="Quote the documents even if a chat model is set."),
    ] = False,
    space: SpaceOption = None,
    principals: AsOption = None,
    as_json: JsonOption = False,
) -> None:
    """Answer from the documents, citing page, box and chunk for every statement.

    With a chat model (`[chat]` in rag.toml) the answer is written and its citations are checked;
    without one, sentences of the documents are quoted word for word. Questions for numbers from a
    relational source are computed by SQL, which is shown.

    Example: rag ask "How do I replace the oil filter?"
    """
    from rag_pipeline.answering import Answerer
    from rag_pipeline.chat import create_chat
    from rag_pipeline.console.answer_output import print_answer, print_stream
    from rag_pipeline.relational.search_opening import create_searcher

    with open_readers(principals) as (settings, database):
        chat = None if extractive else create_chat(settings.chat)
        searcher = create_searcher(database, settings, space=space)
        answerer = Answerer(database, settings, searcher, chat)
        if chat is None or as_json:
            answer = answerer.ask(question, filters=filters)
        else:
            with answerer.stream(question, filters=filters) as stream:
                answer = print_stream(stream)
    for note in answer.notes:
        err.print(safe(note))
    if as_json:
        print_json(answer)
    elif chat is None:
        print_answer(answer)
