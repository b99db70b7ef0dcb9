"""A token to its lexemes: the forms under which it is found, and their offsets.

A form is found by the same form in a query, so whatever a user copies from a document, whole or
only a word or segment of it, finds that document:

- words: the exact form (accents folded) and, where it differs, the stem;
- part numbers, error codes, versions, paths: the whole, its parts between slashes, and its
  segments. `DS-7604NI-E1/4P/A` gives itself, `ds-7604ni-e1` and `ds`, `7604ni`, `e1`, `4p`, `a` at
  consecutive positions, so that phrases work; and at the position of a segment of letters and
  digits, its parts of two characters or more (`7604`, `ni`). Hyphenated ones are also found without
  the hyphens, `39-58-777` by `3958777`;
- quantities: the whole, the number and the unit: `25n·m` gives itself, `25`, `nm`;
- Hangul words: their syllable bigrams, so that `번역` and `번역을` find each other; a word of one
  syllable with a particle (`물을`) also that syllable (`물`);
- scripts without spaces: bigrams, and single Han characters, which are often words.

Each form has a weight, used in queries only: how much it says about the word, where 1 is the word
itself. Measured by BM25 over pages (recall@5 / MRR), all forms equal → weighted: an
English guide .964/.759 → 1.000/.801, its Korean sister .964/.835 → .964/.862, Korean reports
.982/.907 → .982/.920, product manuals .972/.845 → .983/.862.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable
from typing import NamedTuple

from rag_pipeline.analysis.stemming import fold_accents
from rag_pipeline.analysis.text_tokens import CONNECTORS, HAN

MAX_LEXEME_CHARACTERS = 255
"""Longer lexemes keep their beginning and a hash of the whole: Postgres allows 2,046 bytes, its
B-tree indexes about 2,700."""
_KEPT_CHARACTERS = 200

_SEPARATORS = re.compile(rf"[{CONNECTORS},]")
_TIMES = re.compile(r"(?<=\d)x(?=\d)")
_PARTS = re.compile(r"\d+|[^\W\d_]+")
_VERSION = re.compile(r"v(?=\d)")
_UNITS = frozenset(
    "a ah ma mah µa μa v mv kv va kva w mw kw kwh wh hz khz mhz ghz k °c °f c f n nm kn j kj "
    "pa kpa mpa hpa bar mbar psi m mm cm km μm in ft g kg mg t lb oz l ml cl gal s ms μs ns min h "
    "rpm db dba ω kω mω lm lx cd nf pf μf b kb mb gb tb kib mib gib tib bps kbps mbps gbps dpi ppm "
    "px pt x".split()
)
_QUANTITY = re.compile(r"(\d+(?:\.\d+)?)(°?[^\W\d_]+(?:·[^\W\d_]+)?)")
_HAN = re.compile(f"[{HAN}]")
PARTICLES = frozenset(
    "은 는 이 가 을 를 의 에 도 만 로 와 과 나 랑 야 요 "
    "에서 에게 에는 에도 에만 으로 로서 로써 까지 부터 처럼 보다 마다 조차 마저 밖에 이나 이랑 "
    "이란 이라 라도 라면 하고 께서 한테 이며 이고 인데 "
    "에서는 에서도 에서의 에게서 으로는 으로도 으로서 으로써 로부터 까지는 부터는 이라도 이라면 "
    "으로부터".split()
)
"""Korean particles that follow a noun without a space."""


_ENDINGS = frozenset(
    "인가요 한가요 은가요 는가요 던가요 나요 까요 가요 세요 어요 아요 해요 네요 죠 "
    "니까 습니까 합니까 입니까 됩니까 하나요 되나요 있나요 습니다 합니다 입니다 됩니다 "
    "한다 된다 하는 되는 하면 되면 하여 되어 하려면 하십시오 십시오 "
    "해야 려면 는지 은지 인지".split()
)
"""Endings of Korean verbs and questions."""
_LONGEST_TAIL = max(map(len, PARTICLES | _ENDINGS))
_QUESTION_WORDS = frozenset(
    "무엇 뭐 어떻게 어떤 얼마 얼마나 언제 어디 누구 왜 몇 무슨 어느".split()
)

EXACT_WEIGHT = 0.7
"""Weight of a word's exact form beside its stem …"""
STEM_WEIGHT = 0.3
"""… and of the stem."""
JOINED_WEIGHT = 0.5
"""Weight of a compound without its hyphens."""
PART_WEIGHT = 0.3
"""Weight of the letters or the digits of a segment that has both."""
TAIL_WEIGHT = 0.3
"""Weight of Hangul bigrams that reach into a particle, an ending or a question word."""


class LexemeForm(NamedTuple):
    """One lexeme of a token."""

    lexeme: str
    offset: int
    """Positions after the token's first."""
    weight: float
    """Share in a query's score, 0..1; 0 = for documents only."""


class TokenForms(NamedTuple):
    """The forms of a token, and the positions it takes."""

    forms: tuple[LexemeForm, ...]
    span: int


def expand_hangul(word: str) -> TokenForms:
    """Return the bigrams of a Hangul word; one syllable stands for itself."""
    core = _core_length(word)
    if len(word) == 1:
        return TokenForms((LexemeForm(word, 0, 1.0 if core else TAIL_WEIGHT),), 1)
    forms = [
        LexemeForm(word[i : i + 2], i, 1.0 if i + 2 <= core else TAIL_WEIGHT)
        for i in range(len(word) - 1)
    ]
    if word[1:] in PARTICLES:
        forms.append(LexemeForm(word[0], 0, 1.0))
    return TokenForms(tuple(forms), len(word) - 1)


