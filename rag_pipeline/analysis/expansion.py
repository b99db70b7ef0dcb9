"""A token to its lexemes: the forms under which it is found, at which offsets.

Every form is found by the same form in a query, so whatever a user copies out of a
document, in whole or by a word or segment of it, finds that document:

- words: the exact form (accents folded) and, where it differs, the stem;
- part numbers, error codes, versions, paths: the whole, its parts between slashes, and its
  segments. `DS-7604NI-E1/4P/A` gives itself, `ds-7604ni-e1` and `ds`, `7604ni`, `e1`, `4p`, `a` at
  consecutive positions, so that phrases work; at the position of a segment of letters
  and digits also its parts of two characters or more (`7604`, `ni`). Hyphenated ones are also
  found without the hyphen;
- quantities: the whole, the number and the unit: `25n·m` gives itself, `25`, `nm`;
- Hangul words: their syllable bigrams, so that `번역` and `번역을` find each other; a word of one
  syllable with a particle (`물을`) also that syllable (`물`);
- scripts without spaces: bigrams, and single Han characters, which are often words.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable
from typing import NamedTuple

from rag_pipeline.analysis.stemming import fold_accents
from rag_pipeline.analysis.tokens import CONNECTORS, HAN

MAX_LEXEME_CHARACTERS = 255
"""A longer lexeme keeps its beginning and a hash of the rest: Postgres takes 2,046 bytes, and its
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
    "에서 에게 에는 에도 에만 으로 로서 로써 까지 부터 처럼 보다 마다 조차 마저 밖에 이나 이랑 이란 "
    "이라 라도 라면 하고 께서 한테 이며 이고 인데 "
    "에서는 에서도 에서의 에게서 으로는 으로도 으로서 으로써 로부터 까지는 부터는 이라도 이라면 "
    "으로부터".split()
)
"""Korean particles that follow a noun without a space."""
_LONGEST_PARTICLE = max(map(len, PARTICLES))


class Expansion(NamedTuple):
    """Lexemes of a token with their offsets from its position, and the positions it takes."""

    lexemes: tuple[tuple[str, int], ...]
    span: int


def expand_hangul(word: str) -> Expansion:
    """Return the bigrams of a Hangul word; one syllable stands for itself."""
    if len(word) == 1:
        return Expansion(((word, 0),), 1)
    lexemes = [(word[i : i + 2], i) for i in range(len(word) - 1)]
    if len(word) <= _LONGEST_PARTICLE + 1 and word[1:] in PARTICLES:
        lexemes.append((word[0], 0))
    return Expansion(tuple(lexemes), len(word) - 1)


def expand_unspaced(run: str) -> Expansion:
    """Return the bigrams of a run of Han, Kana, Thai …, and its single Han characters."""
    if len(run) == 1:
        return Expansion(((run, 0),), 1)
    lexemes = [(run[i : i + 2], i) for i in range(len(run) - 1)]
    lexemes += [(character, i) for i, character in enumerate(run) if _HAN.match(character)]
    # The last character lies at the position after the last bigram's.
    return Expansion(tuple(lexemes), len(run))


def expand_word(token: str, stem: Callable[[str], str] | None) -> Expansion:
    """Return the forms of a word, code, version or quantity (see the module's docstring)."""
    if token.isalpha():
        return Expansion(tuple((form, 0) for form in _word_forms(token, stem)), 1)
    token = token.removesuffix("'s")
    if token.startswith("°"):
        return Expansion(((fold_accents(token), 0),), 1)
    quantity = _QUANTITY.fullmatch(token)
    if quantity and quantity[2].replace("·", "") in _UNITS:
        return _expand_quantity(quantity[1], quantity[2], stem)
    forms: dict[tuple[str, int], None] = {}
    bare = token.rstrip("%+#")
    if bare != token:
        forms[fold_accents(token), 0] = None
    if _VERSION.match(bare):
        forms[fold_accents(bare), 0] = None
        bare = bare[1:]
    offset = 0
    parts = bare.split("/")
    for part in parts:
        segments = _segments(part)
        if len(segments) > 1 and len(parts) > 1:
            _add_whole(forms, part, offset)
        for segment in segments:
            for form in _segment_forms(segment, stem):
                forms[form, offset] = None
            offset += 1
    if offset > 1:
        _add_whole(forms, bare, 0)
    return Expansion(tuple(forms), max(1, offset))


def bounded(lexeme: str) -> str:
    """Return `lexeme`, shortened to its beginning and a hash if it is too long to be indexed."""
    if len(lexeme) <= MAX_LEXEME_CHARACTERS:
        return lexeme
    digest = hashlib.sha256(lexeme.encode()).hexdigest()
    return f"{lexeme[:_KEPT_CHARACTERS]}…{digest[:32]}"


def _word_forms(word: str, stem: Callable[[str], str] | None) -> list[str]:
    exact = bounded(fold_accents(word))
    if stem is None or len(word) > MAX_LEXEME_CHARACTERS:
        return [exact]
    stemmed = fold_accents(stem(word))
    return [exact] if stemmed == exact or not stemmed else [exact, stemmed]


def _segments(part: str) -> list[str]:
    segments = [segment for segment in _SEPARATORS.split(part) if segment]
    return [
        piece
        for segment in segments
        for piece in ([segment] if segment.startswith("0x") else _TIMES.split(segment))
    ]


def _segment_forms(segment: str, stem: Callable[[str], str] | None) -> list[str]:
    if segment.isalpha() or segment.isdigit():
        return _word_forms(segment, stem)
    forms = [bounded(fold_accents(segment))]
    parts = _PARTS.findall(segment)
    if len(parts) == 2 and parts[0].isdigit() and parts[1] in _UNITS:
        return forms + parts
    return forms + [bounded(fold_accents(part)) for part in parts if len(part) > 1]


def _add_whole(forms: dict[tuple[str, int], None], whole: str, offset: int) -> None:
    """Add a compound as it stands, and without hyphens or dots of multiplication."""
    whole = fold_accents(whole).replace("×", "x").replace(",", "")
    # The segments carry a compound that is too long; its hash would find nothing more.
    if len(whole) <= MAX_LEXEME_CHARACTERS:
        forms[whole, offset] = None
        joined = whole.replace("-", "").replace("·", "")
        if joined != whole and not joined.isdigit():  # "5-10" is a range, not 510
            forms[joined, offset] = None


def _expand_quantity(number: str, unit: str, stem: Callable[[str], str] | None) -> Expansion:
    amount = expand_word(number, stem)
    joined = fold_accents(unit.replace("·", ""))
    whole = fold_accents(number + unit)
    forms = dict.fromkeys(
        [(whole, 0), (number + joined, 0), *amount.lexemes, (joined, amount.span)]
    )
    return Expansion(tuple(forms), amount.span + 1)
