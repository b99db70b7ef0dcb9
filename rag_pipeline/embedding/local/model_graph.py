"""Builds the ONNX graph of multilingual-e5-small: 4-bit weights, mean pooling, unit vectors.

A BERT encoder (post-norm layers) built from onnxruntime's fused operators. Matrices stay in 4 bits
(`MatMulNBits`), as does the word table (`GatherBlockQuantized`). Sources: the operators' reference
in onnxruntime's docs/ContribOperators.md; Wang et al. (2024), "Multilingual E5 Text Embeddings"
(average pooling over the tokens, then L2 normalisation).
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import onnx
from onnx import TensorProto, helper, numpy_helper

from rag_pipeline.embedding.local.model_weights import BLOCK_SIZE, QuantizedTensor, Weights

_FUSED = "com.microsoft"
# Computes in float32. Level 4 (int8 activations) gives the same within 1e-4 and is slower on CPUs
# without VNNI; see benchmarks/embedding.py.
_ACCURACY_LEVEL = 1


def build_graph(weights: Weights, file: Path, constants: str) -> None:
    """Write the graph to `file`, and its constants to a file named `constants` beside it.

    Inputs `input_ids` and `attention_mask` (int64, batch x tokens); output `embedding` (float32,
    batch x hidden, unit norm). The constants have their own file because it is
    mapped into memory: opening the model takes a quarter of the time, and processes share it.
    """
    onnx.save(
        _GraphBuilder(weights).model(),
        str(file),
        save_as_external_data=True,
        location=constants,
        size_threshold=1024,
    )


class _GraphBuilder:
    """Collects nodes and constants; each method returns the name of its output."""

    def __init__(self, weights: Weights) -> None:
        self._weights = weights
        self._nodes: list[onnx.NodeProto] = []
        self._constants: list[onnx.TensorProto] = []

    def model(self) -> onnx.ModelProto:
        state = self._embeddings()
        mask = self._node("Cast", ["attention_mask"], "mask_int32", to=TensorProto.INT32)
        for layer in range(self._weights.layers):
            state = self._layer(f"l{layer}.", state, mask)
        self._pooled(state)
        graph = helper.make_graph(
            self._nodes,
            "multilingual-e5-small",
            [
                helper.make_tensor_value_info(name, TensorProto.INT64, ["batch", "tokens"])
                for name in ("input_ids", "attention_mask")
            ],
            [
                helper.make_tensor_value_info(
                    "embedding", TensorProto.FLOAT, ["batch", self._weights.hidden]
                )
            ],
            self._constants,
        )
        opsets = [helper.make_opsetid("", 21), helper.make_opsetid(_FUSED, 1)]
        return helper.make_model(graph, opset_imports=opsets, ir_version=10)

    def _embeddings(self) -> str:
        """Word + position + token type, normalised."""
        weights = self._weights
        words = self._node(
            "GatherBlockQuantized",
            [self._word_table(), "input_ids", self._word_scales()],
            "words",
            domain=_FUSED,
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
        return self._node(
            "LayerNormalization",
            [total, self._float("emb.ln.w"), self._float("emb.ln.b")],
            "embedded_norm",
            epsilon=weights.epsilon,
            axis=-1,
        )

    def _layer(self, prefix: str, state: str, mask: str) -> str:
        """Self-attention and feed-forward, each with residual and layer norm."""
        weights = self._weights
        hidden, inner = weights.hidden, weights.feed_forward
        names = [prefix + name for name in ("q", "k", "v")]
        joint = self._matmul(state, [f"{name}.w" for name in names], hidden, 3 * hidden)
        sizes = self._constant(prefix + "sizes", np.array([hidden] * 3, np.int64))
        split = self._nodes_out("Split", [joint, sizes], names, axis=2)
        bias = np.concatenate([weights.floats[f"{name}.b"] for name in names])
        context = self._node(
            "MultiHeadAttention",
            [*split, self._constant(prefix + "qkv.b", bias), mask],
            prefix + "context",
            domain=_FUSED,
            num_heads=weights.heads,
        )
        attended = self._matmul(context, [prefix + "ao.w"], hidden, hidden)
        state = self._add_norm(attended, state, prefix + "aln", prefix + "ao.b")
        grown = self._matmul(state, [prefix + "fi.w"], hidden, inner)
        active = self._node(
            "BiasGelu", [grown, self._float(prefix + "fi.b")], prefix + "active", domain=_FUSED
        )
        shrunk = self._matmul(active, [prefix + "fo.w"], inner, hidden)
        return self._add_norm(shrunk, state, prefix + "oln", prefix + "fo.b")

    def _add_norm(self, branch: str, state: str, norm: str, bias: str) -> str:
        return self._node(
            "SkipLayerNormalization",
            [branch, state, self._float(f"{norm}.w"), self._float(f"{norm}.b"), self._float(bias)],
            f"{norm}.out",
            domain=_FUSED,
            epsilon=self._weights.epsilon,
        )

    def _pooled(self, state: str) -> str:
        """Average the tokens that are not padding, then scale to unit length."""
        mask = self._node("Cast", ["attention_mask"], "mask_float", to=TensorProto.FLOAT)
        axis_last = self._constant("axis_last", np.array([2], np.int64))
        axis_tokens = self._constant("axis_tokens", np.array([1], np.int64))
        column = self._node("Unsqueeze", [mask, axis_last], "mask_column")
        kept = self._node("Mul", [state, column], "kept")
        total = self._node("ReduceSum", [kept, axis_tokens], "total", keepdims=0)
        count = self._node("ReduceSum", [mask, axis_tokens], "count", keepdims=1)
        mean = self._node("Div", [total, count], "mean")
        return self._node("LpNormalization", [mean], "embedding", axis=-1, p=2)

    def _matmul(self, x: str, names: list[str], inputs: int, outputs: int) -> str:
        """Multiply by the matrices `names`, stacked: `outputs` x `inputs` weights of 4 bits."""
        tensors = [self._weights.quantized[name] for name in names]
        packed = np.concatenate([tensor.packed for tensor in tensors])
        scales = np.concatenate([tensor.scales for tensor in tensors])
        blocks = inputs // BLOCK_SIZE
        packed = packed.reshape(outputs, blocks, BLOCK_SIZE // 2)
        name = "+".join(names)
        return self._node(
            "MatMulNBits",
            [x, self._constant(name, packed), self._constant(f"{name}.scales", scales)],
            f"{name}.out",
            domain=_FUSED,
            K=inputs,
            N=outputs,
            bits=4,
            block_size=BLOCK_SIZE,
            accuracy_level=_ACCURACY_LEVEL,
        )

    def _word_table(self) -> str:
        table = TensorProto(
            name="word_table",
            data_type=TensorProto.INT4,
            dims=[self._weights.vocabulary, self._weights.hidden],
        )
        # The operator's INT4 is signed: the offset of 8 becomes a flipped sign bit.
        table.raw_data = np.bitwise_xor(self._word_tensor().packed, np.uint8(0x88)).tobytes()
        self._constants.append(table)
        return "word_table"

    def _word_scales(self) -> str:
        scales = self._word_tensor().scales.reshape(self._weights.vocabulary, -1)
        return self._constant("word_scales", scales)

    def _word_tensor(self) -> QuantizedTensor:
        return self._weights.quantized["emb.word"]

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

    def _nodes_out(
        self, operator: str, inputs: list[str], outputs: list[str], **attributes: Any
    ) -> list[str]:
        self._nodes.append(helper.make_node(operator, inputs, outputs, **attributes))
        return outputs
