"""The files of the local model, built once from the installed weights.

Their folder is named after the weights' SHA-256 and the builder's version, so that no other version
reads them. It is renamed into place when it is complete. Of processes that build at the same time,
the first one's folder stays: all of them use the graph that it chose.
"""

from __future__ import annotations

import hashlib
import json
import tempfile
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from rag_pipeline.embedding.local.graph_choice import Arithmetic, GraphChoice, choose_graph
from rag_pipeline.embedding.local.unigram_tokenizer import UnigramTokenizer, UnigramVocabulary
from rag_pipeline.errors import EmbeddingError

MODEL = "multilingual-e5-small"
DIMENSIONS = 384
POSITIONS = 512
"""Tokens that the model takes at once, including marks and prefix."""
BEGIN_ID, PADDING_ID, END_ID, UNKNOWN_ID = 0, 1, 2, 3
QUERY_PREFIX, PASSAGE_PREFIX = "query:", "passage:"

FILES_VERSION = "2"
"""Raise it whenever a graph or the format of the files changes."""
WEIGHTS_SHA256 = "1571fc9827503943b6bb2e2c03c071f70a14f6e8ffc673946a1f7abbbfbb782f"

_GRAPHS: dict[Arithmetic, str] = {"float32": "float32.onnx", "int8": "int8.onnx"}
_WORDS = "words.bin"
_MANIFEST = "manifest.json"
_FILES = (
    *_GRAPHS.values(),
    *(f"{arithmetic}.bin" for arithmetic in _GRAPHS),
    _WORDS,
    *UnigramVocabulary.FILES,
)
# Never matched in text: a document that spells out `</s>` must not end there.
_SPECIAL_PIECES = frozenset({"<s>", "<pad>", "</s>", "<unk>", "<mask>"})


@dataclass(frozen=True)
class ModelFiles:
    """Where the graphs and the vocabulary are, and which graph this machine chose."""

    folder: Path
    choice: GraphChoice

    def graph(self, arithmetic: Arithmetic) -> Path:
        """Return the ONNX graph that computes in an arithmetic."""
        return self.folder / _GRAPHS[arithmetic]


def model_files(cache_dir: Path, *, rebuild: bool = False) -> ModelFiles:
    """Return the model's files under `cache_dir`; build them if they are missing or damaged.

    Raises `EmbeddingError` if the weights are not installed or not the pinned ones, or the folder
    cannot be written.
    """
    folder = cache_dir / f"{MODEL}-{WEIGHTS_SHA256[:16]}-v{FILES_VERSION}"
    choice = None if rebuild else _complete_choice(folder)
    return ModelFiles(folder, choice or _build(folder, replace=rebuild))


def _known_choice(folder: Path) -> GraphChoice | None:
    """Return the choice in the folder's manifest, whatever became of the other files."""
    try:
        return GraphChoice(**json.loads((folder / _MANIFEST).read_bytes())["choice"])
    except (OSError, ValueError, KeyError, TypeError):
        return None


def _complete_choice(folder: Path) -> GraphChoice | None:
    """Return the folder's choice if every file is as its manifest says.

    Hashing 100 MB at every start would take longer than loading them, so a file with the recorded
    size and time is trusted, and only one with another time is hashed.
    """
    try:
        entries = json.loads((folder / _MANIFEST).read_bytes())["files"]
        is_complete = all(_is_intact(folder / name, entries[name]) for name in _FILES)
    except (OSError, ValueError, KeyError, TypeError):
        return None
    return _known_choice(folder) if is_complete else None


def _is_intact(file: Path, entry: Mapping[str, Any]) -> bool:
    status = file.stat()
    if status.st_size != entry["size"]:
        return False
    return bool(status.st_mtime_ns == entry["modified_ns"] or _sha256(file) == entry["sha256"])


def _build(folder: Path, *, replace: bool) -> GraphChoice:
    """Build the files beside their place, then rename their folder; return the choice that counts.

    `replace` also replaces a folder that looks complete.
    """
    try:
        folder.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(prefix=".building-", dir=folder.parent) as name:
            draft = Path(name) / folder.name
            draft.mkdir()
            choice = _write_files(draft, _known_choice(folder))
            if not replace and (first := _complete_choice(folder)) is not None:
                return first
            if folder.exists():
                folder.rename(Path(name) / "replaced")
            draft.rename(folder)
            return choice
    except OSError as error:
        raise EmbeddingError(
            f"the local model cannot be written to {folder}: {error.strerror or error}",
            hint="free 150 MB, or name another folder in the setting models_dir",
        ) from error


def _write_files(folder: Path, known: GraphChoice | None) -> GraphChoice:
    """Write all files into `folder`; the choice is measured unless there is a `known` one."""
    from rag_pipeline.embedding.local.float32_graph import Float32Graph
    from rag_pipeline.embedding.local.graph_builder import move_constants, word_constants
    from rag_pipeline.embedding.local.int8_graph import Int8Graph
    from rag_pipeline.embedding.local.model_weights import find_weights, read_weights

    weights = read_weights(find_weights(), WEIGHTS_SHA256)
    words = word_constants(weights)
    move_constants(words, folder / _WORDS)
    Float32Graph(weights, words).write(folder / _GRAPHS["float32"], folder / "float32.bin")
    Int8Graph(weights, words).write(folder / _GRAPHS["int8"], folder / "int8.bin")
    UnigramVocabulary.write(
        folder,
        (
            (piece, score, number)
            for number, (piece, score) in enumerate(
                zip(weights.pieces, weights.scores.tolist(), strict=True)
            )
            if piece not in _SPECIAL_PIECES
        ),
    )
    del weights
    tokenizer = UnigramTokenizer(UnigramVocabulary(folder), unknown_id=UNKNOWN_ID)
    choice = known or choose_graph(
        folder / _GRAPHS["float32"],
        folder / _GRAPHS["int8"],
        lambda text: [BEGIN_ID, *tokenizer.encode(f"{PASSAGE_PREFIX} {text}"), END_ID],
        PADDING_ID,
    )
    manifest = {
        "choice": asdict(choice),
        "files": {file: _describe(folder / file) for file in _FILES},
    }
    (folder / _MANIFEST).write_text(json.dumps(manifest, indent=1), encoding="utf-8")
    return choice


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
