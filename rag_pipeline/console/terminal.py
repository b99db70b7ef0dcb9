"""Output to the terminal: text that cannot steer it, errors, JSON."""

from __future__ import annotations

import dataclasses
import json
import re
import sys
from collections.abc import Iterable
from datetime import date
from decimal import Decimal
from pathlib import Path
from typing import Any

from rich.console import Console, ConsoleOptions, RenderableType
from rich.markup import escape
from rich.segment import Segment

from rag_pipeline.text import one_line

_STEERING = re.compile(r"[\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff]")


class Terminal(Console):
    """A console that never writes escape sequences found in text, wherever it comes from.

    The console's own escapes (colours, progress bars) are control segments or styles. Nothing is
    turned into emoji, so that an `E:42:` in a manual stays as it is.
    """

    def __init__(self, **options: Any) -> None:
        # Terminals wrap by themselves, and programs need a path in one piece.
        super().__init__(highlight=False, soft_wrap=True, emoji=False, **options)

    def render(
        self, renderable: RenderableType, options: ConsoleOptions | None = None
    ) -> Iterable[Segment]:
        """Yield the segments to print, with visible text only."""
        for segment in super().render(renderable, options):
            if segment.control or segment.text.isprintable():
                yield segment
            else:
                yield segment._replace(text=visible(segment.text))


out = Terminal()
err = Terminal(stderr=True)


def print_json(value: object) -> None:
    """Print a value as one JSON document: dataclasses as objects, paths and times as text."""
    sys.stdout.write(to_json(value))


def to_json(value: object) -> str:
    """Return what `print_json` prints; characters that steer a terminal become `\\uXXXX`."""
    text = json.dumps(value, default=_plain, ensure_ascii=False, indent=2) + "\n"
    return _STEERING.sub(lambda found: f"\\u{ord(found[0]):04x}", text)


def _plain(value: object) -> object:
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {f.name: getattr(value, f.name) for f in dataclasses.fields(value)}
    if isinstance(value, date):
        return value.isoformat()
    if isinstance(value, (Path, Decimal)):
        return str(value)
    if isinstance(value, (set, frozenset)):
        return sorted(value)
    import numpy as np  # here, so that commands that print no numbers start without it

    if isinstance(value, np.generic):
        plain: object = value.item()
        return plain
    raise TypeError(f"{type(value).__name__} has no JSON form")


def visible(text: str) -> str:
    r"""Drop invisible characters: controls, escapes, direction marks, surrogates.

    >>> visible("a\x1b[31m\u202eb\u3000c")
    'a[31mb c'
    """
    if text.isprintable():
        return text
    return "".join(
        c if c.isprintable() or c in "\n\t" else " " if c.isspace() else "" for c in text
    )


def safe(text: object) -> str:
    """Escape markup and drop control characters: a document must not steer the terminal."""
    return escape(visible(str(text)))


def safe_line(text: object) -> str:
    """Do the same on one line: a file name must not look like one of our messages."""
    return safe(one_line(str(text)))


def print_error(message: str) -> None:
    """Print an error to standard error."""
    err.print(f"[bold red]error[/] {safe(message)}")
