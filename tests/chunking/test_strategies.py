"""Each strategy on small documents whose chunks can be worked out by hand."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from rag_pipeline.chunking import chunk
from rag_pipeline.chunking.cutting.windows import Atom, pack_even
from rag_pipeline.chunking.strategies.recursive import separated
from rag_pipeline.chunking.task import TokenCounter
from rag_pipeline.errors import SettingsError
from rag_pipeline.frames import SECTION
from rag_pipeline.settings import ChunkingSettings
from tests.chunking.documents import Writer, children, count_words


def chunked(writer: Writer, **settings: object) -> pd.DataFrame:
    defaults = {"target_tokens": 32, "min_tokens": 0, "overlap_tokens": 0}
    return chunk(writer.frame(), ChunkingSettings(**{**defaults, **settings}), count_words)


def sentence(name: str, words: int = 10) -> str:
    return " ".join([f"{name.capitalize()}0", *(f"{name}{i}" for i in range(1, words))]) + "."


def prose(*names: str) -> Writer:
    writer = Writer()
    writer.paragraph(" ".join(sentence(name) for name in names))
    return writer


def test_fixed_size_windows_repeat_whole_words() -> None:
    writer = Writer()
    words = [f"w{i}" for i in range(80)]
    writer.paragraph(" ".join(words))
    found = chunked(writer, strategy="fixed_size", overlap_tokens=8)
    assert [text.split() for text in found["content"]] == [
        words[:32],
        words[24:56],
        words[48:80],
    ]


def test_sentence_windows_repeat_whole_sentences() -> None:
    a, b, c, d, e = (sentence(name) for name in "abcde")
    found = children(chunked(prose(*"abcde"), strategy="sentence", overlap_tokens=12))
    assert found["content"].tolist() == [f"{a} {b} {c}", f"{c} {d} {e}"]


def test_even_sentence_windows_are_near_the_ideal() -> None:
    # Full windows of 32 words would hold 3, 3 and 1 of them; near 20 words they hold 2, 2, 2 and 1,
    # and the short one may stand anywhere: at the earliest, since equal costs are not replaced.
    names = "abcdefg"
    found = children(chunked(prose(*names), strategy="sentence", ideal_tokens=20))
    assert sorted(found["content"].str.count(r"\.")) == [1, 2, 2, 2]
    assert " ".join(found["content"]) == " ".join(sentence(name) for name in names)


def test_even_windows_weigh_deviation_by_length() -> None:
    # Of 6 + 6 + 6 + 12 words near 15, {18, 12} costs 1.2 * .04 + .8 * .04 = .080, and {12, 18} the
    # same; {6, 6, 18}: .4 * .36 * 2 + .048 = .336; {6, 24}: .144 + 1.6 * .36 = .720.
    atoms = [Atom(0, 6, 0, 6), Atom(6, 12, 0, 6), Atom(12, 18, 0, 6), Atom(18, 30, 0, 12)]
    found = pack_even(atoms, lambda _: 32, lambda _: 15)
    assert found in ([(0, 18), (18, 30)], [(0, 12), (12, 30)])


def test_even_windows_repeat_within_the_budget_and_stop_at_a_border() -> None:
    atoms = [Atom(i * 10, i * 10 + 10, 0, 10, opens=i == 4) for i in range(6)]
    found = pack_even(atoms, lambda _: 32, lambda _: 20, overlap=10)
    assert found == [(0, 20), (10, 40), (40, 60)]


def test_an_even_window_above_the_room_is_one_atom() -> None:
    atoms = [Atom(0, 10, 0, 10), Atom(10, 40, 0, 30), Atom(40, 50, 0, 10)]
    found = pack_even(atoms, lambda _: 32, lambda _: 20, overlap=10)
    assert found == [(0, 10), (10, 40), (40, 50)]


def test_sentence_windows_end_at_a_major_heading() -> None:
    writer = Writer()
    for name in ("One", "Two"):
        writer.heading(1, name)
        writer.paragraph(sentence(name.lower(), 5))
    found = chunked(writer, strategy="sentence", overlap_tokens=12)
    assert found["content"].tolist() == [
        "One\n\n" + sentence("one", 5),
        "Two\n\n" + sentence("two", 5),
    ]
    assert found["breadcrumb_trail"].tolist() == ["One", "Two"]


def test_paragraphs_are_whole_and_headings_stay_with_what_follows() -> None:
    writer = Writer()
    writer.heading(1, "Chapter")
    writer.paragraph(sentence("a", 20))
    writer.heading(3, "Part")
    writer.paragraph(sentence("b", 15))
    # 1 + 20 words, then the heading would fit and its paragraph would not
    found = children(chunked(writer, strategy="paragraph"))
    assert found["content"].tolist() == [
        "Chapter\n\n" + sentence("a", 20),
        "Part\n\n" + sentence("b", 15),
    ]
    assert found["breadcrumb_trail"].tolist() == ["Chapter", "Chapter > Part"]


def test_recursive_keeps_the_largest_section_that_fits() -> None:
    writer = Writer()
    writer.heading(1, "Book")
    writer.heading(2, "Small")
    writer.paragraph(sentence("a", 5))
    writer.heading(3, "Inner")
    writer.paragraph(sentence("b", 5))
    writer.heading(2, "Large")
    writer.paragraph(sentence("c", 20))
    writer.paragraph(sentence("d", 20))
    found = chunked(writer, strategy="recursive", parent_tokens=200)
    assert found["content"].tolist() == [
        "\n\n".join(["Book", "Small", sentence("a", 5), "Inner", sentence("b", 5)]),
        "Large\n\n" + sentence("c", 20),
        sentence("d", 20),
        "\n\n".join(["Large", sentence("c", 20), sentence("d", 20)]),
    ]
    assert found["kind"].tolist() == ["text", "text", "text", SECTION]
    assert found["parent_index"].fillna(-1).tolist() == [-1, 3, 3, -1]


def test_by_headers_cuts_at_every_heading() -> None:
    writer = Writer()
    for level, name in ((1, "One"), (3, "Two"), (6, "Three"), (7, "Four")):
        writer.heading(level, name)
        writer.paragraph(sentence(name.lower(), 3))
    found = children(chunked(writer, strategy="by_headers"))
    assert [text.split("\n")[0] for text in found["content"]] == ["One", "Two", "Three"]
    assert "Four" in found["content"].iloc[2]


def test_recursive_by_own_separators_and_in_characters() -> None:
    writer = Writer()
    writer.paragraph("aaaa bbbb;cccc dddd;eeee")
    found = chunked(
        writer, strategy="recursive", unit="characters", separators=[";", " "], target_tokens=32
    )
    assert found["content"].tolist() == ["aaaa bbbb;cccc dddd;eeee"]
    counter = TokenCounter(lambda texts: [len(text) for text in texts])
    assert separated("aaaa bbbb;cccc dddd;eeee", [";", " "], 11, counter) == [
        "aaaa bbbb;",
        "cccc dddd;",
        "eeee",
    ]
    assert separated("aaaa bbbb;c", [";", " ", ""], 6, counter) == ["aaaa ", "bbbb;", "c"]


def test_small_chunks_join_a_neighbour() -> None:
    writer = Writer()
    writer.heading(1, "One")
    writer.paragraph(sentence("a", 5))
    writer.heading(3, "Two")
    writer.paragraph(sentence("b", 5))
    found = chunked(writer, strategy="recursive", min_tokens=10)
    assert len(found) == 1


def test_semantic_cuts_where_the_meaning_turns() -> None:
    def embed(texts: list[str]) -> np.ndarray:
        about_pumps = [text[0] in "AB" for text in texts]
        return np.array([[1.0, 0.0] if pump else [0.0, 1.0] for pump in about_pumps], np.float32)

    frame = prose(*"abcd").frame()
    chosen = ChunkingSettings(strategy="semantic", target_tokens=32, min_tokens=0, parent_tokens=0)
    found = chunk(frame, chosen, count_words, embed=embed)
    a, b, c, d = (sentence(name) for name in "abcd")
    assert found["content"].tolist() == [f"{a} {b}", f"{c} {d}"]


def test_semantic_without_an_embedder_is_an_error() -> None:
    with pytest.raises(SettingsError, match="semantic needs an embedder"):
        chunk(prose("a").frame(), ChunkingSettings(strategy="semantic"), count_words)


def test_a_parent_holds_its_section_once() -> None:
    writer = Writer()
    writer.heading(1, "Codes")
    writer.table([["Code", "Meaning"], *([f"E{i}", "fault"] for i in range(30))])
    found = chunked(writer, strategy="contextual")
    parent = found[found["kind"] == SECTION]
    assert len(parent) == 1
    content = parent["content"].iloc[0]
    assert content.count("Codes") == content.count("| Code | Meaning |") == 1
    assert [line for line in content.splitlines() if "fault" in line] == [
        f"| E{i} | fault |" for i in range(30)
    ]
    assert children(found)["parent_index"].eq(parent["chunk_index"].iloc[0]).all()


def test_a_large_section_has_several_parents_of_about_the_same_size() -> None:
    writer = Writer()
    writer.heading(1, "Long")
    for name in "abcdefgh":
        writer.paragraph(sentence(name, 25))
    found = chunked(writer, strategy="contextual", parent_tokens=130)
    parents = found[found["kind"] == SECTION]
    # eight chunks of 26 words or so: 4 and 4 of them, not 5 and 3
    assert children(found)["parent_index"].tolist() == [8] * 4 + [9] * 4
    assert parents["token_count"].max() <= 130
