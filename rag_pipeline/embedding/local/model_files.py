"""The files of the local model, built once from the installed weights.

Their folder is named after the weights' SHA-256 and the builder's version, so that no other version
reads them. Every file is renamed into place when it is complete, the manifest last. Processes that
build at the same time write the same bytes, so they do not harm each other.
"""

from __future__ import annotations

import hashlib
import json
import os
import tempfile
from dataclasses import dataclass
from pathlib import Path

from rag_pipeline.embedding.local.unigram_tokenizer import UnigramVocabulary
from rag_pipeline.errors import EmbeddingError

MODEL = "multilingual-e5-small"
DIMENSIONS = 384
POSITIONS = 512
"""Tokens that the model takes at once, including marks and prefix."""
BEGIN_ID, PADDING_ID, END_ID, UNKNOWN_ID = 0, 1, 2, 3
QUERY_PREFIX, PASSAGE_PREFIX = "query:", "passage:"

FILES_VERSION = "1"
"""Raise it whenever the graph or the format of the files changes."""
WEIGHTS_SHA256 = "1571fc9827503943b6bb2e2c03c071f70a14f6e8ffc673946a1f7abbbfbb782f"

_GRAPH, _CONSTANTS = "model.onnx", "model.bin"
_MANIFEST = "manifest.json"
_FILES = (_GRAPH, _CONSTANTS, *UnigramVocabulary.FILES)
# Never matched in text: a document that spells out `</s>` must not end there.
_SPECIAL_PIECES = frozenset({"<s>", "<pad>", "</s>", "<unk>", "<mask>"})


@dataclass(frozen=True)
class ModelFiles:
    """Where the graph and the vocabulary are."""

    folder: Path

    @property
    def graph(self) -> Path:
        """The ONNX graph."""
        return self.folder / _GRAPH


def model_files(cache_dir: Path, *, rebuild: bool = False) -> ModelFiles:
    """Return the model's files under `cache_dir`; build them if they are missing or damaged.

    Raises `EmbeddingError` if the weights are not installed or not the pinned ones, or the folder
    cannot be written.
    """
    files = ModelFiles(cache_dir / f"{MODEL}-{WEIGHTS_SHA256[:16]}-v{FILES_VERSION}")
    if rebuild or not _is_complete(files.folder):
        _build(files.folder)
    return files


def _is_complete(folder: Path) -> bool:
    """Whether every file is as the manifest says.

    Hashing 75 MB at every start would take longer than loading them, so a file with the recorded
    size and time is trusted, and only one with another time is hashed.
    """
    try:
        manifest = json.loads((folder / _MANIFEST).read_bytes())
        return all(_is_intact(folder / name, manifest[name]) for name in _FILES)
    except (OSError, ValueError, KeyError, TypeError):
        return False


def _is_intact(file: Path, entry: dict[str, object]) -> bool:
    status = file.stat()
    if status.st_size != entry["size"]:
        return False
    return status.st_mtime_ns == entry["modified_ns"] or _sha256(file) == entry["sha256"]


def _build(folder: Path) -> None:
    from rag_pipeline.embedding.local.model_graph import build_graph
    from rag_pipeline.embedding.local.model_weights import find_weights, read_weights

    weights = read_weights(find_weights(), WEIGHTS_SHA256)
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(prefix=".building-", dir=folder) as name:
            draft = Path(name)
            build_graph(weights, draft / _GRAPH, _CONSTANTS)
            UnigramVocabulary.write(
                draft,
                (
                    (piece, score, number)
                    for number, (piece, score) in enumerate(
                        zip(weights.pieces, weights.scores.tolist(), strict=True)
                    )
                    if piece not in _SPECIAL_PIECES
                ),
            )
            manifest = {file: _describe(draft / file) for file in _FILES}
            (draft / _MANIFEST).write_text(json.dumps(manifest, indent=1), encoding="utf-8")
            for file in (*_FILES, _MANIFEST):
                (draft / file).chmod(0o644)  # onnx makes its data private; users share the cache
                os.replace(draft / file, folder / file)  # noqa: PTH105
    except OSError as error:
        raise EmbeddingError(
            f"the local model cannot be written to {folder}: {error.strerror or error}",
            hint="free 100 MB or choose another data_dir",
        ) from error


def _describe(file: Path) -> dict[str, object]:
    status = file.stat()
    return {
        "size": status.st_size,
        "modified_ns": status.st_mtime_ns,
        "sha256": _sha256(file),
    }


def _sha256(file: Path) -> str:
    with file.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()
