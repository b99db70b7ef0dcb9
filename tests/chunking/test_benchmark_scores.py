"""The scores of benchmarks/chunking.py, by hand."""

from __future__ import annotations

import pytest

from benchmarks.chunking_spans import Locator, Question, score


def test_recall_precision_and_iou_of_character_spans() -> None:
    question = Question("?", (("a", 0, 10), ("a", 20, 30)))
    spans = [("a", 5, 25), ("b", 0, 40), ("a", 0, 10)]
    # 5..10 and 20..25 of 20 gold characters; 60 retrieved; 10 not covered
    assert score([question], spans, [[0, 1]]) == pytest.approx(
        {"recall": 50.0, "precision": 100 * 10 / 60, "iou": 100 * 10 / 70}
    )
    # what two chunks share counts once above and twice below the line
    assert score([question], spans, [[0, 2]]) == pytest.approx(
        {"recall": 75.0, "precision": 50.0, "iou": 100 * 15 / 35}
    )


def test_chunks_are_found_whatever_white_space_changed() -> None:
    text = "One two.\n\n\nTwo three. Two three."
    found = Locator("t", text).spans(["One two.\n\nTwo three.", "Two  three."])
    assert list(found) == [("t", 0, 21), ("t", 22, 32)]
