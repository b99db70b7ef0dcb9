"""What a chunk says about itself beside its text: its kind and its metadata."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from rag_pipeline.chunking.sections.units import Piece


def describe_kind(weighed: Iterable[tuple[Piece, int]]) -> str:
    """Return the kind that most weight speaks for; `text` where there are headings only."""
    weights: dict[str, int] = {}
    for piece, weight in weighed:
        if piece.kind:
            weights[piece.kind] = weights.get(piece.kind, 0) + weight
    return max(weights, key=lambda kind: weights[kind]) if weights else "text"


def describe_metadata(pieces: Sequence[Piece]) -> dict[str, Any]:
    """Heading of the first section, roles in order of appearance, first and last step number."""
    metadata: dict[str, Any] = {"roles": list(dict.fromkeys(p.block.role for p in pieces))}
    if pieces and (heading := pieces[0].section.heading):
        metadata["heading"] = heading
    if steps := [piece.step for piece in pieces if piece.step is not None]:
        metadata["step_range"] = [steps[0], steps[-1]]
    return metadata
