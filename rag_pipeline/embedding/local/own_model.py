"""A local model from your own folder: `model.onnx` and `tokenizer.json`.

Most sentence embedding models are published in this form: inputs `input_ids`, `attention_mask` and
sometimes `token_type_ids`; the output is one vector per text, or one per token, which are averaged.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from rag_pipeline.code_versions import EMBEDDING_VERSION
from rag_pipeline.embedding.extras import import_extra
from rag_pipeline.embedding.local.graph_choice import GraphChoice
from rag_pipeline.embedding.local.local_embedder import LocalEmbedder, Tokenizer
from rag_pipeline.embedding.local.onnx_session import open_session, pad
from rag_pipeline.embedding.vectors import Vectors
from rag_pipeline.embedding_models import GRAPH_FILE, TOKENIZER_FILE
from rag_pipeline.errors import EmbeddingError, SettingsError
from rag_pipeline.settings import EmbeddingSettings
from rag_pipeline.text import clean_text

if TYPE_CHECKING:
    from onnxruntime import InferenceSession

DEFAULT_MAX_TOKENS = 512


class FolderTokenizer:
    """A tokenizer of the `tokenizers` library, without its truncation, padding and marks."""

    def __init__(self, file: Path) -> None:
        tokenizers = import_extra("tokenizers", "onnx")
        try:
            self._tokenizer = tokenizers.Tokenizer.from_file(str(file))
        except Exception as error:  # the library raises plain exceptions
            raise SettingsError(
                f"embedding.model_path: {file} cannot be read: {error}",
                hint="take tokenizer.json from the same source as model.onnx",
            ) from error
        self._tokenizer.no_truncation()
        self._tokenizer.no_padding()

    def encode(self, text: str) -> list[int]:
        """See `Tokenizer`."""
        ids: list[int] = self._tokenizer.encode(clean_text(text), add_special_tokens=False).ids
        return ids

    def marks(self) -> tuple[list[int], list[int]]:
        """Return the ids that the model expects before and after a text."""
        encoding = self._tokenizer.encode("a", add_special_tokens=True)
        inner = [i for i, special in enumerate(encoding.special_tokens_mask) if not special]
        first, last = inner[0], inner[-1]
        return encoding.ids[:first], encoding.ids[last + 1 :]


class FolderEmbedder(LocalEmbedder):
    """A `LocalEmbedder` for the model in `embedding.model_path`.

    Its name includes a hash of the files, so that different weights are a different space.
    """

    def __init__(
        self, settings: EmbeddingSettings, cache_dir: Path, version: str | None = None
    ) -> None:
        super().__init__(settings, cache_dir, version)
        assert settings.model_path is not None
        self._folder = settings.model_path
        self._prefixes = (settings.document_prefix or "", settings.query_prefix or "")
        self._positions = settings.max_tokens or DEFAULT_MAX_TOKENS

    @property
    def version(self) -> str:
        """See `Embedder`: there is one graph."""
        return EMBEDDING_VERSION

    @property
    def choice(self) -> GraphChoice | None:
        """See `LocalEmbedder`."""
        return None

    @property
    def max_tokens(self) -> int:
        """Tokens of a window: the model's, less the marks and the longer prefix."""
        tokenizer = self._load_tokenizer()
        assert isinstance(tokenizer, FolderTokenizer)
        before, after = tokenizer.marks()
        prefix = max(len(tokenizer.encode(prefix)) for prefix in self._prefixes)
        return max(1, self._positions - len(before) - len(after) - prefix)

    def _frame(self, prefix: list[int]) -> tuple[list[int], list[int]]:
        tokenizer = self._load_tokenizer()
        assert isinstance(tokenizer, FolderTokenizer)
        before, after = tokenizer.marks()
        return [*before, *prefix], after

    def _read_tokenizer(self) -> Tokenizer:
        return FolderTokenizer(self._folder / TOKENIZER_FILE)

    def _open_session(self, threads: int) -> InferenceSession:
        graph = self._folder / GRAPH_FILE
        try:
            return open_session(graph, threads)
        except Exception as error:  # onnxruntime's errors have no base class
            raise EmbeddingError(
                f"embedding.model_path: {graph} does not open: {error}",
                hint="export the model to ONNX again",
            ) from error

    @property
    def _texts_per_batch(self) -> int:
        return self._settings.batch_size

    def _run_batch(self, session: InferenceSession, inputs: list[list[int]]) -> Vectors:
        ids, mask = pad(inputs, 0)  # masked, so any id will do
        wanted = {put.name for put in session.get_inputs()}
        feeds = {"input_ids": ids, "attention_mask": mask}
        if "token_type_ids" in wanted:
            feeds["token_type_ids"] = np.zeros_like(ids)
        output = session.run(None, {name: feeds[name] for name in wanted & feeds.keys()})
        ranks = [array.ndim for array in output]
        if 2 in ranks:  # pooled by the graph itself
            vectors: Vectors = output[ranks.index(2)]
        else:
            share = mask[:, :, None].astype(np.float32)
            vectors = (output[ranks.index(3)] * share).sum(axis=1) / share.sum(axis=1)
        if vectors.shape[1] != self.dimensions:
            raise SettingsError(
                f"embedding.dimensions: {self._folder} has {vectors.shape[1]}, "
                f"not {self.dimensions}",
                hint=f"set embedding.dimensions = {vectors.shape[1]}",
            )
        return vectors
