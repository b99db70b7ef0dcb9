"""Deadlines that pass because of what happened, not because of how fast the machine is."""

from __future__ import annotations

import time
from collections.abc import Callable
from types import SimpleNamespace

import pytest

from rag_pipeline.remote import retrying


def skip_time(monkeypatch: pytest.MonkeyPatch, skipped: Callable[[], float]) -> None:
    """Put the clock that `Patience` reads so many seconds ahead, asked for each time anew."""
    clock = SimpleNamespace(monotonic=lambda: time.monotonic() + skipped())
    monkeypatch.setattr(retrying, "time", clock)
