"""Citations read from text, and the context within its budget."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rag_pipeline.answering.answer_context import ContextChunk, select_context, write_context
from rag_pipeline.answering.citing import check_citations, cited_numbers
from rag_pipeline.answering.prompt import answer_messages
from rag_pipeline.embedding.token_vocabularies import estimate_sentencepieces
from rag_pipeline.search import SearchResult
from rag_pipeline.settings import AnsweringSettings


def result(content: str, *, relevance: float = 0.9, source: str = "/m/a.pdf") -> SearchResult:
    return SearchResult(
        chunk_id=7,
        score=0.1,
        text_score=1.0,
        vector_score=0.9,
        details=(),
        source_hash="0" * 64,
        source_path=source,
        title=None,
        chunk_index=0,
        kind="text",
        breadcrumb_trail="A > B",
        content=content,
        page_start=3,
        page_end=4,
        regions=[],
        language="en",
        metadata={},
        relevance=relevance,
    )


@pytest.mark.parametrize(
    ("text", "numbers"),
    [
        ("Turn it [c2]. Wait [c1].", [2, 1]),
        ("Turn it [c2, c1; c3].", [2, 1, 3]),
        ("돌리십시오[c2]. 기다리십시오【c10】.", [2, 10]),
        ("Turn it (chunk c4).", [4]),
        ("Turn it [C4] [c4].", [4]),
        ("Turn it [2].", [2]),
        ("돌리십시오[2, 3].", [2, 3]),
        ("Set GPIO[3] and read register[12].", []),
        ("Set GPIO[3] [c1].", [1]),
        ("Read [7] in the standard [c1].", [1]),
        ("Nothing.", []),
    ],
)
def test_citations_are_read(text: str, numbers: list[int]) -> None:
    assert cited_numbers(text) == numbers


def test_chunks_that_were_not_given_are_told() -> None:
    chunks = [ContextChunk(1, result("x"), "x")]
    citations, problems = check_citations("A [c1]. B [c2].", chunks)
    assert [(c.number, c.marker, c.chunk_id, c.page_end) for c in citations] == [(1, "[c1]", 7, 4)]
    assert problems == ["cites c2, a chunk that was not given"]


def test_a_chunk_is_written_with_its_place() -> None:
    chunk = ContextChunk(2, result("5 < 6 & 7", source='/m/"a"<b>.pdf'), "5 < 6 & 7")
    assert chunk.written() == (
        '<chunk id="c2" source="&quot;a&quot;&lt;b&gt;.pdf" page="3-4" breadcrumb="A &gt; B" '
        'relevance="0.90">\n5 &lt; 6 &amp; 7\n</chunk>'
    )


@given(st.text(), st.text(min_size=1), st.text())
def test_no_text_breaks_out_of_its_place(content: str, name: str, question: str) -> None:
    chunk = ContextChunk(1, result(content, source=f"/m/{name}"), content)
    text = answer_messages(question, [chunk])[-1].content
    # All tags that there are, and what stands in their attributes.
    tags = re.findall(r"<[^>]*>", text)
    assert [re.split(r"[ >]", tag)[0] for tag in tags] == [
        "<context",
        "<chunk",
        "</chunk",
        "</context",
        "<question",
        "</question",
    ]
    assert tags[1].count('"') == 10
    assert "\n" not in tags[1]


def test_the_budget_is_held_and_filled() -> None:
    short, long = "word " * 20, "word " * 300
    settings = AnsweringSettings(context_tokens=200)
    chosen = select_context([result(short), result(long), result(short)], settings)
    assert [chunk.content for chunk in chosen] == [short, short]
    assert [chunk.id for chunk in chosen] == ["c1", "c2"]
    assert estimate_sentencepieces(write_context(chosen)) <= 200 + 10


def test_a_first_chunk_that_is_too_long_is_cut() -> None:
    settings = AnsweringSettings(context_tokens=200)
    (chunk,) = select_context([result("word " * 300)], settings)
    assert chunk.content.endswith("\n[…]")
    assert 190 <= estimate_sentencepieces(chunk.written()) <= 200


def test_what_is_not_relevant_is_left_out() -> None:
    settings = AnsweringSettings(min_relevance=0.5, max_chunks=1)
    given_results = [result("a", relevance=0.49), result("b", relevance=0.5), result("c")]
    assert [chunk.content for chunk in select_context(given_results, settings)] == ["b"]
