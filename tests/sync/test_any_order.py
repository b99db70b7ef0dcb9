"""Whatever happens to files, and whenever it is synced: the store is as if built at once."""

from __future__ import annotations

import shutil
import struct
import tempfile
from contextlib import suppress
from pathlib import Path

import numpy as np
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from benchmarks.sync_faults import stored_rows
from rag_pipeline.settings import Settings
from rag_pipeline.store.database import Database
from rag_pipeline.store.documents import DocumentState, document_states
from rag_pipeline.store.embeddings import activate_space, ensure_space
from rag_pipeline.store.landing import Landing, land_all
from rag_pipeline.store.source_tables import register_roots
from rag_pipeline.store.statistics import refresh_statistics
from rag_pipeline.sync.documents.stage_tasks import StageTask
from rag_pipeline.sync.documents.stages import run_stages
from rag_pipeline.sync.planning.fingerprints import STAGES
from rag_pipeline.sync.planning.plan import sync_plan
from rag_pipeline.sync.planning.profiles import Profiles
from rag_pipeline.sync.planning.refresh import refresh_sources
from rag_pipeline.sync.sources.places import given_root
from tests.conftest import fresh_database, make_settings
from tests.embedding.provider_server import vector_of

NAMES = ["a.md", "b.md", "c.md", "sub/d.md"]
TEXTS = [
    "# Oil\n\nChange the oil every year.\n",
    "# Air\n\nClean the filter every month.\n\n## Tools\n\nA brush and a cloth.\n",
    "# Errors\n\nE-07 means that the valve is stuck.\n",
]
SECTIONS = [
    f"## Part {number}\n\nThe part {number} of the {name} is checked every {number + 3} weeks.\n\n"
    for number, name in enumerate(["pump", "valve", "filter", "pump", "seal", "motor"])
]
LONG = st.lists(st.sampled_from(SECTIONS), min_size=1, max_size=9).map(
    lambda parts: "# Machine\n\n" + "".join(parts)
)
"""Files of which an edit changes, moves, doubles or drops some chunks while others stay."""
NAME = st.sampled_from(NAMES)
OPERATION = st.one_of(
    st.tuples(st.just("write"), NAME, st.sampled_from(TEXTS)),
    st.tuples(st.just("write"), NAME, LONG),
    st.tuples(st.just("killed sync"), st.just(""), st.integers(0, 3).map(str)),
    st.tuples(st.just("delete"), NAME, st.just("")),
    st.tuples(st.just("rename"), NAME, NAME),
    st.tuples(st.just("copy"), NAME, NAME),
    st.tuples(st.just("sync"), st.just(""), st.just("")),
)


def apply(folder: Path, operation: tuple[str, str, str]) -> None:
    kind, name, argument = operation
    path, other = folder / name, folder / argument
    if kind == "write":
        path.parent.mkdir(exist_ok=True)
        path.write_text(argument, encoding="utf-8")
    elif path.is_file() and kind == "delete":
        path.unlink()
    elif path.is_file() and kind in ("rename", "copy") and path != other:
        other.parent.mkdir(exist_ok=True)
        (shutil.move if kind == "rename" else shutil.copy)(path, other)


