"""Questions over databases of other trades: most are computed, and none wrongly."""

from __future__ import annotations

import sqlite3
from pathlib import Path

import pytest

from rag_pipeline.relational.connecting import open_engine
from rag_pipeline.relational.exact import ExactAnswerer
from rag_pipeline.relational.lexicon import Lexicon
from rag_pipeline.relational.schema import read_schema
from rag_pipeline.settings import RelationalSettings
from tests.relational.other_schemas import CLINIC, CLINIC_QUESTIONS, LIBRARY, LIBRARY_QUESTIONS

Questions = list[tuple[str, str | None, str]]


@pytest.mark.parametrize("language", [0, 1], ids=["en", "ko"])
@pytest.mark.parametrize(
    ("statements", "questions"),
    [(LIBRARY, LIBRARY_QUESTIONS), (CLINIC, CLINIC_QUESTIONS)],
    ids=["library", "clinic"],
)
def test_most_are_computed_and_none_wrongly(
    tmp_path: Path, statements: str, questions: Questions, language: int
) -> None:
    file = tmp_path / "other.db"
    with sqlite3.connect(file) as connection:
        connection.executescript(statements)
    settings = RelationalSettings(name="other", url=f"sqlite:///{file}", root="-")
    engine = open_engine(settings)
    answerer = ExactAnswerer(engine, read_schema(engine, Lexicon()))
    asked = [(row[language], row[2]) for row in questions if row[language]]
    answers = [(answerer.answer(str(question)), wanted) for question, wanted in asked]
    assert [a.question for a, wanted in answers if a.is_computed and a.text != wanted] == []
    right = sum(a.text == wanted for a, wanted in answers)
    assert right >= 0.8 * len(answers)
