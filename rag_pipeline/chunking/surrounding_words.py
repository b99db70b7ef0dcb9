"""The words around a chunk, for the word index: chunks of plain prose lack their context.

Measured by benchmarks/chunking.py (docs/chunking.md): indexing the adjacent words of a chunk's
neighbours with it, neither shown nor embedded, finds more than repeating them in the chunk does,
and adds no length. Chunks of `contextual` gain nothing: they end where their context ends, and
their trail says what it is.
"""

from __future__ import annotations

import pandas as pd

from rag_pipeline.chunking.assemble import embedded_text
from rag_pipeline.frames import SECTION
from rag_pipeline.settings import ChunkingSettings
from rag_pipeline.settings.document_stages import OWN_CONTEXT

_PROBE = 24
"""Characters by which text shared by two chunks is recognised."""


def indexed_texts(chunks: pd.DataFrame, settings: ChunkingSettings) -> list[str]:
    """Return what the word index reads of each row of a Chunks frame, in order.

    The embedded text and, except for `contextual` and `code`, the end of the previous chunk and the
    beginning of the next, up to `settings.surrounding_characters` each, cut between words. Text
    repeated by an overlap counts once. Parents have no neighbours.
    """
    contents = chunks["content"].tolist()
    texts = [
        embedded_text(trail, context, content)
        for trail, context, content in zip(
            chunks["breadcrumb_trail"], chunks["context"], contents, strict=True
        )
    ]
    length = settings.surrounding_characters
    if not length or settings.strategy in OWN_CONTEXT:
        return texts
    count = int((chunks["kind"] != SECTION).sum())
    for i in range(count):
        before = _before(contents[i - 1], contents[i], length) if i else ""
        after = _after(contents[i], contents[i + 1], length) if i + 1 < count else ""
        texts[i] = "\n".join(part for part in (texts[i], before, after) if part)
    return texts


def _before(previous: str, content: str, length: int) -> str:
    """Return the end of the previous chunk, without what this chunk repeats of it."""
    shared = previous.rfind(content[:_PROBE])
    if shared >= 0 and content.startswith(previous[shared:]):
        previous = previous[:shared]
    if len(previous) <= length:
        return previous.strip()
    return previous[-length:].partition(" ")[2].strip()


def _after(content: str, following: str, length: int) -> str:
    """Return the beginning of the next chunk, without what it repeats of this one."""
    shared = content.rfind(following[:_PROBE])
    if shared >= 0 and following.startswith(content[shared:]):
        following = following[len(content) - shared :]
    if len(following) <= length:
        return following.strip()
    return following[:length].rpartition(" ")[0].strip()
