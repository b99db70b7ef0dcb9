"""Facts about embedding models: dimensions, limits, vocabulary, prefixes.

What a provider publishes of its models, as looked up in November 2026. A model that is not listed
can be used too, once its dimensions are set. `Settings` resolves the model and the dimensions with
this table, so that every reader of `settings.embedding` sees the same values.
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path
from typing import Literal

from rag_pipeline.errors import SettingsError

Provider = Literal["local", "openai", "voyage", "vertex", "ollama"]
Vocabulary = Literal["own", "cl100k_base", "voyage3_base", "sentencepiece", "wordpiece"]
"""How tokens are counted: by the model itself, by a vocabulary, or estimated for its kind."""

INDEXABLE_DIMENSIONS = 4_000
"""pgvector's HNSW index takes at most so many as `halfvec`."""
GRAPH_FILE, TOKENIZER_FILE = "model.onnx", "tokenizer.json"
"""What a folder named by `embedding.model_path` holds."""


@dataclass(frozen=True)
class EmbeddingModel:
    """One model of one provider."""

    provider: Provider
    name: str
    dimensions: int
    """Length of a vector where none is asked for."""
    max_tokens: int
    """Tokens of one text; of one group, where the model is contextual."""
    vocabulary: Vocabulary
    items_per_request: int
    tokens_per_request: int
    smallest: int | None = None
    """The model shortens its vectors to any length from here on; None = it does not."""
    sizes: tuple[int, ...] = ()
    """The only lengths it has, where these are few."""
    contextual: bool = False
    document_prefix: str = ""
    query_prefix: str = ""

    def has_dimensions(self, dimensions: int) -> bool:
        """Whether the model makes vectors of this length."""
        if self.sizes:
            return dimensions in self.sizes
        if self.smallest is not None:
            return self.smallest <= dimensions <= self.dimensions
        return dimensions == self.dimensions

    @property
    def sizes_shown(self) -> str:
        """The lengths that it has, in words."""
        if self.sizes:
            return ", ".join(map(str, self.sizes))
        if self.smallest is not None:
            return f"{self.smallest} to {self.dimensions}"
        return str(self.dimensions)


_LOCAL = EmbeddingModel("local", "multilingual-e5-small", 384, 500, "own", 1, 1)
# A request of OpenAI: 2,048 inputs, 300,000 tokens, 8,192 a text (developers.openai.com, API
# reference of embeddings).
_OPENAI = EmbeddingModel(
    "openai", "text-embedding-3-small", 1_536, 8_191, "cl100k_base", 2_048, 300_000, smallest=1
)
# Voyage: 1,000 inputs; 32,000 tokens a text or group (law-2: 16,000); 120,000, 320,000 or a million
# a request, by model (docs.voyageai.com). Only the vocabulary of its third generation is at hand
# offline, so a fifth of each limit is kept in reserve.
_VOYAGE = EmbeddingModel(
    "voyage",
    "voyage-4",
    1_024,
    25_600,
    "voyage3_base",
    1_000,
    256_000,
    sizes=(256, 512, 1_024, 2_048),
)
_VOYAGE_CONTEXT = replace(_VOYAGE, name="voyage-context-4", contextual=True)
# Vertex AI: gemini-embedding models take one text a request, the others 250 texts and 20,000
# tokens; 2,048 tokens a text (cloud.google.com, text embeddings API).
_GEMINI = EmbeddingModel(
    "vertex", "gemini-embedding-001", 3_072, 2_048, "sentencepiece", 1, 2_048, smallest=1
)
_TEXT_EMBEDDING = EmbeddingModel(
    "vertex", "text-embedding-005", 768, 2_048, "sentencepiece", 250, 20_000, smallest=1
)
_TITLE, _TASK = "title: none | text: ", "task: search result | query: "
_OLLAMA = EmbeddingModel("ollama", "nomic-embed-text", 768, 2_048, "wordpiece", 64, 32_768)

