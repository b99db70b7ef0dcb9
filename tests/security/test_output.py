"""Text of documents, names and errors in what is printed and in pages: it says, it does nothing."""

from __future__ import annotations

import io
import json
import re
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from lxml import html
from rich.text import Text
from typer.testing import CliRunner

from rag_pipeline.cli.commands import app
from rag_pipeline.console.terminal import Terminal, safe, safe_line, to_json
from rag_pipeline.evaluation import Evaluation, Gold, KnownQuestion, Variant, write_report
from rag_pipeline.evaluation.evaluate import Asked
from rag_pipeline.evaluation.html_report import COLUMNS
from rag_pipeline.evaluation.ranking_measures import CURVE, MAIN
from rag_pipeline.inspection.html_page import write_inspection_page
from rag_pipeline.settings import Settings

COLOUR = re.compile(r"\x1b\[[\d;]*m")
STEERING = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]")
ATTACKS = [
    "\x1b[2J\x1b[1;1H",  # clears the screen
    "\x1b]0;owned\x07",  # names the window
    "\x1b]8;;http://example.org\x1b\\here\x1b]8;;\x1b\\",  # a link that says something else
    "\x9b31m",  # CSI as one byte
    "\x9d0;owned\x9c",
    "pdf.\u202efdp",  # runs backwards
    "\u2066a\u2069",
    "a\rb",  # overwrites the line
    "\b\b\b",
    "\ud800",
]
MARKUP = ["[bold red]x[/]", "[link=http://a]b[/link]", "[/]", ":warning:", "E:42:", "\\[a]", "a\\"]


def printed(value: Any, **options: Any) -> str:
    """What a terminal would get, without the colours of our own."""
    file = io.StringIO()
    Terminal(file=file, force_terminal=True, width=200).print(value, **options)
    return COLOUR.sub("", file.getvalue())


@pytest.mark.parametrize("attack", ATTACKS)
def test_nothing_steers_the_terminal(attack: str) -> None:
    for value in (f"[bold]{safe(attack)}[/]", Text(attack)):
        assert not STEERING.search(printed(value))
    assert not STEERING.search(printed(attack, markup=False))


@pytest.mark.parametrize("text", MARKUP)
def test_mark_up_is_shown_as_it_is(text: str) -> None:
    assert printed(f"[bold]{safe(text)}[/] end") == f"{text} end\n"


@given(st.text(st.one_of(st.characters(), st.sampled_from("[]\\/:=\x1b\x9b;m")), max_size=40))
def test_any_text_is_printed_as_what_is_visible_of_it(text: str) -> None:
    shown = printed(f"[dim]{safe(text)}[/]|")
    assert not STEERING.search(shown)
    letters = [c for c in text if c.isprintable() and not c.isspace()]
    assert [c for c in shown if not c.isspace()] == [*letters, "|"]
    assert "\n" not in safe_line(text)


@given(st.recursive(st.text(), lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner)))
def test_json_is_the_same_value_in_harmless_letters(value: Any) -> None:
    text = to_json(value)
    assert not STEERING.search(text)
    assert json.loads(text) == value
    text.encode("utf-8")


def test_a_file_name_with_escapes_in_an_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("RAG_HOME", str(tmp_path))
    file = tmp_path / "a\x1b[31m\nerror all is well\u202e.pdf"
    file.write_bytes(b"")
    result = CliRunner().invoke(app, ["inspect", str(file)])
    assert result.exit_code == 2
    assert "zero bytes" in result.stderr
    assert not STEERING.search(COLOUR.sub("", result.output))


def test_a_document_with_escapes_on_the_terminal(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("RAG_HOME", str(tmp_path))
    file = tmp_path / "a.md"
    lines = [f"{attack} {mark}" for attack in ATTACKS[:-1] for mark in MARKUP]
    text = "# Pump \x1b[31m\n\n" + "\n\n".join(lines)
    file.write_text(text, encoding="utf-8")
    for arguments in ([], ["--markdown"], ["--json"], ["--explain"]):
        result = CliRunner().invoke(app, ["inspect", str(file), *arguments])
        assert result.exit_code == 0, result.exception
        assert "Pump" in result.stdout
        assert not STEERING.search(result.output)
    result = CliRunner().invoke(app, ["chunk", str(file)])
    assert result.exit_code == 0
    assert not STEERING.search(result.output)


HTML_ATTACKS = [
    "<script>alert(1)</script>",
    "</script><script>alert(1)</script>",
    "</title></style><img src=x onerror=alert(1)>",
    '"><svg onload=alert(1)>',
    "' onmouseover='alert(1)",
    "<!--",
    "]]>",
    "javascript:alert(1)",
]


def foreign(page: str) -> list[str]:
    """Elements and attributes that could act, beside those that pages of ours have."""
    tree = html.fromstring(page)
    acting = [
        element.tag
        for element in tree.iter()
        if isinstance(element.tag, str)
        and (
            element.tag in ("img", "iframe", "object", "embed", "form", "base")
            or any(name.startswith("on") for name in element.attrib)
            or (element.get("href") or "").startswith("javascript")
        )
    ]
    scripts = [script.text or "" for script in tree.iter("script") if not script.get("type")]
    return [*acting, *(script for script in scripts if "alert(1)" in script)]


def test_the_page_of_an_inspection_runs_nothing_of_the_document(
    tmp_path: Path, settings: Settings
) -> None:
    table = "|" + "|".join(HTML_ATTACKS[:3]) + "|\n|---|---|---|\n|1|2|3|\n"
    text = "\n\n".join(f"# `{attack}`\n\n{attack.replace('<', '&lt;')}" for attack in HTML_ATTACKS)
    file = tmp_path / 'a<script>alert(1)<&".md'
    file.write_text(f"{text}\n\n{table}", encoding="utf-8")
    target = tmp_path / "page.html"
    write_inspection_page(file, settings, target)
    page = target.read_text(encoding="utf-8")
    assert "alert(1)" in page
    assert foreign(page) == []


def test_the_report_of_an_evaluation_runs_nothing_of_a_question(settings: Settings) -> None:
    attack = "".join(HTML_ATTACKS)
    question = KnownQuestion(attack, attack, (Gold(doc=attack),), attack, attack, "en")
    asked = Asked(question, [attack], None, {"search": 0.1}, attack, attack, {attack: 0.5})
    measures = dict.fromkeys(("questions", *COLUMNS, *MAIN, *(f"recall@{k}" for k in CURVE)), 0.5)
    variant = Variant(attack, settings, attack, attack)
    groups = {"all": measures, attack: measures}
    evaluation = Evaluation(
        variant, [asked], {attack: measures}, groups, {attack: (1.0, 2.0)}, {attack: 0.5}
    )
    page = write_report(
        [evaluation, evaluation], questions_name=attack, made_at=datetime(2026, 1, 1, tzinfo=UTC)
    )
    assert "alert(1)" in page
    assert foreign(page) == []
