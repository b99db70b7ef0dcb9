"""`rag doctor`: checks everything that syncs and searches need."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Callable
from dataclasses import dataclass
from importlib.util import find_spec

from psycopg.rows import scalar_row

from rag_pipeline.console.terminal import out, safe
from rag_pipeline.embedding import create_embedder
from rag_pipeline.errors import RagError
from rag_pipeline.settings import Settings
from rag_pipeline.store.database import Database

FREE_BYTES = 2 * 2**30
OLDEST_POSTGRES = 150_000
OLDEST_VECTOR = (0, 8)


@dataclass(frozen=True)
class Check:
    """The result of one check; if it failed, `detail` says what to do."""

    name: str
    passed: bool
    detail: str


def diagnose(settings: Settings) -> list[Check]:
    """Run all checks; a check that cannot run counts as failed."""
    checks = [
        _run("Python", _python),
        _run("disk", lambda: _disk(settings)),
        _run("embedding model", lambda: _model(settings)),
        _run("chat model", lambda: _chat(settings)),
        _run("readers", _readers),
    ]
    try:
        database = Database.open(settings)
    except RagError as error:
        advice = "; install pgvector on the server" if "vector" in error.message else ""
        return [*checks, Check("Postgres", False, error.message + advice)]
    try:
        checks.append(_run("Postgres", lambda: _postgres(database)))
        checks.append(_run("pgvector", lambda: _pgvector(database)))
        checks.append(_run("Korean in pg_trgm", lambda: _trigrams(database)))
        checks.append(_run("sources", lambda: _folders(database)))
        checks.append(_run("access control", lambda: _access(settings, database)))
    finally:
        database.close()
    return checks


def print_checks(checks: list[Check]) -> None:
    """Print a line per check."""
    for check in checks:
        mark = "[green]ok[/]   " if check.passed else "[red]fault[/]"
        out.print(f"{mark}  {check.name}: {safe(check.detail)}")


def _run(name: str, check: Callable[[], tuple[bool, str]]) -> Check:
    try:
        passed, detail = check()
    except Exception as error:  # faults of any kind are reported
        return Check(name, False, str(error) or type(error).__name__)
    return Check(name, passed, detail)


def _python() -> tuple[bool, str]:
    found = ".".join(map(str, sys.version_info[:3]))
    return sys.version_info >= (3, 11), f"{found} (3.11 or later is needed)"


def _disk(settings: Settings) -> tuple[bool, str]:
    settings.data_path.mkdir(parents=True, exist_ok=True)
    free = shutil.disk_usage(settings.data_path).free
    detail = f"{free / 2**30:.1f} GiB free under {settings.data_path}"
    return free >= FREE_BYTES, detail if free >= FREE_BYTES else f"{detail}: free at least 2 GiB"


def _model(settings: Settings) -> tuple[bool, str]:
    from rag_pipeline.embedding.local.local_embedder import LocalEmbedder

    embedder = create_embedder(settings.embedding, settings.models_path)
    vector = embedder.embed_query("oil filter")
    detail = f"{embedder.provider}/{embedder.model}, {len(vector)} dimensions"
    if isinstance(embedder, LocalEmbedder) and embedder.choice is not None:
        detail += f", {embedder.choice.describe()}"
    return len(vector) == embedder.dimensions, detail


def _chat(settings: Settings) -> tuple[bool, str]:
    """Name the chat model without calling it, because calls may cost money."""
    chat = settings.chat
    if not chat.model:
        return True, "none: answers are quoted from the documents"
    return True, f"{chat.provider}/{chat.model} (not called)"


def _readers() -> tuple[bool, str]:
    """Name the optional readers that are installed."""
    readers = {
        "Tesseract for scans": shutil.which("tesseract") is not None,
        "Office files": find_spec("unstructured") is not None,
        "Document AI": _has_module("google.cloud.documentai"),
    }
    missing = [name for name, is_there in readers.items() if not is_there]
    there = [name for name, is_there in readers.items() if is_there]
    detail = f"PDF, web, e-mail, Markdown, text{''.join(f', {name}' for name in there)}"
    return True, detail + (f"; not installed: {', '.join(missing)}" if missing else "")


def _has_module(name: str) -> bool:
    try:
        return find_spec(name) is not None
    except ModuleNotFoundError:  # a parent package is missing
        return False


def _postgres(database: Database) -> tuple[bool, str]:
    with database.connection() as connection:
        number = connection.info.server_version
        name = connection.info.parameter_status("server_version")
    return number >= OLDEST_POSTGRES, f"{name} (15 or later is needed)"


def _pgvector(database: Database) -> tuple[bool, str]:
    with database.connection() as connection, connection.cursor(row_factory=scalar_row) as cursor:
        version: str | None = cursor.execute(
            "SELECT extversion FROM pg_extension WHERE extname = 'vector'"
        ).fetchone()
    if version is None:
        return False, "the extension `vector` is missing: install pgvector on the server"
    found = tuple(int(part) for part in version.split(".")[:2])
    return found >= OLDEST_VECTOR, f"{version} (0.8 or later is needed)"


def _trigrams(database: Database) -> tuple[bool, str]:
    with database.connection() as connection, connection.cursor(row_factory=scalar_row) as cursor:
        count = cursor.execute("SELECT cardinality(show_trgm('주행거리'))").fetchone()
    if count:
        return True, "Korean letters have trigrams"
    return False, (
        "the database's LC_CTYPE drops Korean letters: recreate it with LC_CTYPE 'C.UTF-8', as "
        "`make dev` and `rag sync` do for the embedded one"
    )


def _access(settings: Settings, database: Database) -> tuple[bool, str]:
    from rag_pipeline.store.named_queries import queries

    with database.connection() as connection:
        has_roles = bool(queries.has_roles(connection))
        if not settings.security.enabled:
            roles = "its roles exist" if has_roles else "its roles are missing"
            return True, f"off: everything is visible; {roles}"
        misplaced = int(queries.misplaced_chunks(connection))
    if not has_roles:
        return False, "the roles rag_reader and rag_writer are missing: run `rag migrate`"
    if misplaced:
        return False, (
            f"{misplaced} chunks are stored among those of other readers: as the owner run SELECT "
            "move_chunks(array_agg(source_hash)) FROM document"
        )
    return True, "on: readers are enforced by row-level security"


def _folders(database: Database) -> tuple[bool, str]:
    from pathlib import Path

    from rag_pipeline.store.source_tables import list_roots
    from rag_pipeline.sync.sources.places import kind_of

    with database.connection() as connection:
        roots = list_roots(connection)
    local = [root.root for root in roots if kind_of(root.root) == "local"]
    missing = [root for root in local if not Path(root).exists()]
    if missing:
        return False, f"missing: {', '.join(missing)}; mount them or run `rag sources remove`"
    return True, f"{len(roots)} known"