_MODELS = (
    _LOCAL,
    _OPENAI,
    replace(_OPENAI, name="text-embedding-3-large", dimensions=3_072),
    replace(_OPENAI, name="text-embedding-ada-002", smallest=None),
    _VOYAGE,
    replace(_VOYAGE, name="voyage-4-large", tokens_per_request=96_000),
    replace(_VOYAGE, name="voyage-4-lite", tokens_per_request=800_000),
    replace(_VOYAGE, name="voyage-code-4", tokens_per_request=96_000),
    replace(_VOYAGE, name="voyage-code-3", tokens_per_request=96_000),
    replace(_VOYAGE, name="voyage-3.5"),
    replace(_VOYAGE, name="voyage-3.5-lite", tokens_per_request=800_000),
    replace(_VOYAGE, name="voyage-3-large", tokens_per_request=96_000),
    replace(_VOYAGE, name="voyage-finance-2", tokens_per_request=96_000, sizes=(1_024,)),
    replace(
        _VOYAGE, name="voyage-law-2", max_tokens=12_800, tokens_per_request=96_000, sizes=(1_024,)
    ),
    replace(_VOYAGE, name="voyage-multilingual-2", tokens_per_request=96_000, sizes=(1_024,)),
    replace(_VOYAGE_CONTEXT, tokens_per_request=96_000),
    replace(_VOYAGE_CONTEXT, name="voyage-context-3", tokens_per_request=96_000),
    _GEMINI,
    replace(
        _GEMINI,
        name="gemini-embedding-2",
        max_tokens=8_192,
        tokens_per_request=8_192,
        document_prefix=_TITLE,
        query_prefix=_TASK,
    ),
    _TEXT_EMBEDDING,
    replace(_TEXT_EMBEDDING, name="text-multilingual-embedding-002"),
    replace(_OLLAMA, document_prefix="search_document: ", query_prefix="search_query: "),
    replace(
        _OLLAMA,
        name="mxbai-embed-large",
        dimensions=1_024,
        max_tokens=512,
        query_prefix="Represent this sentence for searching relevant passages: ",
    ),
    replace(_OLLAMA, name="bge-m3", dimensions=1_024, max_tokens=8_192, vocabulary="sentencepiece"),
    replace(
        _OLLAMA,
        name="embeddinggemma",
        vocabulary="sentencepiece",
        sizes=(128, 256, 512, 768),
        document_prefix=_TITLE,
        query_prefix=_TASK,
    ),
)
_BY_NAME = {(model.provider, model.name): model for model in _MODELS}
_DEFAULTS: dict[Provider, str] = {
    "local": "multilingual-e5-small",
    "openai": "text-embedding-3-small",
    "voyage": "voyage-context-4",
    "vertex": "gemini-embedding-001",
    "ollama": "nomic-embed-text",
}
# What a server of unknown make takes; Voyage's unlisted models are like its listed ones.
_UNLISTED_MAX_TOKENS, _UNLISTED_ITEMS = 512, 64
# Shut down in 2025; each with the model that Google names in its place.
_RETIRED = {
    "textembedding-gecko-multilingual": "text-multilingual-embedding-002",
    "textembedding-gecko": "text-embedding-005",
}
_CHAPTER = "see docs/models.md"


def listed_models() -> tuple[EmbeddingModel, ...]:
    """Return the models that the table knows, grouped by provider."""
    return _MODELS


def api_name(model: str) -> str:
    """Return the name that the provider knows, without what tells one's own variant apart.

    >>> api_name("all-minilm#1f0c3a55")
    'all-minilm'
    """
    return model.partition("#")[0]


def find_model(provider: Provider, name: str, dimensions: int = 0) -> EmbeddingModel | None:
    """Return the facts of a model; of one that is not listed, what is safe to assume of it.

    None, if it is not listed and its `dimensions` are not given (0). A tag after a colon is left
    out where only the name is listed: `nomic-embed-text:v1.5`.
    """
    name = api_name(name)
    for candidate in (name, name.partition(":")[0]):
        if model := _BY_NAME.get((provider, candidate)):
            return replace(model, name=name)
    if not dimensions:
        return None
    base = _BY_NAME[provider, _DEFAULTS[provider]]
    if provider == "voyage":
        base = _BY_NAME["voyage", "voyage-4-large"]
        contextual = name.startswith("voyage-context")
        return replace(base, name=name, dimensions=dimensions, sizes=(), contextual=contextual)
    return replace(
        base,
        name=name,
        dimensions=dimensions,
        smallest=None,
        max_tokens=_UNLISTED_MAX_TOKENS,
        vocabulary="wordpiece",
        items_per_request=min(base.items_per_request, _UNLISTED_ITEMS),
        tokens_per_request=min(base.tokens_per_request, _UNLISTED_ITEMS * _UNLISTED_MAX_TOKENS),
        document_prefix="",
        query_prefix="",
    )


