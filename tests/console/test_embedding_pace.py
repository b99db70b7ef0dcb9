"""The rate and the time left of a sync, worked out by hand on a clock of the test's own."""

from __future__ import annotations

from rag_pipeline.console.embedding_pace import EmbeddingPace
from rag_pipeline.sync.progress import Progress

STAGE = "chunk_embeddings"


class Clock:
    now = 100.0

    def __call__(self) -> float:
        return self.now


def test_unread_documents_count_by_their_size() -> None:
    clock = Clock()
    pace = EmbeddingPace(clock)
    pace.expect(total_bytes=10_000)
    assert pace.describe() == ""
    # A quarter of the bytes is read: 2,000 tokens, so 6,000 more are to be expected.
    pace.note(Progress(STAGE, 0, read_bytes=2_500))
    pace.note(Progress(STAGE, 0, found_tokens=2_000))
    clock.now += 4
    pace.note(Progress(STAGE, 0, texts=3, tokens=1_000))
    pace.note(Progress(STAGE, 1, settled_tokens=1_000))
    assert pace.describe() == "250 tokens/s, about 28 s left"


def test_cached_tokens_are_done_but_make_nothing_look_faster() -> None:
    clock = Clock()
    pace = EmbeddingPace(clock)
    pace.expect(total_bytes=1_000)
    pace.note(Progress(STAGE, 0, read_bytes=1_000))
    pace.note(Progress(STAGE, 0, found_tokens=100_000))
    clock.now += 10
    pace.note(Progress(STAGE, 0, texts=9, tokens=1_000))
    pace.note(Progress(STAGE, 1, settled_tokens=40_000))
    assert pace.describe() == "100 tokens/s, about 10 min left"
    pace.note(Progress(STAGE, 1, settled_tokens=60_000))
    assert pace.describe() == "100 tokens/s"


def test_a_document_without_text_is_no_division_by_zero() -> None:
    clock = Clock()
    pace = EmbeddingPace(clock)
    pace.note(Progress(STAGE, 0, read_bytes=0))
    pace.note(Progress(STAGE, 1, settled_tokens=0))
    clock.now += 5
    assert pace.describe() == ""
