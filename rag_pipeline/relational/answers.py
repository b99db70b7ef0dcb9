"""One question to the databases of all relational sources."""

from __future__ import annotations

from collections.abc import Sequence

from rag_pipeline.relational.connecting import open_engine
from rag_pipeline.relational.exact import ExactAnswer, ExactAnswerer
from rag_pipeline.relational.lexicon import Lexicon
from rag_pipeline.relational.schema import read_schema
from rag_pipeline.settings import RelationalSettings


def exact_answer(sources: Sequence[RelationalSettings], question: str) -> ExactAnswer:
    """Compute a number from the one database that the question is about.

    Sources that share a database (with several root tables) are asked once. Where two databases
    would both answer, none is taken. Raises `SourceError` and `SettingsError`.
    """
    databases: dict[tuple[str, str | None], list[RelationalSettings]] = {}
    for source in sources:
        databases.setdefault((source.address, source.db_schema), []).append(source)
    answers = []
    for same in databases.values():
        words = {name: forms for source in same for name, forms in source.words.items()}
        engine = open_engine(same[0])
        try:
            schema = read_schema(engine, Lexicon(words), same[0].db_schema)
            answerer = ExactAnswerer(
                engine,
                schema,
                timeout_seconds=same[0].timeout_seconds,
                row_limit=same[0].row_limit,
            )
            answers.append(answerer.answer(question))
        finally:
            engine.dispose()
    computed = [answer for answer in answers if answer.is_computed]
    if len(computed) > 1:
        return ExactAnswer(question, reason="several databases could answer it: name the source")
    if computed:
        return computed[0]
    return answers[0] if answers else ExactAnswer(question, reason="there is no relational source")
