"""Function words: closed classes of grammar that carry a question but name nothing in a document.

Articles, pronouns, auxiliaries, conjunctions, question words, and the prepositions that tell
nothing apart. Words that change what is done (`off`, `up`, `without`, `before`, `not`) are content.
"""

from __future__ import annotations

_ENGLISH = """
a an the this that these those some any each every both either neither such same other another
i me my mine we us our ours you your yours he him his she her hers it its they them their theirs one
am is are was were be been being do does did done doing have has had having
can could may might must shall should will would need
to of in on at by for from with about into onto as than
and or but if then so because whether
what which who whom whose when where why how often much many there here
please tell me explain describe
what's how's where's it's i'm don't doesn't can't
"""
_KOREAN = """
그 이 저 것 수 등 및 또는 그리고 때 좀 어떻게 무엇 무슨 어떤 어느 어디 언제 누구 왜 얼마 얼마나 몇
알려줘 알려주세요 알려 설명해 설명해줘 설명해주세요 설명하세요 말해줘 주세요
있나요 인가요 무엇인가요 무엇입니까 어디입니까 언제입니까 누구입니까 얼마입니까
합니까 됩니까 하나요 되나요 있습니까
"""

FUNCTION_WORDS = frozenset(f"{_ENGLISH}{_KOREAN}".split())


def is_function_word(token: str) -> bool:
    """Return whether a normalised token is a function word.

    >>> [word for word in "how do i turn off the pump".split() if not is_function_word(word)]
    ['turn', 'off', 'pump']
    """
    return token in FUNCTION_WORDS
