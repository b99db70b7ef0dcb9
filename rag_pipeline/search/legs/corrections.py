"""Corrects typing errors with words of the corpus.

For a word that no chunk has, every string one edit away is looked up by key: some hundred probes,
which miss nothing and take as long for ten words as for a million. Trigrams find words two edits
away. Codes are also completed: `ds-760` begins `ds-7604ni-e1`.
"""

from __future__ import annotations

import math
import string
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from psycopg import Connection
from psycopg.rows import TupleRow

from rag_pipeline.analysis import query_weights
from rag_pipeline.analysis.function_words import function_words
from rag_pipeline.analysis.stemming import fold_accents
from rag_pipeline.analysis.text_tokens import normalize, tokenize
from rag_pipeline.search.legs.lexeme_frequencies import frequencies_of
from rag_pipeline.store.named_queries import queries

MAX_WORDS = 8
"""Maximum number of words corrected in a query."""
SHORTEST_WORD = 4
SHORTEST_CODE = 3
SHORTEST_NUMBER = 5
"""Shorter ones have too many neighbours to be corrected."""
LONGEST = 40
SHORTEST_FOR_TWO_EDITS = 7
SUGGESTIONS = 3
CODE_SUGGESTIONS = 8
RARE = 20
"""A code in at most this many chunks may be mistyped, or be next to one that was meant."""
_TRIGRAM_THRESHOLD = "0.35"
_LAST_CHARACTER = "\U0010ffff"
_DECAY = 0.6
"""Weight of each suggestion relative to the one before."""


@dataclass(frozen=True)
class Correction:
    """A word of the query, and the word of the corpus that was searched for instead."""

    typed: str
    found: str
    weight: float
    """Relative to the word as typed, 0..1."""
    is_shown: bool = True
    """False if the corpus has the word as typed."""


@dataclass(frozen=True)
class DoubtfulWord:
    """A word or code of a query, represented by its longest lexeme."""

    lexeme: str
    is_code: bool
    is_known: bool
    frequency: int


def correct(
    connection: Connection[TupleRow],
    query: str,
    languages: Sequence[str],
    frequencies: Mapping[str, int],
) -> list[Correction]:
    """Return what each unknown word of the query may mean, likeliest first.

    `frequencies` are those of the query's lexemes. Words of the corpus are left alone, so that no
    correction outranks what was typed; a rare code also brings the codes next to it.
    """
    corrections: list[Correction] = []
    for word in _doubtful(query, languages, frequencies):
        limit = CODE_SUGGESTIONS if word.is_code else SUGGESTIONS
        weight = 1.0
        for found in _suggestions(connection, word)[:limit]:
            corrections.append(Correction(word.lexeme, found, weight, not word.is_known))
            weight *= 0.9 if word.is_code else _DECAY
    return corrections


def _doubtful(
    query: str, languages: Sequence[str], frequencies: Mapping[str, int]
) -> Iterator[DoubtfulWord]:
    seen: set[str] = set()
    ignored = function_words(query)
    for token, kind in tokenize(normalize(query)):
        lexeme = fold_accents(token.removesuffix("'s").strip("%+#°")).replace("×", "x")
        if kind is not None or lexeme in seen or len(lexeme) > LONGEST:
            continue
        seen.add(lexeme)
        is_code = any(character.isdigit() for character in lexeme)
        if len(lexeme) < _shortest(lexeme, is_code) or token in ignored:
            continue
        forms = query_weights(token, languages)
        own = frequencies.get(lexeme, 0)
        # A word is also known by its stem, a code only as a whole.
        is_known = own > 0 or (not is_code and any(frequencies.get(form) for form in forms))
        if not is_known or (is_code and own <= RARE):
            yield DoubtfulWord(lexeme, is_code, is_known, own)
        if len(seen) >= MAX_WORDS:
            return


def _shortest(lexeme: str, is_code: bool) -> int:
    if lexeme.isdigit():
        return SHORTEST_NUMBER
    return SHORTEST_CODE if is_code else SHORTEST_WORD


