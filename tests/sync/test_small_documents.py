"""Small documents are worked on and landed together; what goes wrong costs one of them."""

from __future__ import annotations

import hashlib
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from rag_pipeline.settings import Settings
from rag_pipeline.store.database import Database
from rag_pipeline.sync.documents.document_groups import GROUP, SMALL_BYTES, GroupPool, grouped
from rag_pipeline.sync.documents.stage_tasks import StageTask
from rag_pipeline.sync.planning.fingerprints import STAGES, stage_fingerprints
from rag_pipeline.sync.workers.worker_limits import WorkerLimitError
from rag_pipeline.system import RagSystem

POISON = """
CREATE FUNCTION refuse_poison() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF NEW.content LIKE '%poison%' THEN
        RAISE EXCEPTION 'this row is refused';
    END IF;
    RETURN NEW;
END $$;
CREATE TRIGGER refuse_poison BEFORE INSERT ON chunk FOR EACH ROW EXECUTE FUNCTION refuse_poison();
"""


@given(
    sizes=st.lists(st.sampled_from([10, SMALL_BYTES, SMALL_BYTES + 1]), max_size=90),
    workers=st.integers(1, 8),
)
def test_each_task_is_in_one_group(sizes: list[int], workers: int) -> None:
    settings = Settings.model_construct()
    tasks = [StageTask(str(n), (), str(n), STAGES, {}, settings) for n in range(len(sizes))]
    groups = list(grouped(tasks, {str(n): size for n, size in enumerate(sizes)}, workers))
    names = [task.name for group in groups for task in group]
    assert sorted(names, key=int) == [str(n) for n in range(len(sizes))]
    for group in groups:
        assert len(group) <= GROUP
        assert len(group) == 1 or all(sizes[int(task.name)] <= SMALL_BYTES for task in group)
    if sizes and all(size <= SMALL_BYTES for size in sizes):
        assert len(groups) >= min(workers, len(sizes)), "every worker has something to do"


def test_a_group_over_which_a_process_dies_is_tried_one_by_one(tmp_path: Path) -> None:
    """Here each is too large by itself: all of them are told, and none is told for another."""
    whole = Settings.load(tmp_path)
    parsing = whole.parsing.model_copy(update={"max_memory_mb": 1})
    small = whole.model_copy(update={"parsing": parsing})
    tasks = []
    for number in range(6):
        path = tmp_path / f"{number}.md"
        path.write_text(f"# {number}\n\n" + "A sentence of many.\n\n" * 2_000, encoding="utf-8")
        source_hash = hashlib.sha256(path.read_bytes()).hexdigest()
        fingerprints = stage_fingerprints(small)
        tasks.append(StageTask(source_hash, (str(path),), path.name, STAGES, fingerprints, small))
    sizes = {task.source_hash: SMALL_BYTES for task in tasks}
    found = list(GroupPool(1).run(tasks, sizes))
    assert [len(one) for one in found] == [1] * 6
    assert sorted(task.name for ((task, _),) in found) == [task.name for task in tasks]
    for ((_, result),) in found:
        assert isinstance(result, WorkerLimitError)
        assert result.limit == "memory"


def test_one_that_the_store_refuses_falls_out_alone(settings: Settings, database: Database) -> None:
    folder = settings.project_dir / "manuals"
    folder.mkdir(parents=True)
    for name in ("air", "oil", "poison", "pump", "valve"):
        text = f"# {name}\n\nThe {name} is checked every week.\n"
        (folder / f"{name}.md").write_text(text, encoding="utf-8")
    with database.connection() as connection:
        connection.execute(POISON)
    with RagSystem(settings) as system:
        added = system.add_directory(folder)
    assert sorted(added.done) == ["air.md", "oil.md", "pump.md", "valve.md"]
    assert list(added.failures) == ["poison.md"]
    assert "this row is refused" in added.failures["poison.md"]
    with database.connection() as connection:
        rows = connection.execute(
            "SELECT count(DISTINCT source_hash), count(*) - count(embedding) FROM chunk "
            "LEFT JOIN chunk_embedding USING (chunk_id)"
        ).fetchone()
    assert rows == (4, 0)
