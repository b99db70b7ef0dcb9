"""Facts about embedding models: dimensions, limits, vocabulary, prefixes.

The facts are in `embedding_models.toml`. A model that is not listed can be used as well if its
dimensions are set. `Settings` resolves the model and the dimensions with this table, so that every
reader of `settings.embedding` sees the same values.
"""

from __future__ import annotations

import hashlib
import json
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path
from typing import Literal, get_args

from rag_pipeline.errors import SettingsError

Provider = Literal["local", "openai", "voyage", "vertex", "ollama"]
Vocabulary = Literal["own", "cl100k_base", "voyage3_base", "sentencepiece", "wordpiece"]
"""How tokens are counted: by the model itself, by a vocabulary, or by an estimate for its kind."""

INDEXABLE_DIMENSIONS = 4_000
"""The most that pgvector's HNSW index takes, as `halfvec`."""
GRAPH_FILE, TOKENIZER_FILE = "model.onnx", "tokenizer.json"
"""The files in the folder that `embedding.model_path` names."""


@dataclass(frozen=True)
class EmbeddingModel:
    """One model of one provider."""

    provider: Provider
    name: str
    dimensions: int
    """Length of a vector unless another one is asked for."""
    max_tokens: int
    """Tokens of one text, or of one group if the model is contextual."""
    vocabulary: Vocabulary
    items_per_request: int
    tokens_per_request: int
    smallest: int | None = None
    """The smallest length to which the model can shorten its vectors; None = it cannot."""
    sizes: tuple[int, ...] = ()
    """The lengths the model offers, if there are only a few."""
    contextual: bool = False
    document_prefix: str = ""
    query_prefix: str = ""

    def has_dimensions(self, dimensions: int) -> bool:
        """Whether the model offers vectors of this length."""
        if self.sizes:
            return dimensions in self.sizes
        if self.smallest is not None:
            return self.smallest <= dimensions <= self.dimensions
        return dimensions == self.dimensions

    @property
    def sizes_shown(self) -> str:
        """The lengths the model offers, in words."""
        if self.sizes:
            return ", ".join(map(str, self.sizes))
        if self.smallest is not None:
            return f"{self.smallest} to {self.dimensions}"
        return str(self.dimensions)


def _read_table() -> Iterator[EmbeddingModel]:
    for provider in get_args(Provider):
        facts = _TABLE[provider]
        shared = {name: fact for name, fact in facts.items() if name not in ("default", "models")}
        for name, own in facts["models"].items():
            model = EmbeddingModel(provider=provider, name=name, **shared | own)
            yield replace(model, sizes=tuple(model.sizes))


_TABLE = tomllib.loads(Path(__file__).with_suffix(".toml").read_text(encoding="utf-8"))
MODELS = tuple(_read_table())
"""The listed models, grouped by provider."""
_BY_NAME = {(model.provider, model.name): model for model in MODELS}
# Safe for any server; unlisted models of Voyage are treated like its listed ones.
_UNLISTED_MAX_TOKENS, _UNLISTED_ITEMS = 512, 64
# Shut down in 2025, with the successors that Google names.
_RETIRED = {
    "textembedding-gecko-multilingual": "text-multilingual-embedding-002",
    "textembedding-gecko": "text-embedding-005",
}
_CHAPTER = "see docs/models.md"


def api_name(model: str) -> str:
    """Return the name that the provider knows, without the hash of a variant of your own.

    >>> api_name("all-minilm#1f0c3a55")
    'all-minilm'
    """
    return model.partition("#")[0]


def find_model(provider: Provider, name: str, dimensions: int = 0) -> EmbeddingModel | None:
    """Return the facts of a model, or safe assumptions about one that is not listed.

    None if it is not listed and its `dimensions` are not given (0). A tag after a colon is ignored
    if only the name is listed: `nomic-embed-text:v1.5`.
    """
    name = api_name(name)
    for candidate in (name, name.partition(":")[0]):
        if model := _BY_NAME.get((provider, candidate)):
            return replace(model, name=name)
    if not dimensions:
        return None
    base = _BY_NAME[provider, _TABLE[provider]["default"]]
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

    A model from your own files, or with your own prefix or limit, gives different vectors: a hash
    of these is appended to its name after a `#`, so that the vectors never mix. Raises
    `SettingsError` for a model that was shut down, dimensions that it does not offer, and
    dimensions that cannot be indexed.
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
                hint="set the length of its vectors; its model card says it",
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
    name = name or _TABLE[provider]["default"]
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
            hint=f"use {_TABLE[provider]['default']!r}, or name the folder of another one in "
            "embedding.model_path",
        )
    if listed is None and not dimensions:
        raise SettingsError(
            f"embedding.dimensions: not known for {provider}'s model {name!r}",
            hint=f"set the length of its vectors; {_CHAPTER} for the known models",
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
            hint="choose a smaller model, or smaller dimensions if the model offers them",
        )


def folder_digest(folder: Path) -> str:
    """Return the SHA-256 of a model's files: graph, weights beside it, tokenizer.

    Raises `SettingsError` if one of them is missing.
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
    """Hash the files; sizes and times only serve as the key of the cache."""
    digest = hashlib.sha256()
    for name, _size, _modified in files:
        with Path(name).open("rb") as stream:
            digest.update(hashlib.file_digest(stream, "sha256").digest())
    return digest.hexdigest()
