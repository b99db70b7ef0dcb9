"""The command `rag`: sync, search, ask, inspect, and maintain the store.

Nothing is imported here before signals are answered: importing the commands takes long enough for
a Ctrl-C to fall into it. Heavy libraries are imported inside the commands that use them, so that
`rag search` starts fast.
"""

from __future__ import annotations


def main() -> None:
    """Run the command line; an expected error is one line on standard error and exit status 1."""
    from rag_pipeline.cli import interrupts

    with interrupts.answered():
        from rag_pipeline.cli.commands import run

        run()
