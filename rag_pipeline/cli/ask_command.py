"""The command that answers a question."""

from __future__ import annotations

from typing import Annotated

import typer

from rag_pipeline.cli.application import (
    AsOption,
    BeforeOption,
    DocumentOption,
    JsonOption,
    LanguageOption,
    PagesOption,
    SinceOption,
    SourceTypeOption,
    SpaceOption,
    TagOption,
    WhereOption,
    app,
    make_filters,
    open_readers,
)


@app.command()
def ask(
    question: Annotated[str, typer.Argument(help="A question in any language of the documents.")],
    extractive: Annotated[
        bool,
        typer.Option("--extractive", help="Quote the documents even with a chat model."),
    ] = False,
    space: SpaceOption = None,
    source_type: SourceTypeOption = None,
    tag: TagOption = None,
    document: DocumentOption = None,
    language: LanguageOption = None,
    pages: PagesOption = None,
    since: SinceOption = None,
    before: BeforeOption = None,
    where: WhereOption = None,
    principals: AsOption = None,
    as_json: JsonOption = False,
) -> None:
    """Answer from the documents, citing page, box and chunk for every statement.

    With a chat model (section chat of rag.toml) the answer is written and its citations are
    checked; without one, sentences of the documents are quoted word for word. Questions for
    numbers from a relational source are computed by SQL, which is shown.

    Example: rag ask "How do I replace the oil filter?"
    """
    from rag_pipeline.answering import Answerer
    from rag_pipeline.chat import create_chat
    from rag_pipeline.console import answer_output as answers
    from rag_pipeline.console import output as console
    from rag_pipeline.relational.search_opening import create_searcher

    filters = make_filters(source_type, tag, document, language, pages, since, before, where)
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
