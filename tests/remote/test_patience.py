"""Waits of a request and its deadline; no test here sleeps."""

from __future__ import annotations

import pytest

from rag_pipeline.remote import Patience


def test_waits_double_up_to_the_longest() -> None:
    patience = Patience(1000)
    longest = [0.5, 1, 2, 4, 8, 16, 20, 20]
    for most in longest:
        wait = patience.next_wait(None)
        assert wait is not None
        assert most / 2 <= wait <= most
    assert patience.failures == len(longest)


def test_a_wait_that_is_asked_for_is_kept_and_counts() -> None:
    patience = Patience(60)
    assert patience.next_wait(7) == 7
    second = patience.next_wait(None)
    assert second is not None
    assert 0.5 <= second <= 1
    assert str(patience) == "tried 2 times; deadline 60 s"


def test_a_wait_beyond_the_deadline_is_not_begun() -> None:
    patience = Patience(5)
    assert patience.next_wait(90) is None
    assert str(patience) == "tried once, asked to wait 90 s; deadline 5 s"


def test_the_deadline_begins_with_the_first_attempt(monkeypatch: pytest.MonkeyPatch) -> None:
    now = 100.0
    monkeypatch.setattr("time.monotonic", lambda: now)
    patience = Patience(5)
    now = 130.0  # it waited for its turn
    assert patience.left == 5
    now = 133.0
    assert patience.left == 2
    now = 135.0
    assert patience.left == 0
