"""Words of a file that are in no block, no furniture and no warning."""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path

from rag_pipeline.parsing.formats.containers import LIBRARY_ERRORS
from rag_pipeline.parsing.witness.raw_texts import raw_texts
from rag_pipeline.text import clean_text

LOSS_SHARE = 0.001
"""Share of words lost from which a document warns."""
MAX_SHOWN = 8
_WORD = re.compile(r"[^\W_]+")
_MARKUP = re.compile(r"[*_~`\\\u00ad\u200b\ufeff]")
"""Marks of emphasis and invisible signs, which join what stands around them."""
_ESCAPE = re.compile(r"\\(?:u[0-9a-fA-F]{4}|[nrtbf])")


@dataclass(frozen=True)
class Losses:
    """The words that a second reading finds, and those of them that are nowhere."""

    words: int
    lost: Counter[str]
    changed: Counter[str] = field(default_factory=Counter)
    """Numbers of blocks that the second reading does not find; looked for in PDFs."""

    @property
    def share(self) -> float:
        """Share of the words that are lost."""
        return self.lost.total() / self.words if self.words else 0.0

    @property
    def warning(self) -> str | None:
        """What the reader should know; None up to `LOSS_SHARE`, and if no number changed."""
        told = []
        if self.share > LOSS_SHARE:
            count, were = self.lost.total(), "was" if self.lost.total() == 1 else "were"
            told.append(
                f"{count} of {self.words} words ({self.share:.1%}) {were} not read: "
                f"{_some(self.lost)}"
            )
        if self.changed:
            told.append(f"another engine reads other numbers than these: {_some(self.changed)}")
        return "; ".join(told) or None


def _some(counts: Counter[str]) -> str:
    return ", ".join(list(counts)[:MAX_SHOWN]) + ("…" if len(counts) > MAX_SHOWN else "")


def find_losses(path: Path, kind: str, known: Iterable[str]) -> Losses:
    """Compare all words of a file, as a multiset, with the texts that are `known`.

    `known` are the texts of blocks, furniture and warnings. Nothing is lost where the second
    reading itself fails: it is a witness, not a judge.
    """
    try:
        raw = list(raw_texts(path, kind))
    except (*LIBRARY_ERRORS, KeyError, RecursionError):
        return Losses(0, Counter())
    if kind == "json":
        raw = [_ESCAPE.sub(" ", text) for text in raw]
    known = list(known)
    there = words(raw)
    have = words(known)
    lost = there - have
    if lost:
        # Where the two cut words differently, a whole text is there but for its spaces.
        whole = "".join(map(_letters, known))
        for text in raw:
            found = words([text])
            cut = any(word in lost and word not in have for word in found)
            if cut and _letters(text) in whole:
                lost -= found
    return Losses(there.total(), lost)


def _letters(text: str) -> str:
    return "".join(_WORD.findall(_plain(text)))


def _plain(text: str) -> str:
    return unicodedata.normalize("NFKC", _MARKUP.sub("", clean_text(text))).casefold()


def words(texts: Iterable[str]) -> Counter[str]:
    """Count the words of texts: letters and digits, without regard to case and form.

    >>> sorted(words(["Set **16** bar", "bar ﬁve"]).items())
    [('16', 1), ('bar', 2), ('five', 1), ('set', 1)]
    """
    counts: Counter[str] = Counter()
    for text in texts:
        counts.update(_WORD.findall(_plain(text)))
    return counts
