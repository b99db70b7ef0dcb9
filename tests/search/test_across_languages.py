"""A question in one language whose answer stands in another: who is found where both compete."""

from __future__ import annotations

import numpy as np
import pytest

from rag_pipeline.search.filters import EVERYTHING, Filters, resolve
from rag_pipeline.search.legs.vector_languages import (
    LanguageCentroids,
    vector_hits_across_languages,
)
from rag_pipeline.search.legs.vector_leg import vector_leg
from rag_pipeline.search.ranking.likely_words import with_likely_words
from rag_pipeline.search.scores import Clause, LegHit
from rag_pipeline.store.database import Database
from rag_pipeline.store.embeddings import ensure_index
from tests.search.conftest import DIMENSIONS, finish, land_document, space_of

QUESTION = np.asarray([1, 0, 0, 0], dtype=np.float32)
COUNT = 60


@pytest.fixture
def two_languages(database: Database) -> tuple[Database, int]:
    """Korean chunks near every question, English ones far from it but for the one that answers.

    The cosine of that one, 0.6, is below that of each Korean chunk; the average Korean one has
    about 0.9, the average English one about 0.
    """
    generator = np.random.default_rng(3)
    noise = generator.uniform(-0.2, 0.2, (COUNT, DIMENSIONS))
    korean = np.array([1, 0.45, 0, 0]) + noise
    english = np.array([0, 0, 1, 0]) + noise
    english[7] = [0.6, 0, 0.8, 0]
    ours, others = ([f"{word} {i}" for i in range(COUNT)] for word in ("펌프", "pump"))
    land_document(database, "ko", ours, language="ko", vectors=korean)
    land_document(database, "en", others, vectors=english)
    with database.connection() as connection:
        ensure_index(connection, space_of(database))
        row = connection.execute("SELECT chunk_id FROM chunk WHERE content = 'pump 7'").fetchone()
        assert row is not None
        connection.execute("ANALYZE")
    finish(database)
    return database, row[0]


@pytest.mark.parametrize("documents", [(), ("ko", "en")], ids=["index", "exact"])
def test_nearness_to_a_language_is_not_nearness_to_the_question(
    two_languages: tuple[Database, int], documents: tuple[str, ...]
) -> None:
    database, answer = two_languages
    space = space_of(database)
    with database.connection() as connection:
        scope = resolve(connection, Filters(documents=documents)) if documents else EVERYTHING
        plain = vector_leg(connection, space, QUESTION, 40, scope)
        assert answer not in {hit.chunk_id for hit in plain}
        centroids = LanguageCentroids().of(connection, space, None, None)
        found = vector_hits_across_languages(
            connection, space, QUESTION, 40, scope, centroids=centroids
        )
    assert len(found.hits) == 40
    assert found.hits[0].chunk_id == answer
    assert found.hits[0].raw_score == pytest.approx(0.6 + 0.8 * 0.85, abs=0.1)
    assert found.languages[answer] == "en"
    assert set(found.languages.values()) == {"ko", "en"}


def test_a_filter_by_language_leaves_the_cosines_alone(
    two_languages: tuple[Database, int],
) -> None:
    database, answer = two_languages
    with database.connection() as connection:
        scope = resolve(connection, Filters(languages=["en"]))
        space = space_of(database)
        centroids = LanguageCentroids().of(connection, space, None, None)
        found = vector_hits_across_languages(
            connection, space, QUESTION, 10, scope, centroids=centroids
        )
    assert set(centroids) == {"ko", "en"}
    assert (found.hits[0].chunk_id, found.languages) == (answer, {})
    assert found.hits[0].raw_score == pytest.approx(0.6, abs=0.01)


def test_likely_words_by_hand() -> None:
    title = (Clause("title", 1.0, 4.0, 0.5, is_bonus=True), Clause("words", 0.5, 4.0, 0.5))
    words = [LegHit(1, 4.0, title), LegHit(3, 0.4)]
    meaning = [LegHit(3, 0.9), LegHit(4, 0.8), LegHit(1, 0.5)]
    languages = {1: "ko", 3: "en", 4: "en"}
    # The best has 2.0 beside its bonus: four fifths of it for the nearest, less for the other.
    found = with_likely_words(words, meaning, languages, "ko")
    assert [(hit.chunk_id, hit.raw_score) for hit in found] == [
        (1, 4.0),
        (3, pytest.approx(1.6)),
        (4, pytest.approx(1.2)),
    ]
    assert [(one.name, one.share) for one in found[1].clauses] == [("likely_words", 0.75)]


@pytest.mark.parametrize("language", ["en", "de", None])
def test_words_are_only_likely_beside_chunks_of_the_question_s_language(
    language: str | None,
) -> None:
    words = [LegHit(1, 4.0)]
    assert with_likely_words(words, [LegHit(1, 0.9), LegHit(2, 0.8)], {}, language) == words
    meaning = [LegHit(2, 0.9), LegHit(1, 0.8)]
    assert with_likely_words(words, meaning, {1: "ko", 2: "ko"}, language) == words
