"""Files of questions, variants of settings, and what a judge replies."""

from __future__ import annotations

import json
import unicodedata
from pathlib import Path

import pypdfium2 as pdfium
import pytest

from rag_pipeline.errors import SettingsError, SourceError
from rag_pipeline.evaluation import Gold, KnownQuestion, parse_variant, read_questions
from rag_pipeline.evaluation.judging import Judgement, parse_judgement
from rag_pipeline.evaluation.known_questions import groups
from rag_pipeline.evaluation.matching import letters
from rag_pipeline.settings import Settings
from tests.conftest import SAMPLES_DIR


def write(path: Path, *rows: object) -> Path:
    text = "\n".join(row if isinstance(row, str) else json.dumps(row) for row in rows)
    path.write_text(text, encoding="utf-8")
    return path


def test_questions_are_read(tmp_path: Path) -> None:
    gold = [{"doc": "a.pdf", "page": 3, "text": "t"}, {"doc": "b.pdf"}]
    file = write(
        tmp_path / "q.jsonl",
        {"id": "x", "question": " What? ", "gold": gold, "answer": "A", "kind": "code"},
        "",
        {"question": "오일은 언제 교체합니까?", "gold": [{"doc": "a.pdf"}], "other": 1},
    )
    first, second = read_questions(file)
    assert first == KnownQuestion(
        "x", "What?", (Gold("a.pdf", 3, "t"), Gold("b.pdf")), "A", "code", first.language
    )
    assert (second.id, second.language, second.kind) == ("3", "ko", "")
    assert groups([first, second])["kind code"] == ["x"]


def test_sections_facts_and_negatives_are_read(tmp_path: Path) -> None:
    gold = [{"doc": "a.pdf"}]
    file = write(
        tmp_path / "q.jsonl",
        {"question": "?", "gold": gold, "section": "5.2 Oil", "facts": ["a", ["b", "c"]]},
        {"question": "?", "gold": gold, "section": ["5.2", "5.1"]},
        {"question": "?", "gold": [], "kind": "negative"},
    )
    first, second, negative = read_questions(file)
    assert (first.sections, first.facts) == (("5.2 Oil",), (("a",), ("b", "c")))
    assert (second.sections, second.facts) == (("5.2", "5.1"), ())
    assert [one.is_negative for one in (first, second, negative)] == [False, False, True]
    with pytest.raises(SourceError, match="no questions with an answer"):
        read_questions(
            write(tmp_path / "n.jsonl", {"question": "?", "gold": [], "kind": "negative"})
        )


def test_the_sample_questions_are_whole() -> None:
    """Every kind in both languages, and headings and passages that the documents have."""
    questions = read_questions(SAMPLES_DIR / "questions.jsonl")
    outline = json.loads((SAMPLES_DIR / "outline.json").read_text(encoding="utf-8"))
    pages = {
        name: [
            flat(page.get_textpage().get_text_range())
            for page in pdfium.PdfDocument(SAMPLES_DIR / name)
        ]
        for name in outline
    }
    assert len(questions) >= 100
    assert sum(question.is_negative for question in questions) >= 16
    for kind in ("how-to", "table", "code", "quantity", "comparison", "negative"):
        assert {q.language for q in questions if q.kind == kind} == {"en", "ko"}, kind
    for question in questions:
        for gold in question.gold:
            assert gold.page
            assert flat(gold.text) in pages[gold.doc][gold.page - 1], question.id
        headings = {title for gold in question.gold for _, title, _ in outline[gold.doc]}
        assert question.is_negative or headings.intersection(question.sections), question.id
        assert question.is_negative or question.facts, question.id


def flat(text: str) -> str:
    """Return the letters and digits of a text, without ligatures."""
    return letters(unicodedata.normalize("NFKC", text))


@pytest.mark.parametrize(
    ("row", "reason"),
    [
        ("{", "line 1: invalid JSON"),
        ("[]", "line 1: it is not a JSON object"),
        ({"gold": []}, "line 1: question is missing"),
        ({"question": " ", "gold": []}, "the question is empty"),
        ({"question": "?", "gold": []}, "gold is empty"),
        ({"question": "?", "gold": [{"doc": "a"}], "kind": "negative"}, "has no gold"),
        ({"question": "?", "gold": [{"doc": "a"}], "section": 5}, "write section as a text"),
        ({"question": "?", "gold": [{"doc": "a"}], "facts": [["a", ""]]}, "write facts as a text"),
        ({"question": "?", "gold": [{"page": 1}]}, "write gold as"),
        ({"question": "?", "gold": [{"doc": "a", "page": 0}]}, "the page 0 is not a number"),
        ({"question": "?", "gold": None}, "line 1"),
    ],
)
def test_faults_name_their_line(tmp_path: Path, row: object, reason: str) -> None:
    with pytest.raises(SourceError, match=reason):
        read_questions(write(tmp_path / "q.jsonl", row))


def test_an_id_comes_once(tmp_path: Path) -> None:
    row = {"id": "a", "question": "?", "gold": [{"doc": "a"}]}
    with pytest.raises(SourceError, match="line 2: the id a is used twice"):
        read_questions(write(tmp_path / "q.jsonl", row, row))
    with pytest.raises(SourceError, match="has no questions"):
        read_questions(write(tmp_path / "empty.jsonl"))
    with pytest.raises(SourceError, match="cannot be read"):
        read_questions(tmp_path / "none.jsonl")


def test_variants_change_settings_of_questions_only() -> None:
    settings = Settings()
    variant = parse_variant(
        "words only: search.weights.vector=0, search.selection=mmr, space=local/x/384", settings
    )
    assert variant.name == "words only"
    assert variant.space == "local/x/384"
    assert variant.settings.search.weights.vector == 0
    assert variant.settings.search.weights.text == settings.search.weights.text
    assert variant.settings.search.selection == "mmr"
    assert settings.search.weights.vector == 0.3
    for text, reason in {
        "search.weights.vector=0": "is not a variant",
        "a: search.nothing=1": "there is no setting search.nothing",
        "a: search.limit=0": "search.limit: Input should be greater",
        "a: chunking.target_tokens=100": "cannot be compared without a sync",
        "a: search": "is not KEY=VALUE",
    }.items():
        with pytest.raises(SettingsError, match=reason):
            parse_variant(text, settings)


@pytest.mark.parametrize(
    ("reply", "known", "judged"),
    [
        (
            'Here: {"statements": [{"text": "a", "supported": true}, {"text": "b", "supported": '
            'false}], "relevancy": 2, "agreement": 1}',
            True,
            Judgement(0.5, 1.0, 0.5),
        ),
        ('{"statements": [], "relevancy": 1, "agreement": 2}', False, Judgement(None, 0.5, None)),
        ('{"statements": [{"text": "a"}], "relevancy": 2}', True, None),
        ('{"statements": [], "relevancy": 7}', True, None),
        ("It is a good answer.", True, None),
        ("{broken", True, None),
    ],
)
def test_judges_are_read_strictly(reply: str, known: bool, judged: Judgement | None) -> None:
    assert parse_judgement(reply, has_known=known) == judged
