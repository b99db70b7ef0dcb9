"""The asset over a real source: one partition, its counts as metadata."""

from __future__ import annotations

from pathlib import Path

import dagster as dg
import pytest
from pydantic import SecretStr

from assets.partitions import align_relational_partitions
from assets.relational import relational_rows
from rag_pipeline.settings import Settings
from resources import default_resources


def test_one_partition_a_source(
    settings: Settings, workshop: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert isinstance(settings.database_url, SecretStr)
    (settings.project_dir / "rag.toml").write_text(
        f'[[relational]]\nname = "workshop"\nurl = "sqlite:///{workshop}"\nroot = "clients"\n'
    )
    monkeypatch.setenv("RAG_DATABASE_URL", settings.database_url.get_secret_value())
    with dg.DagsterInstance.ephemeral() as instance:
        align_relational_partitions(instance, ["gone", "workshop"])
        align_relational_partitions(instance, ["workshop"])
        assert list(instance.get_dynamic_partitions("relational_source")) == ["workshop"]
        result = dg.materialize(
            [relational_rows],
            partition_key="workshop",
            instance=instance,
            resources=default_resources(str(settings.project_dir)),
        )
    (event,) = result.asset_materializations_for_node("relational_rows")
    assert event.metadata["new"].value == 3
    assert event.metadata["dagster/row_count"].value == 3
