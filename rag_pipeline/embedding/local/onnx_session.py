"""Opens ONNX graphs and pads what they read."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

if TYPE_CHECKING:
    from onnxruntime import InferenceSession

Ids = npt.NDArray[np.int64]


def open_session(graph: Path, threads: int) -> InferenceSession:
    """Open a graph that runs each batch on so many threads."""
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = threads
    options.inter_op_num_threads = 1
    # Waiting threads must not occupy a core that a parser could use.
    options.add_session_config_entry("session.intra_op.allow_spinning", "0")
    return onnxruntime.InferenceSession(str(graph), options, providers=["CPUExecutionProvider"])


def pad(inputs: list[list[int]], padding: int) -> tuple[Ids, Ids]:
    """Return the ids of a batch, windows x the longest length, and the mask of non-padding."""
    width = max(map(len, inputs))
    ids = np.full((len(inputs), width), padding, dtype=np.int64)
    mask = np.zeros((len(inputs), width), dtype=np.int64)
    for row, window in enumerate(inputs):
        ids[row, : len(window)] = window
        mask[row, : len(window)] = 1
    return ids, mask
