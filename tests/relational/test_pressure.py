"""Questions that invite a wrong number: what is computed is right, what is refused says why.

`pressure/NAME.sql` makes a database; each line of `pressure/NAME.tsv` has a question, or an English
and a Korean one, and the SQL of the right result, or `!` where any number would be a guess. A
refusal is never wrong, but must name a word of the question or the readings.
"""

from __future__ import annotations

import re
import sqlite3
import tomllib
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from rag_pipeline.relational.questions.exact_numbers import ExactAnswer, ExactAnswerer
from rag_pipeline.relational.schema.connecting import open_engine
from rag_pipeline.relational.schema.lexicon import Lexicon
from rag_pipeline.relational.schema.table_schema import read_schema
from rag_pipeline.settings import RelationalSettings
from tests.relational.generated_rows import fill

FOLDER = Path(__file__).parent / "pressure"
SETS = {path.stem: path for path in sorted(FOLDER.glob("*.tsv"))}
LEAST = {
    ("aquarium", "en"): 0.95,
    ("aquarium", "ko"): 0.3,
    ("rental", "en"): 0.82,
    ("rental", "ko"): 0.9,
    ("projects", "en"): 0.84,
    ("projects", "ko"): 0.9,
    ("hospital", "en"): 0.8,
    ("hospital", "ko"): 0.75,
    ("fleet", "en"): 0.78,
    ("fleet", "ko"): 0.6,
}
"""Share of the questions with a result that is computed, at least, by set and language."""
Cells = list[tuple[str | float, ...]]


class Asked:
    """The questions of one database, with their answers and right results."""

    def __init__(self, folder: Path, name: str) -> None:
        with sqlite3.connect(folder / "other.db") as connection:
            connection.executescript((FOLDER / f"{name}.sql").read_text(encoding="utf-8"))
            fill(connection, name)
        words = FOLDER / f"{name}.toml"
        synonyms = tomllib.loads(words.read_text(encoding="utf-8")) if words.exists() else {}
        settings = RelationalSettings(name="other", url=f"sqlite:///{folder}/other.db", root="-")
        engine = open_engine(settings)
        answerer = ExactAnswerer(engine, read_schema(engine, Lexicon(synonyms=synonyms)))
        self.name = name
        self.answers: list[tuple[ExactAnswer, Cells | None]] = []
        with sqlite3.connect(folder / "other.db") as connection:
            for line in SETS[name].read_text(encoding="utf-8").splitlines():
                *questions, gold = line.split("\t")
                wanted = None if gold == "!" else _cells(connection.execute(gold).fetchall())
                self.answers += [(answerer.answer(one), wanted) for one in questions]


@pytest.fixture(scope="module", params=SETS)
def asked(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Asked:
    return Asked(tmp_path_factory.mktemp(request.param), request.param)


def test_no_answer_is_wrong(asked: Asked) -> None:
    wrong = [
        (answer.question, answer.text, wanted)
        for answer, wanted in asked.answers
        if answer.is_computed and (wanted is None or not _same(_cells(answer.rows), wanted))
    ]
    assert wrong == []


def test_refusals_name_a_word_or_the_readings(asked: Asked) -> None:
    vague = [
        (answer.question, answer.reason)
        for answer, _ in asked.answers
        if answer.reason is not None and not re.search("“.+”|; or: ", answer.reason)
    ]
    assert vague == []


@pytest.mark.parametrize("language", ["en", "ko"])
def test_most_of_what_has_a_result_is_computed(asked: Asked, language: str) -> None:
    computable = [
        answer
        for answer, wanted in asked.answers
        if wanted is not None and _is_korean(answer.question) == (language == "ko")
    ]
    share = sum(one.is_computed for one in computable) / len(computable)
    assert share >= LEAST[asked.name, language]


def test_there_are_questions_enough() -> None:
    lines = [line for path in SETS.values() for line in path.read_text("utf-8").splitlines()]
    questions = [one for line in lines for one in line.split("\t")[:-1]]
    assert len(questions) >= 850
    assert sum(map(_is_korean, questions)) >= 250


def _is_korean(question: str) -> bool:
    return bool(re.search("[가-힣]", question))


def _cells(rows: Sequence[Sequence[Any]]) -> Cells:
    """Numbers as such, rows in one order."""
    return sorted((tuple(_cell(cell) for cell in row) for row in rows), key=str)


def _cell(value: Any) -> str | float:
    try:
        return round(float(value), 4)
    except (TypeError, ValueError):
        return str(value)


def _same(found: Cells, wanted: Cells) -> bool:
    """Whether results agree; numbers are told to the cent."""
    pairs = [
        (a, b)
        for rows in zip(sorted(found, key=_names), sorted(wanted, key=_names), strict=False)
        for a, b in zip(*rows, strict=False)
    ]
    return list(map(len, found)) == list(map(len, wanted)) and all(
        abs(a - b) < 0.0051 if isinstance(a, float) and isinstance(b, float) else a == b
        for a, b in pairs
    )


def _names(row: tuple[str | float, ...]) -> tuple[str, float]:
    """Order rows by what they name; numbers that were rounded may stand in another order."""
    numbers = [cell for cell in row if isinstance(cell, float)]
    return str([cell for cell in row if isinstance(cell, str)]), sum(numbers)
