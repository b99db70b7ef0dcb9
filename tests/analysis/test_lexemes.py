"""What is found by what: words, codes, quantities, Korean, scripts without spaces."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rag_pipeline.analysis import analyze, query_weights

LANGUAGES = ["en", "ko", "de"]


def lexemes(text: str, language: str = "en") -> set[str]:
    return {lexeme for lexeme, _ in analyze(text, language)}


def finds(query: str, document: str, language: str = "en") -> bool:
    """Whether a word of the query, not just a particle or part of it, is in the document."""
    weights = query_weights(query, LANGUAGES)
    return any(weight >= 0.7 and lexeme in lexemes(document, language)
               for lexeme, weight in weights.items())  # fmt: skip


def test_words_have_their_exact_form_and_their_stem_at_one_position() -> None:
    assert analyze("Replacing the Filters", "en") == [
        ("replacing", 1),
        ("replac", 1),
        ("the", 2),
        ("filters", 3),
        ("filter", 3),
    ]
    assert analyze("Replacing", "und") == [("replacing", 1)]


def test_stems_go_by_the_documents_language() -> None:
    assert "wartung" in lexemes("Wartungen", "de")
    assert "wartung" not in lexemes("Wartungen", "en")
    assert "maison" in lexemes("maisons", "fr")


@pytest.mark.parametrize("query", ["filter", "filters", "FILTERS", "Ｆｉｌｔｅｒｓ"])
@pytest.mark.parametrize("document", ["the filter", "two filters"])
def test_inflections_find_each_other_without_knowing_the_querys_language(
    query: str, document: str
) -> None:
    assert set(query_weights(query, LANGUAGES)) & lexemes(document)
    assert set(query_weights(query, LANGUAGES)) & lexemes("oil_filters/air-filter")


def test_exact_words_are_found_in_any_language() -> None:
    assert finds("restarts", "restarts 버튼", "ko")
    assert finds("zurücksetzen", "Bitte zurücksetzen", "de")
    assert finds("zurucksetzen", "Bitte zurücksetzen", "de")


@pytest.mark.parametrize(
    ("text", "folded"),
    [
        ("Émigré", "emigre"),
        ("STRASSE straße", "strasse"),
        ("Łódź", "lodz"),
        ("ŒUVRE", "oeuvre"),
        ("İstanbul", "istanbul"),
        ("oﬃce", "office"),
        ("soft\u00adware", "software"),
        ("e\u0301tage", "etage"),
    ],
)
def test_letters_are_folded(text: str, folded: str) -> None:
    assert folded in lexemes(text, "und")


def test_the_genitive_comes_off() -> None:
    assert analyze("What's the engine’s", "und") == [("what", 1), ("the", 2), ("engine", 3)]


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("dog,cat", "dog cat"),
        ("dog;cat", "dog cat"),
        ("(dog) [cat]", "dog cat"),
        ("dog -- cat", "dog cat"),
        ("dog\ncat", "dog cat"),
        ("dog......cat", "dog cat"),
        ("“dog” «cat»", "dog cat"),
        ("5 %", "5%"),
        ("M8×1.25", "M8x1.25"),
        ("M8 ✕ 1", "M8 1"),
        ("AB–12", "AB-12"),
    ],
)
def test_spellings_that_mean_the_same(one: str, other: str) -> None:
    assert analyze(one, "en") == analyze(other, "en")


def test_codes_are_kept_whole_and_by_segment() -> None:
    found = analyze("DS-7604NI-E1/4P/A", "en")
    assert ("ds-7604ni-e1/4p/a", 1) in found
    assert ("ds-7604ni-e1", 1) in found
    assert [(lexeme, position) for lexeme, position in found if lexeme in
            {"ds", "7604ni", "e1", "4p", "a"}] == [
        ("ds", 1), ("7604ni", 2), ("e1", 3), ("4p", 4), ("a", 5)]  # fmt: skip
    assert {("7604", 2), ("ni", 2)} <= set(found)


@pytest.mark.parametrize(
    ("document", "queries"),
    [
        ("DS-7604NI-E1/4P/A", ["ds-7604ni-e1/4p/a", "DS-7604NI-E1", "DS-7604", "7604NI", "7604"]),
        ("CVE-2026-2332", ["cve-2026-2332", "CVE", "2332", "cve 2026 2332"]),
        ("P0301", ["p0301", "0301"]),
        ("E-07", ["e-07", "E07", "07"]),
        ("E07", ["e07", "07"]),
        ("12V-DC", ["12v-dc", "12V", "12", "dc", "12 V"]),
        ("M8×1.25", ["M8x1.25", "M8", "m8 × 1.25"]),
        ("XJ-900/B", ["xj-900/b", "XJ-900", "XJ900", "xj 900"]),
        ("v2.3.1", ["V2.3.1", "2.3.1", "2.3"]),
        ("version 2.3.1", ["v2.3.1", "2.3.1"]),
        ("0x80070005", ["0X80070005", "80070005"]),
        ("25 N·m", ["25 N·m", "25N·m", "25 Nm", "25Nm", "25 N⋅m"]),
        ("25N·m", ["25 N·m", "25 Nm"]),
        ("5%", ["5%", "5 %", "5"]),
        ("25 °C", ["25°C", "25 ℃", "25"]),
        ("1,250,000", ["1250000", "1,250,000"]),
        ("max_connections", ["max_connections", "connections"]),
        ("/etc/apt/sources.list", ["sources.list", "etc/apt/sources.list", "sources"]),
        ("right-hand", ["right-hand", "righthand", "right hand"]),
        ("C++ and C#", ["c++", "C#"]),
        ("AT&T", ["at&t"]),
        ("40P01은", ["40P01", "40p01이"]),
        ("E-07이 표시되면", ["E-07", "E-07을"]),
        ("USB를 연결", ["usb", "USB에"]),
    ],
)
def test_codes_and_quantities_are_found(document: str, queries: list[str]) -> None:
    for query in queries:
        assert finds(query, document), query


def test_the_whole_code_weighs_more_than_its_pieces() -> None:
    weights = query_weights("40P01은", LANGUAGES)
    assert weights["40p01"] == 1.0
    assert weights["01"] < 0.5
    assert weights["은"] < 0.5


def test_lists_of_numbers_keep_their_numbers() -> None:
    assert {"100", "200", "300"} <= lexemes("pages 100,200,300")
    assert lexemes("12,34") == {"12", "34"}
    assert "510" not in lexemes("5-10 mm")


def test_long_tokens_are_bounded_and_still_found() -> None:
    token = "x" * 3_000
    (lexeme,) = lexemes(token, "und")
    assert len(lexeme.encode()) < 2_046
    assert list(query_weights(token, LANGUAGES)) == [lexeme]
    assert list(query_weights(token + "y", LANGUAGES)) != [lexeme]
    hangul = lexemes("가" * 3_000)
    assert hangul == {"가가"}
    path = "/".join(["segment"] * 2_000)
    assert max(len(lexeme.encode()) for lexeme in lexemes(path)) < 2_046


NOUNS = {
    "번역": "을 이 은 의 에 도 만 으로 에서 까지 부터 처럼 보다 에는 에서는 으로는".split(),
    "필터": "를 가 는 의 에 도 만 로 에서 까지 부터 라도 와 보다 에는 로는".split(),
    "물": "을 이 은 의 에 도 만 로 에서 까지 부터 처럼 과 보다 에는 에서는 이라도 마다".split(),
}
PAIRS = [(noun, noun + particle) for noun, particles in NOUNS.items() for particle in particles]


def test_the_table_of_particles_has_fifty_pairs() -> None:
    assert len(set(PAIRS)) == 50


@pytest.mark.parametrize(("bare", "inflected"), PAIRS)
def test_a_noun_and_the_noun_with_a_particle_find_each_other(bare: str, inflected: str) -> None:
    assert finds(bare, f"새 {inflected} 확인", "ko")
    assert finds(inflected, f"새 {bare} 확인", "ko")


def test_two_particle_forms_find_each_other() -> None:
    for noun, particles in NOUNS.items():
        for particle in particles:
            assert finds(noun + particle, noun + particles[0], "ko")


def test_korean_word_order_does_not_matter() -> None:
    assert set(query_weights("김대리 미팅", ["ko"])) == set(query_weights("미팅 김대리", ["ko"]))


def test_particles_and_question_endings_weigh_little() -> None:
    weights = query_weights("필터를 어떻게 교체하나요", ["ko"])
    assert weights["필터"] == weights["교체"] == 1.0
    assert max(weights.get(tail, 0.0) for tail in ("터를", "어떻", "떻게", "하나", "나요")) < 0.5


def test_chinese_and_japanese_are_bigrams_and_single_han_characters() -> None:
    assert lexemes("石油压力", "zh") == {"石油", "油压", "压力", "石", "油", "压", "力"}
    assert list(query_weights("石油", ["zh"])) == ["石油"]
    assert list(query_weights("油", ["zh"])) == ["油"]
    assert analyze("マニュアル", "ja") == [
        ("マニ", 1),
        ("ニュ", 2),
        ("ュア", 3),
        ("アル", 4),
    ]


def test_scripts_with_marks_keep_them() -> None:
    assert lexemes("हिन्दी भाषा", "und") == {"हिन्दी", "भाषा"}
    assert lexemes("ﻣُﺤَﺮِّﻙ", "und") == {"محرك"}
    assert "がぎ" in lexemes("がぎ", "ja")


def test_stop_words_are_kept_so_that_phrases_work() -> None:
    assert analyze("to be or not", "und") == [("to", 1), ("be", 2), ("or", 3), ("not", 4)]


def test_segments_take_positions_like_words() -> None:
    document = dict.fromkeys(analyze("see XJ-900 now", "und"))
    assert {("see", 1), ("xj", 2), ("900", 3), ("now", 4), ("xj-900", 2)} <= set(document)


@given(text=st.text(max_size=200), language=st.sampled_from(["en", "ko", "de", "und", "xx", ""]))
def test_any_text_is_analysed(text: str, language: str) -> None:
    found = analyze(text, language)
    assert all(position >= 1 for _, position in found)
    assert all(lexeme and "\x00" not in lexeme for lexeme, _ in found)
    query_weights(text, [language])


WORDS = st.text(st.characters(categories=["L", "N", "M"]), min_size=1, max_size=12)
CODES = st.from_regex(r"[A-Za-z]{1,3}[-./][0-9]{1,5}([-/][A-Z0-9]{1,4})?", fullmatch=True)


@given(
    words=st.lists(st.one_of(WORDS, CODES), min_size=1, max_size=8),
    data=st.data(),
    language=st.sampled_from(["en", "de", "ko", "und"]),
)
def test_every_word_of_a_document_finds_it(
    words: list[str], data: st.DataObject, language: str
) -> None:
    document = lexemes(" ".join(words), language)
    query = data.draw(st.sampled_from(words))
    wanted = query_weights(query, [language])
    assert set(wanted) <= document


@given(st.lists(st.from_regex(r"[a-z]{2,8}", fullmatch=True), min_size=2, max_size=6))
def test_punctuation_between_words_does_not_matter(words: list[str]) -> None:
    expected = analyze(" ".join(words), "en")
    for separator in (",", ", ", ";", " | ", "\t", " — ", "!", ":", " & ", "\\"):
        assert analyze(separator.join(words), "en") == expected


def test_a_part_number_is_found_without_its_hyphens_and_a_range_is_no_number() -> None:
    assert "3958777" in {lexeme for lexeme, _ in analyze("Order 39-58-777.", "en")}
    assert query_weights("3958777", ["en"])["3958777"] == 1.0
    assert "510" not in {lexeme for lexeme, _ in analyze("Wait 5-10 minutes.", "en")}


def test_function_words_weigh_nothing_beside_others() -> None:
    assert list(query_weights("how do I turn off the pump", ["en"])) == ["turn", "off", "pump"]
    assert list(query_weights("how do I", ["en"])) == ["how", "do", "i"], "they are all there is"
    assert "어떻" not in query_weights("필터는 어떻게 교체합니까", ["ko"])
    german = query_weights("Wie wird das Ventil nicht geöffnet?", ["de"])
    assert list(german) == ["ventil", "nicht", "geoffnet", "geoffn"]
