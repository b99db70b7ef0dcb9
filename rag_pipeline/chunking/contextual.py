"""The contextual strategy: sections up to major headings, procedures and tables kept whole."""

from __future__ import annotations

from typing import Any

import pandas as pd

from rag_pipeline.chunking.assemble import ChunkDraft
from rag_pipeline.chunking.blocks import body_blocks, gather_sections
from rag_pipeline.chunking.packing import Draft, Packer, fit_contexts
from rag_pipeline.chunking.tokens import TokenCounter
from rag_pipeline.chunking.trails import Trails
from rag_pipeline.chunking.units import Piece, UnitBuilder
from rag_pipeline.settings import ChunkingSettings

_TRAIL_SHARE = 3
"""At most a third of the budget goes to the trail, ..."""
_CONTEXT_SHARE = 4
"""... and about a quarter to what parts of a procedure or table repeat."""
_ROUNDS = 40


def chunk_contextual(
    structured: pd.DataFrame,
    settings: ChunkingSettings,
    counter: TokenCounter,
    title: str | None,
) -> list[ChunkDraft]:
    """Gather blocks section by section into chunks of at most `settings.target_tokens` tokens.

    Small neighbouring sections under one parent share a chunk, never across a heading of
    `settings.major_heading_level` or above. Procedures, lists, tables and code stay whole where the
    budget allows; else they are split between steps, items, rows or lines, and every part repeats
    heading and lead-in, or caption and header row. Warnings stay with their step.
    """
    blocks = body_blocks(structured)
    sections = gather_sections(blocks, settings.major_heading_level)
    builder = UnitBuilder()
    units = [builder.units(section) for section in sections]
    pieces = [piece for section in units for unit in section for piece in unit]
    for piece, tokens in zip(pieces, counter.parts([p.text for p in pieces]), strict=True):
        piece.tokens = tokens
    fit_contexts(builder.contexts, settings.target_tokens // _CONTEXT_SHARE, counter)
    trails = Trails(
        (section.trail for section in sections),
        title,
        settings.target_tokens // _TRAIL_SHARE,
        counter,
    )
    packer = Packer(
        settings.target_tokens,
        settings.small_section_tokens,
        {section.number: trails.tokens(section.trail) for section in sections},
        counter,
    )
    return _within_budget(packer.pack(units), packer, trails, settings.target_tokens, counter)


def _within_budget(
    drafts: list[Draft], packer: Packer, trails: Trails, budget: int, counter: TokenCounter
) -> list[ChunkDraft]:
    """Count the chunks exactly, and split those that a vocabulary counts above their estimate."""
    finished: list[ChunkDraft | None] = [None] * len(drafts)
    pending = list(range(len(drafts)))
    for last_round in (*[False] * _ROUNDS, True):
        made = [_chunk_draft(drafts[i], trails) for i in pending]
        counts = counter.whole([chunk.embedded_text for chunk in made])
        split: dict[int, list[Draft]] = {}
        for i, chunk, count in zip(pending, made, counts, strict=True):
            chunk.token_count = count
            finished[i] = chunk
            if count > budget and not last_round:
                parts = packer.repack(drafts[i], count - budget)
                if len(parts) > 1:
                    split[i] = parts
        if not split:
            break
        pending, drafts, finished = _replaced(drafts, finished, split)
    return [chunk for chunk in finished if chunk is not None and chunk.content]


def _replaced(
    drafts: list[Draft], finished: list[ChunkDraft | None], split: dict[int, list[Draft]]
) -> tuple[list[int], list[Draft], list[ChunkDraft | None]]:
    """Put the parts in the place of their draft; return the positions that are to be counted."""
    pending: list[int] = []
    new_drafts: list[Draft] = []
    new_finished: list[ChunkDraft | None] = []
    for i, draft in enumerate(drafts):
        parts = split.get(i)
        if parts:
            pending += range(len(new_drafts), len(new_drafts) + len(parts))
            new_drafts += parts
            new_finished += [None] * len(parts)
        else:
            new_drafts.append(draft)
            new_finished.append(finished[i])
    return pending, new_drafts, new_finished


def _chunk_draft(draft: Draft, trails: Trails) -> ChunkDraft:
    pieces = draft.pieces
    # A heading handed down from above does not widen the trail to what lies above the text.
    sections = {piece.section.number: piece.section for piece in pieces}
    return ChunkDraft(
        kind=_kind(pieces),
        breadcrumb_trail=trails.common([section.trail for section in sections.values()]),
        content=draft.content(),
        boxes=[piece.block.box for piece in pieces],
        metadata=_metadata(pieces),
    )


def _kind(pieces: list[Piece]) -> str:
    """Return the kind that most tokens speak for; `text` where there are headings only."""
    weights: dict[str, int] = {}
    for piece in pieces:
        if piece.kind:
            weights[piece.kind] = weights.get(piece.kind, 0) + piece.tokens
    return max(weights, key=lambda kind: weights[kind]) if weights else "text"


def _metadata(pieces: list[Piece]) -> dict[str, Any]:
    """Heading of the first section, roles in order of appearance, first and last step number."""
    metadata: dict[str, Any] = {"roles": list(dict.fromkeys(p.block.role for p in pieces))}
    if heading := pieces[0].section.heading:
        metadata["heading"] = heading
    if steps := [piece.step for piece in pieces if piece.step is not None]:
        metadata["step_range"] = [steps[0], steps[-1]]
    return metadata
