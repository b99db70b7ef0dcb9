"""Footnotes: small text at the foot of a page that begins with a number or a mark."""

from __future__ import annotations

import re

from rag_pipeline.settings import StructureSettings
from rag_pipeline.structure.items import Document, Item

_MARK = re.compile(
    r"^(?:\(?\d{1,3}[.)]?|[*†‡§¶]+|[a-z][.)]?)\s*(?=[^\W\d_\"'“‘(])|^\d{1,3}\s*https?:"
)
_ADDRESS = re.compile(r"^\d{1,3}\s*https?:")


def mark_footnotes(document: Document, settings: StructureSettings) -> None:
    """Small marked text below a table, or below all other text of its page, is a footnote.

    >>> from rag_pipeline.inspection.rule_examples import explain
    >>> explain("~", "{7 =0.9} 1 See the data sheet.")
    ['footnote: small, marked, below the text of the page']
    """
    for page in document.by_page.values():
        body = [
            item.y1 for item in page if not item.role and item.size >= document.body_size * 0.97
        ]
        lowest = max(body, default=0.0)
        above: Item | None = None
        for item in page:
            of_table = above is not None and (above.kind == "table" or above.role == "footnote")
            above = item
            small = 0 < item.size <= document.body_size * settings.footnote_size
            # An address in a footnote is often set in a fixed-width font.
            noted = item.kind == "text" or (item.kind == "code" and _ADDRESS.match(item.title))
            if item.role or not noted or not small or not _MARK.match(item.title):
                continue
            if of_table:
                item.decide("footnote", "footnote: small, marked, below a table")
            elif item.y0 >= max(0.5, lowest - 0.005):
                item.decide("footnote", "footnote: small, marked, below the text of the page")
