"""The context of an answer: which results the chat model reads, and how they are written down.

Document text is data. It stands in elements whose mark-up it cannot write: `<`, `>` and `&` are
escaped everywhere, quotation marks and line ends in attributes too, so that no document closes its
chunk, opens another, or speaks outside of one.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from html import escape

from rag_pipeline.embedding.token_vocabularies import estimate_sentencepieces
from rag_pipeline.search import SearchResult
from rag_pipeline.settings import AnsweringSettings
from rag_pipeline.text import clean_text, one_line

_CUT = "\n[…]"


@dataclass(frozen=True)
class ContextChunk:
    """A search result as the model is given it."""

    number: int
    result: SearchResult
    content: str

    @property
    def id(self) -> str:
        """What the model cites: `c1`. Unlike plain numbers, it is not met in documents."""
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

    Nothing below `min_relevance` is taken. A result that is too large for the rest of the budget
    makes room for the next one; where not even the first one fits, it is cut.
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
    """Return the chunk with as much of its beginning as the budget holds, found by halving."""
    low, high = 0, len(chunk.content)
    while low < high:
        middle = (low + high + 1) // 2
        tried = _with_content(chunk, chunk.content[:middle] + _CUT)
        if estimate_sentencepieces(tried.written()) <= budget:
            low = middle
        else:
            high = middle - 1
    return _with_content(chunk, chunk.content[:low] + _CUT)


def _with_content(chunk: ContextChunk, content: str) -> ContextChunk:
    return ContextChunk(chunk.number, chunk.result, content)
