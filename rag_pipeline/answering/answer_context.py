"""The context of an answer: which results the chat model reads, and in what form.

Document text is data. `<`, `>` and `&` are escaped everywhere, and quotation marks and line ends in
attributes too, so that no document can close its chunk, open another, or add text outside of one.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from html import escape

from rag_pipeline.embedding.token_vocabularies import estimate_sentencepieces
from rag_pipeline.search import SearchResult
from rag_pipeline.settings import AnsweringSettings
from rag_pipeline.text import clean_text, one_line

_CUT = "\n[…]"


@dataclass(frozen=True)
class ContextChunk:
    """A search result as given to the model."""

    number: int
    result: SearchResult
    content: str

    @property
    def id(self) -> str:
        """What the model cites: `c1`. Unlike plain numbers, it does not occur in documents."""
        return f"c{self.number}"

    def written(self) -> str:
        """Return the chunk's element."""
        result = self.result
        pages = str(result.page_start)
        if result.page_end != result.page_start:
            pages += f"-{result.page_end}"
        return (
            f'<chunk id="{self.id}" source="{_attribute(result.document)}" page="{pages}" '
            f'breadcrumb="{_attribute(result.breadcrumb_trail)}" '
            f'relevance="{result.relevance:.2f}">\n'
            f"{escape(clean_text(self.content), quote=False)}\n</chunk>"
        )


def _attribute(text: str) -> str:
    return escape(one_line(clean_text(text)))


def write_context(chunks: Sequence[ContextChunk]) -> str:
    """Return the `<context>` element."""
    return "\n".join(["<context>", *(chunk.written() for chunk in chunks), "</context>"])


def select_context(
    results: Sequence[SearchResult], settings: AnsweringSettings
) -> list[ContextChunk]:
    """Choose what fits into `context_tokens`, in order, at most `max_chunks`.

    Results below `min_relevance` are skipped, as are results too large for the remaining budget;
    only the first one is cut to fit.
    """
    chosen: list[ContextChunk] = []
    left = settings.context_tokens
    for result in results:
        if len(chosen) == settings.max_chunks:
            break
        if result.relevance < settings.min_relevance:
            continue
        chunk = ContextChunk(len(chosen) + 1, result, result.content)
        tokens = estimate_sentencepieces(chunk.written())
        if tokens > left and not chosen:
            chunk = _cut(chunk, left)
            tokens = left
        if tokens <= left:
            chosen.append(chunk)
            left -= tokens
    return chosen


def _cut(chunk: ContextChunk, budget: int) -> ContextChunk:
    """Return the chunk cut to the longest beginning that fits, found by bisection."""
    low, high = 0, len(chunk.content)
    while low < high:
        middle = (low + high + 1) // 2
        tried = replace(chunk, content=chunk.content[:middle] + _CUT)
        if estimate_sentencepieces(tried.written()) <= budget:
            low = middle
        else:
            high = middle - 1
    return replace(chunk, content=chunk.content[:low] + _CUT)
