"""Questions that invite a wrong number: what is computed is right, what is refused says why.

`pressure/NAME.sql` makes a database; each line of `pressure/NAME.tsv` has a question and the SQL of
its right result, or `!` where any number would be a guess. A refusal is never wrong, but must
name a word of the question or the readings.
"""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from rag_pipeline.relational.questions.exact_numbers import ExactAnswer, ExactAnswerer
from tests.relational.test_other_schemas import answerer_of

FOLDER = Path(__file__).parent / "pressure"
SETS = {path.stem: path for path in sorted(FOLDER.glob("*.tsv"))}
LEAST = {"rental": 0.75, "projects": 0.75}
"""Share of the questions with a result that is computed, at least."""


class Asked:
    """The questions of one database, with their answers and right results."""

    def __init__(self, folder: Path, name: str) -> None:
        statements = (FOLDER / f"{name}.sql").read_text(encoding="utf-8")
        answerer: ExactAnswerer = answerer_of(folder, statements)
        self.answers: list[tuple[ExactAnswer, list[tuple[str, ...]] | None]] = []
        with sqlite3.connect(folder / "other.db") as connection:
            for line in SETS[name].read_text(encoding="utf-8").splitlines():
                question, gold = line.split("\t")
                wanted = None if gold == "!" else _cells(connection.execute(gold).fetchall())
                self.answers.append((answerer.answer(question), wanted))


@pytest.fixture(scope="module", params=SETS)
def asked(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Asked:
    return Asked(tmp_path_factory.mktemp(request.param), request.param)


def test_no_answer_is_wrong(asked: Asked) -> None:
    wrong = [
        (answer.question, answer.text, wanted)
        for answer, wanted in asked.answers
        if answer.is_computed and _cells(answer.rows) != wanted
    ]
    assert wrong == []


def test_refusals_name_a_word_or_the_readings(asked: Asked) -> None:
    vague = [
        (answer.question, answer.reason)
        for answer, _ in asked.answers
        if answer.reason is not None and not re.search("“.+”|; or: ", answer.reason)
    ]
    assert vague == []


def test_most_of_what_has_a_result_is_computed(
    asked: Asked, request: pytest.FixtureRequest
) -> None:
    computable = [answer for answer, wanted in asked.answers if wanted is not None]
    name = request.node.callspec.params["asked"]
    assert sum(one.is_computed for one in computable) >= LEAST[name] * len(computable)


def test_there_are_questions_enough() -> None:
    lines = [line for path in SETS.values() for line in path.read_text("utf-8").splitlines()]
    assert len(lines) >= 300
    assert sum(bool(re.search("[가-힣]", line.split("\t")[0])) for line in lines) >= 60


def _cells(rows: Sequence[Sequence[Any]]) -> list[tuple[str, ...]]:
    """Numbers to two digits, rows in one order."""
    return sorted(tuple(_cell(cell) for cell in row) for row in rows)


def _cell(value: Any) -> str:
    try:
        return f"{float(value):.2f}"
    except (TypeError, ValueError):
        return str(value)
