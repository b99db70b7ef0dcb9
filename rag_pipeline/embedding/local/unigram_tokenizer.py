"""The Unigram tokenizer of XLM-RoBERTa models, light enough to load for a single query.

Gives the same tokens as `tokenizers.models.Unigram` (the tests compare), but loads ten times faster
in a fifth of the memory: instead of a trie over 250,000 pieces it uses a sorted list, which becomes
a dictionary when there is more to do than a query, and a cache of words. The cache pays off because
words repeat, and it is correct because every word starts with the mark of white space, so that its
tokens do not depend on its neighbours.

Source: Kudo (2018), "Subword Regularization", section 3.2 (the unigram language model; the best
segmentation by the Viterbi algorithm).
"""

from __future__ import annotations

import unicodedata
from array import array
from bisect import bisect_left
from collections.abc import Iterable
from pathlib import Path

from rag_pipeline.text import clean_text

SPACE_MARK = "▁"
_UNKNOWN_PENALTY = 10.0  # SentencePiece's kUnkPenalty, below the lowest score of the vocabulary
_CACHED_WORDS = 200_000
_CACHED_LENGTH = 64
_INDEX_AFTER = 10_000  # characters; about where building the dictionary pays off
# Mapped to a space by the model's own table (nmt_nfkc), but not by NFKC and `clean_text`.
_BLANKS = str.maketrans({SPACE_MARK: " ", "\u200d": " ", "\N{REPLACEMENT CHARACTER}": " "})


def normalize(text: str) -> str:
    """Bring `text` into the form that the model was trained on: NFKC, one space between words.

    NFKC covers the model's normalisation table and also composes what that table leaves
    decomposed, so that all Unicode forms of a text give the same tokens.
    """
    text = unicodedata.normalize("NFKC", clean_text(text))
    return " ".join(text.translate(_BLANKS).split())


class UnigramVocabulary:
    """Pieces with their ids and log probabilities, kept in two files.

    `pieces.txt` holds the pieces in code point order, one a line (no piece has a newline);
    `pieces.bin` their scores (float32), then their ids (int32), in the machine's byte order.
    """

    FILES = ("pieces.txt", "pieces.bin")

    def __init__(self, folder: Path) -> None:
        text, numbers = (folder / name for name in self.FILES)
        self._pieces = text.read_bytes().decode().split("\n")
        self._dictionary: dict[str, int] = {}
        data, half = numbers.read_bytes(), len(self._pieces) * 4
        self.scores, self.ids = array("f", data[:half]), array("i", data[half:])
        self.longest = max(map(len, self._pieces))

    @classmethod
    def write(cls, folder: Path, pieces: Iterable[tuple[str, float, int]]) -> None:
        """Write (piece, score, id) triples in the format that the constructor reads."""
        text, numbers = (folder / name for name in cls.FILES)
        ordered = sorted(pieces)
        text.write_bytes("\n".join(piece for piece, _, _ in ordered).encode())
        scores = array("f", (score for _, score, _ in ordered))
        ids = array("i", (number for _, _, number in ordered))
        numbers.write_bytes(scores.tobytes() + ids.tobytes())

    def index(self) -> None:
        """Make `find` ten times faster, at a cost of 0.2 seconds and 20 MB."""
        if not self._dictionary:
            self._dictionary = dict(zip(self._pieces, range(len(self._pieces)), strict=True))

    def find(self, piece: str) -> int | None:
        """Return the position of `piece` in `scores` and `ids`, or None."""
        if self._dictionary:
            return self._dictionary.get(piece)
        place = bisect_left(self._pieces, piece)
        found = place < len(self._pieces) and self._pieces[place] == piece
        return place if found else None


class UnigramTokenizer:
    """Splits texts into the ids of the most probable pieces.

    Safe to use from several threads: caches only grow or are replaced.
    """

    def __init__(self, vocabulary: UnigramVocabulary, *, unknown_id: int) -> None:
        self._vocabulary = vocabulary
        self._unknown_id = unknown_id
        self._unknown_score = min(vocabulary.scores) - _UNKNOWN_PENALTY
        self._words: dict[str, tuple[int, ...]] = {}
        self._characters = 0

    def encode(self, text: str) -> list[int]:
        """Return the ids of the normalised text, without start and end marks."""
        self._characters += len(text)
        if self._characters > _INDEX_AFTER:
            self._vocabulary.index()
        words = self._words
        ids: list[int] = []
        for word in normalize(text).split():
            known = words.get(word)
            ids += self._encode_word(word) if known is None else known
        return ids

    def _encode_word(self, word: str) -> tuple[int, ...]:
        ids = self._best_path(SPACE_MARK + word)
        if len(word) <= _CACHED_LENGTH:
            if len(self._words) >= _CACHED_WORDS:
                self._words = {}
            self._words[word] = ids
        return ids

    def _best_path(self, word: str) -> tuple[int, ...]:
        """Viterbi over all segmentations; of equals, the first found wins, as in `tokenizers`.

        A character without a piece is unknown; a run of them becomes one unknown token.
        """
        find, scores, longest = (
            self._vocabulary.find,
            self._vocabulary.scores,
            self._vocabulary.longest,
        )
        length = len(word)
        best = [0.0] * (length + 1)
        step: list[tuple[int, int] | None] = [None] * (length + 1)  # start, position of last piece
        for start in range(length):
            base, single = best[start], False
            for end in range(start + 1, min(start + longest, length) + 1):
                piece = find(word[start:end])
                if piece is None:
                    continue
                score = base + scores[piece]
                if step[end] is None or score > best[end]:
                    best[end], step[end] = score, (start, piece)
                single = single or end == start + 1
            if not single:
                end, score = start + 1, base + self._unknown_score
                if step[end] is None or score > best[end]:
                    best[end], step[end] = score, (start, -1)
        ids: list[int] = []
        end = length
        while end:
            end, piece = step[end] or (end - 1, -1)
            if piece >= 0:
                ids.append(self._vocabulary.ids[piece])
            elif not ids or ids[-1] != self._unknown_id:
                ids.append(self._unknown_id)
        return tuple(reversed(ids))
