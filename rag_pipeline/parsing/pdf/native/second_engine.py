"""A second reader for pages whose fonts do not say which characters they draw, or whose words fall
apart into letters.

Without a `ToUnicode` table PDFium guesses, and Asian text becomes other, wrong letters. `pdf-oxide`
looks the glyphs up in the embedded font itself.
"""

from __future__ import annotations

import importlib
import re
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from rag_pipeline.parsing.pdf.layout.geometry import PageContent, PageWord, Style
from rag_pipeline.parsing.pdf.native.fonts import is_monospace_font, plain_font_name
from rag_pipeline.text import clean_text, counted

MIN_UNMAPPED = 0.2
"""Share of a page's characters without a mapping from which the second engine is asked."""
MAX_WRONG = 0.1
"""Share of private or replacement characters up to which its answer is better than none."""
SPACED = 0.4
"""Share of single letters and digits among the words of a page from which it is letter-spaced."""
FEWER = 0.7
"""The engine's reading of such a page has at most so many times as many words."""
_WRONG = re.compile(r"[\ufffd\ue000-\uf8ff\x00-\x08]")


class SecondEngine:
    """Reads single pages of one file by `pdf-oxide`, opened at the first need."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.pages_read: list[int] = []
        self.pages_left: list[int] = []
        self._is_tried = False
        self._document: Any = None

    def mend(self, content: PageContent) -> None:
        """Replace the words of a page where too many characters have no mapping.

        Where the engine does no better, the page stays as it is.
        """
        wrong = max(content.unmapped_characters, content.unreadable_characters)
        total = sum(len(word.text) for word in content.words)
        is_wrong = bool(wrong) and wrong >= MIN_UNMAPPED * total
        is_spaced = _spaced(content.words) >= SPACED
        if not is_wrong and not is_spaced:
            return
        words = self._words(content) if content.quarter_turns == 0 else []
        text = "".join(word.text for word in words)
        own = "".join(word.text for word in content.words)
        if not is_wrong:
            if len(words) < FEWER * len(content.words) and Counter(text) == Counter(own):
                content.words = words
            return
        more = _readable(text) >= _readable(own) + content.unreadable_characters / 2
        if text and more and len(_WRONG.findall(text)) <= MAX_WRONG * len(text):
            content.words = words
            content.unreadable_characters = 0
            self.pages_read.append(content.number)
        else:
            self.pages_left.append(content.number)

    def _words(self, content: PageContent) -> list[PageWord]:
        try:
            if not self._is_tried:
                self._is_tried = True
                engine = importlib.import_module("pdf_oxide")
                self._document = engine.PdfDocument(str(self.path))
            if self._document is None:
                return []
            found = self._document.extract_words(content.number - 1)
        except (KeyboardInterrupt, SystemExit, MemoryError):
            raise
        except BaseException:  # a panic of the engine is no `Exception`
            return []
        return [
            _word(item, position, content.height)
            for position, item in enumerate(found)
            if item.text.strip()
        ]

    def warnings(self) -> list[str]:
        """What was done, in words."""
        found = []
        if self.pages_read:
            found.append(
                f"{counted(len(self.pages_read), 'page')} with unmapped fonts read by pdf-oxide"
            )
        if self.pages_left:
            found.append(
                f"{counted(len(self.pages_left), 'page')} with unmapped fonts may be garbled"
            )
        return found


def _spaced(words: Sequence[PageWord]) -> float:
    """Return the share of single letters and digits, Latin ones, among words."""
    return sum(len(word.text) == 1 and word.text.isascii() for word in words) / max(1, len(words))


def _readable(text: str) -> int:
    return sum(map(str.isalnum, text))


def _word(item: Any, position: int, height: float) -> PageWord:
    """A word of the engine (left, bottom, width, height) in layout space."""
    left, bottom, width, tall = item.bbox
    name = plain_font_name(item.font_name or "")
    style = Style(
        round(item.font_size, 1),
        bool(item.is_bold),
        bool(item.is_italic),
        is_monospace_font(name, 0),
        0,
        name,
    )
    # The engine gives no baseline; descenders take about a fifth of the size.
    baseline = height - bottom - 0.2 * item.font_size
    top = height - bottom - tall
    return PageWord(
        left, top, left + width, height - bottom, baseline, clean_text(item.text), style, position
    )
