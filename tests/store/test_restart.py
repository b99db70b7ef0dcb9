"""A database that is restarted, or gone, under an open pool of connections."""

from __future__ import annotations

import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack

import pytest
from psycopg import Connection
from psycopg.rows import TupleRow

from rag_pipeline.errors import DatabaseUnavailableError
from rag_pipeline.settings import Settings
from rag_pipeline.store import embedded
from rag_pipeline.store.database import POOL_SIZE, POOL_TIMEOUT, REACH_SECONDS, Database


@pytest.fixture
def own_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Settings]:
    """A project with an embedded server of its own, which a test may stop."""
    settings = Settings.load(tmp_path_factory.mktemp("restart"))
    yield settings
    embedded.stop(settings.data_path)


def fill_pool(database: Database) -> None:
    """Use every connection that the pool may have."""
    with ExitStack() as held:
        for _ in range(POOL_SIZE):
            answer(held.enter_context(database.connection()))


def answer(connection: Connection[TupleRow]) -> None:
    assert connection.execute("SELECT 42").fetchone() == (42,)


def test_a_restarted_server_answers_at_once(own_server: Settings) -> None:
    database = Database.open(own_server)
    try:
        fill_pool(database)
        assert embedded.stop(own_server.data_path)
        start = time.monotonic()
        with pytest.raises(DatabaseUnavailableError, match="rag doctor"), database.connection():
            pass
        assert time.monotonic() - start < POOL_TIMEOUT / 2, "it waited for a server that is gone"
        embedded.start(own_server.data_path)
        fill_pool(database)
        # Restarted while nobody asks: every connection of the pool is broken.
        assert embedded.stop(own_server.data_path)
        embedded.start(own_server.data_path)
        fill_pool(database)
    finally:
        database.close()


def test_a_connection_in_use_is_waited_for(database: Database) -> None:
    """A pool whose connections are all in use is no reason to call the server gone."""

    def ask() -> None:
        with database.connection() as connection:
            answer(connection)

    with ThreadPoolExecutor() as threads, ExitStack() as held:
        for _ in range(POOL_SIZE):
            held.enter_context(database.connection())
        asked = threads.submit(ask)
        with pytest.raises(TimeoutError):
            asked.result(1.5 * REACH_SECONDS)
        held.close()
        asked.result()
