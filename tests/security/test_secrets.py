"""Secrets come from the environment or files, and stand nowhere afterwards.

Commands run with known secrets against servers of this machine, some of which fail and repeat what
they were sent; then everything that was written or printed is searched for each of them.
"""

from __future__ import annotations

import base64
import os
import shutil
import sqlite3
import tempfile
import zlib
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import LiteralString
from urllib.parse import urlsplit, urlunsplit

import psycopg
import pytest
from psycopg import sql

from rag_pipeline.store import embedded
from tests.chat import chat_server
from tests.chat.chat_server import ChatServer
from tests.commands import Commands
from tests.conftest import fresh_database
from tests.embedding import provider_server
from tests.embedding.provider_server import ProviderServer

SECRETS = {
    "RAG_EMBEDDING__API_KEY": "sk-fake-embedding-5f0c1d",
    "RAG_CHAT__API_KEY": "sk-fake-chat-9b2e77",
    "OPENAI_API_KEY": "sk-fake-openai-31c4aa",
    "VOYAGE_API_KEY": "pa-fake-voyage-77de01",
    "GOOGLE_API_KEY": "AIza-fake-google-e4b8c2",
    "AWS_SECRET_ACCESS_KEY": "fake-aws-secret-6a7b8c",
    "RAG_TOKEN_SERVICE": "rag-fake-token-variable-d41d8c",
    "token file": "rag-fake-token-in-a-file-a87ff6",
    "database password": "fake-database-password-8f14e4",
    "relational password": "fake-relational-password-45c48c",
}
RAG_TOML = """\
[embedding]
provider = "openai"
model = "stub"
dimensions = 64
base_url = "{embedding}/v1"
deadline_seconds = 60

[chat]
model = "m"
base_url = "{chat}"
deadline_seconds = 60

[answering]
min_relevance = 0

[[serve.tokens]]
name = "service"
token_env = "RAG_TOKEN_SERVICE"

[[serve.tokens]]
name = "file"
token_file = "token.txt"

[[relational]]
name = "shop"
url_variable = "SHOP_URL"
root = "customers"
"""


MANUAL = """\
# Pump QV-40

The oil filter QF-1142/B is replaced every 2000 hours. The pressure is 8 bar at most.
"""
QUESTION = "How often is the oil filter QF-1142/B replaced?"


@dataclass
class Site:
    """A project with secrets, and what its commands printed."""

    folder: Path
    environment: dict[str, str]
    commands: Commands
    embedding: ProviderServer
    chat: ChatServer
    printed: list[str] = field(default_factory=list)

    def rag(self, *arguments: str, **environment: str) -> int:
        done = self.commands.run(
            *arguments, folder=self.folder, environment=self.environment | environment
        )
        self.printed += [done.stdout, done.stderr]
        return done.returncode


def with_password(url: str, password: str) -> str:
    parts = urlsplit(url)
    user, _, host = parts.netloc.rpartition("@")
    name = user.split(":")[0] or "postgres"
    return urlunsplit(parts._replace(netloc=f"{name}:{password}@{host}"))


@pytest.fixture
def site(server_url: str, commands: Commands) -> Iterator[Site]:
    folder = Path(tempfile.mkdtemp(prefix="rag-test-secrets-"))
    with (
        fresh_database(server_url) as url,
        ProviderServer().serving() as embedding,
        ChatServer().serving() as chat,
    ):
        with sqlite3.connect(folder / "shop.sqlite") as shop:
            shop.execute("CREATE TABLE customers (id integer PRIMARY KEY, name text)")
            shop.execute("INSERT INTO customers VALUES (1, 'Kim')")
        (folder / "rag.toml").write_text(RAG_TOML.format(embedding=embedding.url, chat=chat.url))
        (folder / "token.txt").write_text(SECRETS["token file"])
        (folder / "manuals").mkdir()
        (folder / "manuals" / "pump.md").write_text(MANUAL)
        (folder / "manuals" / "broken.pdf").write_bytes(b"%PDF-1.7 no more")
        environment = {
            name: value for name, value in os.environ.items() if not name.startswith("RAG_")
        }
        environment |= {name: value for name, value in SECRETS.items() if name.isidentifier()}
        environment |= {
            "RAG_HOME": str(folder),
            "RAG_DATABASE_URL": with_password(url, SECRETS["database password"]),
            "SHOP_URL": f"sqlite:///{folder / 'shop.sqlite'}?key={SECRETS['relational password']}",
        }
        environment.pop("DAGSTER_HOME", None)
        try:
            yield Site(folder, environment, commands, embedding, chat)
        finally:
            embedded.stop(folder / ".rag")
            shutil.rmtree(folder, ignore_errors=True)


