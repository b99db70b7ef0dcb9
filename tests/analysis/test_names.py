"""Words of files' names, and the words of a question that may name a file."""

from __future__ import annotations

import unicodedata

import pytest

from rag_pipeline.analysis import name_lexemes, name_query_weights


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
    ],
)
def test_a_question_names_the_file(name: str, query: str) -> None:
    assert set(name_lexemes(name)) & set(name_query_weights(query, ["en", "ko"]))


def test_neither_folders_nor_endings_nor_single_letters_are_names() -> None:
    assert name_lexemes("/manuals/pump/10-K.pdf") == ["10", "10-k", "10k"]
    assert name_lexemes("manuals\\pump.tar.gz/") == ["pump", "pump.tar", "tar"]
    assert "k" not in name_query_weights("10-K", ["en"])
    assert name_lexemes("") == name_lexemes("___.pdf") == []


def test_a_year_counts_in_full_whatever_stands_before_it() -> None:
    weights = name_query_weights("FY2022 and 120221", ["en"])
    assert weights["2022"] == 1.0
    assert "0222" not in weights
