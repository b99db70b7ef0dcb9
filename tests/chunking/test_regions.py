"""Boxes merged to regions."""

from __future__ import annotations

from rag_pipeline.chunking.regions import merge_boxes


def region(
    page: int, x0: float, y0: float, x1: float, y1: float, start: int = 0
) -> dict[str, float | int]:
    return {"page": page, "x0": x0, "y0": y0, "x1": x1, "y1": y1, "start": start}


def test_neighbours_in_one_column_are_one_region() -> None:
    boxes = [(1, 0.1, 0.1, 0.5, 0.2), (1, 0.1, 0.21, 0.48, 0.3)]
    assert merge_boxes(boxes, [0, 30]) == [region(1, 0.1, 0.1, 0.5, 0.3)]


def test_columns_pages_and_distant_boxes_stay_apart() -> None:
    boxes = [
        (1, 0.1, 0.1, 0.45, 0.9),
        (1, 0.55, 0.1, 0.9, 0.2),
        (1, 0.55, 0.5, 0.9, 0.6),
        (2, 0.55, 0.6, 0.9, 0.7),
    ]
    starts = [0, 40, 80, 120]
    assert merge_boxes(boxes, starts) == [
        region(*box, start) for box, start in zip(boxes, starts, strict=True)
    ]


def test_a_full_width_heading_does_not_widen_a_column() -> None:
    boxes = [(1, 0.1, 0.1, 0.9, 0.12), (1, 0.1, 0.13, 0.45, 0.9)]
    assert len(merge_boxes(boxes, [0, 9])) == 2


def test_rows_of_one_table_give_its_box_once() -> None:
    boxes = [(1, 0.1, 0.1, 0.9, 0.5)] * 20
    assert merge_boxes(boxes, range(20)) == [region(1, 0.1, 0.1, 0.9, 0.5)]
