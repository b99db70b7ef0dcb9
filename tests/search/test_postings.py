"""The word index: written with the chunks, right after every change, and BM25 by hand."""

from __future__ import annotations

import math
import struct
from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rag_pipeline.analysis import analyze
from rag_pipeline.search.legs.bm25_postings import (
    BUCKET_SIZE,
    Corpus,
    Scores,
    best_places,
    inverse_frequency,
)
from rag_pipeline.search.legs.text_leg import text_leg
from rag_pipeline.settings import ClauseWeights
from rag_pipeline.store.database import Database
from tests.search.conftest import finish, land_document

WORDS = ClauseWeights(title=0, phrase=0, fuzzy=0)


def packed(slot: int, frequency: int, length: int) -> bytes:
    return struct.pack(">i", ((slot - 4096) << 19) | (frequency << 12) | length)


def test_a_posting_is_unpacked_and_scored_by_hand() -> None:
    scores = Scores(Corpus([3, 7], chunk_count=2, lexeme_total=40))
    places, rest = scores.places(
        [(7, packed(0, 2, 30) + packed(8191, 1, 10)), (5, packed(1, 1, 1))]
    )
    assert scores.chunk_ids(places).tolist() == [7 * BUCKET_SIZE, 7 * BUCKET_SIZE + 8191]
    scores.add(places, rest, 3.0)
    # average length 20: tf 2, length 30; tf 1, length 10
    first = 3 * 2.2 * 2 / (2 + 1.2 * (0.25 + 0.75 * 30 / 20))
    second = 3 * 2.2 * 1 / (1 + 1.2 * (0.25 + 0.75 * 10 / 20))
    assert scores.values[places].tolist() == pytest.approx([first, second])
    assert scores.places_of(np.asarray([7 * BUCKET_SIZE + 5, 99 * BUCKET_SIZE])).tolist() == [8197]


@given(
    values=st.lists(st.sampled_from([0.0, 0.5, 1.0, 2.0, 3.5]), max_size=300),
    count=st.integers(1, 40),
)
def test_the_best_places_are_those_of_a_sort(values: list[float], count: int) -> None:
    array = np.asarray(values, dtype=np.float32)
    order = np.argsort(-array, kind="stable")
    assert best_places(array, count).tolist() == [i for i in order if array[i] > 0][:count]


def bm25(texts: list[str], lexeme: str, language: str = "en") -> dict[str, float]:
    analysed = {text: analyze(f"\n{text}", language) for text in texts}
    lengths = {text: len({position for _, position in found}) for text, found in analysed.items()}
    average = sum(lengths.values()) / len(lengths)
    counts = {text: Counter(one for one, _ in found)[lexeme] for text, found in analysed.items()}
    holders = sum(count > 0 for count in counts.values())
    idf = math.log(1 + (len(texts) - holders + 0.5) / (holders + 0.5))
    return {
        text: idf * 2.2 * count / (count + 1.2 * (0.25 + 0.75 * lengths[text] / average))
        for text, count in counts.items()
        if count
    }


def found(database: Database, query: str) -> dict[str, float]:
    with database.connection() as connection:
        hits = text_leg(connection, query, 50, clauses=WORDS).hits
        texts = dict(connection.execute("SELECT chunk_id, content FROM chunk").fetchall())
    return {texts[hit.chunk_id]: hit.clauses[0].raw_score for hit in hits}


def test_landing_replacing_and_removing_keep_bm25_exact(database: Database) -> None:
    one = ["pump pump valve", "the valve of the pump", "seal"]
    other = ["pump", "gasket ring seal and a long tail of words"]
    land_document(database, "one.pdf", one)
    land_document(database, "other.pdf", other)
    assert found(database, "pump") == pytest.approx(bm25(one + other, "pump"), rel=1e-5)
    changed = ["pump and seal", "nothing here"]
    land_document(database, "one.pdf", changed)  # before a sync's end: nothing waits for it
    expected = bm25(changed + other, "seal")
    # A chunk that is gone counts among a word's holders until its bucket is compacted.
    assert found(database, "seal").keys() == expected.keys()
    assert "pump pump valve" not in found(database, "pump")
    finish(database)
    assert found(database, "seal") == pytest.approx(expected, rel=1e-5)
    with database.connection() as connection:
        connection.execute("DELETE FROM chunk WHERE content = ANY(%s)", (changed,))
    assert found(database, "seal").keys() == {other[1]}


def test_dead_postings_are_cleared_and_counts_are_exact(database: Database) -> None:
    for texts in (["old", "older"], ["new", "newer"], ["alpha beta", "beta gamma"]):
        land_document(database, "one.pdf", texts)
    with database.connection() as connection:
        counts = connection.execute(
            "SELECT chunk_count, lexeme_total, dead_count FROM posting_bucket"
        )
        assert counts.fetchall() == [(2, 4, 4)]
    finish(database)
    with database.connection() as connection:
        counts = connection.execute(
            "SELECT chunk_count, lexeme_total, dead_count FROM posting_bucket"
        )
        assert counts.fetchall() == [(2, 4, 0)]
        rows = connection.execute("SELECT lexeme, chunk_count FROM posting ORDER BY 1").fetchall()
        assert rows == [("alpha", 1), ("beta", 2), ("gamma", 1)]
        total = connection.execute("SELECT chunk_count, lexeme_total FROM corpus_statistics")
        assert total.fetchone() == (2, 4)


def test_a_rolled_back_landing_leaves_no_posting(database: Database) -> None:
    land_document(database, "one.pdf", ["alpha"])
    with database.connection() as connection:
        connection.execute("DELETE FROM chunk")
        connection.rollback()
    assert found(database, "alpha").keys() == {"alpha"}


def test_idf_is_never_negative() -> None:
    assert inverse_frequency(1, 5) > 0


def test_frequent_words_only_add_to_what_rare_ones_found(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    texts = [f"common word{i}" for i in range(30)] + ["common rare", "rare common common"]
    land_document(database, "one.pdf", texts)
    exact = found(database, "common rare")
    monkeypatch.setattr("rag_pipeline.search.legs.text_leg.READ_POSTINGS", 5)
    bounded = found(database, "common rare")
    assert list(bounded) == list(exact)[:2]
    assert list(bounded.values()) == pytest.approx(list(exact.values())[:2], rel=1e-5)
