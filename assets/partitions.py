"""One partition per distinct content (the SHA-256 of a file's bytes), and one per database."""

import dagster as dg

PLANNED_TAG = "rag/planned_by"
"""On runs whose caller plans, and finishes, the whole sync itself (`rag sync`)."""
WORDS_TAG = "rag/words_only"
"""On runs after which documents are searched by words; a later run of the sync makes vectors."""
BATCH = 10_000
"""Keys in one statement: SQLite takes 32,766 parameters at most."""
SOURCE_HASHES = dg.DynamicPartitionsDefinition(name="source_hash")

RELATIONAL_SOURCES = dg.DynamicPartitionsDefinition(name="relational_source")
"""One partition a relational source of rag.toml."""


def align_relational_partitions(instance: dg.DagsterInstance, names: list[str]) -> None:
    """Bring Dagster's partition keys to the relational sources that rag.toml names."""
    assert RELATIONAL_SOURCES.name is not None
    known = set(instance.get_dynamic_partitions(RELATIONAL_SOURCES.name))
    for gone in known - set(names):
        instance.delete_dynamic_partition(RELATIONAL_SOURCES.name, gone)
    instance.add_dynamic_partitions(RELATIONAL_SOURCES.name, sorted(set(names) - known))


def align_partitions(instance: dg.DagsterInstance, source_hashes: set[str]) -> tuple[int, int]:
    """Bring Dagster's partition keys to the store's documents; return (added, deleted).

    The store decides: a run killed between the two is mended by the next scan.
    """
    assert SOURCE_HASHES.name is not None
    present = set(instance.get_dynamic_partitions(SOURCE_HASHES.name))
    missing = sorted(source_hashes - present)
    extra = sorted(present - source_hashes)
    for batch in range(0, len(missing), BATCH):
        instance.add_dynamic_partitions(SOURCE_HASHES.name, missing[batch : batch + BATCH])
    for key in extra:
        instance.delete_dynamic_partition(SOURCE_HASHES.name, key)
    return len(missing), len(extra)
