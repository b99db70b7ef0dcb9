"""Evaluations of a real store: by command, by asset, with answers, and drafts of questions."""

from __future__ import annotations

import json
import os
import re
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import dagster as dg
import pytest

from rag_pipeline.chat import create_chat
from rag_pipeline.evaluation import (
    KnownQuestion,
    current_settings,
    draft_questions,
    evaluate,
    parse_variant,
    read_questions,
    write_report,
)
from rag_pipeline.settings import ChatSettings, Settings
from rag_pipeline.store.database import Database
from tests.chat.chat_server import Answer, ChatServer, Request, whole
from tests.commands import Commands

ROWS = [
    {
        "id": "filter",
        "question": "How often must the oil filter be replaced?",
        "gold": [{"doc": "qv40.md", "text": "Replace the oil filter QF-1142/B every 2000 hours."}],
        "answer": "every 2000 hours",
        "kind": "interval",
    },
    {
        "id": "stick",
        "question": "How large a stick does the firmware update need?",
        "gold": [{"doc": 'notes "v2" <b>.md'}],
        "kind": "limit",
    },
    {
        "id": "lost",
        "question": "Which <script>paint</script> is used?",
        "gold": [{"doc": "paint.pdf", "page": 4}],
        "kind": "limit",
    },
]


@pytest.fixture
def questions_file(tmp_path: Path) -> Path:
    file = tmp_path / "questions.jsonl"
    file.write_text("\n".join(json.dumps(row) for row in ROWS), encoding="utf-8")
    return file


@pytest.fixture
def questions(questions_file: Path) -> list[KnownQuestion]:
    return read_questions(questions_file)


@pytest.fixture
def with_chat(project: Settings, server: ChatServer) -> Settings:
    chat = ChatSettings(model="m", base_url=server.url, deadline_seconds=60)
    return project.model_copy(update={"chat": chat})


def test_settings_side_by_side(
    project: Settings, base: Database, questions: list[KnownQuestion]
) -> None:
    variants = [
        current_settings(project),
        parse_variant("no legs of <b>words</b>: search.weights.text=0", project),
    ]
    first, second = evaluate(base, questions, variants)
    assert first.by_question["filter"]["MRR"] == 1
    assert first.by_question["stick"]["recall@5"] == 1
    assert set(first.by_question["lost"].values()) == {0.0}
    everything = first.by_group["all"]
    assert everything["questions"] == 3
    assert everything["recall@5"] == pytest.approx(2 / 3)
    assert first.by_group["kind interval"]["recall@5"] == 1
    assert first.by_group["kind limit"]["recall@5"] == 0.5
    assert [miss.question.id for miss in first.misses] == ["lost"]
    assert first.misses[0].found
    assert {"embed", "text", "vector", "fuse", "search"} <= set(first.latency)
    assert first.latency["search"][0] <= first.latency["search"][1]
    assert first.differences == []
    assert [one.measure for one in second.differences] == ["recall@5", "MRR", "nDCG@10"]
    assert "text" not in second.latency

    from datetime import UTC, datetime

    report = write_report(
        [first, second], questions_name="q.jsonl", made_at=datetime(2026, 1, 2, tzinfo=UTC)
    )
    assert "<script" not in report
    assert "<b>words" not in report
    assert "&lt;script&gt;paint" in report
    assert report.count("<svg") == report.count("</svg>") == 2
    assert not re.search(r"(src|href|url\()", report.replace("&quot;", "")), "nothing is fetched"
    assert "Missed by current settings: 1 of 3" in report


def test_negative_questions_count_apart(
    project: Settings, base: Database, questions: list[KnownQuestion]
) -> None:
    negative = KnownQuestion("none", "How is rice cooked?", (), kind="negative")
    asked = [*questions, negative]
    (found,) = evaluate(base, asked, [current_settings(project)], answers=True)
    (plain,) = evaluate(base, questions, [current_settings(project)])
    assert found.by_group["all"] == plain.by_group["all"]
    assert set(found.by_question) == {"filter", "stick", "lost"}
    assert [miss.question.id for miss in found.misses] == ["lost"]
    assert {"gold section first", "negatives recognised", "false alarms"} <= set(
        found.without_model
    )
    assert "negatives recognised" not in plain.without_model
    assert found.without_model["gold section first"] == pytest.approx(2 / 3)


def judged(request: Request) -> Answer:
    """A server that answers and judges."""
    if "You judge" in request.body["messages"][0]["content"]:
        known = "<known_answer>" in request.body["messages"][1]["content"]
        return Answer(
            whole(
                json.dumps(
                    {
                        "statements": [
                            {"text": "a", "supported": True},
                            {"text": "b", "supported": False},
                        ],
                        "relevancy": 2,
                        "agreement": 1 if known else None,
                    }
                )
            )
        )
    return Answer(whole("It is so [c1]."))


