"""Counts the tokens of a text offline, using the vocabulary of the model.

`bpe-openai` ships the vocabularies of OpenAI and Voyage, which the providers' own counters would
download. Other counts are estimates, which err on the high side.
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
# In English a token has about four letters; digits and marks count separately.
_ESTIMATED = re.compile(r"[A-Za-z]{1,4}|[^\sA-Za-z]")
_HANGUL = re.compile(r"[\uac00-\ud7a3]")
_ASTRAL = re.compile(r"[\U00010000-\U0010ffff]")


def token_counter(provider: Provider, vocabulary: Vocabulary) -> TokenCounter:
    """Return a function that counts the tokens of one text.

    Raises `SettingsError` if the vocabulary's library is not installed.
    """
    if vocabulary in ("cl100k_base", "voyage3_base"):
        encoding = _load_encoding(provider, vocabulary)

        def count(text: str) -> int:
            # Counting in parts adds at most one token per border.
            starts = range(0, len(text), _PART_CHARACTERS)
            return sum(
                len(encoding.encode_ordinary(text[i : i + _PART_CHARACTERS])) for i in starts
            )

        return count
    return estimate_wordpieces if vocabulary == "wordpiece" else estimate_sentencepieces


def estimate_sentencepieces(text: str) -> int:
    """Estimate the tokens of a large multilingual vocabulary: one per syllable.

    Compatibility characters count as what they stand for; characters beyond the basic plane, which
    are mostly encoded byte by byte, count as four.

    >>> estimate_sentencepieces("Replace 필터 E-07")
    8
    """
    text = unicodedata.normalize("NFKC", text)
    return len(_ESTIMATED.findall(text)) + 3 * len(_ASTRAL.findall(text))


def estimate_wordpieces(text: str) -> int:
    """Estimate the tokens of a BERT vocabulary, which splits Hangul into letters.

    >>> estimate_wordpieces("Replace 필터 E-07")
    12
    """
    return estimate_sentencepieces(text) + 2 * len(_HANGUL.findall(text))


@lru_cache(maxsize=2)
def _load_encoding(provider: Provider, vocabulary: Vocabulary) -> Any:
    """Load a vocabulary once; it takes a second and 50 MB."""
    return import_extra("bpe_openai", provider).get_encoding(vocabulary)
