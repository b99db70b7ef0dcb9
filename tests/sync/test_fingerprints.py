"""A setting that changes chunks makes them stale, whichever strategy reads it."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache

import numpy as np
import pandas as pd
import pytest

from rag_pipeline.chunking import STRATEGIES, chunk
from rag_pipeline.parsing import parse_file
from rag_pipeline.settings import ParsingSettings, Settings, StructureSettings
from rag_pipeline.structure import infer_structure
from rag_pipeline.sync.planning.fingerprints import (
    BLOCKS,
    CHUNKS,
    EMBEDDINGS,
    stage_fingerprints,
    why_stale,
)
from tests.conftest import SAMPLES_DIR

OTHERS = {
    "target_tokens": 90,
    "overlap_tokens": 0,
    "min_tokens": 0,
    "unit": "characters",
    "separators": ["\n"],
    "major_heading_level": 1,
    "small_section_tokens": 0,
    "parent_tokens": 300,
    "surrounding_characters": 0,
}
BASE = {"target_tokens": 120, "overlap_tokens": 30, "min_tokens": 24}


@cache
def document() -> pd.DataFrame:
    parsed = parse_file(SAMPLES_DIR / "service-manual-en.pdf", ParsingSettings())
    return infer_structure(parsed.blocks, StructureSettings())


def count(texts: Sequence[str]) -> list[int]:
    return [len(text.split()) for text in texts]


def embed(texts: Sequence[str]) -> np.ndarray:
    """Vectors of letters: near for like texts."""
    rows = [[text.lower().count(letter) + 1.0 for letter in "aeioustrn"] for text in texts]
    matrix = np.array(rows, dtype=np.float32)
    return matrix / np.linalg.norm(matrix, axis=1, keepdims=True)


def with_chunking(**values: object) -> Settings:
    settings = Settings()
    chunking = settings.chunking.model_copy(update={**BASE, **values})
    return settings.model_copy(update={"chunking": chunking})


@pytest.mark.parametrize("strategy", sorted(STRATEGIES))
def test_what_changes_chunks_changes_their_fingerprint(strategy: str) -> None:
    base = with_chunking(strategy=strategy)
    before = chunk(document(), base.chunking, count, embed=embed)
    for name, value in OTHERS.items():
        changed = with_chunking(strategy=strategy, **{name: value})
        after = chunk(document(), changed.chunking, count, embed=embed)
        differs = not before[["content", "parent_index"]].equals(after[["content", "parent_index"]])
        is_stale = stage_fingerprints(base)[CHUNKS] != stage_fingerprints(changed)[CHUNKS]
        assert is_stale or not differs, f"{name} changes the chunks of {strategy}"


def test_what_a_strategy_does_not_read_makes_nothing_stale() -> None:
    base = with_chunking(strategy="contextual")
    for name in ("overlap_tokens", "separators", "unit", "surrounding_characters"):
        changed = with_chunking(strategy="contextual", **{name: OTHERS[name]})
        assert stage_fingerprints(changed) == stage_fingerprints(base), name
    limits = base.parsing.model_copy(update={"max_unpacked_mb": 1})
    changed = base.model_copy(update={"parsing": limits})
    assert stage_fingerprints(changed)[BLOCKS] == stage_fingerprints(base)[BLOCKS]


def test_words_around_a_chunk_are_the_last_stage_s() -> None:
    base = stage_fingerprints(with_chunking(strategy="recursive"))
    changed = stage_fingerprints(with_chunking(strategy="recursive", surrounding_characters=0))
    assert changed[CHUNKS] == base[CHUNKS]
    assert changed[EMBEDDINGS] != base[EMBEDDINGS]
    assert why_stale(EMBEDDINGS, base[EMBEDDINGS], changed[EMBEDDINGS]) == (
        "the settings of chunk_embeddings changed"
    )
