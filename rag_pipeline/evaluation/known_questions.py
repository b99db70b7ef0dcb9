"""Questions with known answers: one JSON object per line.

    {"id": "q1", "question": "…", "gold": [{"doc": "manual.pdf", "page": 12, "text": "…"}],
     "section": ["5.2 Oil"], "answer": "…", "facts": ["4000 h", ["2 years", "two years"]],
     "kind": "error code", "lang": "en"}

`gold` are the places that answer the question: a file name (or the end of its path), with a page
(1-based), a passage, or neither. `section` are the headings of the sections that answer it, `facts`
what a whole answer says, each as one spelling or several. Only `question` and `gold` are required;
other keys are ignored. The `kind` "negative" is for a question that the documents do not answer:
its `gold` is empty.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from rag_pipeline.errors import SourceError
from rag_pipeline.text import detect_language

NEGATIVE = "negative"
"""The kind of questions that the documents do not answer."""


@dataclass(frozen=True)
class Gold:
    """A place that answers a question."""

    doc: str
    page: int | None = None
    text: str = ""


@dataclass(frozen=True)
class KnownQuestion:
    """A question and where its answer is."""

    id: str
    text: str
    gold: tuple[Gold, ...]
    answer: str = ""
    kind: str = ""
    language: str = "und"
    sections: tuple[str, ...] = ()
    """Headings of the sections that answer it."""
    facts: tuple[tuple[str, ...], ...] = ()
    """What a whole answer says, each in all its spellings."""

    @property
    def is_negative(self) -> bool:
        """Whether the documents do not answer it."""
        return not self.gold


def read_questions(path: Path) -> list[KnownQuestion]:
    """Read a file of questions. Raises `SourceError`, which names the faulty line."""
    try:
        lines = path.read_text(encoding="utf-8-sig").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        reason = getattr(error, "strerror", None) or "it is not UTF-8"
        raise SourceError(f"{path} cannot be read: {reason}") from error
    questions: list[KnownQuestion] = []
    seen: set[str] = set()
    for number, line in enumerate(lines, start=1):
        if not line.strip():
            continue
        try:
            question = _question(json.loads(line), number)
        except (ValueError, TypeError, KeyError) as error:
            raise SourceError(
                f"{path.name} line {number}: {_reason(error)}", hint="see docs/evaluation.md"
            ) from error
        if question.id in seen:
            raise SourceError(f"{path.name} line {number}: the id {question.id} is used twice")
        seen.add(question.id)
        questions.append(question)
    if all(question.is_negative for question in questions):
        raise SourceError(f"{path} has no questions with an answer")
    return questions


def _question(row: object, number: int) -> KnownQuestion:
    if not isinstance(row, dict):
        raise ValueError("it is not a JSON object")
    text = row["question"]
    if not isinstance(text, str) or not text.strip():
        raise ValueError("the question is empty")
    gold = tuple(_gold(item) for item in row["gold"])
    answer, kind = str(row.get("answer") or ""), str(row.get("kind") or "")
    if bool(gold) == (kind == NEGATIVE):
        raise ValueError("gold is empty" if not gold else "a negative question has no gold")
    language = str(row.get("lang") or row.get("language") or detect_language(text))
    identity = str(row.get("id") or number)
    sections = _texts(row.get("section"), "section")
    facts = tuple(_texts(fact, "facts") for fact in row.get("facts") or ())
    return KnownQuestion(identity, text.strip(), gold, answer, kind, language, sections, facts)


def _texts(value: object, key: str) -> tuple[str, ...]:
    """Return one text or a list of them as a tuple. Raises `ValueError` for anything else."""
    values = value if isinstance(value, list) else [] if value is None else [value]
    if not all(isinstance(one, str) and one.strip() for one in values):
        raise ValueError(f"write {key} as a text or a list of texts")
    return tuple(values)


def _gold(item: object) -> Gold:
    if not isinstance(item, dict) or not isinstance(item.get("doc"), str) or not item["doc"]:
        raise ValueError('write gold as [{"doc": "manual.pdf", "page": 12}]')
    page = item.get("page")
    if page is not None and (isinstance(page, bool) or not isinstance(page, int) or page < 1):
        raise ValueError(f"the page {page!r} is not a number from 1 on")
    return Gold(item["doc"], page, str(item.get("text") or ""))


def _reason(error: Exception) -> str:
    if isinstance(error, KeyError):
        return f"{error.args[0]} is missing"
    return f"invalid JSON ({error.msg})" if isinstance(error, json.JSONDecodeError) else str(error)


def groups(questions: Sequence[KnownQuestion]) -> dict[str, list[str]]:
    """Return the ids of all questions, and by kind and language if there are several."""
    found = {"all": [question.id for question in questions]}
    for prefix, values in (
        ("kind", {question.id: question.kind for question in questions}),
        ("language", {question.id: question.language for question in questions}),
    ):
        names = sorted(set(values.values()))
        if len(names) > 1:
            for name in names:
                ids = [identity for identity, value in values.items() if value == name]
                found[f"{prefix} {name or 'none'}"] = ids
    return found
