"""Text to tokens: normalisation, and runs of characters that belong together.

A token is a run of Hangul, a run of a script written without spaces, or a word of any other
script, with the connectors that hold part numbers, versions and units together. Scripts never
share a token, so a Korean particle is separated from a code: `40P01은` is `40p01`, `은`.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator

from rag_pipeline.text import clean_text

HANGUL = "\u1100-\u11ff\u3131-\u318e\ua960-\ua97c\uac00-\ud7a3\ud7b0-\ud7fb"
HAN = "\u3005-\u3007\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"
_KANA = "\u3041-\u3096\u309d-\u309f\u30a1-\u30fa\u30fc-\u30ff\u31f0-\u31ff"
_BOPOMOFO = "\u3105-\u312f\u31a0-\u31bf"
# Thai, Lao, Myanmar, Khmer: words are not separated by spaces either.
_SOUTH_EAST_ASIA = (
    "\u0e01-\u0e3a\u0e40-\u0e4e\u0e81-\u0ebd\u0ec0-\u0ece\u1000-\u103f\u1050-\u109d\u1780-\u17d3"
)
UNSPACED = HAN + _KANA + _BOPOMOFO + _SOUTH_EAST_ASIA

_WORD = rf"[^\W_{HANGUL}{UNSPACED}]"
# Python does not count marks as word characters, but they belong to the letter before them: accents
# without a composed form, vowel points, the vowel signs of Indian scripts.
_MARKS = (
    "[\u0300-\u036f\u0483-\u0487\u0591-\u05bd\u05bf\u05c1\u05c2\u05c4\u05c5\u05c7\u0610-\u061a"
    "\u064b-\u065f\u0670\u06d6-\u06dc\u06df-\u06e4\u06e7\u06e8\u06ea-\u06ed\u0900-\u0963"
    "\u0971-\u0dff\u0f18-\u0fbc\u200d]"
)
CONNECTORS = "-./_·×&°"
_RUN = rf"{_WORD}+(?:{_MARKS}+{_WORD}*)*"
_TOKEN = re.compile(
    rf"(?P<hangul>[{HANGUL}]+)"
    rf"|(?P<unspaced>[{UNSPACED}]+)"
    # thousands: 1,250,000
    rf"|\d{{1,3}}(?:,\d{{3}})+(?![\d,])(?:\.\d+)?%?"
    # a word with its connectors; C++ and C#; the English genitive, which `expand_word` removes
    rf"|°?{_RUN}(?:[{CONNECTORS}]{_RUN})*(?:%|\+\+|\#(?!\w)|'s(?!\w))?"
)
_SPACED_PERCENT = re.compile(r"(?<=\d) (?=%)")
# Different characters for the same thing.
_EQUIVALENTS = str.maketrans(
    {
        **dict.fromkeys("\u2010\u2011\u2012\u2013\u2212\u2043", "-"),
        **dict.fromkeys("\u2044\u2215", "/"),
        **dict.fromkeys("\u2018\u2019\u02bc\u2032", "'"),
        **dict.fromkeys("\u22c5\u2219\u2022\u2027", "·"),
        **dict.fromkeys("\u2715\u2716\u2a2f", "×"),
        "\u00ad": None,  # soft hyphen
        "\u0640": None,  # Arabic tatweel
    }
)


def normalize(text: str) -> str:
    """Clean and case-fold `text`, in NFKC, with one kind of dash, quote and dot."""
    if text.isascii():  # nothing to clean: controls are not word characters
        text = text.lower()
    else:
        text = unicodedata.normalize("NFKC", clean_text(text)).translate(_EQUIVALENTS)
        text = unicodedata.normalize("NFKC", text.casefold())
    return _SPACED_PERCENT.sub("", text) if "%" in text else text


def tokenize(text: str) -> Iterator[tuple[str, str | None]]:
    """Yield the tokens of normalised text and the kind of each: `hangul`, `unspaced` or None."""
    for match in _TOKEN.finditer(text):
        yield match.group(), match.lastgroup
