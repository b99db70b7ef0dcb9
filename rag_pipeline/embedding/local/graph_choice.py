"""Which of the two graphs this machine uses: measured once, when the model is built.

int8 is the choice where it is clearly faster and its vectors agree with float32's on texts of
several languages and kinds. The choice is kept beside the graphs: vectors of the two must not mix,
so it stays as it is while the model does.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from rag_pipeline.code_versions import EMBEDDING_VERSION
from rag_pipeline.embedding.local.onnx_session import Ids, open_session, pad
from rag_pipeline.embedding.vectors import Vectors

Arithmetic = Literal["float32", "int8"]
VERSIONS: dict[Arithmetic, str] = {
    "float32": EMBEDDING_VERSION,
    "int8": f"{EMBEDDING_VERSION}-int8",
}
"""Version of the space of each arithmetic's vectors."""
LEAST_RATIO = 1.2
"""Times as fast as float32; with less, a store's vectors need not be made anew."""
LEAST_COSINE = 0.997
"""Of a text's two vectors; the least of the samples counts."""
_SECONDS = 1.0
_SENTENCES = (
    "Switch off the engine and let it cool down before the cover is removed. ",
    "오일 필터를 교체하기 전에 엔진을 끄고 충분히 식히십시오. ",
    "Ziehen Sie die vier Schrauben M8×1,25 in der gezeigten Reihenfolge mit 25 N·m an. ",
    "圧力センサーが故障した場合は、電源を切ってから交換してください。 ",
    "Le voyant rouge clignote lorsque la pression dépasse 6 bar pendant dix secondes. ",
    "sudo systemctl restart pump.service && journalctl -u pump --since '10 min ago' ",
    "| E-07 | 11.5 V | see 3.2.1 | ",
)
_SAMPLES = (
    *(sentence * 3 for sentence in _SENTENCES),
    "".join(_SENTENCES),
    "filter",
    "0 0 0 0 1 1 1 1 -273.15 °C",
    "",
)


@dataclass(frozen=True)
class GraphChoice:
    """The arithmetic in use, and what was measured; `note` says why where it is float32."""

    arithmetic: Arithmetic
    ratio: float = 0.0
    """How many times as fast as float32 int8 is on this machine, by CPU time; 0 = not measured."""
    cosine: float = 0.0
    """The least cosine of int8's and float32's vectors of one text."""
    note: str = ""

    def describe(self) -> str:
        """Return the choice and its reason for `rag doctor`."""
        if self.note:
            return f"{self.arithmetic} arithmetic ({self.note})"
        measured = f"int8 is {self.ratio:.1f} times as fast as float32 here"
        return f"{self.arithmetic} arithmetic ({measured}, least cosine {self.cosine:.4f})"


def choose_graph(
    float32: Path, int8: Path, encode: Callable[[str], Sequence[int]], padding: int
) -> GraphChoice:
    """Run the samples on both graphs by turns for about a second, and choose.

    `encode` returns all ids of a text, marks included.
    """
    try:
        graphs = _TimedGraph(float32), _TimedGraph(int8)
    except Exception as error:  # onnxruntime's errors have no base class
        return GraphChoice("float32", note=f"int8 does not open here: {error}")
    batches = [pad([list(encode(text))], padding) for text in _SAMPLES]
    cosine = 1.0
    for ids, mask in batches:  # also a warm-up: the first run of a length allocates
        one = graphs[0].vector(input_ids=ids, attention_mask=mask)
        two = graphs[1].vector(input_ids=ids)
        cosine = min(cosine, float(one @ two))
    for graph in graphs:
        graph.seconds = 0.0
    end = time.perf_counter() + _SECONDS
    while not graphs[0].seconds or time.perf_counter() < end:
        for ids, mask in batches:
            graphs[0].vector(input_ids=ids, attention_mask=mask)
            graphs[1].vector(input_ids=ids)
    ratio = graphs[0].seconds / max(graphs[1].seconds, 1e-9)
    is_better = ratio >= LEAST_RATIO and cosine >= LEAST_COSINE
    return GraphChoice("int8" if is_better else "float32", round(ratio, 2), round(cosine, 5))


class _TimedGraph:
    """A graph on one thread, and the CPU seconds that it took."""

    def __init__(self, file: Path) -> None:
        self._session = open_session(file, threads=1)
        self.seconds = 0.0

    def vector(self, **feeds: Ids) -> Vectors:
        start = time.thread_time()
        output: Vectors = self._session.run(None, feeds)[0]
        self.seconds += time.thread_time() - start
        vector: Vectors = output[0]
        return vector