def expand_unspaced(run: str) -> TokenForms:
    """Return the bigrams of a run of Han, Kana, Thai …, and its single Han characters."""
    if len(run) == 1:
        return TokenForms((LexemeForm(run, 0, 1.0),), 1)
    forms = [LexemeForm(run[i : i + 2], i, 1.0) for i in range(len(run) - 1)]
    forms += [
        LexemeForm(character, i, 0.0) for i, character in enumerate(run) if _HAN.match(character)
    ]
    # The last character is at the position after the last bigram's.
    return TokenForms(tuple(forms), len(run))


def expand_word(token: str, stem: Callable[[str], str] | None) -> TokenForms:
    """Return the forms of a word, code, version or quantity (see the module's docstring)."""
    if token.isalpha():
        return TokenForms(tuple(_word_forms(token, 0, stem)), 1)
    token = token.removesuffix("'s")
    if token.startswith("°"):
        return TokenForms((LexemeForm(fold_accents(token), 0, 1.0),), 1)
    quantity = _QUANTITY.fullmatch(token)
    if quantity and quantity[2].replace("·", "") in _UNITS:
        return _expand_quantity(quantity[1], quantity[2], stem)
    forms: list[LexemeForm] = []
    bare = token.rstrip("%+#")
    if bare != token:
        forms.append(LexemeForm(fold_accents(token), 0, 1.0))
    if _VERSION.match(bare):
        forms.append(LexemeForm(fold_accents(bare), 0, 1.0))
        bare = bare[1:]
    offset = 0
    parts = bare.split("/")
    for part in parts:
        segments = _segments(part)
        if len(segments) > 1 and len(parts) > 1:
            forms += _compound_forms(part, offset)
        for segment in segments:
            forms += _segment_forms(segment, offset, stem)
            offset += 1
    if offset > 1:
        forms += _compound_forms(bare, 0)
    return TokenForms(_distinct(forms), max(1, offset))


def bounded(lexeme: str) -> str:
    """Return `lexeme`, or its beginning and a hash if it is too long to be indexed."""
    if len(lexeme) <= MAX_LEXEME_CHARACTERS:
        return lexeme
    digest = hashlib.sha256(lexeme.encode()).hexdigest()
    return f"{lexeme[:_KEPT_CHARACTERS]}…{digest[:32]}"


def _core_length(word: str) -> int:
    """Return the number of syllables of a Hangul word before its particle or ending."""
    for start in range(max(0, len(word) - _LONGEST_TAIL), len(word)):
        if word[start:] in PARTICLES or word[start:] in _ENDINGS:
            return 0 if word[:start] in _QUESTION_WORDS else start
    return 0 if word in _QUESTION_WORDS else len(word)


def _word_forms(word: str, offset: int, stem: Callable[[str], str] | None) -> list[LexemeForm]:
    exact = bounded(fold_accents(word))
    if stem is not None and len(word) <= MAX_LEXEME_CHARACTERS:
        stemmed = fold_accents(stem(word))
        if stemmed and stemmed != exact:
            return [
                LexemeForm(exact, offset, EXACT_WEIGHT),
                LexemeForm(stemmed, offset, STEM_WEIGHT),
            ]
    return [LexemeForm(exact, offset, 1.0)]


def _segments(part: str) -> list[str]:
    segments = [segment for segment in _SEPARATORS.split(part) if segment]
    return [
        piece
        for segment in segments
        for piece in ([segment] if segment.startswith("0x") else _TIMES.split(segment))
    ]


def _segment_forms(
    segment: str, offset: int, stem: Callable[[str], str] | None
) -> list[LexemeForm]:
    if segment.isalpha() or segment.isdigit():
        return _word_forms(segment, offset, stem)
    parts = _PARTS.findall(segment)
    quantity = len(parts) == 2 and parts[0].isdigit() and parts[1] in _UNITS
    return [
        LexemeForm(bounded(fold_accents(segment)), offset, 1.0),
        *(
            LexemeForm(bounded(fold_accents(part)), offset, PART_WEIGHT)
            for part in parts
            if quantity or len(part) > 1
        ),
    ]


def _compound_forms(compound: str, offset: int) -> list[LexemeForm]:
    """Return a compound as it is, and without hyphens and multiplication dots."""
    whole = fold_accents(compound).replace("×", "x").replace(",", "")
    # An overlong compound is found by its segments; its hash would add nothing.
    if len(whole) > MAX_LEXEME_CHARACTERS:
        return []
    joined = whole.replace("-", "").replace("·", "")
    # "5-10" is a range, not 510; "39-58-777" is a part number that is also typed without hyphens.
    if joined == whole or (joined.isdigit() and whole.count("-") < 2):
        return [LexemeForm(whole, offset, 1.0)]
    return [LexemeForm(whole, offset, 1.0), LexemeForm(joined, offset, JOINED_WEIGHT)]


def _expand_quantity(number: str, unit: str, stem: Callable[[str], str] | None) -> TokenForms:
    amount = expand_word(number, stem)
    joined = fold_accents(unit.replace("·", ""))
    forms = [
        LexemeForm(fold_accents(number + unit), 0, 1.0),
        LexemeForm(fold_accents(number) + joined, 0, 1.0),
        *amount.forms,
        LexemeForm(joined, amount.span, 1.0),
    ]
    return TokenForms(_distinct(forms), amount.span + 1)


def _distinct(forms: list[LexemeForm]) -> tuple[LexemeForm, ...]:
    """Keep the first of forms with the same lexeme and offset."""
    return tuple({form[:2]: form for form in reversed(forms)}.values())[::-1]
