"""What a relational source will become, before anything is written."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from sqlalchemy import Connection, func, select

from rag_pipeline.chunking import CountTokens
from rag_pipeline.relational.rows.row_chunks import Chunker
from rag_pipeline.relational.rows.row_reading import read_batch
from rag_pipeline.relational.rows.row_text import Renderer
from rag_pipeline.relational.rows.row_views import Viewer
from rag_pipeline.relational.schema.relation_tree import Node, Reference, left_out
from rag_pipeline.relational.schema.table_schema import Schema
from rag_pipeline.settings import RelationalSettings

SAMPLE = 50
"""Root rows that are rendered to estimate chunks and tokens."""


@dataclass(frozen=True)
class PlannedNode:
    """A table of the tree, as it is shown."""

    table: str
    kind: str
    rows: int
    """Of the whole table."""
    columns: list[str]
    references: list[str]
    through: str | None = None
    children: list[PlannedNode] = field(default_factory=list)


@dataclass(frozen=True)
class RelationalPlan:
    """A source's tree and an estimate of its chunks from the first rows."""

    source: str
    strategy: str
    tree: PlannedNode
    chunks: int
    tokens: int
    sampled: int
    """Root rows that the estimate is from; exact where it is all of them."""
    left_out: list[str] = field(default_factory=list)
    """Columns, tables and places that chunks do not show, with the reason."""

    def as_dict(self) -> dict[str, Any]:
        """Return it for `--json`."""
        from dataclasses import asdict

        return asdict(self)


def plan_relational(
    connection: Connection,
    schema: Schema,
    tree: Node,
    settings: RelationalSettings,
    renderer: Renderer,
    count_tokens: CountTokens,
) -> RelationalPlan:
    """Count the tree's tables and render a sample of root rows."""
    planned = _planned(connection, tree)
    viewer = Viewer(schema, settings.language)
    chunker = Chunker(settings, schema, renderer, count_tokens)
    sample = read_batch(connection, tree, SAMPLE).records
    made = chunker.chunks_of([viewer.view(record) for record in sample]) if sample else []
    chunks = sum(len(entity.chunks) for entity in made)
    tokens = sum(int(entity.chunks["token_count"].sum()) for entity in made)
    scale = planned.rows / len(sample) if sample else 0.0
    return RelationalPlan(
        settings.name,
        settings.strategy,
        planned,
        round(chunks * scale),
        round(tokens * scale),
        len(sample),
        left_out(schema, settings),
    )


def _planned(connection: Connection, node: Node) -> PlannedNode:
    rows = connection.execute(select(func.count()).select_from(node.table.table)).scalar_one()
    return PlannedNode(
        node.table.name,
        node.kind,
        int(rows),
        list(node.columns),
        [_named(reference) for reference in node.references],
        node.through.name if node.through else None,
        [_planned(connection, child) for child in node.children],
    )


def _named(reference: Reference) -> str:
    """Return a named table with those that it names: `products (categories, suppliers)`."""
    above = ", ".join(_named(one) for one in reference.references)
    return f"{reference.table.name} ({above})" if above else reference.table.name
