"""Words of files' names, and the words of a question that may name a file."""

from __future__ import annotations

import unicodedata

import pytest

from rag_pipeline.analysis import name_lexemes, name_query_words
from rag_pipeline.analysis.file_names import NameWord


@pytest.mark.parametrize(
    ("name", "query"),
    [
        ("BESTBUY_2019_10K.pdf", "How many stores did Best Buy have?"),
        ("BestBuy-2019.pdf", "best buy"),
        ("best buy 2019.pdf", "BestBuy's revenue"),
        ("CORNING_2022_10K.pdf", "working capital based on FY2022 data"),
        ("KX-500_service_manual.pdf", "torque of the KX500"),
        ("InstallGuide.pdf", "the installation guides"),
        ("r740-owners-manual.pdf", "fan of the R740"),
        ("설치설명서_v2.pdf", "설치설명서에서 전압은?"),
        (unicodedata.normalize("NFD", "설치설명서.pdf"), "설치설명서"),
        ("Ölwechsel.pdf", "olwechsel"),
        ("https://example.org/docs/getting-started.html", "getting started"),
        ("https://example.org/Install%20Guide.html?tab=2/3", "install guide"),
        ("https://example.org/wiki/%EC%84%A4%EC%B9%98/", "설치"),
    ],
)
def test_a_question_names_the_file(name: str, query: str) -> None:
    assert set(name_lexemes(name)) & set(name_query_words(query, ["en", "ko"]))


def test_neither_folders_nor_endings_nor_single_letters_are_names() -> None:
    assert name_lexemes("/manuals/pump/10-K.pdf") == ["10", "10-k", "10k"]
    assert name_lexemes("manuals\\pump.tar.gz/") == ["pump", "pump.tar", "tar"]
    assert "k" not in name_query_words("10-K", ["en"])
    assert name_lexemes("") == name_lexemes("___.pdf") == []


def test_only_addresses_are_decoded_and_what_they_ask_for_is_no_name() -> None:
    assert name_lexemes("https://example.org/a/pump.html?id=valve&back=/seal#oil") == ["pump"]
    assert name_lexemes("https://example.org/pump%00%ff%2Fseal") == ["pump", "pumpseal", "seal"]
    assert name_lexemes("/m/100%25.pdf") == ["100", "100%", "25"]


def test_no_word_of_a_name_is_longer_than_an_index_takes() -> None:
    lexemes = name_lexemes(f"https://example.org/{'a' * 3000}_{'b' * 3000}")
    assert len(lexemes) == 3
    assert max(map(len, lexemes)) <= 255
    assert set(lexemes) <= set(name_query_words(f"{'a' * 3000} {'b' * 3000}", ["en"]))


def test_a_year_counts_in_full_whatever_stands_before_it() -> None:
    words = name_query_words("FY2022 and 120221", ["en"])
    assert words["2022"].weight == 1.0
    assert "0222" not in words


def test_two_words_as_one_say_what_they_say_together() -> None:
    words = name_query_words("How to reach Müller's Shop", ["en"])
    assert words["howto"] == NameWord(1.0, ()), "function words say nothing"
    assert words["mullershop"].parts == ("muller", "shop")
    assert words["toreach"].parts == words["reach"].parts == ("reach",)
