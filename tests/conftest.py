"""Shared fixtures: a real Postgres for the session, a fresh database per test, no network."""

from __future__ import annotations

import ctypes
import gc
import ipaddress
import os
import resource
import shutil
import socket
import sys
import tempfile
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit, urlunsplit

import psycopg
import pytest
from hypothesis import HealthCheck
from hypothesis import settings as hypothesis_settings
from psycopg import sql
from pydantic import SecretStr

from rag_pipeline.embedding import create_embedder
from rag_pipeline.settings import EmbeddingSettings, Settings
from rag_pipeline.store import embedded
from rag_pipeline.store.database import Database, connect
from rag_pipeline.store.migrations import apply_migrations, create_database
from tests.commands import Commands

PROJECT_DIR = Path(__file__).parents[1]
SAMPLES_DIR = PROJECT_DIR / "samples"
TEMPLATE = "rag_template"
# How long an example takes says how busy the machine is. What is tried depends on the code alone,
# so that a commit is green or not; `pytest --hypothesis-profile=search` looks for new examples.
for profile, is_fixed in (("fixed", True), ("search", False)):
    hypothesis_settings.register_profile(
        profile,
        hypothesis_settings.default,
        deadline=None,
        derandomize=is_fixed,
        suppress_health_check=[HealthCheck.too_slow],
    )
hypothesis_settings.load_profile("fixed")
PEAKS = pytest.StashKey[dict[str, int]]()
BROWSERS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")


def peak_megabytes() -> int:
    """The most memory that this process has held, in MB."""
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak // (1 << 20 if sys.platform == "darwin" else 1 << 10)


def pytest_sessionfinish(session: pytest.Session) -> None:
    """Hand a worker's peak memory to the process that reports."""
    output = getattr(session.config, "workeroutput", None)
    if output is not None:
        output["peak_megabytes"] = peak_megabytes()


@pytest.hookimpl(optionalhook=True)
def pytest_testnodedown(node: Any, error: object) -> None:
    """Keep what a worker handed over; one that crashed hands over nothing."""
    peak = getattr(node, "workeroutput", {}).get("peak_megabytes")
    if peak is not None:
        node.config.stash.setdefault(PEAKS, {})[node.gateway.id] = peak


def pytest_terminal_summary(
    terminalreporter: pytest.TerminalReporter, config: pytest.Config
) -> None:
    """Print the peak memory of each worker in one line."""
    peaks = config.stash.get(PEAKS, None) or {"this process": peak_megabytes()}
    told = ", ".join(f"{name} {peak} MB" for name, peak in sorted(peaks.items()))
    terminalreporter.write_line(f"peak memory: {told}")


@pytest.fixture(scope="module", autouse=True)
def freed_memory() -> Iterator[None]:
    """Give what a file's tests have freed back to the system; glibc keeps it otherwise."""
    yield
    gc.collect()
    trim = getattr(ctypes.CDLL(None), "malloc_trim", None)
    if trim is not None:
        trim(0)


@pytest.fixture(autouse=True)
def no_network(monkeypatch: pytest.MonkeyPatch) -> None:
    """Refuse every connection that leaves this machine."""
    real_connect = socket.socket.connect

    def connect_locally(self: socket.socket, address: Any) -> None:
        if self.family in (socket.AF_INET, socket.AF_INET6):
            host = address[0]
            if host != "localhost" and not ipaddress.ip_address(host).is_loopback:
                raise OSError(f"a test tried to reach {host}")
        real_connect(self, address)

    monkeypatch.setattr(socket.socket, "connect", connect_locally)


@pytest.fixture(autouse=True)
def clean_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    """Keep settings and Dagster homes of the developer's shell out of the tests."""
    for name in list(os.environ):
        if name.startswith("RAG_") and name not in ("RAG_BENCH_DATA", "RAG_MODELS_DIR"):
            monkeypatch.delenv(name)
    monkeypatch.delenv("DAGSTER_HOME", raising=False)


