"""The command that answers a question."""

from __future__ import annotations

from typing import Annotated

import typer

from rag_pipeline.cli.application import (
    AsOption,
    DocumentOption,
    JsonOption,
    LanguageOption,
    SourceTypeOption,
    SpaceOption,
    TagOption,
    WhereOption,
    app,
    open_readers,
)


@app.command()
def ask(
    question: Annotated[str, typer.Argument(help="A question in any language of the documents.")],
    extractive: Annotated[
        bool, typer.Option("--extractive", help="Quote the documents, also with a chat model set.")
    ] = False,
    space: SpaceOption = None,
    source_type: SourceTypeOption = None,
    tag: TagOption = None,
    document: DocumentOption = None,
    language: LanguageOption = None,
    where: WhereOption = None,
    principals: AsOption = None,
    as_json: JsonOption = False,
) -> None:
    """Answer from the documents, every statement cited to page, box and chunk.

    With a chat model ([chat] in rag.toml) the answer is written, and its citations are checked;
    without one, sentences of the documents are quoted word for word. Questions for numbers over a
    relational source are computed by SQL, which is shown.

    Example: rag ask "How do I replace the oil filter?"
    """
    from rag_pipeline.answering import Answerer
    from rag_pipeline.chat import create_chat
    from rag_pipeline.console import answer_output as answers
    from rag_pipeline.console import output as console
    from rag_pipeline.relational.search_opening import create_searcher
    from rag_pipeline.search import Filters, MetadataFilter

    filters = Filters(
        source_types=source_type or (),
        tags=tag or (),
        documents=document or (),
        languages=language or (),
        metadata=[MetadataFilter.parse(condition) for condition in where or ()],
    )
    with open_readers(principals) as (settings, database):
        chat = None if extractive else create_chat(settings.chat)
        searcher = create_searcher(database, settings, space=space)
        answerer = Answerer(database, settings, searcher, chat)
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
