"""The retry loop that embeddings, chat and Document AI share."""

from __future__ import annotations

import threading
import time

import pytest

from rag_pipeline.remote import (
    GaveUpFault,
    Limiter,
    Patience,
    RefusedFault,
    ReplyFault,
    Stopped,
    TransientFault,
    Window,
    send_with_retries,
)


class Answers:
    """Raises what it was given, one fault an attempt, then answers."""

    def __init__(self, *faults: Exception) -> None:
        self.faults = list(faults)
        self.seconds: list[float] = []

    def __call__(self, seconds: float) -> str:
        self.seconds.append(seconds)
        if self.faults:
            raise self.faults.pop(0)
        return "answer"


@pytest.fixture(autouse=True)
def short_waits(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Patience, "first_wait", 0.001)


def test_transient_faults_are_retried_with_what_is_left_of_the_deadline() -> None:
    send = Answers(TransientFault("busy"), TransientFault("busy"), ReplyFault("cut"))
    assert send_with_retries(send, Patience(60)) == "answer"
    assert 60 >= send.seconds[0] > send.seconds[1] > send.seconds[2] > send.seconds[3] > 0


def test_a_refusal_is_not_retried() -> None:
    send = Answers(RefusedFault("no", too_long=True))
    with pytest.raises(RefusedFault):
        send_with_retries(send, Patience(60))
    assert len(send.seconds) == 1


@pytest.mark.parametrize(
    ("fault", "tries"),
    [(ReplyFault("cut"), 2), (TransientFault("nobody there", is_unreachable=True), 4)],
)
def test_what_is_hopeless_ends_before_the_deadline(fault: TransientFault, tries: int) -> None:
    send = Answers(*[fault] * 9)
    with pytest.raises(GaveUpFault, match=rf"\(tried {tries} times\)") as caught:
        send_with_retries(send, Patience(60))
    assert (caught.value.last, caught.value.failures) == (fault, tries)
    assert not caught.value.is_late
    assert len(send.seconds) == tries


def test_a_wait_beyond_the_deadline_is_late() -> None:
    send = Answers(TransientFault("busy", retry_after=90))
    with pytest.raises(GaveUpFault, match=r"busy \(tried once, asked to wait 90 s") as caught:
        send_with_retries(send, Patience(60))
    assert caught.value.is_late


@pytest.mark.parametrize(
    ("fault", "holds_back"),
    [
        (TransientFault("slow down", retry_after=0.2), True),
        (TransientFault("quota", is_busy=True), True),
        (TransientFault("lost"), False),
    ],
)
def test_a_busy_service_gets_a_rest_from_every_request(
    fault: TransientFault, holds_back: bool
) -> None:
    pauses: list[float] = []

    class Watched(Limiter):
        def pause(self, seconds: float) -> None:
            pauses.append(seconds)
            super().pause(seconds)

    limiter = Watched(2, requests=Window(100))
    assert send_with_retries(Answers(fault), Patience(60), limiter=limiter) == "answer"
    assert bool(pauses) is holds_back


def test_a_stop_ends_the_wait() -> None:
    stop = threading.Event()
    threading.Timer(0.05, stop.set).start()
    began = time.monotonic()
    with pytest.raises(Stopped):
        send_with_retries(Answers(TransientFault("busy", retry_after=50)), Patience(60), stop=stop)
    assert time.monotonic() - began < 30
