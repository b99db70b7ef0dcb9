"""The clauses of the text leg, typing errors, and codes: what is found, in which order, and why."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import PurePath

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rag_pipeline.analysis import name_lexemes
from rag_pipeline.search import Searcher, SearchResponse, SearchResult
from rag_pipeline.search.legs import named_files as names
from rag_pipeline.search.legs.bm25_postings import BUCKET_SIZE, Corpus
from rag_pipeline.search.legs.corrections import distance, one_edit_away
from rag_pipeline.search.legs.named_files import named_chunks
from rag_pipeline.search.legs.phrases import Phrase
from rag_pipeline.settings import Settings
from rag_pipeline.store.database import Database
from rag_pipeline.store.source_tables import SourceFile, apply_changes, name_sources
from tests.conftest import fresh_database
from tests.search.conftest import finish, land_document

TEXT = {"text": 1.0, "vector": 0.0}
TEXTS = [
    ("Maintenance > Oil filter", "Unscrew it and fit a new one with a new seal."),
    ("Safety", "The oil filter is hot: let it cool down first."),
    ("Safety", "Oil on the floor: every filter mat must be cleaned."),
    ("Pumps", "The compression ratio of stage 2 is fixed."),
    ("Pumps", "The compresion stage is described here, misspelt."),
    ("Codes", "P0301 means a misfire of cylinder 1."),
    ("Codes", "P0302 means a misfire of cylinder 2."),
    ("Parts", "Order DS-7604NI-E1/4P/A from the service."),
    ("Parts", "Order the lubricator gauge from the service."),
]


@pytest.fixture(scope="module")
def searcher(server_url: str) -> Iterator[Searcher]:
    with fresh_database(server_url) as url:
        database = Database.open(Settings(database_url=url))  # type: ignore[arg-type]
        trails, texts = zip(*TEXTS, strict=True)
        land_document(database, "manual.pdf", texts, trails=trails)
        finish(database)
        yield Searcher(database, Settings())
        database.close()


def ask(searcher: Searcher, query: str, **options: object) -> SearchResponse:
    return searcher.search(query, weights=TEXT, **options)  # type: ignore[arg-type]


def clauses(result: SearchResult) -> dict[str, float]:
    return {detail.clause: detail.weight for detail in result.details}


def test_a_title_is_ahead_of_a_phrase_ahead_of_words(
    searcher: Searcher,
) -> None:
    results = ask(searcher, "oil filter").results
    assert [result.breadcrumb_trail for result in results] == [
        "Maintenance > Oil filter",
        "Safety",
        "Safety",
    ]
    assert clauses(results[0]) == {
        "title": 4.0, "phrase": 2.0, "words": 4.0, "closeness": 1.0
    }  # fmt: skip
    assert clauses(results[1]) == {"phrase": 2.0, "words": 4.0, "closeness": 1.0}
    assert clauses(results[2]) == {"words": 4.0, "closeness": 1.0}


def test_every_clause_has_its_share_and_all_add_up(searcher: Searcher) -> None:
    (best, second, third) = ask(searcher, "oil filter").results
    title, phrase, words, closeness = best.details
    assert (title.raw_score, title.rank, words.rank) == (1.0, 1, 1)
    assert 0 < phrase.raw_score <= 1, "two words of a third of the chunks are not that rare"
    assert best.text_score is not None
    assert second.text_score is not None
    # The scale is set by words: the best chunk's without a bonus, at least three tenths of 4.
    bonus = 4 + 2 * phrase.raw_score
    by_words = [best.text_score - bonus, second.text_score - bonus + 4, third.text_score]
    scale = max(0.3 * 4, *(one for one in by_words if one is not None))
    assert title.contribution == pytest.approx(4 / scale)
    assert closeness.raw_score == 1, "the words stand together"
    by_both = words.contribution + closeness.contribution
    assert by_both == pytest.approx((best.text_score - bonus) / scale)
    assert sum(one.contribution for one in best.details) == pytest.approx(best.score)


def test_a_title_holds_the_words_in_any_form_and_order(searcher: Searcher) -> None:
    for query in ("filters for oil", "What is the oil filter?", "filter oil"):
        best = ask(searcher, query).results[0]
        assert best.breadcrumb_trail == "Maintenance > Oil filter", query
        assert "title" in clauses(best), query


def test_function_words_find_nothing_beside_others(searcher: Searcher) -> None:
    assert ask(searcher, "what is the capital of them").results == []
    assert ask(searcher, "it is").results, "alone, they are all that was asked"


def test_nothing_found_is_a_state(searcher: Searcher) -> None:
    assert ask(searcher, "oil filter").is_found
    assert not ask(searcher, "capital of France").is_found
    missing = ask(searcher, "boiling point of ethanol at the stage of distillation in vacuum")
    assert not missing.is_found
    assert missing.results, "the nearest texts are listed"


def test_a_misspelt_word_is_corrected_and_shown(searcher: Searcher) -> None:
    response = ask(searcher, "lubrictor")
    assert [(one.typed, one.found) for one in response.corrections] == [("lubrictor", "lubricator")]
    assert "lubricator" in response.results[0].content
    assert clauses(response.results[0]) == {"fuzzy": 1.5}


def test_two_letters_wrong_are_found_by_trigrams(searcher: Searcher) -> None:
    response = ask(searcher, "lubrikattor")
    assert [one.found for one in response.corrections] == ["lubricator"]


def test_what_was_typed_is_never_corrected_away(searcher: Searcher) -> None:
    response = ask(searcher, "compresion")
    assert response.corrections == []
    assert "misspelt" in response.results[0].content


def test_a_code_next_to_the_one_typed_is_found_below_it(searcher: Searcher) -> None:
    response = ask(searcher, "P0301")
    assert [result.content[:5] for result in response.results] == ["P0301", "P0302"]
    assert not any(one.is_shown for one in response.corrections), "P0301 is no error"
    assert clauses(response.results[1]) == {"fuzzy": 1.5}


def test_a_code_one_character_off_is_found(searcher: Searcher) -> None:
    assert "P030" in ask(searcher, "P0303").results[0].content
    assert "DS-7604NI" in ask(searcher, "DS-7605NI-E1/4P/A").results[0].content


def test_a_code_is_found_by_its_beginning(searcher: Searcher) -> None:
    response = ask(searcher, "DS-760")
    assert "DS-7604NI" in response.results[0].content
    assert response.corrections[0].typed == "ds-760"


def test_without_the_clause_nothing_is_corrected(searcher: Searcher) -> None:
    settings = Settings.model_validate({"search": {"clauses": {"fuzzy": 0}}})
    plain = Searcher(searcher._database, settings)
    response = ask(plain, "lubrictor")
    assert response.results == []
    assert response.notes == ["nothing was found"]


def test_the_phrase_of_a_query() -> None:
    assert Phrase.of("Oil filters") == Phrase(("oil", "filters"))
    # Segments stand for a code, so that it is found within a longer one.
    assert Phrase.of("DS-7604NI") == Phrase(("ds", "7604ni"))
    assert Phrase.of("!?") is None
    assert Phrase.of("oil") is None, "the word itself says it"
    assert Phrase.of("word " * 40) is None


def test_distances_by_hand() -> None:
    assert distance("kitten", "sitting") == 3
    assert distance("ab", "ba") == 1
    assert distance("", "abc") == 3


@given(st.text("abcd1", min_size=1, max_size=6))
def test_every_string_one_edit_away_is_at_distance_one(word: str) -> None:
    assert {distance(word, other) for other in one_edit_away(word)} <= {1}
    assert word not in one_edit_away(word)


def test_of_equal_texts_the_one_in_the_named_file_comes_first(database_url: str) -> None:
    database = Database.open(Settings(database_url=database_url))  # type: ignore[arg-type]
    searcher = Searcher(database, Settings())
    names = [
        "ACME_2021_10K.pdf",
        "ACME_2022_10K.pdf",
        "BESTBUY_2021_10K.pdf",
        "BESTBUY_2022_10K.pdf",
        "CORNING_2022_10K.pdf",
    ]
    for name in names:
        land_document(database, name, ["The working capital is stated here.", "Other matters."])
    finish(database)
    found = ask(searcher, "working capital of Best Buy in FY2022").results
    (best,) = found
    assert [PurePath(path).name for path in (best.source_path, *best.copies)] == [
        names[i] for i in (3, 2, 1, 4, 0)
    ]
    (name,) = [detail for detail in found[0].details if detail.clause == "file_name"]
    assert name.raw_score > 0
    assert name.weight == 4.0
    assert sum(detail.contribution for detail in found[0].details) == pytest.approx(found[0].score)
    assert not ask(searcher, "bestbuy").results, "a name by itself finds nothing"
    database.close()


def test_a_word_of_every_text_says_little_in_a_name(database_url: str) -> None:
    database = Database.open(Settings(database_url=database_url))  # type: ignore[arg-type]
    names = ["fan.pdf", "how-to-use-the-fan.pdf", "motor.pdf", "pump.pdf"]
    for name in names:
        texts = [f"The voltage of the {name[:-4]} is stated here.", "The rest of the matter."]
        land_document(database, name, texts)
    finish(database)
    found = ask(Searcher(database, Settings()), "what is the voltage of the motor").results
    assert found[0].document == "motor.pdf"
    shares = {
        one.document: sum(d.raw_score for d in one.details if d.clause == "file_name")
        for one in found
    }
    assert shares["how-to-use-the-fan.pdf"] < 0.2 * shares["motor.pdf"]
    database.close()


def test_two_words_of_every_text_say_little_in_a_name(database_url: str) -> None:
    database = Database.open(Settings(database_url=database_url))  # type: ignore[arg-type]
    names = ["how to use the fan.pdf", "motor.pdf", "pump.pdf", "valve.pdf"]
    for name in names:
        land_document(database, name, ["How to use the part.", "How to use the other part."])
    finish(database)
    found = ask(Searcher(database, Settings()), "how to use the motor").results
    assert [one.document for one in found[:2]] == ["motor.pdf", "motor.pdf"]
    database.close()


def test_a_chunk_that_lands_in_a_new_bucket_while_names_are_read(database_url: str) -> None:
    database = Database.open(Settings(database_url=database_url))  # type: ignore[arg-type]
    land_document(database, "pump.pdf", ["The voltage of the pump."])
    with database.connection() as connection:
        corpus = Corpus([0], 1, 5)
        connection.execute(
            "SELECT setval(pg_get_serial_sequence('chunk', 'chunk_id'), %s)", (BUCKET_SIZE,)
        )
    land_document(database, "pump-2.pdf", ["The voltage of the second pump."])
    with database.connection() as connection:
        named = named_chunks(connection, "pump", ["en"], corpus, {"pump": 1})
        assert named is not None
        assert named.chunk_ids.tolist() == [1]
        assert len(named.scores) == 1
    database.close()


def test_names_that_too_many_files_or_chunks_have(
    database_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    database = Database.open(Settings(database_url=database_url))  # type: ignore[arg-type]
    for name in ("pump-old.pdf", "pump-new.pdf", "valve-new.pdf"):
        land_document(database, name, ["One.", "Two."])

    def files(query: str) -> set[int]:
        with database.connection() as connection:
            corpus = Corpus([0], 100, 100)
            named = named_chunks(connection, query, ["en"], corpus, {})
        return set() if named is None else set(named.chunk_ids.tolist())

    assert files("pump") == {1, 2, 3, 4}
    monkeypatch.setattr(names, "MAX_CHUNKS", 3)
    assert files("pump") == set(), "which of the two would be a matter of chance"
    assert files("new pump") == {3, 4}, "the one that is named best"
    monkeypatch.setattr(names, "MAX_CHUNKS", 100)
    monkeypatch.setattr(names, "MAX_FILES", 2)
    assert files("pump") == {1, 2, 3, 4}
    unlanded = SourceFile("/m/pump-3.pdf", "/m", "3" * 64, 1, 1)
    with database.connection() as connection:
        apply_changes(connection, [unlanded], [])
        name_sources(connection, name_lexemes)
    assert files("pump") == set(), "files that have not landed have names, too"
    database.close()