def resolve_model(
    provider: Provider,
    name: str,
    dimensions: int,
    *,
    model_path: Path | None = None,
    document_prefix: str | None = None,
    max_tokens: int = 0,
) -> tuple[str, int]:
    """Return the full name and the dimensions that the settings mean; "" and 0 mean the default.

    A model of one's own files, and one with a prefix or a limit of one's own, gives other vectors
    than the plain one: its name gets a hash of these behind a `#`, so that their vectors never
    mix. Raises `SettingsError` for a model that is shut down, dimensions that it does not have,
    and dimensions that cannot be indexed.
    """
    if model_path is not None:
        if provider != "local":
            raise SettingsError(
                f"embedding.model_path is for the local provider, not for {provider}",
                hint='set embedding.provider = "local", or leave model_path out',
            )
        name = api_name(name) or model_path.name
        if not dimensions:
            raise SettingsError(
                f"embedding.dimensions: not known for the model in {model_path}",
                hint="set the length of its vectors, which its model card says",
            )
        _check_indexable(name, dimensions)
    else:
        name, dimensions = _resolve_listed(provider, api_name(name), dimensions)
    own: list[str] = [] if model_path is None else [folder_digest(model_path)]
    if document_prefix is not None:
        own.append(f"document_prefix={document_prefix}")
    if max_tokens:
        own.append(f"max_tokens={max_tokens}")
    if own:
        name += "#" + hashlib.sha256(json.dumps(own).encode()).hexdigest()[:12]
    return name, dimensions


def _resolve_listed(provider: Provider, name: str, dimensions: int) -> tuple[str, int]:
    name = name or _DEFAULTS[provider]
    for retired, successor in _RETIRED.items():
        if name.startswith(retired):
            raise SettingsError(
                f"embedding.model: {name} was shut down by Google",
                hint=f'set embedding.model = "{successor}" or "gemini-embedding-001"',
            )
    listed = find_model(provider, name)
    if listed is None and provider == "local":
        raise SettingsError(
            f"embedding.model: the local provider has no model {name!r}",
            hint=f"use {_LOCAL.name!r}, or name the folder of another one in embedding.model_path",
        )
    if listed is None and not dimensions:
        raise SettingsError(
            f"embedding.dimensions: not known for {provider}'s model {name!r}",
            hint=f"set the length of its vectors; {_CHAPTER} for the models that are known",
        )
    dimensions = dimensions or (listed.dimensions if listed else 0)
    if listed and not listed.has_dimensions(dimensions):
        raise SettingsError(
            f"embedding.dimensions: {name} has {listed.sizes_shown}, not {dimensions}",
            hint=f"set embedding.dimensions = {listed.dimensions}",
        )
    _check_indexable(name, dimensions)
    return name, dimensions


def _check_indexable(name: str, dimensions: int) -> None:
    if dimensions > INDEXABLE_DIMENSIONS:
        raise SettingsError(
            f"embedding.dimensions: {name}'s {dimensions:,} cannot be indexed (pgvector's HNSW "
            f"takes at most {INDEXABLE_DIMENSIONS:,})",
            hint="choose a smaller model, or smaller dimensions where the model has them",
        )


def folder_digest(folder: Path) -> str:
    """Return the SHA-256 of a model's files: graph, weights beside it, tokenizer.

    Raises `SettingsError` where the folder does not hold them.
    """
    for name in (GRAPH_FILE, TOKENIZER_FILE):
        if not (folder / name).is_file():
            raise SettingsError(
                f"embedding.model_path: {folder} has no {name}",
                hint=f"name a folder that holds {GRAPH_FILE} and {TOKENIZER_FILE}",
            )
    files = sorted({folder / TOKENIZER_FILE, *folder.glob(f"{GRAPH_FILE}*")})
    return _digest(
        tuple((str(file), file.stat().st_size, file.stat().st_mtime_ns) for file in files)
    )


@lru_cache(maxsize=8)
def _digest(files: tuple[tuple[str, int, int], ...]) -> str:
    """Hash the files; their sizes and times are the cache's key only."""
    digest = hashlib.sha256()
    for name, _size, _modified in files:
        with Path(name).open("rb") as stream:
            digest.update(hashlib.file_digest(stream, "sha256").digest())
    return digest.hexdigest()
