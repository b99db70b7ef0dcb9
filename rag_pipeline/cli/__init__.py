"""The command `rag`: sync, search, ask, inspect, and maintain the store.

Nothing is imported here before signals are answered: importing the commands takes long enough for
a Ctrl-C to fall into it. Heavy libraries are imported inside the commands that use them, so that
`rag search` starts fast.
"""

from __future__ import annotations

import os
import sys


def main() -> None:
    """Run the command line; an expected error is one line on standard error and exit status 1."""
    _ensure_utf8()
    from rag_pipeline.cli import interrupts

    with interrupts.answered():
        from rag_pipeline.cli.commands import run

        run()


def _ensure_utf8() -> None:
    """Start again in UTF-8 mode where the locale names another encoding.

    A file's name must be the same text in every command: under another one its documents would
    count as gone.
    """
    if sys.getfilesystemencoding() != "utf-8":
        os.environ["PYTHONUTF8"] = "1"
        os.execv(sys.executable, [sys.executable, *sys.orig_argv[1:]])