class Store:
    """A real store, synced in this process: a worker's stages, a stub's vectors, a landing."""

    def __init__(self, project: Settings, folder: Path) -> None:
        self.settings = project
        self.database = Database.open(project)
        embedding = project.embedding
        with self.database.connection() as connection:
            register_roots(connection, [given_root(folder)])
            key = (embedding.provider, embedding.model, embedding.dimensions)
            self.space = ensure_space(connection, *key, "test")
            activate_space(connection, self.space.space_id)

    def sync(self) -> int:
        """Bring the store up to date; return how many documents were done."""
        refresh_sources(self.settings, self.database)
        stale = current_plan_of(self)
        landings = [self._landing(state) for state in stale]
        # Half of them in one transaction, the others each in its own.
        for together in (landings[::2], *([one] for one in landings[1::2])):
            with self.database.connection() as connection:
                landed = land_all(connection, self.space.space_id, together)
                assert set(landed) == {one.source_hash for one in together}
        with self.database.connection() as connection:
            refresh_statistics(connection)
        return len(stale)

    def killed_sync(self, after: int) -> None:
        """Begin a sync that dies while it lands documents, `after` of which were committed."""
        refresh_sources(self.settings, self.database)
        landings = [self._landing(state) for state in current_plan_of(self)]
        with self.database.connection() as connection:
            land_all(connection, self.space.space_id, landings[:after])
        with suppress(_KilledError), self.database.connection() as connection:
            land_all(connection, self.space.space_id, landings[after:])
            raise _KilledError

    def _landing(self, state: DocumentState) -> Landing:
        profiles = Profiles(self.settings)
        fingerprints = profiles.fingerprints_of(state)
        name = Path(state.uris[0]).name
        task = StageTask(
            state.source_hash, tuple(state.uris), name, STAGES, fingerprints, self.settings
        )
        prepared = run_stages(task).prepared
        assert prepared is not None
        dimensions = self.space.dimensions
        vectors = [vector_of(text, dimensions) for text in prepared.texts]
        document = prepared.document
        return Landing(
            source_hash=state.source_hash,
            title=document["title"],
            page_count=document["page_count"],
            language=document["language"],
            warnings=document["warnings"],
            fingerprints=fingerprints,
            chunks=prepared.chunks,
            sections=prepared.sections,
            search_vectors=prepared.search_vectors,
            lexeme_counts=prepared.lexeme_counts,
            embeddings=np.array(vectors, dtype=np.float32).reshape(-1, dimensions),
        )


class _KilledError(Exception):
    """A process died; Postgres rolls back what it had not committed."""


def postings(database: Database) -> list[tuple[str, str, int, int, int]]:
    """Return lexeme, document, chunk, occurrences and words of every posting, living or dead."""
    found = []
    with database.connection() as connection:
        places = {
            chunk_id: (source_hash, index)
            for chunk_id, source_hash, index in connection.execute(
                "SELECT chunk_id, source_hash, chunk_index FROM chunk"
            )
        }
        for lexeme, bucket, count, lists in connection.execute(
            "SELECT lexeme, bucket, chunk_count, postings FROM posting"
        ):
            assert len(lists) == 4 * count
            for (entry,) in struct.iter_unpack(">i", lists):
                chunk_id = (bucket << 13) + (entry >> 19) + 4096
                found.append((lexeme, *places[chunk_id], (entry >> 12) & 127, entry & 4095))
        counts = connection.execute(
            "SELECT (SELECT count(*) FROM chunk), "
            "(SELECT coalesce(sum(lexeme_count), 0) FROM chunk), "
            "coalesce(sum(chunk_count), 0), coalesce(sum(lexeme_total), 0) FROM posting_bucket"
        ).fetchone()
    assert counts is not None
    assert counts[:2] == counts[2:]
    return sorted(found)


def current_plan_of(store: Store) -> list[DocumentState]:
    """What is stale, in the space of the test."""
    with store.database.connection() as connection:
        states = document_states(connection, store.space.space_id, None)
    profiles = Profiles(store.settings)
    plan = sync_plan(states, profiles.fingerprints_of, store.settings.sync.quarantine_after)
    return list(plan.states.values())


@settings(
    max_examples=20,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@given(operations=st.lists(OPERATION, min_size=3, max_size=14))
def test_any_order_ends_in_the_store_of_a_fresh_sync(
    operations: list[tuple[str, str, str]], server_url: str, models_dir: Path
) -> None:
    with (
        tempfile.TemporaryDirectory() as name,
        fresh_database(server_url) as url,
        fresh_database(server_url) as fresh_url,
    ):
        folder = Path(name) / "manuals"
        folder.mkdir()
        folder = folder.resolve()
        store = Store(make_settings(Path(name) / "project", url, models_dir), folder)
        for operation in [*operations, ("sync", "", "")]:
            if operation[0] == "killed sync":
                store.killed_sync(int(operation[2]))
                continue
            if operation[0] != "sync":
                apply(folder, operation)
                continue
            store.sync()
            again = refresh_sources(store.settings, store.database)
            assert not again.changes, "a plan that was carried out leaves nothing to plan"
            assert current_plan_of(store) == []
        fresh = Store(make_settings(Path(name) / "fresh", fresh_url, models_dir), folder)
        fresh.sync()
        stored, expected = stored_rows(url), stored_rows(fresh_url)
        assert postings(store.database) == postings(fresh.database)
        store.database.close()
        fresh.database.close()
        assert stored == expected
