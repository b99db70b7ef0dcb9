"""The graph that computes in int8: one text a batch, two to three times as fast as float32.

What makes it fast on CPUs: products of int8 weights, one scale a column, with activations that are
quantised as they come (`DynamicQuantizeMatMul`); no mask, so that attention takes its flash path;
`Add` and `LayerNormalization`, because the kernel of `SkipLayerNormalization` is not vectorised;
and the tanh form of GELU (`FastGelu`).

A batch holds one text, without padding. The scale of the activations is taken over the whole batch,
so a text beside others would get a slightly different vector.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from rag_pipeline.embedding.local.graph_builder import FUSED, GraphBuilder, qkv
from rag_pipeline.embedding.local.model_weights import BLOCK_SIZE, QuantizedTensor

# A few channels, nearly all of them at the marks around a text, are 2 to 20 times as large as the
# rest and would use up the 8 bits. They are divided before a product, and their weights multiplied
# by as much (Xiao et al., 2023, "SmoothQuant"). By layer and product (fi, fo: into and out of the
# feed-forward): input channel to divisor. They belong to these very weights, pinned by SHA-256.
OUTLIERS: dict[str, dict[int, float]] = {
    "l0.fi": {60: 1.6, 321: 2.4},
    "l0.fo": {318: 3.9},
    "l1.fi": {15: 3.5, 321: 2.2},
    "l1.fo": {1462: 2.4},
    "l2.fi": {15: 3.7, 321: 1.8},
    "l2.fo": {354: 2.4},
    "l3.fi": {15: 3.9},
    "l4.fi": {15: 2.6},
    "l4.fo": {778: 7.8},
    "l5.fi": {35: 3.0},
    "l5.fo": {658: 4.5},
    "l6.fi": {15: 1.7, 35: 4.6},
    "l6.fo": {1152: 2.2},
    "l7.fi": {15: 1.7, 35: 3.7},
    "l7.fo": {413: 2.4},
    "l8.fi": {15: 2.1, 35: 4.2},
    "l9.fi": {15: 2.1, 35: 3.7},
    "l10.fi": {15: 1.8, 35: 3.6, 351: 1.8},
    "l11.fi": {35: 3.3},
    "l11.fo": {119: 2.0, 554: 2.3, 712: 1.6, 1371: 2.2},
}
_LARGEST = 127
"""63 would keep sums of two products within int16, which CPUs with AVX2 but without VNNI add up in;
even there 127 came out nearer to the float32 vectors."""


class Int8Graph(GraphBuilder):
    """Takes `input_ids` of one text."""

    def _layer(self, prefix: str, state: str) -> str:
        hidden, inner = self._weights.hidden, self._weights.feed_forward
        joint = self._product(state, qkv(prefix), hidden)
        context = self._node(
            "MultiHeadAttention",
            self._split_heads(joint, prefix),
            prefix + "context",
            domain=FUSED,
            num_heads=self._weights.heads,
        )
        attended = self._product(context, [prefix + "ao"], hidden)
        state = self._add_norm(attended, state, prefix + "aln")
        grown = self._product(state, [prefix + "fi"], hidden)
        active = self._node("FastGelu", [grown], prefix + "active", domain=FUSED)
        shrunk = self._product(active, [prefix + "fo"], inner)
        return self._add_norm(shrunk, state, prefix + "oln")

    def _add_norm(self, branch: str, state: str, norm: str) -> str:
        return self._layer_norm(self._node("Add", [branch, state], f"{norm}.sum"), norm)

    def _mean(self, state: str) -> str:
        axis = self._constant("axis_tokens", np.array([1], np.int64))
        return self._node("ReduceMean", [state, axis], "mean", keepdims=0)

    def _product(self, x: str, names: list[str], inputs: int) -> str:
        """Multiply by the stacked matrices `names`, outputs x `inputs`, and add their biases."""
        weights = self._weights
        matrix = np.concatenate([_values(weights.quantized[f"{n}.w"], inputs) for n in names])
        name = "+".join(names)
        if outliers := OUTLIERS.get(name):
            divisors = np.ones(inputs, np.float32)
            divisors[list(outliers)] = list(outliers.values())
            x = self._node("Mul", [x, self._constant(f"{name}.smooth", 1 / divisors)], f"{name}.in")
            matrix = matrix * divisors
        scales = (np.abs(matrix).max(axis=1) / _LARGEST).astype(np.float32)
        constants = [
            self._constant(f"{name}.w", np.rint(matrix / scales[:, None]).astype(np.int8).T),
            self._constant(f"{name}.scales", scales),
            self._constant(f"{name}.zeros", np.zeros(len(matrix), np.int8)),
            self._constant(f"{name}.b", np.concatenate([weights.floats[f"{n}.b"] for n in names])),
        ]
        return self._node("DynamicQuantizeMatMul", [x, *constants], f"{name}.out", domain=FUSED)


def _values(tensor: QuantizedTensor, inputs: int) -> npt.NDArray[np.float32]:
    """Return the weights of a 4-bit matrix, outputs x `inputs`."""
    values = np.empty((len(tensor.packed), BLOCK_SIZE), np.float32)
    values[:, 0::2] = tensor.packed & 15
    values[:, 1::2] = tensor.packed >> 4
    matrix: npt.NDArray[np.float32] = (values - 8) * tensor.scales[:, None]
    return matrix.reshape(-1, inputs)
