"""`rag search`: explained, filtered, as SQL, as JSON."""

from __future__ import annotations

import json
from collections.abc import Callable

import pytest
from typer.testing import CliRunner

from rag_pipeline.cli.commands import app
from rag_pipeline.settings import Settings
from rag_pipeline.store.database import Database
from tests.search.conftest import finish, land_document

Run = Callable[..., str]


@pytest.fixture
def rag(database: Database, settings: Settings, monkeypatch: pytest.MonkeyPatch) -> Run:
    land_document(
        database,
        "pump.pdf",
        ["Check the lubricator gauge.", "Drain the tank."],
        trails=["Service > Gauge", "Service"],
        tags=["service"],
        metadata=[{"year": 2020}, {"year": 2022}],
    )
    finish(database)
    assert settings.database_url is not None
    monkeypatch.setenv("RAG_DATABASE_URL", settings.database_url.get_secret_value())
    monkeypatch.setenv("RAG_HOME", str(settings.project_dir))
    monkeypatch.chdir(settings.project_dir)

    def run(*arguments: str, status: int = 0) -> str:
        given = ["search", *arguments, "--vector-weight", "0"]
        outcome = CliRunner().invoke(app, given)
        assert outcome.exit_code == status, outcome.output
        return outcome.output

    return run


def test_json_has_every_clause(rag: Run) -> None:
    response = json.loads(rag("lubricator gauge", "--json"))
    (first, *_) = response["results"]
    assert first["content"] == "Check the lubricator gauge."
    assert [detail["clause"] for detail in first["details"]] == ["phrase", "words", "closeness"]
    assert set(first["details"][0]) == {
        "leg", "clause", "raw_score", "rank", "weight", "contribution"
    }  # fmt: skip
    assert sum(d["contribution"] for d in first["details"]) == pytest.approx(first["score"])


def test_a_correction_is_in_the_response(rag: Run) -> None:
    (correction,) = json.loads(rag("lubrictor", "--json"))["corrections"]
    assert (correction["typed"], correction["found"]) == ("lubrictor", "lubricator")


@pytest.mark.parametrize(
    ("options", "count"),
    [
        (["--tag", "service"], 2),
        (["--tag", "other"], 0),
        (["--pages", "2"], 1),
        (["--pages", "2-"], 1),
        (["--pages", "-1"], 1),
        (["--where", "year>=2021"], 1),
        (["--where", "year=2020|2022"], 2),
        (["--document", "pump.pdf", "--language", "en", "--source-type", "pdf"], 2),
        (["--since", "2020-01-01"], 2),
        (["--before", "2020-01-01"], 0),
        (["--select", "mmr"], 2),
        (["--threshold", "1"], 1),
    ],
)
def test_options(rag: Run, options: list[str], count: int) -> None:
    assert len(json.loads(rag("the", *options, "--json"))["results"]) == count


def test_the_sql_that_ran_is_printed(rag: Run) -> None:
    statements = json.loads(rag("lubricator", "--sql", "--json", "--tag", "service"))
    names = [statement["name"] for statement in statements]
    assert "passing_documents" in names
    assert names[-1] == "found_chunks"
    assert "lubricator" in next(s["sql"] for s in statements if s["name"] == "postings")


def test_no_range_of_pages(rag: Run) -> None:
    rag("the", "--pages", "x", status=1)


def test_the_table_shows_corrections_clauses_and_their_sum(rag: Run) -> None:
    shown = rag("lubrictor gauge", "--explain")
    assert "corrected lubrictor → lubricator" in shown
    assert "text.fuzzy" in shown
    for column in ("leg", "clause", "raw score", "rank", "weight", "contribution", "sum"):
        assert column in shown


def test_statements_are_shown_with_their_names(rag: Run) -> None:
    shown = rag("lubricator", "--sql")
    assert "-- postings: Primary key of posting; read in binary.\nSELECT" in shown
