"""Runs `rag` in processes of its own that start with its modules loaded.

Importing them takes longer than most commands do. One process, started clean, imports them once and
forks for each command; the fork gets the command's environment, folder and output files before
anything of ours runs in it.
"""

from __future__ import annotations

import gc
import json
import os
import resource
import select
import signal
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

WAIT_SECONDS = 300


class Commands:
    """Starts the process that forks, and asks it to run commands."""

    def __init__(self) -> None:
        self._server = subprocess.Popen(
            [sys.executable, "-m", "tests.commands"],
            cwd=Path(__file__).parents[1],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            start_new_session=True,
        )

    def run(
        self,
        *arguments: str,
        folder: Path,
        environment: Mapping[str, str],
        largest_file: int | None = None,
    ) -> subprocess.CompletedProcess[str]:
        """Run `rag` with these arguments in `folder`, no file growing beyond `largest_file` bytes.

        Raises `TimeoutExpired` after five minutes, and ends whatever was forked.
        """
        assert self._server.stdin is not None
        assert self._server.stdout is not None
        with tempfile.TemporaryDirectory(prefix="rag-test-output-") as outputs:
            request = {
                "arguments": arguments,
                "folder": str(folder),
                "environment": dict(environment),
                "largest_file": largest_file,
                "outputs": outputs,
            }
            self._server.stdin.write(json.dumps(request) + "\n")
            self._server.stdin.flush()
            if not select.select([self._server.stdout], [], [], WAIT_SECONDS)[0]:
                os.killpg(self._server.pid, signal.SIGKILL)
                raise subprocess.TimeoutExpired(["rag", *arguments], WAIT_SECONDS)
            status = int(self._server.stdout.readline())
            out, err = (Path(outputs, name).read_text(encoding="utf-8") for name in ("out", "err"))
        return subprocess.CompletedProcess(["rag", *arguments], status, out, err)

    def close(self) -> None:
        """End the process that forks."""
        assert self._server.stdin is not None
        self._server.stdin.close()
        self._server.wait(WAIT_SECONDS)


def next_command() -> dict[str, Any] | None:
    """Answer each request by the exit status of a fork; return its command in the fork.

    Returns None in the process that forks, when there is nothing more to run.
    """
    for line in sys.stdin:
        process = os.fork()
        if not process:
            return json.loads(line)  # type: ignore[no-any-return]
        _, status = os.waitpid(process, 0)
        print(os.waitstatus_to_exitcode(status), flush=True)
    return None


def become(command: dict[str, Any]) -> None:
    """Take over the environment, folder, limit and outputs of a command."""
    os.environ.clear()
    os.environ.update(command["environment"])
    os.chdir(command["folder"])
    if limit := command["largest_file"]:
        resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))
    sys.argv = ["rag", *command["arguments"]]
    outputs = Path(command["outputs"])
    files = (os.devnull, outputs / "out", outputs / "err")
    for descriptor, file in enumerate(files):
        opened = os.open(file, os.O_RDWR | os.O_CREAT)
        os.dup2(opened, descriptor)
        os.close(opened)


if __name__ == "__main__":
    # What reads nothing of the environment when it is imported: Dagster, every stage, the searches.
    from rag_pipeline import answering, dagster_storage, definitions  # noqa: F401
    from rag_pipeline.assets import launch  # noqa: F401
    from rag_pipeline.cli import commands, main  # noqa: F401

    gc.freeze()  # so that no fork copies the pages of what is loaded
    if command := next_command():
        become(command)
        main()
