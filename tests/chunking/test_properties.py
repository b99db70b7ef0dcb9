"""Invariants over generated documents, under vocabularies that count differently."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import pandas as pd
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from rag_pipeline.chunking import STRATEGIES, chunk
from rag_pipeline.frames import SECTION
from rag_pipeline.parsing import parse_file
from rag_pipeline.settings import ChunkingSettings, ParsingSettings, StructureSettings
from rag_pipeline.structure import infer_structure
from tests.chunking.documents import (
    Writer,
    children,
    count_characters,
    count_marked,
    count_pairs,
    count_quarters,
    count_words,
    embed_letters,
)

ROLES = (
    "heading",
    "title",
    "paragraph",
    "lead_in",
    "procedure",
    "list",
    "table",
    "caption",
    "admonition",
    "label",
    "code",
    "figure",
    "footnote",
    "page_header",
    "page_footer",
    "contents_entry",
    "new_page",
)
Parts = list[tuple[str, int, int]]
"""Role, size and a small number that varies levels and groups, of each part of a document."""
VOCABULARIES = (count_words, count_characters, count_marked, count_pairs, count_quarters)


class Generator(Writer):
    """Writes generated parts; every text begins with a mark of its own, `b7x`."""

    def text(self, size: int, variant: int) -> str:
        mark = f"b{len(self.rows)}x"
        filler = ("pump", "밸브를 닫습니다.", "Stop.", "关闭阀门，然后等待。", "XJ-900/B\n")[
            variant % 5
        ]
        return " ".join([mark, *(f"{filler}" for _ in range(size))]).strip()

    def write(self, role: str, size: int, variant: int) -> None:
        text = self.text(size, variant)
        if role == "new_page":
            self.new_page()
        elif role == "heading":
            self.heading(1 + variant % 4, text.replace("\n", " "))
        elif role == "lead_in":
            self.paragraph(text + " :")  # apart: an ideographic stop ends a sentence
        elif role == "label":
            self.add("admonition", f"b{len(self.rows)}x!")
        elif role in ("procedure", "list"):
            item = "procedure_step" if role == "procedure" else "list_item"
            group = self.group() if variant % 3 else None
            for number in range(1 + size % 7):
                level = 1 + (number % 2 if variant % 2 else 0)
                self.add(item, self.text(size, variant), list_level=level, group_id=group)
                if variant == 4 and number == 2:
                    self.add("admonition", self.text(3, 0))
        elif role == "table":
            group = self.group()
            for _ in range(1 + variant % 2):
                marks = f"b{len(self.rows)}x"
                rows = [["Code", "Meaning"], [marks, text.split()[-1]]]
                rows += [[f"E{i}", "Fault"] for i in range(size)]
                self.table(rows, group)
        else:
            self.add(role, text)


def frame_of(parts: Parts) -> pd.DataFrame:
    writer = Generator()
    for role, size, variant in parts:
        writer.write(role, size, variant)
    if not writer.rows:
        writer.paragraph("b0x")
    return writer.frame()


documents = st.lists(
    st.tuples(st.sampled_from(ROLES), st.integers(0, 60), st.integers(0, 4)), max_size=18
).map(frame_of)
configurations = st.builds(
    ChunkingSettings,
    strategy=st.sampled_from(sorted(STRATEGIES)),
    target_tokens=st.sampled_from([32, 64, 150, 400]),
    ideal_tokens=st.sampled_from([0, 20, 130]),
    overlap_tokens=st.sampled_from([0, 8, 64]),
    min_tokens=st.sampled_from([0, 32]),
    unit=st.sampled_from(["tokens", "characters"]),
    separators=st.sampled_from([[], ["\n\n", "\n", ". ", " "], [" ", ""]]),
    major_heading_level=st.integers(1, 4),
    small_section_tokens=st.sampled_from([0, 20, 128]),
    parent_tokens=st.sampled_from([0, 300]),
)
vocabularies = st.sampled_from(VOCABULARIES)
TITLE = "Manual"
FURNITURE = ("page_header", "page_footer", "contents_entry")


def chunks_of(
    frame: pd.DataFrame, chosen: ChunkingSettings, count: Callable[..., list[int]] = count_words
) -> pd.DataFrame:
    return chunk(frame, chosen, count, title=TITLE, embed=embed_letters)


def assert_invariants(
    frame: pd.DataFrame, chosen: ChunkingSettings, count: Callable[..., list[int]]
) -> None:
    """What holds for every strategy, document and vocabulary."""
    chunks = chunks_of(frame, chosen, count)
    embedded = (chunks["breadcrumb_trail"] + "\n" + chunks["content"]).tolist()
    in_characters = chosen.strategy == "recursive" and chosen.unit == "characters"
    measured = count_characters(embedded) if in_characters else count(embedded)

    assert chunks["token_count"].tolist() == count(embedded)
    assert not chunks["content"].str.strip().eq("").any()
    found = children(chunks)
    assert chunks["chunk_index"].tolist() == list(range(len(chunks)))
    assert found["chunk_index"].tolist() == list(range(len(found)))  # parents come last
    for text, size, content in zip(embedded, measured, found["content"], strict=False):
        assert size <= chosen.target_tokens or len(content) == 1, text

    body = frame[~frame["role"].isin(FURNITURE)]
    held = "".join("".join(found["content"]).split())
    for text in body["text"]:
        # words, but those that only splitting by characters fits into the budget
        assert all(
            word in held for word in text.split() if count([word])[0] <= chosen.target_tokens // 8
        )
    marks = [re.match(r"b\d+x", text) for text in frame[frame["role"].isin(FURNITURE)]["text"]]
    assert not any(
        re.search(rf"\b{mark[0]}\b", text) for mark in marks if mark for text in embedded
    )

    pages = set(frame["page_number"])
    for regions, first, last, content in zip(
        chunks["regions"],
        chunks["page_start"],
        chunks["page_end"],
        chunks["content"],
        strict=True,
    ):
        starts = [region["start"] for region in regions]
        assert starts == sorted(starts)
        assert starts[-1] <= len(content)
        on = [region["page"] for region in regions]
        assert (min(on), max(on)) == (first, last)
        assert set(on) <= pages
        assert all(0 <= r["x0"] <= r["x1"] <= 1 and 0 <= r["y0"] <= r["y1"] <= 1 for r in regions)
    pd.testing.assert_frame_equal(chunks, chunks_of(frame, chosen, count))


@given(documents, configurations, vocabularies)
@settings(max_examples=15, deadline=None)
def test_invariants(
    frame: pd.DataFrame, chosen: ChunkingSettings, count: Callable[..., list[int]]
) -> None:
    assert_invariants(frame, chosen, count)


@given(documents, configurations)
@settings(max_examples=15, deadline=None)
def test_words_are_whole_and_in_reading_order(
    frame: pd.DataFrame, chosen: ChunkingSettings
) -> None:
    assume(chosen.unit == "tokens" and "" not in chosen.separators)
    found = children(chunks_of(frame, chosen))
    held = {word for content in found["content"] for word in content.split()}
    body = frame[~frame["role"].isin(FURNITURE)]
    assert {word for text in body["text"] for word in text.split()} <= held
    first_seen: dict[str, None] = dict.fromkeys(
        re.findall(r"\bb\d+x\b", "\n".join(found["content"]))
    )
    captions = set(body[body["role"] == "caption"]["text"].str.extract(r"(b\d+x)")[0])
    # a caption below its table is repeated above the rows when the table is split
    order = [int(mark[1:-1]) for mark in first_seen if mark not in captions]
    assert order == sorted(order)


@given(documents, configurations, vocabularies)
@settings(max_examples=12, deadline=None)
def test_parents_hold_consecutive_children_of_one_section(
    frame: pd.DataFrame, chosen: ChunkingSettings, count: Callable[..., list[int]]
) -> None:
    chunks = chunks_of(frame, chosen, count)
    found = children(chunks)
    parents = chunks[chunks["kind"] == SECTION]
    assert set(found["parent_index"].dropna()) == set(parents["chunk_index"])
    assert parents["parent_index"].isna().all()
    assert all(parents["token_count"] <= chosen.parent_tokens)
    for parent in parents.itertuples():
        below = found[found["parent_index"] == parent.chunk_index]
        assert len(below) >= 2
        assert below["chunk_index"].tolist() == list(
            range(below["chunk_index"].min(), below["chunk_index"].max() + 1)
        )
        held = "".join(parent.content.split())
        marks = [re.findall(r"\bb\d+x\b", text) for text in below["content"]]
        assert all(mark in held for found_marks in marks for mark in found_marks)
        # What has no heading in common is called by the document's title.
        if parent.breadcrumb_trail != TITLE:
            assert below["breadcrumb_trail"].str.startswith(parent.breadcrumb_trail).all()


@given(documents)
@settings(max_examples=12, deadline=None)
def test_no_chunk_crosses_a_major_heading(frame: pd.DataFrame) -> None:
    chosen = ChunkingSettings(target_tokens=400, major_heading_level=2)
    chunks = children(chunk(frame, chosen, count_words))
    majors = [
        text.split()[0]
        for text, role, level in zip(
            frame["text"], frame["role"], frame["heading_level"], strict=True
        )
        if role == "heading" and level <= 2
    ]
    for content in chunks["content"]:
        marks = re.findall(r"\bb\d+x\b", content)
        found = [i for i, mark in enumerate(marks) if mark in majors]
        # only headings without text of their own may stand above a major heading
        assert all(
            frame.loc[int(mark[1:-1]), "role"] in ("heading", "title")
            for i in found
            for mark in marks[:i]
        )


@pytest.mark.parametrize("strategy", sorted(STRATEGIES))
@pytest.mark.parametrize("count", VOCABULARIES)
def test_one_run_without_spaces_is_cut_by_characters(
    strategy: str, count: Callable[..., list[int]]
) -> None:
    writer = Writer()
    writer.paragraph("x" * 3000)
    chosen = ChunkingSettings(strategy=strategy, target_tokens=64, overlap_tokens=0)
    chunks = children(chunks_of(writer.frame(), chosen, count))
    assert "".join(chunks["content"]) == "x" * 3000
    assert chunks["token_count"].max() <= 64


@pytest.mark.parametrize("strategy", sorted(STRATEGIES))
def test_a_vocabulary_whose_parts_add_up_to_less_than_the_whole_keeps_the_budget(
    strategy: str,
) -> None:
    # every "ab " counts nothing alone, and 302 of them 226 tokens
    writer = Writer()
    writer.paragraph(" ".join(["ab"] * 302))
    chosen = ChunkingSettings(strategy=strategy, target_tokens=64, overlap_tokens=0)
    chunks = children(chunks_of(writer.frame(), chosen, count_quarters))
    assert " ".join(chunks["content"]) == " ".join(["ab"] * 302)
    assert chunks["token_count"].max() <= 64


@pytest.fixture(scope="module")
def sample_frames() -> list[pd.DataFrame]:
    files = sorted((Path(__file__).parents[2] / "samples").glob("*.pdf"))
    parsed = [parse_file(file, ParsingSettings()) for file in files]
    return [infer_structure(document.blocks, StructureSettings()) for document in parsed]


@pytest.mark.parametrize("strategy", sorted(STRATEGIES))
def test_invariants_on_the_sample_documents(
    strategy: str, sample_frames: list[pd.DataFrame]
) -> None:
    assert sample_frames
    for frame in sample_frames:
        assert_invariants(frame, ChunkingSettings(strategy=strategy), count_pairs)
        assert_invariants(
            frame, ChunkingSettings(strategy=strategy, target_tokens=120), count_marked
        )
