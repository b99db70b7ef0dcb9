"""Answers without a chat model, on a small manual with a procedure, a table and prose."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from rag_pipeline.answering import Answer, extract_answer
from rag_pipeline.answering.content_units import content_units
from rag_pipeline.embedding import create_embedder
from rag_pipeline.search import Searcher
from rag_pipeline.settings import EmbeddingSettings, Settings
from rag_pipeline.store.database import Database
from tests.conftest import fresh_database
from tests.search.conftest import finish, land_document

STEPS = """5.5 Replacing the Air Filter

Part: cartridge QA-0931.
1. Press STOP and open the
service door.
2. Pull out the cartridge.
WARNING
The housing is hot. Wear
gloves.
3. Insert the new one."""
CODES = """6.3 List of Codes

Table 16: Codes

| Code | Meaning | Remedy |
|---|---|---|
| E-01 | Emergency stop pressed | Unlock it |
| E-07 | Airend too hot | Check the oil level |"""
OIL = """5.2 Changing the Oil

Change the oil while it is warm, at 40 °C. Interval: 4000 h with
FL-46, at least once in two years. You need a vessel for 20 L, and a torque

wrench. Let the oil run out for 15 minutes."""
CHUNKS = [
    ("5 Maintenance > 5.5 Replacing the Air Filter", STEPS, "procedure"),
    ("6 Troubleshooting > 6.3 List of Codes", CODES, "table"),
    ("5 Maintenance > 5.2 Changing the Oil", OIL, "text"),
    ("5 Maintenance > 5.1 Schedule", "Every 2000 h replace the air filter.", "text"),
    ("3 Site", "Foundation and floor\n\nConcrete of class C25 is enough.", "text"),
    ("3 Site", "The room must be dry. Leave 1.0 m free in front of the cabinet.", "text"),
]


Ask = Callable[[str], Answer]


@pytest.fixture(scope="module")
def ask(server_url: str, models_dir: Path) -> Iterator[Ask]:
    embedder = create_embedder(EmbeddingSettings(), models_dir)
    with fresh_database(server_url) as url:
        settings = Settings(database_url=url)  # type: ignore[arg-type]
        database = Database.open(settings)
        trails, texts, kinds = zip(*CHUNKS, strict=True)
        land_document(database, "manual.pdf", texts, trails=trails, kinds=kinds)
        finish(database)
        searcher = Searcher(database, settings)

        def ask(question: str) -> Answer:
            response = searcher.search(question, weights={"text": 1.0, "vector": 0.0})
            return extract_answer(question, response, embedder)

        yield ask
        database.close()


@pytest.mark.parametrize("question", ["How do I replace the air filter?", "replacing air filters"])
def test_a_procedure_is_quoted_whole_with_its_warning(ask: Ask, question: str) -> None:
    (quote,) = ask(question).quotes
    assert quote.text.splitlines() == [
        "Part: cartridge QA-0931.",
        "1. Press STOP and open the service door.",
        "2. Pull out the cartridge.",
        "WARNING: The housing is hot. Wear gloves.",
        "3. Insert the new one.",
    ]


def test_a_row_is_quoted_with_the_names_of_its_columns(ask: Ask) -> None:
    (quote,) = ask("What does error code E-07 mean?").quotes
    assert quote.text == "Code: E-07 · Meaning: Airend too hot · Remedy: Check the oil level"
    assert quote.citation.breadcrumb_trail.endswith("List of Codes")


def test_a_question_for_a_time_gets_the_sentence_with_one(ask: Ask) -> None:
    best = ask("How often must the oil be changed?").quotes[0]
    assert best.text == "Interval: 4000 h with FL-46, at least once in two years."


def test_what_the_documents_do_not_say_is_said(ask: Ask) -> None:
    for question in ("What is the capital of France?", "How do I cook rice?", "zzqqxx blorf"):
        answer = ask(question)
        assert (answer.status, answer.quotes) == ("not_found", []), question
        assert answer.text == "The documents do not say."


def test_a_title_that_the_question_names_is_no_answer(ask: Ask) -> None:
    answer = ask("Which floor and foundation?")
    assert [quote.text for quote in answer.quotes] == ["Concrete of class C25 is enough."]


def test_units_end_where_sentences_do_not_where_lines_do() -> None:
    assert content_units(OIL, CHUNKS[2][0], "en") == [
        "Change the oil while it is warm, at 40 °C.",
        "Interval: 4000 h with FL-46, at least once in two years.",
        "You need a vessel for 20 L, and a torque wrench.",
        "Let the oil run out for 15 minutes.",
    ]
