import sys

import pytest

from rag_pipeline.embedding.token_vocabularies import (
    estimate_sentencepieces,
    estimate_wordpieces,
    token_counter,
)
from rag_pipeline.errors import SettingsError


def test_openai_counts_by_its_own_vocabulary() -> None:
    count = token_counter("openai", "cl100k_base")
    # The example of OpenAI's cookbook "How to count tokens with tiktoken".
    assert count("tiktoken is great!") == 6
    assert count("antidisestablishmentarianism") == 6
    assert count("2 + 2 = 4") == 7
    assert count("お誕生日おめでとう") == 9
    assert count("<|endoftext|>") > 1  # plain text, no mark


def test_voyage_counts_by_its_vocabulary() -> None:
    count = token_counter("voyage", "voyage3_base")
    # The examples of Voyage's page on tokenization, for voyage-4-large.
    diet = (
        "The Mediterranean diet emphasizes fish, olive oil, and vegetables, believed to reduce "
        "chronic diseases."
    )
    plants = (
        "Photosynthesis in plants converts light energy into glucose and produces essential oxygen."
    )
    assert (count(diet), count(plants)) == (18, 14)


def test_texts_of_any_length_are_counted() -> None:
    count = token_counter("openai", "cl100k_base")
    assert count("oil " * 300_000) == pytest.approx(300_000, rel=0.01)
    assert count("") == 0


def test_estimates_are_on_the_safe_side() -> None:
    assert estimate_sentencepieces("Replace 필터 E-07") == 8
    assert estimate_wordpieces("Replace 필터 E-07") == 12
    # What the characters stand for counts: one ligature is a sentence of eighteen letters.
    assert estimate_sentencepieces("\ufdfa") >= 15
    assert estimate_sentencepieces("\U0001f9ef") == 4
    # The multilingual vocabulary at hand never needs more.
    text = "오일 필터를 교체하기 전에 엔진을 끄고 식히십시오. Tighten the M8×1.25 screws to 25 N·m."
    assert estimate_wordpieces(text) > estimate_sentencepieces(text) >= 40


def test_a_missing_library_names_the_install_line(monkeypatch: pytest.MonkeyPatch) -> None:
    from rag_pipeline.embedding import token_vocabularies as tokens

    tokens._load_encoding.cache_clear()
    monkeypatch.setitem(sys.modules, "bpe_openai", None)
    with pytest.raises(SettingsError, match=r"pip install 'rag-pipeline\[voyage\]'"):
        token_counter("voyage", "voyage3_base")
