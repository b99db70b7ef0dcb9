"""The language of short texts, such as questions, and of languages that are not detected."""

from __future__ import annotations

import pytest

from rag_pipeline.text import detect_language

SHORT = {
    "What is it?": "en",
    "How many albums does Led Zeppelin have?": "en",
    "What does os-prober do?": "en",
    "Wo steht die Anleitung?": "de",
    "Où se trouve le filtre à huile ?": "fr",
    "¿Dónde está el filtro de aceite?": "es",
    "Dove si trova il filtro dell'olio?": "it",
    "Onde fica o filtro de óleo?": "pt",
    "Waar zit het oliefilter?": "nl",
    "Var sitter oljefiltret?": "sv",
    "Hvordan skifter man oliefilteret?": "da",
    "Missä öljynsuodatin on?": "fi",
    "필터는 어디에 있습니까?": "ko",
    "フィルターはどこですか": "ja",
    "Datasheet LM317 3-terminal regulator": "und",
    "": "und",
}
POLISH = (
    "Filtr należy wymieniać raz w roku. Maszyna uruchamia się tylko wtedy, gdy drzwi są zamknięte. "
    "Niniejsza instrukcja opisuje instalację i konserwację pompy na stanowisku. Nie otwierać "
    "pokrywy do czasu zatrzymania silnika. Po tym sprawdzić poziom oleju. "
)


@pytest.mark.parametrize("text", SHORT)
def test_a_function_word_is_enough_for_a_short_text(text: str) -> None:
    assert detect_language(text) == SHORT[text]


def test_words_that_languages_share_do_not_make_another_language_one_of_them() -> None:
    assert detect_language(POLISH * 10) == "und"
