"""The semantic strategy: borders where the topic changes between neighbouring sentences."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from rag_pipeline.chunking.assemble import ChunkDraft
from rag_pipeline.chunking.cutting.body import Range
from rag_pipeline.chunking.cutting.ranges import BodyCutter
from rag_pipeline.chunking.cutting.windows import Atom, Room
from rag_pipeline.chunking.strategies.windowed import sentence_atoms
from rag_pipeline.chunking.task import Task
from rag_pipeline.errors import SettingsError


def chunk_semantic(task: Task) -> list[ChunkDraft]:
    """Divide the sentences of each major section into chunks of similar sentences.

    Among all divisions within the budget, dynamic programming finds the one with the greatest sum
    of similarities inside chunks, each less the mean similarity in the document. (Smith and
    Troynikov, "Evaluating Chunking Strategies for Retrieval", Chroma 2024: ClusterSemanticChunker.)
    """
    if task.embed is None:
        raise SettingsError(
            "chunking.strategy: semantic needs an embedder",
            hint="set embedding, or another strategy",
        )
    cutter = BodyCutter(task)
    atoms = sentence_atoms(cutter)
    if not atoms:
        return []
    texts = [
        # Services reject a text without a word.
        cutter.body.text[atom.start : atom.end].strip() or "-"
        for atom in atoms
    ]
    vectors = np.asarray(task.embed(texts), dtype=np.float32)
    ranges = [
        Range(atoms[first].start, atoms[last - 1].end)
        for first, last in best_partition(atoms, vectors, cutter.room)
    ]
    return cutter.chunks(cutter.joined(ranges))


def best_partition(
    atoms: Sequence[Atom], vectors: NDArray[np.float32], room: Room
) -> list[tuple[int, int]]:
    """Return the runs of atoms (first, end) of the best partition within the room.

    Only atoms that fit into one chunk are compared, so that time is linear in the text.
    """
    typical = _typical_similarity(vectors)
    best = [0.0] + [-math.inf] * len(atoms)
    begins = [0] * (len(atoms) + 1)
    for end in range(1, len(atoms) + 1):
        last = end - 1
        first = last
        total = atoms[last].tokens
        while first > 0 and not atoms[first].opens:
            total += atoms[first - 1].tokens
            if total > room(atoms[first - 1].section):
                break
            first -= 1
        run = vectors[first:end]
        # Each pair's similarity less the typical one; then their sum for a run from each atom.
        above = run @ run.T - typical
        np.fill_diagonal(above, 0.0)
        rewards = np.cumsum(np.cumsum(above[::-1, ::-1], axis=0), axis=1).diagonal()[::-1] / 2
        for offset, reward in enumerate(rewards.tolist()):
            score = best[first + offset] + reward
            if score > best[end]:
                best[end], begins[end] = score, first + offset
    runs: list[tuple[int, int]] = []
    end = len(atoms)
    while end:
        runs.append((begins[end], end))
        end = begins[end]
    return runs[::-1]


def _typical_similarity(vectors: NDArray[np.float32]) -> float:
    """Return the mean similarity of two different sentences of the document."""
    count = len(vectors)
    if count < 2:
        return 0.0
    centre = vectors.mean(axis=0)
    # The mean over all pairs, excluding each sentence with itself.
    return float((centre @ centre * count - 1) / (count - 1))
