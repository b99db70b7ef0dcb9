"""The graph that computes in float32: matrices of 4-bit weights, several padded texts a batch."""

from __future__ import annotations

import numpy as np
from onnx import TensorProto

from rag_pipeline.embedding.local.graph_builder import FUSED, GraphBuilder, qkv
from rag_pipeline.embedding.local.model_weights import BLOCK_SIZE

# Computes in float32. Level 4 (int8 activations) gives the same within 1e-4 and is slower on CPUs
# without VNNI; see benchmarks/embedding.py.
_ACCURACY_LEVEL = 1


class Float32Graph(GraphBuilder):
    """Takes a second input, `attention_mask` (int64, batch x tokens): 1, or 0 for padding."""

    inputs = ("input_ids", "attention_mask")

    def _embeddings(self) -> str:
        self._node("Cast", ["attention_mask"], "mask_int32", to=TensorProto.INT32)
        return super()._embeddings()

    def _layer(self, prefix: str, state: str) -> str:
        weights = self._weights
        hidden, inner = weights.hidden, weights.feed_forward
        names = qkv(prefix)
        joint = self._matmul(state, [f"{name}.w" for name in names], hidden, 3 * hidden)
        bias = np.concatenate([weights.floats[f"{name}.b"] for name in names])
        context = self._node(
            "MultiHeadAttention",
            [
                *self._split_heads(joint, prefix),
                self._constant(prefix + "qkv.b", bias),
                "mask_int32",
            ],
            prefix + "context",
            domain=FUSED,
            num_heads=weights.heads,
        )
        attended = self._matmul(context, [prefix + "ao.w"], hidden, hidden)
        state = self._add_norm(attended, state, prefix + "aln", prefix + "ao.b")
        grown = self._matmul(state, [prefix + "fi.w"], hidden, inner)
        active = self._node(
            "BiasGelu", [grown, self._float(prefix + "fi.b")], prefix + "active", domain=FUSED
        )
        shrunk = self._matmul(active, [prefix + "fo.w"], inner, hidden)
        return self._add_norm(shrunk, state, prefix + "oln", prefix + "fo.b")

    def _add_norm(self, branch: str, state: str, norm: str, bias: str) -> str:
        return self._node(
            "SkipLayerNormalization",
            [branch, state, self._float(f"{norm}.w"), self._float(f"{norm}.b"), self._float(bias)],
            f"{norm}.out",
            domain=FUSED,
            epsilon=self._weights.epsilon,
        )

    def _mean(self, state: str) -> str:
        """Average the tokens that are not padding."""
        mask = self._node("Cast", ["attention_mask"], "mask_float", to=TensorProto.FLOAT)
        axis_last = self._constant("axis_last", np.array([2], np.int64))
        axis_tokens = self._constant("axis_tokens", np.array([1], np.int64))
        column = self._node("Unsqueeze", [mask, axis_last], "mask_column")
        kept = self._node("Mul", [state, column], "kept")
        total = self._node("ReduceSum", [kept, axis_tokens], "total", keepdims=0)
        count = self._node("ReduceSum", [mask, axis_tokens], "count", keepdims=1)
        return self._node("Div", [total, count], "mean")

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
            domain=FUSED,
            K=inputs,
            N=outputs,
            bits=4,
            block_size=BLOCK_SIZE,
            accuracy_level=_ACCURACY_LEVEL,
        )
