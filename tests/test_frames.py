"""Frames are checked between stages: the same verdict and result as pandera's `validate`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import pandera.pandas as pa
import pytest
from pandera.errors import SchemaErrors
from pandera.typing import Series

from rag_pipeline.errors import DocumentError
from rag_pipeline.frames import Blocks, Chunks, blocks_frame, check, empty

BLOCKS = blocks_frame(
    [
        {"page_number": 1, "text": "1 Safety", "level_hint": 1, "color": 255},
        {"page_number": 1, "text": "Torque 안전", "kind": "table", "table_cells": [["a", "b"]]},
        {"page_number": 2, "text": "", "x0": 0.5, "font_size": 9.5, "is_bold": True},
    ]
)
CHUNK = {
    "chunk_index": 0,
    "parent_index": None,
    "kind": "text",
    "breadcrumb_trail": "Safety",
    "content": "Wear gloves.",
    "context": None,
    "token_count": 4,
    "page_start": 1,
    "page_end": 1,
    "regions": [{"page": 1, "x0": 0.0, "y0": 0.0, "x1": 1.0, "y1": 1.0}],
    "content_hash": "a" * 64,
    "metadata": {},
}


def _put(column: str, values: Any) -> Callable[[pd.DataFrame], pd.DataFrame]:
    return lambda frame: frame.assign(**{column: values})


SOUND = {
    "as it is": lambda frame: frame,
    "other index": lambda frame: frame.set_index(pd.Index([7, 5, 6])),
    "no rows": lambda frame: frame.iloc[:0],
    "more columns": _put("extra", ["a", None, 3]),
    "integers as floats": _put("page_number", [1.0, 1.0, 2.0]),
    "numbers as text": _put("x0", ["0", "0.5", "1"]),
    "no hints": _put("level_hint", [None, None, None]),
    "strings of numpy": _put("text", [np.str_("a"), "b", "c"]),
    "string dtype": _put("kind", pd.array(["text"] * 3, dtype="string")),
    "flags as integers": _put("is_bold", [0, 1, 0]),
}
MALFORMED = {
    "below": _put("page_number", [1, 0, 2]),
    "above": _put("x1", [1.0, 1.5, 1.0]),
    "not a number": _put("x0", [0.0, float("nan"), 0.0]),
    "not a text": _put("text", ["a", None, "c"]),
    "unknown kind": _put("kind", ["text", "poem", "text"]),
    "twice": _put("block_index", [0, 1, 1]),
    "hint": _put("level_hint", pd.array([1, 0, None], dtype="Int64")),
    "no integers": _put("page_number", ["one", "1", "2"]),
    "no column": lambda frame: frame.drop(columns="language"),
}


@pytest.mark.parametrize("change", SOUND.values(), ids=SOUND)
def test_sound_frames_are_what_pandera_makes_of_them(
    change: Callable[[pd.DataFrame], pd.DataFrame],
) -> None:
    frame = change(BLOCKS)
    before = frame.copy()
    pd.testing.assert_frame_equal(check(frame, Blocks), Blocks.validate(frame, lazy=True))
    pd.testing.assert_frame_equal(frame, before)


@pytest.mark.parametrize("change", MALFORMED.values(), ids=MALFORMED)
def test_malformed_frames_fail_with_pandera_s_findings(
    change: Callable[[pd.DataFrame], pd.DataFrame],
) -> None:
    frame = change(BLOCKS)
    with pytest.raises(SchemaErrors) as expected:
        Blocks.validate(frame, lazy=True)
    first = expected.value.failure_cases.iloc[0]
    with pytest.raises(DocumentError, match="Blocks frame is malformed") as error:
        check(frame, Blocks)
    column = first["failure_case"] if first["check"] == "column_in_dataframe" else first["column"]
    assert f"({column} {first['check']}: " in str(error.value)
    assert str(first["failure_case"]) in str(error.value)


def test_empty_frames_are_sound() -> None:
    assert check(empty(Blocks), Blocks).empty


def test_chunks_keep_their_own_columns_only() -> None:
    chunks = check(pd.DataFrame([CHUNK]), Chunks)
    assert list(check(chunks.assign(note="x"), Chunks)) == list(CHUNK)
    with pytest.raises(DocumentError, match="content_hash str_length"):
        check(chunks.assign(content_hash="short"), Chunks)


class Measured(pa.DataFrameModel):
    """A rule that no frame of ours has."""

    size: Series[int] = pa.Field(lt=3)


def test_any_rule_of_pandera_holds() -> None:
    check(pd.DataFrame({"size": [1, 2]}), Measured)
    with pytest.raises(DocumentError, match=r"size less_than\(3\): 4"):
        check(pd.DataFrame({"size": [4]}), Measured)
