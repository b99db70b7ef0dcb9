"""Weight and slant of text, if OCR was asked for them. Pure."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, NamedTuple

from rag_pipeline.parsing.document_ai.convert.anchors import (
    Span,
    length,
    spans_of,
    text_of,
    without,
)

BOLD_WEIGHT = 600
"""Font weight (CSS scale) at which text counts as bold; regular text measures 400 to 500."""


class Look(NamedTuple):
    """Whether most characters are bold, or italic."""

    bold: bool
    italic: bool


@dataclass
class Styles:
    """Where a page's text is bold or italic. Font sizes are ignored: in recorded replies they are
    wrong by up to a half, whereas line heights are right."""

    bold: list[Span] = field(default_factory=list)
    italic: list[Span] = field(default_factory=list)

    def of(self, spans: list[Span]) -> Look:
        """The look of most characters."""
        half = length(spans) / 2
        if not half:
            return Look(False, False)
        return Look(self._within(spans, self.bold) > half, self._within(spans, self.italic) > half)

    def lead(self, text: str, spans: list[Span]) -> str:
        """Bold words that the text begins with."""
        if not self.bold or not spans:
            return ""
        plain = without(spans, self.bold)
        if not plain:
            return text_of(text, spans)
        first = plain[0][0]
        return text_of(text, [(a, min(b, first)) for a, b in spans if a < first])

    @staticmethod
    def _within(spans: list[Span], others: list[Span]) -> int:
        return length(spans) - length(without(spans, others)) if others else 0


def styles_of(page: Any) -> Styles:
    """Styles of a page's tokens."""
    found = Styles()
    for token in page.tokens:
        style = token.style_info
        if style.bold or style.font_weight >= BOLD_WEIGHT:
            found.bold += spans_of(token.layout)
        if style.italic:
            found.italic += spans_of(token.layout)
    return found
