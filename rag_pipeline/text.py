"""Text functions that every stage relies on: cleaning, white space, the language."""

from __future__ import annotations

import re
import unicodedata
from collections import Counter

# NUL is refused by Postgres; the other controls (but tab and newline) carry no text.
_CONTROLS = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f]")
_SURROGATES = re.compile(r"[\ud800-\udfff]")
# Zero-width and bidirectional marks that PDFs scatter inside words. The soft hyphen stays: line
# joining needs it.
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
    r"""Remove what no client or Postgres can carry, and normalise what means the same.

    Controls (NUL included), lone surrogates and invisible marks go; ligatures become letters;
    no-break and ideographic spaces become spaces; newlines become `\n`; the result is in NFC.

    >>> clean_text("of\ufb01ce\x00 A\u00a0B")
    'office A B'
    """
    text = text.replace("\r\n", "\n").replace("\r", "\n")
    text = _CONTROLS.sub("", text)
    text = _SURROGATES.sub("\N{REPLACEMENT CHARACTER}", text)
    text = _INVISIBLE.sub("", text).translate(_LIGATURES)
    return unicodedata.normalize("NFC", _SPACES.sub(" ", text))


def storable(text: str) -> str:
    r"""Return a text that Postgres can take: NUL and lone surrogates become U+FFFD.

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
    """Guess the language of a document: an ISO 639-1 code, `und` if unknown.

    Scripts decide for Korean, Japanese, Chinese, Russian, Greek, Arabic, Hebrew and Thai; stop
    words for languages in Latin script. Looks at the first 20,000 characters.
    """
    sample = text[:20_000]
    letters = {one: count for one, count in Counter(sample).items() if one.isalpha()}
    total = sum(letters.values())
    if not total:
        return "und"
    share = {
        name: sum(count for one, count in letters.items() if low <= ord(one) <= high) / total
        for name, low, high in _SCRIPTS
    }
    if share["kana"] > 0.05:
        return "ja"
    if share["hangul"] > 0.1:
        return "ko"
    if share["han"] > 0.1:
        return "zh"
    for name, language in _SCRIPT_LANGUAGES.items():
        if share[name] > 0.3:
            return language
    words = re.findall(r"[^\W\d_]+", sample.lower())
    scores = {
        language: sum(word in stop_words for word in words)
        for language, stop_words in _STOP_WORDS.items()
    }
    best = max(scores, key=lambda language: scores[language])
    return best if scores[best] >= max(2, len(words) // 50) else "und"


_SCRIPTS = (
    ("kana", 0x3040, 0x30FF),
    ("hangul", 0xAC00, 0xD7A3),
    ("han", 0x4E00, 0x9FFF),
    ("cyrillic", 0x0400, 0x04FF),
    ("greek", 0x0370, 0x03FF),
    ("arabic", 0x0600, 0x06FF),
    ("hebrew", 0x0590, 0x05FF),
    ("thai", 0x0E00, 0x0E7F),
)
_SCRIPT_LANGUAGES = {"cyrillic": "ru", "greek": "el", "arabic": "ar", "hebrew": "he", "thai": "th"}
_STOP_WORDS = {
    "en": frozenset("the of and to in is that for with are this be on as by or from".split()),
    "de": frozenset("der die das und ist nicht ein eine mit für auf den von zu dem sie".split()),
    "fr": frozenset("le la les des et est une dans pour que pas avec sur du au ce".split()),
    "es": frozenset("el los las que en una por con para del se como más su al".split()),
    "it": frozenset("il lo gli che di una per con non sono della del nel alla".split()),
    "pt": frozenset("os as que em uma para com não do da dos por mais na no".split()),
    "nl": frozenset("de het een en van is niet met voor op zijn dat aan te".split()),
    "sv": frozenset("och att det som en på är av för med till den inte".split()),
    "da": frozenset("og at det som en på er af for med til den ikke".split()),
    "fi": frozenset("ja on ei se että joka ovat oli kun mutta tai".split()),
}
