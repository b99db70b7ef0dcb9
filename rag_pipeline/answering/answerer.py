"""From a question to an answer: search, choose, ask the chat model, check its citations."""

from __future__ import annotations

import logging
import time
import uuid
from collections.abc import Generator, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Unpack, cast

from rag_pipeline.answering.answer import Answer, Status, not_found, not_found_text
from rag_pipeline.answering.answer_context import ContextChunk, select_context
from rag_pipeline.answering.answer_stream import AnswerStream
from rag_pipeline.answering.citing import check_citations, cite
from rag_pipeline.answering.computing import compute
from rag_pipeline.answering.extractive import extract_answer
from rag_pipeline.answering.prompt import (
    answer_messages,
    is_not_in_documents,
    may_become_not_in_documents,
    standalone_messages,
)
from rag_pipeline.chat import ChatModel, ChatReply, ChatStream, Message
from rag_pipeline.chat.messages import Role
from rag_pipeline.errors import RagError, SettingsError, StoreError
from rag_pipeline.search import Searcher, SearchRequest, SearchResponse
from rag_pipeline.search.search_request import SearchOptions
from rag_pipeline.settings import Settings
from rag_pipeline.store.database import Database
from rag_pipeline.store.usage_table import record_query
from rag_pipeline.text import clean_text, one_line
from rag_pipeline.usage import Usage

if TYPE_CHECKING:
    from rag_pipeline.relational.databases import Databases

logger = logging.getLogger(__name__)

HISTORY_TURNS = 10
"""Number of last turns of a conversation that are considered."""

Turn = Message | Mapping[str, str] | tuple[str, str]
"""A turn of a conversation; its role is `user` or `assistant`."""


class Answerer:
    """Answers questions from one database; safe to use from several threads.

    Questions for numbers are computed first if the searcher knows relational sources. Without a
    chat model the answer quotes: its `kind` is `extractive`. The usage of models is written to the
    table `usage` with every answer, even if it failed.
    """

    def __init__(
        self,
        database: Database,
        settings: Settings,
        searcher: Searcher,
        chat: ChatModel | None = None,
    ) -> None:
        self._database = database
        self._settings = settings
        self._searcher = searcher
        self._chat = chat
        # Only a `RowSearcher` has databases of relational sources.
        self._databases: Databases | None = getattr(searcher, "databases", None)

    def ask(
        self, question: str, *, history: Sequence[Turn] = (), **search: Unpack[SearchOptions]
    ) -> Answer:
        """Answer a question; `search` are options of `SearchRequest` (weights, filters).

        Raises `ProviderError` if the chat model cannot be used at all, `ChatError` if it gave no
        complete answer to this question.
        """
        stream = AnswerStream(self._answer(question, history, search, streamed=False))
        for _ in stream:
            pass
        return stream.answer

    def stream(
        self, question: str, *, history: Sequence[Turn] = (), **search: Unpack[SearchOptions]
    ) -> AnswerStream:
        """Answer a question as a stream. Raises like `ask`, but while it is read."""
        return AnswerStream(self._answer(question, history, search, streamed=True))

    def answer_from(self, question: str, response: SearchResponse) -> Answer:
        """Answer from given results, for an evaluation that has searched already."""
        stream = AnswerStream(self._answer_from(question, [], response, [], streamed=False))
        for _ in stream:
            pass
        return stream.answer

    def _answer(
        self,
        question: str,
        history: Sequence[Turn],
        search: SearchOptions,
        *,
        streamed: bool,
    ) -> Generator[str, None, Answer]:
        turns = [_message(turn) for turn in history][-HISTORY_TURNS:]
        try:
            query, used, notes = self._query(question, turns)
            start = time.perf_counter()
            own = self._settings.answering
            # Twice as many as are read, because some may not fit into the budget.
            # Without a model, procedures are quoted whole, however many chunks they fill.
            request = SearchRequest(
                query,
                limit=2 * own.max_chunks,
                selection=own.selection,
                expand=None if self._chat else "parent",
            )
            request = SearchRequest.of(request, **search)
            # A question limited to some documents is not computed.
            if self._databases and request.filters.is_empty:
                computed = compute(self._databases, query, self._chat)
                if isinstance(computed, str):
                    notes.append(computed)
                elif computed is not None:
                    yield computed.text
                    seconds = {"compute": time.perf_counter() - start}
                    own_notes = [*computed.notes, *notes]
                    return replace(
                        computed, question=question, query=query, notes=own_notes, seconds=seconds
                    )
            response = self._searcher.search(request)
            response.notes.extend(notes)
            return (
                yield from self._answer_from(question, turns, response, used, streamed=streamed)
            )
        finally:
            self._record_usage()

    def _query(self, question: str, turns: Sequence[Message]) -> tuple[str, list[Usage], list[str]]:
        """Return the query, the usage of rewriting the question, and notes."""
        if not (turns and self._chat and self._settings.answering.standalone_query):
            return question, [], []
        reply = self._chat.complete(standalone_messages(question, turns))
        query = one_line(clean_text(reply.text))
        if not reply.is_complete or not query:
            return question, [reply.usage], ["the question was searched for as typed"]
        return query, [reply.usage], []

    def _answer_from(
        self,
        question: str,
        turns: Sequence[Message],
        response: SearchResponse,
        used: list[Usage],
        *,
        streamed: bool,
    ) -> Generator[str, None, Answer]:
        start = time.perf_counter()
        if self._chat is None:
            answer = extract_answer(question, response, self._searcher.embedder)
            yield answer.text
            return _finished(answer, response, used, start)
        chunks = select_context(response.results, self._settings.answering)
        if not chunks:
            answer = not_found(question, "chat")
            yield answer.text
            return _finished(answer, response, used, start)
        messages = answer_messages(question, chunks, turns)
        if streamed:
            with self._chat.stream(messages) as stream:
                yield from _shown(stream, question)
                reply = stream.reply
        else:
            reply = self._chat.complete(messages)
            yield reply.text
        answer = judge(question, reply, chunks, self._chat.name, self._settings.chat.max_tokens)
        return _finished(answer, response, [*used, reply.usage], start)

    def _record_usage(self) -> None:
        """Write the usage of models, including that of concurrent answers.

        If it cannot be written, the answer, which has been paid for, is still returned.
        """
        try:
            used = self._searcher.embedder.take_usage()
            if self._chat is not None:
                used = [*used, *self._chat.take_usage()]
            run = f"ask-{uuid.uuid4().hex[:12]}"
            record_query(self._database, used, run=run, prices=self._settings.prices)
        except (StoreError, SettingsError) as error:
            logger.warning("usage could not be written: %s", error)


