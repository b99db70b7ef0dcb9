"""The command that answers a question."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from rag_pipeline.cli.application import JsonOption, app, open_database


def _several(text: str) -> Any:
    return typer.Option(help=f"{text} May be given more than once.")


@app.command()
def ask(
    question: Annotated[str, typer.Argument(help="A question in any language of the documents.")],
    extractive: Annotated[
        bool, typer.Option("--extractive", help="Quote the documents, also with a chat model set.")
    ] = False,
    space: Annotated[
        str | None,
        typer.Option(help="An embedding space (`rag spaces list`); default: the active one."),
    ] = None,
    source_type: Annotated[list[str] | None, _several("Only files of this type: pdf.")] = None,
    tag: Annotated[list[str] | None, _several("Only sources with this tag.")] = None,
    document: Annotated[list[str] | None, _several("Only this file: name, path or hash.")] = None,
    language: Annotated[list[str] | None, _several("Only documents in this language: ko.")] = None,
    where: Annotated[
        list[str] | None,
        _several("Condition on metadata: key=value, key=a|b, key>=5, key<=9, key=3..7."),
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """Answer from the documents, every statement cited to page, box and chunk.

    With a chat model ([chat] in rag.toml) the answer is written, and its citations are checked;
    without one, sentences of the documents are quoted word for word.

    Example: rag ask "How do I replace the oil filter?"
    """
    from rag_pipeline.answering import Answerer
    from rag_pipeline.chat import create_chat
    from rag_pipeline.console import answers
    from rag_pipeline.console import output as console
    from rag_pipeline.search import Filters, MetadataFilter, Searcher

    filters = Filters(
        source_types=source_type or (),
        tags=tag or (),
        documents=document or (),
        languages=language or (),
        metadata=[MetadataFilter.parse(condition) for condition in where or ()],
    )
    with open_database() as (settings, database):
        chat = None if extractive else create_chat(settings.chat)
        answerer = Answerer(database, settings, Searcher(database, settings, space=space), chat)
        if chat is None or as_json:
            answer = answerer.ask(question, filters=filters)
        else:
            with answerer.stream(question, filters=filters) as stream:
                answer = answers.print_stream(stream)
    for note in answer.notes:
        console.err.print(console.safe(note))
    if as_json:
        console.print_json(answer)
    elif chat is None:
        answers.print_answer(answer)
