"""The strategies that fill windows: fixed_size, sentence and paragraph."""

from __future__ import annotations

from rag_pipeline.chunking.assemble import ChunkDraft
from rag_pipeline.chunking.cutting.body import Range
from rag_pipeline.chunking.cutting.ranges import Cutter
from rag_pipeline.chunking.cutting.windows import (
    Atom,
    body_atoms,
    count_atoms,
    fit_atoms,
    glue_atoms,
    join_small,
    pack,
    pack_even,
    word_atoms,
)
from rag_pipeline.chunking.strategy import Task
from rag_pipeline.sentence_borders import sentence_starts


def chunk_fixed_size(task: Task) -> list[ChunkDraft]:
    """Cut into windows of the same number of tokens, whole words, wherever they end.

    Each repeats the last `overlap_tokens` of the one before. No parents: windows know no sections.
    """
    cutter = Cutter(task)
    atoms = word_atoms(cutter.body)
    count_atoms(atoms, cutter.body, cutter.counter)
    atoms = fit_atoms(atoms, cutter.body, cutter.room, cutter.counter)
    ranges = pack(atoms, cutter.room, overlap(task))
    return cutter.chunks(ranges, parents=False)


def chunk_sentence(task: Task) -> list[ChunkDraft]:
    """Fill windows with whole sentences, up to the next major heading; tables' rows, code whole.

    Each repeats the last sentences of the one before, `overlap_tokens` at most. With `ideal_tokens`
    windows are not filled, but parted so that all are near that length.
    """
    cutter = Cutter(task)
    atoms = sentence_atoms(cutter)
    if task.settings.ideal_tokens:
        return cutter.chunks(pack_even(atoms, cutter.room, cutter.ideal, overlap(task)))
    return cutter.chunks(pack(atoms, cutter.room, overlap(task)))


def chunk_paragraph(task: Task) -> list[ChunkDraft]:
    """Fill windows with whole paragraphs, list items and rows, up to the next major heading.

    A heading stays with what follows. A paragraph is cut only where it is above the budget.
    """
    cutter = Cutter(task)
    atoms = body_atoms(cutter.body, None)
    count_atoms(atoms, cutter.body, cutter.counter)
    atoms = glue_atoms(atoms, cutter.room)
    atoms = fit_atoms(atoms, cutter.body, cutter.room, cutter.counter)
    ranges = pack(atoms, cutter.room)
    return cutter.chunks(joined(ranges, cutter))


def sentence_atoms(cutter: Cutter) -> list[Atom]:
    """Return the sentences of the body, counted, headings joined to the first below them."""
    body = cutter.body
    atoms = body_atoms(body, lambda text: sentence_starts(text, body.language))
    count_atoms(atoms, body, cutter.counter)
    atoms = glue_atoms(atoms, cutter.room)
    return fit_atoms(atoms, body, cutter.room, cutter.counter)


def joined(ranges: list[Range], cutter: Cutter) -> list[Range]:
    """Join what is below `min_tokens` to a neighbour."""
    small = cutter.task.settings.min_tokens
    if not small:
        return ranges
    measured = zip(ranges, cutter.count(ranges), strict=True)
    return join_small(measured, cutter.body, small, cutter.room)


def overlap(task: Task) -> int:
    """Tokens that a window repeats: at most half the budget, else it would hardly go on."""
    return min(task.settings.overlap_tokens, task.settings.target_tokens // 2)
