"""Measures without a model: facts, gold sections, foreign and cut sentences, negatives."""

from __future__ import annotations

import pytest

from rag_pipeline.answering import Answer, Citation, Quote
from rag_pipeline.evaluation.answer_measures import (
    AnswerCounts,
    count,
    has_fact,
    is_cut,
    is_found,
    is_gold,
    shares,
)
from rag_pipeline.evaluation.known_questions import Gold, KnownQuestion
from rag_pipeline.search import SearchResponse, SearchResult
from tests.evaluation.test_measures import result

CONTENT = """\
5.2 Changing the Oil

Interval: 4000 h with FL-46. You need a vessel for 20 L, and a torque
wrench. Wear gloves.
1. Drain the oil and take
the plug out.
2. Fit the plug with 40 N·m
  a) with a new ring;
WARNING
Warm oil can scald.

| Joint | Torque |
|---|---|
| Drain plug | 40 N·m |

오일이 따뜻할 때 교환하십시오. 드레인 플러그를 풀어 오일을
빼내십시오."""


def chunk(document: str, trail: str, page: int = 1, content: str = "") -> SearchResult:
    from dataclasses import replace

    return replace(result(f"/m/{document}", page, content=content), breadcrumb_trail=trail)


def quoted(*parts: tuple[str, SearchResult], status: str = "answered") -> Answer:
    quotes = [
        Quote(text, 1.0, Citation.of(number, f"[{number}]", found))
        for number, (text, found) in enumerate(parts, start=1)
    ]
    text = " ".join(quote.text for quote in quotes)
    return Answer("?", text, "extractive", status, quotes=quotes)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("text", "spellings", "said"),
    [
        ("with 85 N·m, in three passes", ["85 Nm"], True),
        ("with 185 N·m", ["85 N·m"], False),
        ("at 4.0 bar", ["4 bar", "4.0 bar"], True),
        ("at 14 bar", ["4 bar"], False),
        ("0.35 bar", ["35 bar"], False),
        ("every 12 000 h", ["12000 h"], True),
        ("every 12,000 h", ["12 000 h"], True),
        ("code E-07 · too hot", ["E-07"], True),
        ("code E-17", ["E-07"], False),
        ("Service > Hours > Oil", ["service hours oil"], True),
        ("self-\nlocking nuts", ["selflocking nuts"], True),
        ("유면, 쿨러, 온도조절밸브 점검", ["유면 쿨러 온도조절밸브 점검"], True),
        ("7 % of energy", ["7 %"], True),
        ("7 bar", ["7 %"], False),
        ("anything", [], False),
    ],
)
def test_facts_are_found_however_they_are_written(
    text: str, spellings: list[str], said: bool
) -> None:
    assert has_fact(text, spellings) is said


def test_the_heading_of_a_result_decides_where_it_is_known() -> None:
    golds = (Gold("a.pdf", 3), Gold("b.pdf", 7))
    known = KnownQuestion("q", "?", golds, sections=("5.2 Changing the Oil",))
    assert is_gold(known, chunk("a.pdf", "5 Maintenance > 5.2  Changing the oil", 9))
    assert not is_gold(known, chunk("a.pdf", "5 Maintenance > 5.1 Schedule", 3))
    assert not is_gold(known, chunk("c.pdf", "5.2 Changing the Oil", 3))
    by_page = KnownQuestion("q", "?", golds)
    assert is_gold(by_page, chunk("b.pdf", "", 7))
    assert not is_gold(by_page, chunk("b.pdf", "", 3))
    assert is_gold(KnownQuestion("q", "?", (Gold("a.pdf"),)), chunk("a.pdf", "", 3))


@pytest.mark.parametrize(
    ("quote", "cut"),
    [
        ("Interval: 4000 h with FL-46.", False),
        ("You need a vessel for 20 L, and a torque", True),
        ("You need a vessel for 20 L, and a torque wrench.", False),
        ("You need a vessel", True),
        ("wrench. Wear gloves.", True),
        ("Wear gloves.", False),
        ("1. Drain the oil and take", True),
        ("1. Drain the oil and take the plug out.", False),
        ("2. Fit the plug with 40 N·m", False),
        ("with a new ring;", False),
        ("5.2 Changing the Oil", False),
        ("Drain plug · 40 N·m", False),
        ("| Drain plug | 40 N·m |", False),
        ("드레인 플러그를 풀어 오일을", True),
        ("오일이 따뜻할 때 교환하십시오.", False),
        ("Torque: 40 N·m and what the source does not say", False),
    ],
)
def test_a_quote_is_cut_where_its_sentence_goes_on(quote: str, cut: bool) -> None:
    assert is_cut(quote, CONTENT) is cut


def test_an_answer_is_counted_by_its_sentences() -> None:
    gold = chunk("a.pdf", "5.2 Changing the Oil", 3, CONTENT)
    other = chunk("a.pdf", "5.1 Schedule", 3, "Change the oil every 4000 hours. Read the gauge.")
    known = KnownQuestion(
        "q", "?", (Gold("a.pdf", 3),), sections=("5.2 Changing the Oil",),
        facts=(("4000 h", "4000 hours"), ("two years",)),
    )  # fmt: skip
    answer = quoted(
        ("1. Drain the oil and take the plug out.\n2. Fit the plug with 40 N·m", gold),
        ("Change the oil every 4000 hours. Read the gauge.", other),
    )
    counted = count(known, SearchResponse("?", [gold, other]), answer)
    assert counted == AnswerCounts(
        is_negative=False,
        said_not_found=False,
        gold_first=True,
        facts=2,
        facts_said=1,
        sentences=4,
        foreign=1,
        quotes=2,
        cut=0,
    )
    assert not count(known, SearchResponse("?", [other, gold]), None).gold_first


def test_negatives_and_false_alarms_are_told_by_the_search_or_the_answer() -> None:
    known = KnownQuestion("q", "?", (Gold("a.pdf", 3),))
    negative = KnownQuestion("n", "?", (), kind="negative")
    some, none = SearchResponse("?", [chunk("a.pdf", "", 3)]), SearchResponse("?", [])
    assert is_found(some)
    assert not is_found(none)
    said, answered = quoted(status="not_found"), quoted(("Yes.", some.results[0]))
    counted = [
        count(known, some, answered),
        count(known, some, said),
        count(negative, none, None),
        count(negative, some, answered),
        count(negative, some, said),
    ]
    assert [one.said_not_found for one in counted] == [False, True, True, False, True]
    found = shares(counted)
    assert found["negatives recognised"] == pytest.approx(2 / 3)
    assert found["false alarms"] == 0.5
    assert found["gold section first"] == 1.0
    assert "facts said" not in found
    assert "false alarms" not in shares(counted[:2])
