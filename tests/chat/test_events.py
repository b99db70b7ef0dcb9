"""Server-sent events: the same events, however the bytes are cut."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from rag_pipeline.chat.server_sent_events import event_data

LINES = st.text(st.characters(exclude_characters="\r\n", exclude_categories=["Cs"]), max_size=20)


@given(
    st.lists(st.lists(LINES, min_size=1, max_size=3), max_size=5),
    st.lists(st.integers(1, 9), min_size=1),
    st.sampled_from(["\n", "\r\n"]),
)
def test_cuts_make_no_difference(events: list[list[str]], sizes: list[int], newline: str) -> None:
    text = "".join("".join(f"data: {line}\n" for line in lines) + "\n" for lines in events)
    data = text.replace("\n", newline).encode()
    pieces = []
    while data:
        size = sizes[len(pieces) % len(sizes)]
        pieces.append(data[:size])
        data = data[size:]
    assert list(event_data(pieces)) == ["\n".join(lines) for lines in events]


def test_an_event_without_its_end_is_dropped() -> None:
    assert list(event_data([b"data: a\n\ndata: b\n"])) == ["a"]


def test_fields_that_are_not_data() -> None:
    assert list(event_data([b": hello\nevent: x\ndatabase: 1\ndata\n\nretry: 5\n\n"])) == [""]
