"""The contextual strategy: sections up to major headings, procedures and tables kept whole."""

from __future__ import annotations

from rag_pipeline.chunking.assemble import ChunkDraft
from rag_pipeline.chunking.chunk_trails import Trails
from rag_pipeline.chunking.cutting.body import TRAIL_SHARE
from rag_pipeline.chunking.describe import describe_kind, describe_metadata
from rag_pipeline.chunking.parents import add_parents
from rag_pipeline.chunking.sections.body_blocks import Section, body_blocks, gather_sections
from rag_pipeline.chunking.sections.packing import Draft, Packer, fit_contexts
from rag_pipeline.chunking.sections.units import UnitBuilder
from rag_pipeline.chunking.strategy import Task
from rag_pipeline.chunking.token_counts import TokenCounter
from rag_pipeline.frames import SECTION
from rag_pipeline.sentence_borders import UNKNOWN

_CONTEXT_SHARE = 4
"""About a quarter of the budget goes to what parts of a procedure or table repeat."""
_ROUNDS = 40


def chunk_contextual(task: Task) -> list[ChunkDraft]:
    """Gather blocks section by section into chunks of at most `settings.target_tokens` tokens.

    Small neighbouring sections under one parent share a chunk, never across a heading of
    `settings.major_heading_level` or above. Procedures, lists, tables and code stay whole where the
    budget allows; else they are split between steps, items, rows or lines, and every part repeats
    heading and lead-in, or caption and header row. Warnings stay with their step. Parents hold the
    chunks of a major section, up to `settings.parent_tokens`.
    """
    settings, counter = task.settings, task.counter
    blocks = body_blocks(task.structured)
    sections = gather_sections(blocks, settings.major_heading_level)
    builder = UnitBuilder()
    units = [builder.units(section) for section in sections]
    pieces = [piece for section in units for unit in section for piece in unit]
    for piece, tokens in zip(pieces, counter.parts([p.text for p in pieces]), strict=True):
        piece.tokens = tokens
    fit_contexts(builder.contexts, settings.target_tokens // _CONTEXT_SHARE, counter)
    trails = Trails(
        (section.trail for section in sections),
        task.title,
        settings.target_tokens // TRAIL_SHARE,
        counter,
    )
    packer = Packer(
        settings.target_tokens,
        settings.small_section_tokens,
        {section.number: trails.tokens(section.trail) for section in sections},
        counter,
        _language(task),
    )
    drafts, chunks = _within_budget(
        packer.pack(units), packer, trails, settings.target_tokens, counter
    )
    return add_parents(
        chunks,
        _majors(drafts, sections),
        lambda first, last: _merged(drafts[first : last + 1], trails),
        settings.parent_tokens,
        counter,
    )


def _language(task: Task) -> str:
    return str(task.structured["language"].iloc[0]) if len(task.structured) else UNKNOWN


def _majors(drafts: list[Draft], sections: list[Section]) -> list[int]:
    """Return the number of the major section that each draft lies in."""
    majors: dict[int, int] = {}
    for section in sections:
        majors[section.number] = (
            len(majors) if section.is_major else max(majors.values(), default=0)
        )
    return [majors[draft.pieces[0].section.number] for draft in drafts]


def _merged(drafts: list[Draft], trails: Trails) -> ChunkDraft:
    """Make the parent of consecutive drafts: what they repeat stands there once."""
    merged = _chunk_draft(Draft([piece for draft in drafts for piece in draft.pieces]), trails)
    merged.kind = SECTION
    return merged


def _within_budget(
    drafts: list[Draft], packer: Packer, trails: Trails, budget: int, counter: TokenCounter
) -> tuple[list[Draft], list[ChunkDraft]]:
    """Count the chunks exactly, and split those that a vocabulary counts above their estimate.

    Returns the drafts with their chunks, those without text left out.
    """
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
    kept = [
        (draft, chunk)
        for draft, chunk in zip(drafts, finished, strict=True)
        if chunk is not None and chunk.content
    ]
    return [draft for draft, _ in kept], [chunk for _, chunk in kept]


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
    content, starts = draft.content()
    return ChunkDraft(
        kind=describe_kind([(piece, piece.tokens) for piece in pieces]),
        breadcrumb_trail=trails.common([section.trail for section in sections.values()]),
        content=content,
        boxes=[piece.block.box for piece in pieces],
        starts=starts,
        metadata=describe_metadata(pieces),
    )
