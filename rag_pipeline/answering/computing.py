"""Computed answers: numbers from the databases of relational sources."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rag_pipeline.answering.answer import Answer, Computation
from rag_pipeline.chat import ChatModel

if TYPE_CHECKING:
    from rag_pipeline.relational.databases import Databases

_WRITTEN = "the chat model wrote the SQL: read it before relying on the number"


def compute(databases: Databases, question: str, chat: ChatModel | None) -> Answer | str | None:
    """Return a computed answer, or why a number that is asked for was not computed.

    None if the question does not ask a database for a number. Raises `ProviderError` and
    `ChatError`.
    """
    exact = databases.answer(question, chat)
    if not exact.is_computed or exact.sql is None:
        return f"no number was computed: {exact.reason}" if exact.is_about_data else None
    is_exact = exact.method == "rules"
    return Answer(
        question,
        exact.text,
        "computed",
        "answered",
        notes=[] if is_exact else [_WRITTEN],
        computation=Computation(exact.source, exact.sql, exact.columns, exact.rows, is_exact),
        model="" if is_exact or chat is None else chat.name,
    )
