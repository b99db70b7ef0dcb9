"""Function words: closed classes of grammar that carry a question but name nothing in a document.

Articles, pronouns, auxiliaries, conjunctions, question words, and the prepositions that tell
nothing apart. Words that change what is meant (`not`, `before`, `up`) are content.
"""

from __future__ import annotations

from functools import cache

from rag_pipeline.text import FUNCTION_WORDS, detect_language

_MORE = {
    "en": "i me my mine we us our he him his she her hers them these those one am being doing "
    "could might would shall need because whether whose often please tell explain describe",
    "ko": "그 이 저 것 수 등 및 또는 그리고 때 좀 어떻게 무엇 무슨 어떤 어느 어디 언제 누구 왜 "
    "얼마 얼마나 몇 알려줘 알려주세요 알려 설명해 설명해줘 설명해주세요 설명하세요 말해줘 주세요 "
    "있나요 인가요 무엇인가요 무엇입니까 어디입니까 언제입니까 누구입니까 얼마입니까 합니까 "
    "됩니까 하나요 되나요 있습니까",
}
"""Words that say too little of a language to tell it, but are function words."""
_CONTENT = frozenset(
    "not no but only before after between over under up out more most per using used all each "
    "nicht kein keine nur über vor nach aus durch bis pas sans plus no sin sobre entre más non più "
    "su sul sulla não sem mais pelo pela niet geen voor op uit inte från ikke fra ei".split()
)
"""Words of these lists that change what is meant."""


def function_words(text: str) -> frozenset[str]:
    """Return the function words of a text's language; of English, where that is unknown.

    >>> words = function_words("how do i turn off the pump")
    >>> [word for word in "how do i turn off the pump".split() if word not in words]
    ['turn', 'off', 'pump']
    """
    return function_words_of(detect_language(text))


@cache
def function_words_of(language: str) -> frozenset[str]:
    """Return the function words of a language (ISO 639-1); of English, where none are known."""
    listed = f"{FUNCTION_WORDS.get(language, '')} {_MORE.get(language, '')}".split()
    return frozenset(listed) - _CONTENT if listed else function_words_of("en")
