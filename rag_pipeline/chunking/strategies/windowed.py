"""The strategies that fill windows: fixed_size, sentence and paragraph."""

from __future__ import annotations

from rag_pipeline.chunking.assemble import ChunkDraft
from rag_pipeline.chunking.cutting.ranges import BodyCutter
from rag_pipeline.chunking.cutting.windows import (
    Atom,
    body_atoms,
    glue_atoms,
    pack,
    pack_even,
    word_atoms,
)
from rag_pipeline.chunking.task import Task
from rag_pipeline.sentence_borders import sentence_starts


def chunk_fixed_size(task: Task) -> list[ChunkDraft]:
    """Cut into windows of the same number of tokens between words, wherever they end.

    Each repeats the last `overlap_tokens` of the one before. No parents: windows ignore sections.
    """
    cutter = BodyCutter(task)
    atoms = cutter.fitted(cutter.counted(word_atoms(cutter.body)), cutter.room)
    return cutter.chunks(pack(atoms, cutter.room, cutter.overlap), parents=False)


def chunk_sentence(task: Task) -> list[ChunkDraft]:
    """Fill windows with whole sentences, table rows and code blocks, up to the next major heading.

    Each repeats the last sentences of the one before, `overlap_tokens` at most. With `ideal_tokens`
    windows are not filled but divided so that all are close to that length.
    """
    cutter = BodyCutter(task)
    atoms = sentence_atoms(cutter)
    if task.settings.ideal_tokens:
        return cutter.chunks(pack_even(atoms, cutter.room, cutter.ideal, cutter.overlap))
    return cutter.chunks(pack(atoms, cutter.room, cutter.overlap))


def chunk_paragraph(task: Task) -> list[ChunkDraft]:
    """Fill windows with whole paragraphs, list items and rows, up to the next major heading.

    A heading stays with what follows. A paragraph is cut only if it is above the budget.
    """
    cutter = BodyCutter(task)
    atoms = glue_atoms(cutter.counted(body_atoms(cutter.body, None)), cutter.room)
    atoms = cutter.fitted(atoms, cutter.room)
    return cutter.chunks(cutter.joined(pack(atoms, cutter.room)))


def sentence_atoms(cutter: BodyCutter) -> list[Atom]:
    """Return the sentences of the body, counted, headings joined to the first below them."""
    language = cutter.task.language
    atoms = body_atoms(cutter.body, lambda text: sentence_starts(text, language))
    return cutter.fitted(glue_atoms(cutter.counted(atoms), cutter.room), cutter.room)