def test_answers_are_judged(
    with_chat: Settings,
    server: ChatServer,
    base: Database,
    questions: list[KnownQuestion],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    choose: Callable[[Request], Answer] = server.choose

    def answer(request: Request) -> Answer:
        choose(request)
        return judged(request)

    monkeypatch.setattr(server, "choose", answer)
    (found,) = evaluate(base, questions[:2], [current_settings(with_chat)], answers=True)
    assert found.judged == {
        "answered answers": 1.0,
        "citations hold": 1.0,
        "judged faithfulness": 0.5,
        "judged relevancy": 1.0,
        "judged agreement": 0.5,
    }
    assert len(server.requests) == 4
    assert found.latency["generate"][1] > 0
    with base.connection() as connection:
        rows = connection.execute("SELECT sum(requests), sum(tokens) FROM usage").fetchall()
    assert rows == [(4, 44)]


def test_drafts_quote_their_passage(
    with_chat: Settings, server: ChatServer, base: Database
) -> None:
    draft = {
        "question": "What is E-07?",
        "answer": "too hot",
        "quote": "airend temperature is above 110 °C",
    }
    server.always = Answer(whole("Sure: " + json.dumps(draft)))
    chat = create_chat(with_chat.chat)
    assert chat is not None
    drafts = draft_questions(base, with_chat, chat, 10)
    # The other document does not hold the quote, and one question is asked once.
    assert drafts == [
        {
            "id": "draft-001",
            "question": "What is E-07?",
            "lang": drafts[0]["lang"],
            "gold": [
                {"doc": "qv40.md", "text": "airend temperature is above 110 °C", "page": 1},
            ],
            "answer": "too hot",
            "review": "draft",
        }
    ]


@pytest.fixture
def rag(commands: Commands, project: Settings) -> Callable[..., subprocess.CompletedProcess[str]]:
    def run(*arguments: str, **variables: str) -> subprocess.CompletedProcess[str]:
        assert project.database_url is not None
        environment = {
            **os.environ,
            "RAG_HOME": str(project.project_dir),
            "RAG_DATABASE_URL": project.database_url.get_secret_value(),
            "COLUMNS": "200",
            **variables,
        }
        return commands.run(*arguments, folder=Path.cwd(), environment=environment)

    return run


def test_the_command(
    rag: Callable[..., subprocess.CompletedProcess[str]],
    base: Database,
    server: ChatServer,
    questions_file: Path,
    tmp_path: Path,
) -> None:
    report = tmp_path / "out" / "report.html"
    ran = rag("eval", str(questions_file), "--report", str(report), "--check")
    assert ran.returncode == 3, ran.stderr
    assert re.search(r"recall@5 +0\.667", ran.stdout)
    assert "failed recall_at_5 0.667, at least 0.8" in ran.stdout
    assert report.read_text(encoding="utf-8").startswith("<!doctype html>")

    ran = rag(
        *("eval", "--json", "--check", "--variant", "meaning: search.weights.text=0"),
        RAG_EVALUATION__QUESTIONS=str(questions_file),
        RAG_EVALUATION__MIN_RECALL_AT_5="0.6",
        RAG_EVALUATION__MAX_P95_MS="60000",
    )
    assert ran.returncode == 0, ran.stderr
    found: dict[str, Any] = json.loads(ran.stdout)
    assert found["thresholds"] == {"recall_at_5": True, "mrr": True, "p95_ms": True}
    assert [one["setting"] for one in found["settings"]] == ["current settings", "meaning"]
    assert found["settings"][1]["differences"][0]["measure"] == "recall@5"

    model = {"RAG_CHAT__MODEL": "m", "RAG_CHAT__BASE_URL": server.url}
    drafts = tmp_path / "drafts.jsonl"
    assert "needs a chat model" in rag("eval", "generate", str(drafts)).stderr
    ran = rag("eval", "generate", str(drafts), **model)
    assert "0 drafts" in ran.stdout, ran.stderr
    assert "exists" in rag("eval", "generate", str(drafts), **model).stderr


def test_the_asset_and_its_checks(
    project: Settings,
    base: Database,
    questions_file: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    from rag_pipeline.assets.evaluation_asset import retrieval_evaluation
    from rag_pipeline.resources import default_resources

    assert project.database_url is not None
    monkeypatch.setenv("RAG_DATABASE_URL", project.database_url.get_secret_value())

    def materialize(**variables: str) -> dg.ExecuteInProcessResult:
        for name, value in variables.items():
            monkeypatch.setenv(f"RAG_EVALUATION__{name}", value)
        with dg.instance_for_test() as instance:
            return dg.materialize(
                [retrieval_evaluation],
                resources=default_resources(str(project.project_dir)),
                instance=instance,
                raise_on_error=False,
            )

    skipped = materialize()
    assert skipped.success, "no questions are set, which is no failure"
    assert skipped.asset_materializations_for_node("retrieval_evaluation") == []
    (observation,) = skipped.asset_observations_for_node("retrieval_evaluation")
    assert "no questions are set" in str(observation.description)
    result = materialize(QUESTIONS=str(questions_file), MAX_P95_MS="60000")
    assert result.success
    checks = {one.check_name: one for one in result.get_asset_check_evaluations()}
    assert {name: one.passed for name, one in checks.items()} == {
        "recall_at_5": False,
        "mrr": True,
        "p95_ms": True,
    }
    assert checks["recall_at_5"].metadata["value"].value == pytest.approx(2 / 3)
    (event,) = result.asset_materializations_for_node("retrieval_evaluation")
    assert event.metadata["MRR"].value == pytest.approx(2 / 3)
    assert Path(str(event.metadata["report"].value)).is_file()
