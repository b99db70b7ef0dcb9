"""Snowball stems by language, and accent folding."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable

_ALGORITHMS = {
    "ar": "arabic",
    "ca": "catalan",
    "cs": "czech",
    "da": "danish",
    "de": "german",
    "el": "greek",
    "en": "english",
    "es": "spanish",
    "et": "estonian",
    "eu": "basque",
    "fa": "persian",
    "fi": "finnish",
    "fr": "french",
    "ga": "irish",
    "hi": "hindi",
    "hu": "hungarian",
    "hy": "armenian",
    "id": "indonesian",
    "it": "italian",
    "lt": "lithuanian",
    "ne": "nepali",
    "nl": "dutch",
    "no": "norwegian",
    "pl": "polish",
    "pt": "portuguese",
    "ro": "romanian",
    "ru": "russian",
    "sr": "serbian",
    "sv": "swedish",
    "ta": "tamil",
    "tr": "turkish",
    "yi": "yiddish",
}
# Combining marks of Latin, Greek and Cyrillic, and the points of Hebrew and Arabic.
_FOLDED_MARKS = re.compile("[\u0300-\u036f\u0483-\u0487\u0591-\u05c7\u064b-\u065f\u0670]")
_FOLDED_LETTERS = str.maketrans(
    {"ø": "o", "đ": "d", "ð": "d", "þ": "th", "ł": "l", "ħ": "h", "ı": "i", "æ": "ae", "œ": "oe"}
)


def has_stemmer(language: str) -> bool:
    """Whether there is a stemmer for `language`, an ISO 639-1 code."""
    return language in _ALGORITHMS


def stemmer(language: str) -> Callable[[str], str] | None:
    """Return a function from word to stem for `language`; None if it has no stemmer.

    The function is not thread-safe; making another takes microseconds.
    """
    algorithm = _ALGORITHMS.get(language)
    if algorithm is None:
        return None
    import Stemmer

    # Callers cache stems; a second cache inside would only cost memory.
    stem: Callable[[str], str] = Stemmer.Stemmer(algorithm, maxCacheSize=0).stemWord
    return stem


def fold_accents(word: str) -> str:
    """Remove accents and points from letters: `zurücksetzen` → `zurucksetzen`.

    Marks that make a different letter (Japanese, Indian and Thai scripts) stay.
    """
    if word.isascii():
        return word
    decomposed = unicodedata.normalize("NFD", word)
    folded = _FOLDED_MARKS.sub("", decomposed).translate(_FOLDED_LETTERS)
    return unicodedata.normalize("NFC", folded)
