"""Asks all questions under each setting and compares the measures."""

from __future__ import annotations

import time
import uuid
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

from rag_pipeline.answering import Answer, Answerer
from rag_pipeline.chat import ChatModel, create_chat
from rag_pipeline.errors import ChatError
from rag_pipeline.evaluation.answer_measures import AnswerCounts, count, shares
from rag_pipeline.evaluation.judging import judge_answer
from rag_pipeline.evaluation.known_questions import KnownQuestion, groups
from rag_pipeline.evaluation.matching import gold_units, ranked_units
from rag_pipeline.evaluation.ranking_measures import (
    MAIN,
    Difference,
    StageLatency,
    means,
    measure,
    paired_bootstrap,
    percentiles,
)
from rag_pipeline.evaluation.variants import Variant
from rag_pipeline.relational.search_opening import create_searcher
from rag_pipeline.search import Searcher, SearchResponse
from rag_pipeline.settings import Settings
from rag_pipeline.store.database import Database
from rag_pipeline.store.usage_table import record_query

DEPTH = 50
"""Chunks considered for each question; the longest cutoff is 20 pages."""
SHOWN = 5
"""Units shown of what was found instead."""


@dataclass(frozen=True)
class Asked:
    """One question under one setting."""

    question: KnownQuestion
    found: list[str]
    """The units that were found, best first."""
    rank: int | None
    """Rank of the first gold unit, from 1; None if none was found."""
    seconds: dict[str, float]
    """By stage; `search` is the whole search, `generate` the answer."""
    answer: str = ""
    status: str = ""
    judged: dict[str, float] = field(default_factory=dict)
    counts: AnswerCounts = field(default_factory=AnswerCounts)
    """What the search, and the answer that quotes it, did; needs no chat model."""


@dataclass(frozen=True)
class Evaluation:
    """All questions under one setting."""

    variant: Variant
    asked: list[Asked]
    by_question: dict[str, dict[str, float]]
    """Measures by question."""
    by_group: dict[str, dict[str, float]]
    """Mean measures of all questions, and by kind and language; `questions` is their number.
    Negative questions are not among them, here and in `by_question`."""
    latency: dict[str, StageLatency]
    """By stage."""
    judged: dict[str, float] = field(default_factory=dict)
    """Mean judged measures, and shares of the answers by status; empty without answers."""
    differences: list[Difference] = field(default_factory=list)
    """Compared with the first setting."""
    without_model: dict[str, float] = field(default_factory=dict)
    """Shares of `answer_measures.shares`, of all questions, negative ones too."""

    @property
    def misses(self) -> list[Asked]:
        """Questions with no gold among the first five."""
        positive = [one for one in self.asked if not one.question.is_negative]
        return [one for one in positive if one.rank is None or one.rank > 5]


def evaluate(
    database: Database,
    questions: Sequence[KnownQuestion],
    variants: Sequence[Variant],
    *,
    answers: bool = False,
    principals: Sequence[str] | None = None,
    on_question: Callable[[], None] = lambda: None,
) -> list[Evaluation]:
    """Ask all questions under each setting; the others are compared with the first.

    With `answers`, each question is answered by quotes, and the chat model, if set, answers and
    judges too. An extra search loads the model first and is not counted. `principals` are those
    who ask; see `Database.for_readers`.
    """
    database = database.for_readers(principals)
    found: list[Evaluation] = []
    for variant in variants:
        searcher = create_searcher(database, variant.settings, space=variant.space)
        chat = create_chat(variant.settings.chat) if answers else None
        searcher.search(questions[0].text, limit=DEPTH)
        asked = []
        try:
            for question in questions:
                asked.append(
                    _ask(database, searcher, variant.settings, question, chat, answers=answers)
                )
                on_question()
        finally:
            _record_usage(database, searcher, chat, variant.settings)
        found.append(_evaluation(variant, questions, asked, found[0] if found else None))
    return found


def _ask(
    database: Database,
    searcher: Searcher,
    settings: Settings,
    question: KnownQuestion,
    chat: ChatModel | None,
    *,
    answers: bool,
) -> Asked:
    start = time.perf_counter()
    response = searcher.search(question.text, limit=DEPTH)
    seconds = {**response.seconds, "search": time.perf_counter() - start}
    units = ranked_units(question, response.results)
    gold = set(gold_units(question))
    rank = next((place for place, unit in enumerate(units, start=1) if unit in gold), None)
    quoted = (
        Answerer(database, settings, searcher).answer_from(question.text, response)
        if answers
        else None
    )
    asked = Asked(question, units, rank, seconds, counts=count(question, response, quoted))
    # There is no known answer to compare a negative question's with.
    if chat is None or question.is_negative:
        return asked
    answerer = Answerer(database, settings, searcher, chat)
    begin = time.perf_counter()
    try:
        answer = answerer.answer_from(question.text, response)
    except ChatError as error:
        return replace(asked, answer=str(error), status="failed")
    seconds["generate"] = time.perf_counter() - begin
    judged = _judged(chat, question, answer, response)
    return replace(asked, answer=answer.text, status=answer.status, judged=judged)


def _judged(
    chat: ChatModel, question: KnownQuestion, answer: Answer, response: SearchResponse
) -> dict[str, float]:
    """Return the judged measures of an answer, and whether its citations are valid."""
    if answer.status != "answered":
        return {}
    values = {"citations hold": float(answer.is_supported)}
    given = {citation.chunk_id for citation in answer.context}
    contexts = [result.content for result in response.results if result.chunk_id in given]
    judgement = judge_answer(chat, question.text, answer.text, contexts, question.answer)
    return values if judgement is None else values | judgement.values()


def _evaluation(
    variant: Variant,
    questions: Sequence[KnownQuestion],
    asked: list[Asked],
    first: Evaluation | None,
) -> Evaluation:
    positive = [question for question in questions if not question.is_negative]
    by_question = measure(
        {one.question.id: one.found for one in asked if not one.question.is_negative},
        {question.id: gold_units(question) for question in positive},
    )
    for one in asked:
        if not one.question.is_negative:
            by_question[one.question.id]["gold section first"] = float(one.counts.gold_first)
    by_group = {
        name: {"questions": float(len(ids)), **means(by_question, ids)}
        for name, ids in groups(positive).items()
    }
    differences = []
    if first is not None:
        ids = [question.id for question in positive]
        differences = [
            paired_bootstrap(
                name,
                [first.by_question[identity][name] for identity in ids],
                [by_question[identity][name] for identity in ids],
            )
            for name in MAIN
        ]
    return Evaluation(
        variant,
        asked,
        by_question,
        by_group,
        percentiles([one.seconds for one in asked]),
        _mean_judged(asked),
        differences,
        shares(one.counts for one in asked),
    )


def _mean_judged(asked: Sequence[Asked]) -> dict[str, float]:
    statuses = [one.status for one in asked if one.status]
    if not statuses:
        return {}
    found = {
        f"{status} answers": statuses.count(status) / len(statuses)
        for status in dict.fromkeys(statuses)
    }
    for name in dict.fromkeys(name for one in asked for name in one.judged):
        values = [one.judged[name] for one in asked if name in one.judged]
        found[name] = sum(values) / len(values)
    return found


def _record_usage(
    database: Database, searcher: Searcher, chat: ChatModel | None, settings: Settings
) -> None:
    used = [*searcher.embedder.take_usage(), *(chat.take_usage() if chat else [])]
    record_query(database, used, run=f"eval-{uuid.uuid4().hex[:12]}", prices=settings.prices)
