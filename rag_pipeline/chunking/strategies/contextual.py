"""The contextual strategy: sections within major headings, procedures and tables kept whole."""

from __future__ import annotations

from rag_pipeline.chunking.assemble import ChunkDraft, draft_of, within_budget
from rag_pipeline.chunking.chunk_trails import TRAIL_SHARE, Trails
from rag_pipeline.chunking.parents import add_parents
from rag_pipeline.chunking.sections.body_blocks import body_blocks, gather_sections
from rag_pipeline.chunking.sections.packing import Draft, Packer, fit_contexts
from rag_pipeline.chunking.sections.units import UnitBuilder
from rag_pipeline.chunking.task import Task
from rag_pipeline.frames import SECTION

_CONTEXT_SHARE = 4
"""About a quarter of the budget may go to what parts of a procedure or table repeat."""


def chunk_contextual(task: Task) -> list[ChunkDraft]:
    """Gather blocks section by section into chunks of at most `settings.target_tokens` tokens.

    Small neighbouring sections under one parent share a chunk, but never across a heading of
    `settings.major_heading_level` or above. Procedures, lists, tables and code stay whole if the
    budget allows; otherwise they are split between steps, items, rows or lines, and every part
    repeats the heading and lead-in, or the caption and header row. Warnings stay with their step.
    Parents hold the chunks of a major section, up to `settings.parent_tokens`.
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
    budget = settings.target_tokens
    trails = Trails(
        (section.trail for section in sections), task.title, budget // TRAIL_SHARE, counter
    )
    packer = Packer(
        budget,
        settings.small_section_tokens,
        {section.number: trails.tokens(section.trail) for section in sections},
        counter,
        task.language,
    )

    def repacked(draft: Draft, chunk: ChunkDraft) -> list[Draft] | None:
        parts = packer.repack(draft, chunk.token_count - budget)
        return parts if len(parts) > 1 else None

    packed = within_budget(
        packer.pack(units), lambda draft: _chunk_draft(draft, trails), repacked, budget, counter
    )
    drafts = [draft for draft, chunk in packed if chunk.content]
    return add_parents(
        [chunk for _, chunk in packed if chunk.content],
        [draft.pieces[0].section.major for draft in drafts],
        lambda first, last: _merged(drafts[first : last + 1], trails),
        settings.parent_tokens,
        counter,
    )


def _merged(drafts: list[Draft], trails: Trails) -> ChunkDraft:
    """Make the parent of consecutive drafts: what they all repeat appears once."""
    merged = Draft([piece for draft in drafts for piece in draft.pieces])
    return _chunk_draft(merged, trails, SECTION)


def _chunk_draft(draft: Draft, trails: Trails, kind: str | None = None) -> ChunkDraft:
    weighed = [(piece, piece.tokens) for piece in draft.pieces]
    return draft_of(weighed, draft.content(), trails, kind)
