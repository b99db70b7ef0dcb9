"""Questions over databases of other trades: most are computed, and none wrongly."""

from __future__ import annotations

import sqlite3
from pathlib import Path

import pytest

from rag_pipeline.relational.questions.exact_numbers import ExactAnswerer
from rag_pipeline.relational.schema.connecting import open_engine
from rag_pipeline.relational.schema.lexicon import Lexicon
from rag_pipeline.relational.schema.table_schema import read_schema
from rag_pipeline.settings import RelationalSettings
from tests.relational.later_schemas import FERRY, FERRY_QUESTIONS, REPAIR, REPAIR_QUESTIONS
from tests.relational.other_schemas import (
    CLINIC,
    CLINIC_QUESTIONS,
    CLINIC_REFUSED,
    LIBRARY,
    LIBRARY_QUESTIONS,
)

Questions = list[tuple[str, str | None, str]]


def answerer_of(folder: Path, statements: str) -> ExactAnswerer:
    with sqlite3.connect(folder / "other.db") as connection:
        connection.executescript(statements)
    settings = RelationalSettings(name="other", url=f"sqlite:///{folder}/other.db", root="-")
    engine = open_engine(settings)
    return ExactAnswerer(engine, read_schema(engine, Lexicon()))


@pytest.mark.parametrize("language", [0, 1], ids=["en", "ko"])
@pytest.mark.parametrize(
    ("statements", "questions"),
    [(LIBRARY, LIBRARY_QUESTIONS), (CLINIC, CLINIC_QUESTIONS)],
    ids=["library", "clinic"],
)
def test_most_are_computed_and_none_wrongly(
    tmp_path: Path, statements: str, questions: Questions, language: int
) -> None:
    answerer = answerer_of(tmp_path, statements)
    asked = [(row[language], row[2]) for row in questions if row[language]]
    answers = [(answerer.answer(str(question)), wanted) for question, wanted in asked]
    assert [a.question for a, wanted in answers if a.is_computed and a.text != wanted] == []
    right = sum(a.text == wanted for a, wanted in answers)
    assert right >= 0.8 * len(answers)


@pytest.mark.parametrize(
    ("statements", "questions"),
    [(FERRY, FERRY_QUESTIONS), (REPAIR, REPAIR_QUESTIONS)],
    ids=["ferry", "repair"],
)
def test_nothing_is_computed_wrongly_where_words_have_several_ways(
    tmp_path: Path, statements: str, questions: list[tuple[str, str | None]]
) -> None:
    answerer = answerer_of(tmp_path, statements)
    answers = [(answerer.answer(question), wanted) for question, wanted in questions]
    wrong = [(a.question, a.text, w) for a, w in answers if a.is_computed and a.text != w]
    assert wrong == []
    asked = [a.is_computed for a, wanted in answers if wanted is not None]
    assert sum(asked) >= 0.9 * len(asked)


@pytest.mark.parametrize("question", CLINIC_REFUSED)
def test_what_can_be_read_in_two_ways_is_not_computed(tmp_path: Path, question: str) -> None:
    assert not answerer_of(tmp_path, CLINIC).answer(question).is_computed
