"""Counting the tokens of a text offline, by the vocabulary of the model it goes to.

OpenAI's and Voyage's vocabularies are shipped by `bpe-openai`; the clients' own counters would
download them. Others are estimated, on the safe side: rather too many tokens than too few.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable
from functools import lru_cache
from typing import Any

from rag_pipeline.embedding.extras import import_extra
from rag_pipeline.embedding_models import Provider, Vocabulary

TokenCounter = Callable[[str], int]

_PART_CHARACTERS = 50_000  # the library refuses texts of more than 200,000 tokens
# Four letters to a token hold for English; digits and marks count alone.
_ESTIMATED = re.compile(r"[A-Za-z]{1,4}|[^\sA-Za-z]")
_HANGUL = re.compile(r"[\uac00-\ud7a3]")
_ASTRAL = re.compile(r"[\U00010000-\U0010ffff]")


def token_counter(provider: Provider, vocabulary: Vocabulary) -> TokenCounter:
    """Return a function that counts the tokens of one text.

    Raises `SettingsError` where the vocabulary's library is not installed.
    """
    if vocabulary in ("cl100k_base", "voyage3_base"):
        encoding = _load_encoding(provider, vocabulary)

        def count(text: str) -> int:
            # In parts, at most a token a border more.
            starts = range(0, len(text), _PART_CHARACTERS)
            return sum(
                len(encoding.encode_ordinary(text[i : i + _PART_CHARACTERS])) for i in starts
            )

        return count
    return estimate_wordpieces if vocabulary == "wordpiece" else estimate_sentencepieces


def estimate_sentencepieces(text: str) -> int:
    """Estimate the tokens of a large multilingual vocabulary: a syllable counts one.

    Compatibility characters count as what they stand for; what lies beyond the basic plane, and is
    mostly encoded byte by byte, counts four.

    >>> estimate_sentencepieces("Replace 필터 E-07")
    8
    """
    text = unicodedata.normalize("NFKC", text)
    return len(_ESTIMATED.findall(text)) + 3 * len(_ASTRAL.findall(text))


def estimate_wordpieces(text: str) -> int:
    """Estimate the tokens of a BERT vocabulary, which takes Hangul apart into letters.

    >>> estimate_wordpieces("Replace 필터 E-07")
    12
    """
    return estimate_sentencepieces(text) + 2 * len(_HANGUL.findall(text))


@lru_cache(maxsize=2)
def _load_encoding(provider: Provider, vocabulary: Vocabulary) -> Any:
    """Load a vocabulary once; it takes a second and 50 MB."""
    return import_extra("bpe_openai", provider).get_encoding(vocabulary)
