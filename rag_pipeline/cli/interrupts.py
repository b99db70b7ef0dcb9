"""Ctrl-C and SIGTERM end a command with one line, and in time.

The main thread may be inside native code, or a library may swallow its `KeyboardInterrupt`. So a
thread of its own reads the signals, says the line, and ends the process if the main thread has not
unwound by then. Nothing is lost: what has landed was committed, and a transaction under way is
rolled back by Postgres.
"""

from __future__ import annotations

import atexit
import contextlib
import os
import select
import signal
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from types import FrameType

GRACE_SECONDS = {signal.SIGINT: 0.5, signal.SIGTERM: 6.0}
"""Time to unwind. Whoever sends SIGTERM waits longer, so that a server answers what it began."""
WORDS = {signal.SIGINT: "interrupted", signal.SIGTERM: "terminated"}
TRACKER_WARNING = "ignore:resource_tracker:UserWarning"
"""Python's helper process releases what a killed process held, which is as it should be."""
SHOW_CURSOR = "\x1b[?25h"


@dataclass
class _State:
    """What is known of signals in this process."""

    advice: str = ""
    stderr: int = 2
    """A duplicate once signals are answered: a library may point the original elsewhere."""
    received: signal.Signals | None = None
    is_unwinding: bool = False


_state = _State()
_telling = threading.RLock()


def advise(text: str) -> None:
    """Say this after the word `interrupted`: what the command leaves behind."""
    _state.advice = text


@contextmanager
def answered() -> Iterator[None]:
    """Answer signals while the block runs; the process ends with the block.

    Exit status: the block's, 130 after Ctrl-C, 143 after SIGTERM. Only for the main thread of a
    command.
    """
    _state.stderr = os.dup(2)
    given = os.environ.get("PYTHONWARNINGS")
    os.environ["PYTHONWARNINGS"] = f"{given},{TRACKER_WARNING}" if given else TRACKER_WARNING
    reader, writer = os.pipe()
    os.set_blocking(writer, False)
    threading.Thread(target=_watch, args=(reader,), name="signals", daemon=True).start()
    signal.set_wakeup_fd(writer, warn_on_full_buffer=False)
    for number in WORDS:
        signal.signal(number, _unwind)
    status = 0
    try:
        yield
    except SystemExit as end:
        status = end.code if isinstance(end.code, int) else int(end.code is not None)
    finally:
        if _state.received is not None:
            _exit(_state.received)
    _leave(status)


def _leave(status: int) -> None:
    """End the process without taking the interpreter down, which can take a second.

    During that second a signal would have its default effect. One that is told of until the end
    still decides the status.
    """
    _state.is_unwinding = True
    atexit._run_exitfuncs()
    for stream in (sys.stdout, sys.stderr):
        with contextlib.suppress(OSError, ValueError, AttributeError):  # closed, or none at all
            stream.flush()
    if _state.received is not None:
        _exit(_state.received)
    os._exit(status)


def _watch(reader: int) -> None:
    """End the process if the main thread does not; each signal arrives as one byte."""
    ends: dict[float, signal.Signals] = {}
    while True:
        left = max(0.0, min(ends) - time.monotonic()) if ends else None
        if not select.select([reader], [], [], left)[0]:
            _exit(ends[min(ends)])
        with contextlib.suppress(ValueError):
            number = signal.Signals(os.read(reader, 1)[0])
            if number in WORDS:
                _tell(number)
                ends[time.monotonic() + GRACE_SECONDS[number]] = _state.received or number


def _unwind(number: int, _frame: FrameType | None) -> None:
    """Unwind the main thread, which closes connections and ends the workers."""
    _tell(signal.Signals(number))
    if not _state.is_unwinding:  # a second one must not interrupt that
        _state.is_unwinding = True
        raise KeyboardInterrupt


def _tell(number: signal.Signals) -> None:
    """Print the line once, and let nothing that ends after it print more."""
    with _telling:
        if _state.received is not None:
            return
        _state.received = number
        text = WORDS[number] + (f"; {_state.advice}" if _state.advice else "") + "\n"
        if sys.stderr is not None and sys.stderr.isatty():
            text = f"\n{SHOW_CURSOR}{text}"  # below a progress bar, which hides the cursor
        with contextlib.suppress(OSError):
            os.write(_state.stderr, text.encode())
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, 1)
        os.dup2(nowhere, 2)


def _exit(number: signal.Signals) -> None:
    os._exit(128 + number)
