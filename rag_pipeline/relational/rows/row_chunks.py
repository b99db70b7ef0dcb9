"""Root rows to chunks: a chunk an entity, a chunk a child, or a summary with a chunk a child."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from decimal import Decimal
from typing import Any

import pandas as pd

from rag_pipeline.chunking import CountTokens, content_hash, embedded_text
from rag_pipeline.frames import SECTION, Chunks, check
from rag_pipeline.relational.rows.row_reading import Record
from rag_pipeline.relational.rows.row_text import Renderer
from rag_pipeline.relational.rows.row_views import Group, View, key_text, keys_of, shown
from rag_pipeline.relational.rows.token_budget import parts_of
from rag_pipeline.relational.schema.table_schema import Schema, is_flag, is_text
from rag_pipeline.settings import RelationalSettings
from rag_pipeline.text import TRAIL_SEPARATOR

MAX_CATEGORY_CHARACTERS = 60


@dataclass(frozen=True)
class EntityChunks:
    """The chunks of one root row; `sections` are parents, read with their children."""

    record: Record
    title: str
    chunks: pd.DataFrame
    sections: pd.DataFrame
    texts: list[str] = field(repr=False)
    """What is embedded and indexed, a text a chunk."""


@dataclass
class _Draft:
    trail: str
    content: str
    metadata: dict[str, Any]
    parent: bool = False
    parent_index: int | None = None
    index: int = 0

    @property
    def text(self) -> str:
        """What is embedded and indexed."""
        return embedded_text(self.trail, None, self.content)


def _numbered(drafts: list[_Draft]) -> list[_Draft]:
    for index, draft in enumerate(drafts):
        draft.index = index
    return drafts


class Chunker:
    """Makes the chunks of root rows, by the source's strategy."""

    def __init__(
        self,
        settings: RelationalSettings,
        schema: Schema,
        renderer: Renderer,
        count_tokens: CountTokens,
    ) -> None:
        self._settings = settings
        self._schema = schema
        self._renderer = renderer
        self._count_tokens = count_tokens

    def chunks_of(self, entities: Sequence[View]) -> list[EntityChunks]:
        """Return the chunks of some root rows, made and checked together."""
        drafts = [self._drafts(entity) for entity in entities]
        frame = self._frame([draft for own in drafts for draft in own])
        is_parent = (frame["kind"] == SECTION).to_numpy()
        found, begin = [], 0
        for entity, own in zip(entities, drafts, strict=True):
            end = begin + len(own)
            part, parents = frame.iloc[begin:end], is_parent[begin:end]
            searched = [draft.text for draft in own if not draft.parent]
            has_parents = bool(parents.any())
            found.append(
                EntityChunks(
                    entity.record,
                    entity.label,
                    part[~parents] if has_parents else part,
                    part[parents] if has_parents else part.iloc[:0],
                    searched,
                )
            )
            begin = end
        return found

    def _drafts(self, entity: View) -> list[_Draft]:
        trail = f"{entity.name}{TRAIL_SEPARATOR}{entity.label}"
        strategy = self._settings.strategy
        if strategy in ("auto", "entity") or not any(group.rows for group in entity.groups):
            whole = _Draft(trail, self._renderer.whole(entity), self._metadata(entity.record))
            if strategy != "auto" or not entity.size or self._fits(whole):
                return _numbered(self._in_parts(whole))
        size = 1 if strategy == "child" else self._settings.children_per_chunk
        drafts = [
            part for one in self._children(entity, trail, size) for part in self._in_parts(one)
        ]
        if strategy != "child":
            summary = _Draft(trail, self._renderer.summary(entity), self._metadata(entity.record))
            own = self._in_parts(summary)
            for draft in drafts:
                draft.parent_index = len(own) + len(drafts)
            drafts = [*own, *drafts, _Draft(trail, summary.content, {}, parent=True)]
        return _numbered(drafts)

    def _fits(self, draft: _Draft) -> bool:
        # Counting is slow next to this: a token has at least one character, and seldom over eight.
        length = len(draft.text)
        if length <= self._settings.token_budget:
            return True
        if length > 12 * self._settings.token_budget:
            return False
        return self._count_tokens([draft.text])[0] <= self._settings.token_budget

    def _in_parts(self, draft: _Draft) -> list[_Draft]:
        """Return the draft, or drafts within the budget that have its text between them."""
        if self._fits(draft):
            return [draft]
        room = self._settings.token_budget - self._count_tokens([draft.trail])[0]
        texts = parts_of(draft.content, room, self._count_tokens, self._settings.language)
        count = len(texts)
        return [
            replace(
                draft,
                content=text,
                metadata={**draft.metadata, "part": number, "parts": count},
            )
            for number, text in enumerate(texts, start=1)
        ]

    def _children(self, entity: View, trail: str, size: int) -> list[_Draft]:
        """Return a draft for every `size` children: a changed one changes one chunk only."""
        return [
            draft
            for group in entity.groups
            for begin in range(0, len(group.rows), size)
            for draft in self._of_group(
                entity, trail, group, range(begin, min(begin + size, len(group.rows)))
            )
        ]

    def _of_group(self, entity: View, trail: str, group: Group, places: range) -> Iterator[_Draft]:
        """Yield the draft of some children; where it is too long, those of either half."""
        rows = group.rows[places.start : places.stop]
        ends = rows[0].label if len(rows) == 1 else f"{rows[0].label} – {rows[-1].label}"
        positions = range(places.start + 1, places.stop + 1)
        draft = _Draft(
            f"{trail}{TRAIL_SEPARATOR}{group.name} {ends}",
            self._renderer.rows(entity, group, positions),
            self._child_metadata(entity, group, rows, places.start + 1),
        )
        if len(rows) == 1 or self._fits(draft):
            yield from self._in_parts(draft)
            return
        middle = len(rows) // 2
        yield from self._of_group(entity, trail, group, places[:middle])
        yield from self._of_group(entity, trail, group, places[middle:])

    def _metadata(self, record: Record) -> dict[str, Any]:
        """Keys of every row in the chunk, typed columns to filter by, and counts of children."""
        values: dict[str, Any] = {}
        table = self._schema.tables[record.table]
        for name, value in record.values.items():
            column = table.column(name)
            if value is None:
                continue
            if is_flag(column):
                values[name] = bool(value)
            elif is_text(column):
                text = shown(value)
                if text and len(text) <= MAX_CATEGORY_CHARACTERS:
                    values[name] = text
            elif isinstance(value, Decimal):
                values[name] = float(value)
            elif isinstance(value, int | float | str):
                values[name] = value
        return {
            "relational": self._settings.name,
            "table": record.table,
            "key": key_text(record.key),
            "values": values,
            "keys": keys_of(record),
            "counts": {name: len(rows) for name, rows in record.children.items()},
        }

    def _child_metadata(
        self, entity: View, group: Group, rows: Sequence[View], position: int
    ) -> dict[str, Any]:
        root = entity.record
        if len(rows) == 1:
            metadata = self._metadata(rows[0].record)
        else:
            metadata = {"relational": self._settings.name, "table": rows[0].record.table}
        keys: dict[str, dict[str, None]] = {root.table: {key_text(root.key): None}}
        for row in rows:
            for table, found in keys_of(row.record).items():
                keys.setdefault(table, {}).update(dict.fromkeys(found))
        return metadata | {
            "keys": {table: list(found) for table, found in keys.items()},
            "parent": {"table": root.table, "key": key_text(root.key)},
            "position": position,
            "of": len(group.rows),
        }

    def _frame(self, drafts: Sequence[_Draft]) -> pd.DataFrame:
        texts = [draft.text for draft in drafts]
        count = len(drafts)
        frame = check(
            pd.DataFrame(
                {
                    "chunk_index": range(count),
                    "parent_index": pd.array(
                        [draft.parent_index for draft in drafts], dtype="Int64"
                    ),
                    "kind": [SECTION if draft.parent else "text" for draft in drafts],
                    "breadcrumb_trail": [draft.trail for draft in drafts],
                    "content": [draft.content for draft in drafts],
                    "context": pd.Series([None] * count, dtype=object),
                    "token_count": self._count_tokens(texts),
                    "page_start": 1,
                    "page_end": 1,
                    "regions": [[] for _ in drafts],
                    "content_hash": [content_hash(text) for text in texts],
                    "metadata": [draft.metadata for draft in drafts],
                }
            ),
            Chunks,
        )
        # Each row's chunks have numbers of their own; all together they were checked as one frame.
        frame["chunk_index"] = [draft.index for draft in drafts]
        return frame
