"""Vectors of sentences for the strategy `semantic`, asked for once: a re-chunk asks for none."""

from __future__ import annotations

import hashlib
import io
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from rag_pipeline.store.artifacts import ArtifactStore, sentences_key

Vectors = np.ndarray[Any, np.dtype[np.float32]]
Embed = Callable[[Sequence[str]], Vectors]


def remembering(embed: Embed, artifacts: ArtifactStore, source_hash: str, model: str) -> Embed:
    """Return an `embed` that keeps the vectors of a document's sentences beside its artifacts.

    `model` names everything that the vectors depend on.
    """
    name = hashlib.sha256(model.encode()).hexdigest()[:16]
    path = f"{sentences_key(source_hash)}/{name}.npz"

    def vectors_of(texts: Sequence[str]) -> Vectors:
        kept = _load(artifacts.get(path))
        keys = [hashlib.sha256(text.encode()).digest() for text in texts]
        missing = {key: text for key, text in zip(keys, texts, strict=True) if key not in kept}
        if missing:
            kept.update(zip(missing, embed(list(missing.values())), strict=True))
            artifacts.put(path, _dump(kept))
        if not keys:
            return embed([])
        return np.array([kept[key] for key in keys], dtype=np.float32)

    return vectors_of


def _load(data: bytes | None) -> dict[bytes, Vectors]:
    if data is None:
        return {}
    with np.load(io.BytesIO(data), allow_pickle=False) as arrays:
        vectors = arrays["vectors"].astype(np.float32)
        return dict(zip([row.tobytes() for row in arrays["keys"]], vectors, strict=True))


def _dump(kept: dict[bytes, Vectors]) -> bytes:
    keys = np.frombuffer(b"".join(kept), dtype=np.uint8).reshape(len(kept), -1)
    buffer = io.BytesIO()
    np.savez_compressed(buffer, keys=keys, vectors=np.array(list(kept.values()), dtype=np.float16))
    return buffer.getvalue()
