"""What both graphs of multilingual-e5-small share: embeddings of words and positions, bookkeeping.

A BERT encoder (post-norm layers) built from onnxruntime's fused operators. Sources: the operators'
reference in onnxruntime's docs/ContribOperators.md; Wang et al. (2024), "Multilingual E5 Text
Embeddings" (average pooling over the tokens, then L2 normalisation).
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import onnx
from onnx import TensorProto, helper, numpy_helper
from onnx.external_data_helper import set_external_data

from rag_pipeline.embedding.local.model_weights import BLOCK_SIZE, Weights

FUSED = "com.microsoft"
_WORD_TABLE, _WORD_SCALES = "word_table", "word_scales"
_ALIGNMENT = 4096  # a page, so that a constant can be mapped into memory where it lies
_LEAST_BYTES = 1024  # smaller constants stay in the graph


def word_constants(weights: Weights) -> list[TensorProto]:
    """Return the word table in 4 bits and its scales, for `GatherBlockQuantized`."""
    words = weights.quantized["emb.word"]
    table = TensorProto(
        name=_WORD_TABLE,
        data_type=TensorProto.INT4,
        dims=[weights.vocabulary, weights.hidden],
    )
    # The operator's INT4 is signed: the offset of 8 becomes a flipped sign bit.
    table.raw_data = np.bitwise_xor(words.packed, np.uint8(0x88)).tobytes()
    scales = words.scales.reshape(weights.vocabulary, -1)
    return [table, numpy_helper.from_array(scales, _WORD_SCALES)]


def move_constants(tensors: Sequence[TensorProto], file: Path) -> None:
    """Write the values of constants to `file`; the tensors then name their place in it.

    Constants have files of their own because these are mapped into memory: opening the model takes
    a quarter of the time, and processes and graphs share them.
    """
    with file.open("wb") as stream:
        for tensor in tensors:
            if tensor.HasField("raw_data") and len(tensor.raw_data) >= _LEAST_BYTES:
                stream.write(bytes(-stream.tell() % _ALIGNMENT))
                start = stream.tell()
                stream.write(tensor.raw_data)
                set_external_data(tensor, file.name, start, stream.tell() - start)
                tensor.ClearField("raw_data")
                tensor.data_location = TensorProto.EXTERNAL


class GraphBuilder:
    """Collects nodes and constants; each method returns the name of its output.

    The input `input_ids` is int64, batch x tokens; the output `embedding` is float32, batch x
    hidden, of unit norm.
    """

    inputs: tuple[str, ...] = ("input_ids",)

    def __init__(self, weights: Weights, words: Sequence[TensorProto]) -> None:
        self._weights = weights
        self._nodes: list[onnx.NodeProto] = []
        self._words = words
        self._constants: list[onnx.TensorProto] = []

    def write(self, graph: Path, constants: Path) -> None:
        """Write the graph, and its constants to a file in the same folder."""
        state = self._embeddings()
        for layer in range(self._weights.layers):
            state = self._layer(f"l{layer}.", state)
        mean = self._mean(state)
        self._node("LpNormalization", [mean], "embedding", axis=-1, p=2)
        move_constants(self._constants, constants)
        graph.write_bytes(self._model().SerializeToString())

    def _layer(self, prefix: str, state: str) -> str:
        """Self-attention and feed-forward, each with residual and layer norm."""
        raise NotImplementedError

    def _mean(self, state: str) -> str:
        """Average the tokens of each text."""
        raise NotImplementedError

    def _model(self) -> onnx.ModelProto:
        graph = helper.make_graph(
            self._nodes,
            "multilingual-e5-small",
            [
                helper.make_tensor_value_info(name, TensorProto.INT64, ["batch", "tokens"])
                for name in self.inputs
            ],
            [
                helper.make_tensor_value_info(
                    "embedding", TensorProto.FLOAT, ["batch", self._weights.hidden]
                )
            ],
            [*self._words, *self._constants],
        )
        opsets = [helper.make_opsetid("", 21), helper.make_opsetid(FUSED, 1)]
        return helper.make_model(graph, opset_imports=opsets, ir_version=10)

    def _embeddings(self) -> str:
        """Word + position + token type, normalised."""
        weights = self._weights
        words = self._node(
            "GatherBlockQuantized",
            [_WORD_TABLE, "input_ids", _WORD_SCALES],
            "words",
            domain=FUSED,
            block_size=BLOCK_SIZE,
            gather_axis=0,
            quantize_axis=1,
        )
        # All tokens have type 0, so its row is added to the positions.
        places = weights.floats["emb.pos"].reshape(weights.positions, weights.hidden)
        places = places + weights.floats["emb.type"][: weights.hidden]
        shape = self._node("Shape", ["input_ids"], "shape")
        zero, one, two = (self._constant(f"int_{i}", np.array([i], np.int64)) for i in range(3))
        length = self._node("Slice", [shape, one, two], "length")
        table = self._constant("positions", places)
        places_used = self._node("Slice", [table, zero, length], "positions_used")
        total = self._node("Add", [words, places_used], "embedded")
        return self._layer_norm(total, "emb.ln")

    def _layer_norm(self, x: str, norm: str) -> str:
        return self._node(
            "LayerNormalization",
            [x, self._float(f"{norm}.w"), self._float(f"{norm}.b")],
            f"{norm}.out",
            epsilon=self._weights.epsilon,
            axis=-1,
        )

    def _split_heads(self, joint: str, prefix: str) -> list[str]:
        """Split query, key and value, which are computed in one product."""
        sizes = self._constant(prefix + "sizes", np.array([self._weights.hidden] * 3, np.int64))
        outputs = qkv(prefix)
        self._nodes.append(helper.make_node("Split", [joint, sizes], outputs, axis=2))
        return outputs

    def _float(self, name: str) -> str:
        return self._constant(name, self._weights.floats[name])

    def _constant(self, name: str, values: npt.NDArray[Any]) -> str:
        self._constants.append(numpy_helper.from_array(np.ascontiguousarray(values), name))
        return name

    def _node(
        self, operator: str, inputs: list[str], output: str, *, domain: str = "", **attributes: Any
    ) -> str:
        self._nodes.append(
            helper.make_node(operator, inputs, [output], domain=domain, **attributes)
        )
        return output


def qkv(prefix: str) -> list[str]:
    """Return the names of a layer's query, key and value."""
    return [prefix + name for name in ("q", "k", "v")]
