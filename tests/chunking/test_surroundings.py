"""What the word index reads of a chunk beside its own text."""

from __future__ import annotations

import pandas as pd

from rag_pipeline.chunking import chunk, indexed_texts
from rag_pipeline.settings import ChunkingSettings
from tests.chunking.documents import Writer, count_words

WORDS = [f"word{i:02d}" for i in range(64)]


def chunked(**settings: object) -> tuple[pd.DataFrame, ChunkingSettings]:
    writer = Writer()
    writer.paragraph(" ".join(WORDS))
    chosen = ChunkingSettings(target_tokens=32, min_tokens=0, **settings)
    return chunk(writer.frame(), chosen, count_words, title="Manual"), chosen


def test_the_ends_of_the_neighbours_are_indexed_with_a_chunk() -> None:
    # 31 words a chunk beside the title; 20 characters hold two words of six and a torn one
    chunks, chosen = chunked(strategy="fixed_size", overlap_tokens=0, surrounding_characters=20)
    assert [len(text.split()) for text in chunks["content"]] == [31, 31, 2]
    assert indexed_texts(chunks, chosen) == [
        "Manual\n" + " ".join(WORDS[:31]) + "\nword31 word32",
        "Manual\n" + " ".join(WORDS[31:62]) + "\nword29 word30\nword62 word63",
        "Manual\n" + " ".join(WORDS[62:]) + "\nword60 word61",
    ]


def test_what_an_overlap_repeats_counts_once() -> None:
    chunks, chosen = chunked(strategy="fixed_size", overlap_tokens=8, surrounding_characters=20)
    first, second = chunks["content"].tolist()[:2]
    assert (first.split()[-1], second.split()[0]) == ("word30", "word23")
    texts = indexed_texts(chunks, chosen)
    assert texts[0] == f"Manual\n{first}\nword31 word32"
    assert texts[1].splitlines()[2] == "word21 word22"


def test_contextual_chunks_and_zero_take_no_surroundings() -> None:
    for settings in ({"strategy": "contextual"}, {"surrounding_characters": 0}):
        chunks, chosen = chunked(**{"strategy": "sentence", **settings})
        texts = (chunks["breadcrumb_trail"] + "\n" + chunks["content"]).tolist()
        assert indexed_texts(chunks, chosen) == texts


def test_parents_have_no_neighbours() -> None:
    chunks, chosen = chunked(strategy="sentence", surrounding_characters=20)
    assert chunks["kind"].tolist() == ["text", "text", "text", "section"]
    texts = indexed_texts(chunks, chosen)
    assert texts[2].splitlines()[2:] == ["word60 word61"]
    assert texts[3] == "Manual\n" + chunks["content"].iloc[3]
