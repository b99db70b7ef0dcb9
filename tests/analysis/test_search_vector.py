from __future__ import annotations

import random

import psycopg
from hypothesis import given
from hypothesis import strategies as st

from rag_pipeline.analysis import analyze, to_search_vector, to_search_vectors
from rag_pipeline.analysis.search_vector import MAX_POSITION


def test_lexemes_keep_their_positions() -> None:
    assert to_search_vector([("a", 1), ("b", 1), ("a", 3)]) == ("'a':1,3 'b':1", 2, 0)


def test_quotes_and_backslashes_are_escaped() -> None:
    assert to_search_vector([("it's", 1), ("c:\\x", 2)]).literal == r"'it''s':1 'c:\\x':2"


def test_no_lexemes_give_an_empty_vector() -> None:
    assert to_search_vector([]) == ("", 0, 0)


def test_positions_are_bounded() -> None:
    vector = to_search_vector([("a", position) for position in range(1, 20_001)])
    assert vector.literal.count(",") == 254
    assert vector.dropped == 20_000 - 255
    assert vector.length == 20_000
    assert to_search_vector([("a", 5), ("a", 16_390), ("a", 20_000)]).literal == (
        f"'a':5,{MAX_POSITION}"
    )


def test_batches() -> None:
    literals, lengths = to_search_vectors(["Two filters", "", "E-07이"], "en")
    assert literals[0] == "'two':1 'filters':2 'filter':2"
    assert literals[1] == ""
    assert lengths == [2, 0, 3]


@given(st.lists(st.text(max_size=80), max_size=5))
def test_lengths_are_words(texts: list[str]) -> None:
    _, lengths = to_search_vectors(texts, "en")
    assert lengths == [len({p for _, p in analyze(text, "en")}) for text in texts]


def test_postgres_takes_hostile_vectors(server_url: str) -> None:
    generator = random.Random(7)
    alphabet = "aZ0'\\\":,-./&|!()*<>%° \t\n×·éß가나一あप्ก\u0301\x00\ufdfa\U00020000"
    texts = ["".join(generator.choices(alphabet, k=60)) for _ in range(300)]
    texts += ["x" * 3_000, "가" * 20_000, "a-" * 30_000]
    literals, _ = to_search_vectors(texts, "en")
    with psycopg.connect(server_url) as connection:
        rows = connection.execute(
            "SELECT tsvector_to_array(v::tsvector) FROM unnest(%s::text[]) WITH ORDINALITY "
            "AS t (v, place) ORDER BY place",
            (literals,),
        ).fetchall()
    for text, (stored,) in zip(texts, rows, strict=True):
        assert set(stored) == {lexeme for lexeme, _ in analyze(text, "en")}


def test_the_size_is_bounded_for_postgres_and_the_cut_stated(server_url: str) -> None:
    vector = to_search_vector([(f"word{n:08}", n + 1) for n in range(400_000)])
    assert 0 < vector.dropped < 400_000
    with psycopg.connect(server_url) as connection:
        row = connection.execute("SELECT length(%s::tsvector)", (vector.literal,)).fetchone()
    assert row == (400_000 - vector.dropped,)