def written(site: Site) -> Iterator[tuple[str, bytes]]:
    """Everything that the commands left: files, rows of every table, what they printed."""
    for file in site.folder.rglob("*"):
        if file.is_file() and file.name not in ("token.txt", "shop.sqlite"):
            yield str(file), file.read_bytes()
            if file.suffix == ".db":
                yield f"rows of {file}", unpacked_rows(file)
    for number, text in enumerate(site.printed):
        yield f"output {number}", text.encode()
    tables: LiteralString = (
        "SELECT schemaname, tablename FROM pg_tables "
        "WHERE schemaname NOT IN ('pg_catalog', 'information_schema')"
    )
    with psycopg.connect(site.environment["RAG_DATABASE_URL"]) as connection:
        for schema, table in connection.execute(tables).fetchall():
            rows = connection.execute(
                sql.SQL("SELECT t::text FROM {} AS t").format(sql.Identifier(schema, table))
            )
            yield f"{schema}.{table}", "\n".join(row for (row,) in rows).encode()


def unpacked_rows(file: Path) -> bytes:
    """All values of a SQLite file; what is packed, as Dagster's snapshots are, unpacked."""
    found: list[bytes] = []
    with sqlite3.connect(file) as connection:
        tables = connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")
        for (table,) in tables.fetchall():
            for row in connection.execute(f'SELECT * FROM "{table}"'):
                for value in row:
                    data = value if isinstance(value, bytes) else str(value).encode()
                    found.append(data)
                    with suppress(zlib.error):
                        found.append(zlib.decompress(data))
    return b"\n".join(found)


def leaks(site: Site) -> list[tuple[str, str]]:
    """(secret, place) of each secret that is found, plain or in base64."""
    found = []
    for place, content in written(site):
        for name, secret in SECRETS.items():
            plain = secret.encode()
            shapes = (plain, base64.b64encode(plain).rstrip(b"=")[:-1], plain.hex().encode())
            if any(shape in content for shape in shapes):
                found.append((name, place))
    return found


def test_no_secret_stands_anywhere(site: Site) -> None:
    assert site.rag("sync", "manuals") == 2  # the broken one
    sent = [" ".join(request.headers.values()) for request in site.embedding.requests]
    assert any(SECRETS["RAG_EMBEDDING__API_KEY"] in headers for headers in sent)
    assert site.rag("ask", QUESTION) == 0
    assert site.chat.requests
    assert SECRETS["RAG_CHAT__API_KEY"] in " ".join(site.chat.requests[0].headers.values())
    for command in (
        ["search", "pressure", "--explain"],
        ["search", "pressure", "--json"],
        ["status", "--json"],
        ["doctor"],
        ["doctor", "--json"],
        ["sources", "list", "--json"],
        ["cost", "--json"],
        ["plan", "--json"],
        ["relational", "plan", "--json"],
        ["sync", "--dry-run"],
        ["db", "url"],
    ):
        site.rag(*command)
    assert any("pump.md" in text for text in site.printed)
    assert any(place.startswith("rows of ") for place, _ in written(site))
    assert leaks(site) == []


def test_no_secret_stands_in_what_failed(site: Site) -> None:
    """Servers that refuse and repeat the key, a database that is not there, wrong settings."""
    key, chat_key = SECRETS["RAG_EMBEDDING__API_KEY"], SECRETS["RAG_CHAT__API_KEY"]
    repeated = f"Incorrect API key provided: {key} (Authorization: Bearer {key})"
    site.embedding.always = provider_server.Answer(status=401, message=repeated)
    assert site.rag("sync", "manuals") != 0
    site.embedding.always = provider_server.Answer(status=500, message=repeated)
    site.embedding.answers = []
    assert site.rag("search", "pressure", RAG_EMBEDDING__DEADLINE_SECONDS="2") in (0, 1)
    site.embedding.reset()
    assert site.rag("sync", "manuals") == 2
    refusal = chat_server.error(f"Incorrect API key provided: {chat_key}", "invalid_api_key")
    site.chat.always = chat_server.Answer(refusal, status=401)
    site.rag("ask", QUESTION)
    assert any("401" in text or "key" in text for text in site.printed)
    nowhere = f"postgresql://kim:{SECRETS['database password']}@127.0.0.1:1/rag"
    unknown, wrong = nowhere.replace("127.0.0.1:1", "no host"), nowhere.replace("//", "/")
    for command, url in (("status", nowhere), ("doctor", unknown), ("status", wrong)):
        site.rag(command, RAG_DATABASE_URL=url)
    assert site.rag("status", SHOP_URL=f"nosuch://kim:{SECRETS['relational password']}@x/y") == 0
    site.rag("relational", "sync", SHOP_URL=f"nosuch://kim:{SECRETS['relational password']}@x/y")
    (site.folder / "rag.toml").write_text(f'database_url = "{nowhere}"\n')
    assert site.rag("status") == 1
    (site.folder / "rag.toml").unlink()
    assert leaks(site) == []


def test_the_search_for_leaks_finds_what_is_there(site: Site) -> None:
    (site.folder / "log.txt").write_text(f"x {SECRETS['RAG_CHAT__API_KEY']} y")
    site.printed.append(base64.b64encode(SECRETS["token file"].encode()).decode())
    assert sorted(leaks(site)) == [
        ("RAG_CHAT__API_KEY", str(site.folder / "log.txt")),
        ("token file", "output 0"),
    ]
