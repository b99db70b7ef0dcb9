from hypothesis import given
from hypothesis import strategies as st

from rag_pipeline.embedding.remote.request_planner import (
    MAX_CHUNKS,
    ChunkGroup,
    TextWindow,
    fill,
    halve_group,
    halve_window,
    plan_groups,
    plan_windows,
    split_windows,
)


def count_words(text: str) -> int:
    return len(text.split())


def test_runs_stay_below_items_and_tokens() -> None:
    assert fill([5, 5, 5, 9, 30, 1], max_items=3, max_tokens=16) == [
        range(3),
        range(3, 4),
        range(4, 5),
        range(5, 6),
    ]
    assert fill([1] * 5, max_items=2, max_tokens=100) == [range(2), range(2, 4), range(4, 5)]
    assert fill([], max_items=2, max_tokens=100) == []


def test_runs_stay_below_the_chunks_of_a_request() -> None:
    runs = fill([1, 1, 1], 1_000, 1_000, chunks=[MAX_CHUNKS - 1, 1, 1])
    assert runs == [range(2), range(2, 3)]


@given(
    sizes=st.lists(st.integers(1, 50), max_size=60),
    items=st.integers(1, 10),
    tokens=st.integers(1, 100),
)
def test_runs_cover_everything_once_in_order(sizes: list[int], items: int, tokens: int) -> None:
    runs = fill(sizes, items, tokens)
    assert [i for run in runs for i in run] == list(range(len(sizes)))
    for run in runs:
        assert len(run) <= items
        assert len(run) == 1 or sum(sizes[i] for i in run) <= tokens


def test_a_text_is_split_behind_white_space() -> None:
    windows = split_windows("one two three four five six seven", count_words, 3)
    assert windows == [("one two three ", 3), ("four ", 1), ("five six seven", 3)]


@given(text=st.text(alphabet="ab \n가", max_size=200), limit=st.integers(1, 9))
def test_windows_join_to_the_text(text: str, limit: int) -> None:
    windows = split_windows(text, len, limit)
    assert "".join(window for window, _ in windows) == text
    assert all(tokens <= limit for _, tokens in windows)


def test_blank_texts_and_windows_are_left_out() -> None:
    pieces = plan_windows(["a b", "", " \n", "c" + " " * 20 + "d"], len, 8)
    assert [(piece.owner, piece.text.strip()) for piece in pieces] == [
        (0, "a b"),
        (3, "c"),
        (3, "d"),
    ]


def test_a_document_is_cut_into_groups_between_its_chunks() -> None:
    chunks = [TextWindow(0, "a", 4), TextWindow(1, "b", 4), TextWindow(2, "c", 4)]
    groups = plan_groups([chunks, [], [TextWindow(0, "d", 1)]], limit=8)
    assert groups == [
        ChunkGroup(0, tuple(chunks[:2])),
        ChunkGroup(0, tuple(chunks[2:])),
        ChunkGroup(2, (TextWindow(0, "d", 1),)),
    ]


def test_halves() -> None:
    assert halve_window(TextWindow(3, "open it", 4)) == [
        TextWindow(3, "ope", 2),
        TextWindow(3, "n it", 2),
    ]
    assert halve_window(TextWindow(3, "x", 4)) == []
    first, second = TextWindow(0, "a", 1), TextWindow(1, "b", 1)
    assert halve_group(ChunkGroup(7, (first, second))) == [
        ChunkGroup(7, (first,)),
        ChunkGroup(7, (second,)),
    ]
    assert halve_group(ChunkGroup(7, (first,))) == []