def _suggestions(connection: Connection[TupleRow], word: DoubtfulWord) -> list[str]:
    near = frequencies_of(
        connection, queries.lexeme_frequencies, lexemes=sorted(one_edit_away(word.lexeme))
    )
    found = sorted(near, key=lambda one: (-_likelihood(word.lexeme, one, near[one]), one))
    if word.is_known:
        return found
    if word.is_code or not found:
        found += [one for one in _completions(connection, word.lexeme) if one not in near]
    if not found and not word.is_code and len(word.lexeme) >= SHORTEST_FOR_TWO_EDITS:
        found = _two_edits_away(connection, word.lexeme)
    return found


def _completions(connection: Connection[TupleRow], beginning: str) -> list[str]:
    frequencies = frequencies_of(
        connection,
        queries.lexemes_beginning,
        low=beginning,
        high=beginning + _LAST_CHARACTER,
    )
    frequencies.pop(beginning, None)
    return sorted(frequencies, key=lambda one: (len(one), -frequencies[one], one))


def _two_edits_away(connection: Connection[TupleRow], word: str) -> list[str]:
    connection.execute(
        "SELECT set_config('pg_trgm.similarity_threshold', %s, true)", (_TRIGRAM_THRESHOLD,)
    )
    similar = frequencies_of(
        connection,
        queries.similar_lexemes,
        word=word,
        shortest=len(word) - 2,
        longest=len(word) + 2,
    )
    near = [lexeme for lexeme in similar if distance(word, lexeme) <= 2]
    return sorted(near, key=lambda one: (-_likelihood(word, one, similar[one]), one))


def _likelihood(typed: str, meant: str, frequency: int) -> float:
    """Weigh how common a word is against how it was mistyped.

    The first letter is rarely wrong; swapped letters are the most common slip, followed by doubled
    letters.
    """
    score = 0.5 * math.log(1 + frequency)
    if typed[0] == meant[0]:
        score += 2.0
    is_swapped = len(typed) == len(meant) and sorted(typed) == sorted(meant)
    if is_swapped or _undoubled(typed) == _undoubled(meant):
        score += 1.5
    return score


def _undoubled(word: str) -> str:
    return "".join(one for place, one in enumerate(word) if place == 0 or word[place - 1] != one)


def one_edit_away(word: str) -> set[str]:
    """Return every string that is one insertion, deletion, substitution or swap from `word`.

    The letters tried are the Latin alphabet, the word's own and, if it has any, the digits.
    """
    alphabet = set(string.ascii_lowercase) | set(word)
    if any(character.isdigit() for character in word):
        alphabet |= set(string.digits)
    found: set[str] = set()
    for place in range(len(word) + 1):
        before, after = word[:place], word[place:]
        found.update(before + letter + after for letter in alphabet)
        if after:
            found.add(before + after[1:])
            found.update(before + letter + after[1:] for letter in alphabet)
        if len(after) > 1:
            found.add(before + after[1] + after[0] + after[2:])
    return found - {word, ""}


def distance(one: str, other: str) -> int:
    """Return the number of edits between two words; swapping neighbours is one edit.

    (Optimal string alignment; Damerau 1964.)

    >>> distance("presure", "pressure"), distance("vavle", "valve"), distance("pmup", "lamp")
    (1, 1, 3)
    """
    before_last: list[int] = []
    last = list(range(len(other) + 1))
    for row, letter in enumerate(one, start=1):
        current = [row]
        for column, other_letter in enumerate(other, start=1):
            cost = min(
                last[column] + 1,
                current[column - 1] + 1,
                last[column - 1] + (letter != other_letter),
            )
            swapped = row > 1 and column > 1 and letter == other[column - 2]
            if swapped and one[row - 2] == other_letter:
                cost = min(cost, before_last[column - 2] + 1)
            current.append(cost)
        before_last, last = last, current
    return last[-1]