@pytest.fixture(scope="session")
def server_url() -> Iterator[str]:
    """A Postgres server for the session, with a migrated template database.

    Not under pytest's own folder: every pytest that starts takes that from other accounts, and as
    root the server runs under one.
    """
    data_dir = Path(tempfile.mkdtemp(prefix="rag-test-server-"))
    maintenance = embedded.start(data_dir)
    create_database(maintenance, TEMPLATE)
    with connect(_with_database(maintenance, TEMPLATE)) as connection:
        apply_migrations(connection)
    yield maintenance
    embedded.stop(data_dir)
    shutil.rmtree(data_dir)


@contextmanager
def fresh_database(server_url: str) -> Iterator[str]:
    """Lend the URL of a fresh, migrated, empty database."""
    name = f"test_{uuid.uuid4().hex}"
    with psycopg.connect(server_url, autocommit=True) as connection:
        connection.execute(
            sql.SQL("CREATE DATABASE {} TEMPLATE {}").format(
                sql.Identifier(name), sql.Identifier(TEMPLATE)
            )
        )
    yield _with_database(server_url, name)
    with psycopg.connect(server_url, autocommit=True) as connection:
        connection.execute(
            sql.SQL("DROP DATABASE IF EXISTS {} WITH (FORCE)").format(sql.Identifier(name))
        )


@pytest.fixture
def database_url(server_url: str) -> Iterator[str]:
    """The URL of a fresh, migrated, empty database."""
    with fresh_database(server_url) as url:
        yield url


@pytest.fixture(scope="session", autouse=True)
def models_dir(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A folder for the local model, built once per session, and kept loaded for all.

    Commands in processes of their own find it in the environment, so none of them builds a model in
    the user's cache. A folder that `RAG_MODELS_DIR` names is used as it is.
    """
    folder = Path(os.environ.get("RAG_MODELS_DIR") or tmp_path_factory.mktemp("models"))
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("RAG_MODELS_DIR", str(folder))
        kept = create_embedder(EmbeddingSettings(), folder)
        yield folder
        del kept


def make_settings(project_dir: Path, database_url: str, models_dir: Path) -> Settings:
    """Make an empty project folder that uses the session's models; return its settings."""
    project_dir.mkdir(parents=True)
    return Settings.load(project_dir, database_url=SecretStr(database_url), models_dir=models_dir)


@pytest.fixture
def settings(tmp_path: Path, database_url: str, models_dir: Path) -> Settings:
    """Settings of an empty project folder with a fresh database."""
    return make_settings(tmp_path / "project", database_url, models_dir)


@pytest.fixture
def database(settings: Settings) -> Iterator[Database]:
    """An open, empty, migrated database."""
    database = Database.open(settings)
    yield database
    database.close()


@pytest.fixture(scope="session")
def commands() -> Iterator[Commands]:
    """Runs `rag` in processes of its own."""
    commands = Commands()
    yield commands
    commands.close()


@pytest.fixture(scope="session")
def bench_data() -> Path:
    """The folder of the benchmark data; tests that need it are skipped where it is absent."""
    folder = Path(os.environ.get("RAG_BENCH_DATA", PROJECT_DIR.parent / "shared" / "bench"))
    if not folder.is_dir():
        pytest.skip(f"benchmark data not found in {folder} (set RAG_BENCH_DATA)")
    return folder


def _with_database(url: str, name: str) -> str:
    return urlunsplit(urlsplit(url)._replace(path=f"/{name}"))


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    """The machine's Chromium, driven by Playwright.

    For one module: while Playwright runs, its thread's event loop is taken.
    """
    sync_api = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
    program = next((found for name in BROWSERS if (found := shutil.which(name))), None)
    if program is None:
        pytest.skip(f"no browser found ({', '.join(BROWSERS)})")
    with sync_api.sync_playwright() as playwright:
        # Its own sandbox needs rights that containers do not give.
        browser = playwright.chromium.launch(executable_path=program, args=["--no-sandbox"])
        yield browser
        browser.close()
