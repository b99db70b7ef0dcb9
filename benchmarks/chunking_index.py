"""Search over chunks in memory by the product's analysis, BM25 and fusion; vectors are kept."""

from __future__ import annotations

import hashlib
import sqlite3
from collections import Counter, defaultdict
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from rag_pipeline.analysis import analyze, query_weights
from rag_pipeline.embedding import Embedder
from rag_pipeline.search.legs.bm25_postings import K1, B, inverse_frequency
from rag_pipeline.search.ranking.fusion import fuse
from rag_pipeline.search.scores import LegHit
from rag_pipeline.settings import SearchSettings

LANGUAGE = "en"
BATCH = 128
Vectors = NDArray[np.float32]


class KeptVectors:
    """An embedder that computes each text once and keeps its vector in a file."""

    def __init__(self, embedder: Embedder, folder: Path) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        name = f"{embedder.model}-{embedder.version}.sqlite".replace("/", "_")
        self.embedder = embedder
        self._file = sqlite3.connect(folder / name, timeout=60)
        self._file.execute("CREATE TABLE IF NOT EXISTS v (k TEXT PRIMARY KEY, v BLOB)")

    def documents(self, texts: Sequence[str]) -> Vectors:
        """Embed passages."""
        return self._vectors("d", texts, self.embedder.embed_documents)

    def queries(self, texts: Sequence[str]) -> Vectors:
        """Embed questions."""
        embed = self.embedder.embed_query
        return self._vectors("q", texts, lambda batch: np.stack([embed(t) for t in batch]))

    def _vectors(
        self, kind: str, texts: Sequence[str], embed: Callable[[Sequence[str]], Vectors]
    ) -> Vectors:
        keys = [kind + hashlib.sha256(text.encode()).hexdigest() for text in texts]
        known: dict[str, Vectors] = {}
        for key in dict.fromkeys(keys):
            row = self._file.execute("SELECT v FROM v WHERE k = ?", (key,)).fetchone()
            if row:
                known[key] = np.frombuffer(row[0], np.float32)
        missing = {key: text for key, text in zip(keys, texts, strict=True) if key not in known}
        for start in range(0, len(missing), BATCH):
            part = list(missing)[start : start + BATCH]
            for key, vector in zip(part, embed([missing[key] for key in part]), strict=True):
                known[key] = np.asarray(vector, np.float32)
                self._file.execute(
                    "INSERT OR REPLACE INTO v VALUES (?, ?)", (key, known[key].tobytes())
                )
            self._file.commit()
        return np.stack([known[key] for key in keys])


class Index:
    """Chunks to be found: `words` are what the word index reads, `embedded` what the model does."""

    def __init__(self, words: Sequence[str], embedded: Sequence[str], vectors: KeptVectors) -> None:
        self._postings: dict[str, list[tuple[int, int]]] = defaultdict(list)
        lengths = []
        for number, text in enumerate(words):
            lexemes = analyze(text, LANGUAGE)
            lengths.append(len({position for _, position in lexemes}))
            for lexeme, count in Counter(lexeme for lexeme, _ in lexemes).items():
                self._postings[lexeme].append((number, count))
        self._lengths = np.asarray(lengths) / max(1.0, float(np.mean(lengths)))
        self._matrix = vectors.documents(embedded)
        self._vectors = vectors

    def search(
        self, questions: Sequence[str], weights: dict[str, float], settings: SearchSettings
    ) -> list[list[int]]:
        """Return the fused ranking of chunks for each question."""
        similarities = self._vectors.queries(questions) @ self._matrix.T
        rankings = []
        for question, similarity in zip(questions, similarities, strict=True):
            legs = {
                "text": _best(self._bm25(question), settings.candidates, above=0.0),
                "vector": _best(similarity, settings.candidates, above=-1.0),
            }
            fused = fuse(legs, weights, settings.fusion, settings.rank_constant)
            rankings.append([hit.chunk_id for hit in fused])
        return rankings

    def _bm25(self, question: str) -> NDArray[np.float64]:
        scores = np.zeros(len(self._lengths))
        for lexeme, weight in query_weights(question, [LANGUAGE]).items():
            if postings := self._postings.get(lexeme):
                numbers, counts = np.asarray(postings).T
                norm = counts + K1 * (1 - B + B * self._lengths[numbers])
                idf = weight * inverse_frequency(len(scores), len(postings))
                scores[numbers] += idf * (K1 + 1) * counts / norm
        return scores


def _best(scores: NDArray[np.floating], limit: int, *, above: float) -> list[LegHit]:
    order = np.argsort(-scores, kind="stable")[:limit].tolist()
    return [LegHit(i, float(scores[i])) for i in order if scores[i] > above]