def judge(
    question: str,
    reply: ChatReply,
    chunks: Sequence[ContextChunk],
    model: str,
    max_tokens: int,
) -> Answer:
    """Turn a model's reply into an answer with status, citations and problems."""
    status: Status = "answered"
    problems: list[str] = []
    text = clean_text(reply.text).strip()
    citations, wrong = check_citations(text, chunks)
    if reply.refusal is not None:
        status, problems = "refused", [f"the model did not answer: {reply.refusal}"]
        text = text or "The model did not answer."
    elif is_not_in_documents(text):
        status, text = "not_found", not_found_text(question)
    else:
        problems = wrong
        if reply.finish_reason == "length":
            status = "cut"
            problems.insert(0, f"cut at chat.max_tokens ({max_tokens}): the answer is incomplete")
    return Answer(
        question,
        text,
        "chat",
        status,
        citations=citations,
        problems=problems,
        context=[cite(chunk) for chunk in chunks],
        model=model,
    )


def _finished(answer: Answer, response: SearchResponse, used: list[Usage], start: float) -> Answer:
    """Return the answer with the usage, notes and times of search and model."""
    return replace(
        answer,
        query=response.query,
        usage=used,
        notes=[*answer.notes, *response.notes],
        seconds={**response.seconds, "generate": time.perf_counter() - start},
    )


def _shown(stream: ChatStream, question: str) -> Iterator[str]:
    """Yield the pieces; a reply that is the mark for "not in the documents" becomes a sentence."""
    held: str | None = ""
    for piece in stream:
        if held is None:
            yield piece
            continue
        held += piece
        if not may_become_not_in_documents(held):
            yield held
            held = None
    if held:
        yield not_found_text(question) if is_not_in_documents(held) else held


def _message(turn: Turn) -> Message:
    """Return a turn as a message. Raises `RagError` for an invalid role."""
    if isinstance(turn, Message):
        role, content = str(turn.role), turn.content
    elif isinstance(turn, Mapping):
        role, content = turn.get("role", ""), turn.get("content", "")
    else:
        role, content = turn
    if role not in ("user", "assistant"):
        raise RagError(f"a turn of the history has the role {role!r}", hint="use user or assistant")
    return Message(cast(Role, role), content)
