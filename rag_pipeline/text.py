"""Text functions for every stage: cleaning, white space, the language."""

from __future__ import annotations

import re
import unicodedata
from collections import Counter

TRAIL_SEPARATOR = " > "
"""Between the headings of a breadcrumb trail."""

# Postgres rejects NUL; the other controls (except tab and newline) carry no text.
_CONTROLS = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f]")
_SURROGATES = re.compile(r"[\ud800-\udfff]")
# Zero-width and bidirectional marks that PDFs scatter inside words. The soft hyphen is kept:
# joining lines needs it.
_INVISIBLE = re.compile(r"[\u200b\u200c\u200e\u200f\u202a-\u202e\u2060\u2066-\u2069\ufeff]")
_SPACES = re.compile(r"[\u00a0\u2000-\u200a\u202f\u205f\u3000]")
_LIGATURES = {
    0xFB00: "ff",
    0xFB01: "fi",
    0xFB02: "fl",
    0xFB03: "ffi",
    0xFB04: "ffl",
    0xFB05: "st",
    0xFB06: "st",
}


def clean_text(text: str) -> str:
    r"""Remove what clients or Postgres cannot carry, and normalise equivalent characters.

    Controls (NUL included) and invisible marks are removed, lone surrogates replaced; ligatures
    become letters, no-break and ideographic spaces become spaces, newlines `\n`; the result is NFC.

    >>> clean_text("of\ufb01ce\x00 A\u00a0B")
    'office A B'
    """
    text = text.replace("\r\n", "\n").replace("\r", "\n")
    text = _CONTROLS.sub("", text)
    text = _SURROGATES.sub("\N{REPLACEMENT CHARACTER}", text)
    text = _INVISIBLE.sub("", text).translate(_LIGATURES)
    return unicodedata.normalize("NFC", _SPACES.sub(" ", text))


def storable(text: str) -> str:
    r"""Return a text that Postgres accepts: NUL and lone surrogates become U+FFFD.

    >>> storable("a\x00b") == "a\ufffdb"
    True
    """
    return _SURROGATES.sub("\ufffd", text.replace("\x00", "\ufffd"))


def one_line(text: str) -> str:
    r"""Collapse every run of white space to one space, and strip.

    >>> one_line(" a\n  b ")
    'a b'
    """
    return " ".join(text.split())


def detect_language(text: str) -> str:
    """Guess the language of a text: an ISO 639-1 code, `und` if unknown.

    Scripts decide for Korean, Japanese, Chinese, Russian, Greek, Arabic, Hebrew and Thai; function
    words for languages in Latin script, where a word of several languages counts less for each.
    Reads the first 20,000 characters.

    >>> detect_language("Which checksum files verify a download?"), detect_language("XJ-900")
    ('en', 'und')
    """
    sample = text[:20_000]
    letters = {one: count for one, count in Counter(sample).items() if one.isalpha()}
    total = sum(letters.values())
    if not total:
        return "und"
    for low, high, least, language in _SCRIPTS:
        share = sum(count for one, count in letters.items() if low <= one <= high) / total
        if share > least:
            return language
    words = re.findall(r"[^\W\d_]+", sample.lower())
    scores = {"und": 0.0}
    for word in words:
        for language in _LANGUAGES_OF.get(word, ()):
            scores[language] = scores.get(language, 0.0) + 1 / len(_LANGUAGES_OF[word])
    best = max(scores, key=lambda language: scores[language])
    return best if scores[best] >= max(_LEAST_SCORE, len(words) / 20) else "und"


_LEAST_SCORE = 0.9
"""One word of a single language, or several shared ones."""
_SCRIPTS = (
    # Japanese first: it uses Chinese characters as well.
    ("\u3040", "\u30ff", 0.05, "ja"),
    ("\uac00", "\ud7a3", 0.1, "ko"),
    ("\u4e00", "\u9fff", 0.1, "zh"),
    ("\u0400", "\u04ff", 0.3, "ru"),
    ("\u0370", "\u03ff", 0.3, "el"),
    ("\u0600", "\u06ff", 0.3, "ar"),
    ("\u0590", "\u05ff", 0.3, "he"),
    ("\u0e00", "\u0e7f", 0.3, "th"),
)
"""First and last character, least share of the letters, language."""
FUNCTION_WORDS = {
    "en": "the of and to in is that for with are this be on as by or from an at it its if not "
    "no but can will should must may do does did was were has have had been than then "
    "when what which who whom where why how much many there their they you your all any "
    "each into about between after before only also more most such other under over up "
    "out per using used",
    "de": "der die das und ist nicht ein eine mit für auf den von zu dem sie im des sich werden "
    "wird bei oder auch als an es wie was wer wo wann warum welche welcher welches kann "
    "können muss müssen sind hat haben einen einer eines nach aus zum zur durch wenn nur "
    "über vor ihr ihre kein keine wurde noch sowie bis in",
    "fr": "le la les des et est une dans pour que pas avec sur du au ce un en de qui quel "
    "quelle quels quelles comment où quand pourquoi combien sont par plus ou il elle ne "
    "se aux cette ces vous votre vos être avoir peut doit lors sans si leur leurs",
    "es": "el los las que en una por con para del se como más su al la de un es no si lo qué "
    "cuál cuáles cómo dónde cuándo cuánto cuántos quién son está este esta estos puede "
    "debe sin sobre entre sus ser hay cuando usted",
    "it": "il lo gli che di una per con non sono della del nel alla la le un in si da al dei "
    "delle dal come cosa quale quali dove quando quanto perché chi questo questa può deve "
    "essere nella dalla sul sulla più se",
    "pt": "os as que em uma para com não do da dos por mais na no de um ou se ao das qual quais "
    "como onde quando quanto quem são está este esta pode deve ser pelo pela nos nas sem "
    "sobre seu sua você",
    "nl": "de het een en van is niet met voor op zijn dat aan te in of door deze dit wordt "
    "worden kan moet welke wat wie waar hoe hoeveel wanneer waarom naar bij uit om als "
    "ook er uw geen",
    "sv": "och att det som en på är av för med till den inte ett om kan ska har de vid eller "
    "från vad vilken vilka hur när var varför denna detta måste",
    "da": "og at det som en på er af for med til den ikke et om kan skal har de ved eller fra "
    "hvad hvilken hvilke hvordan hvor hvornår hvorfor denne dette må",
    "fi": "ja on ei se että joka ovat oli kun mutta tai mikä mitä missä miten milloin miksi "
    "kuka kuinka tämä voi sekä jos ole niin vain myös",
}
"""The commonest words of languages in Latin script, by which they are told apart."""
_LANGUAGES_OF: dict[str, list[str]] = {}
for _language, _words in FUNCTION_WORDS.items():
    for _word in set(_words.split()):
        _LANGUAGES_OF.setdefault(_word, []).append(_language)


def counted(number: int, noun: str) -> str:
    """Return a number and its noun.

    >>> counted(1, "page"), counted(2, "page")
    ('1 page', '2 pages')
    """
    return f"{number:,} {noun}{'' if number == 1 else 's'}"
