"""Settings resolve the model and its dimensions, and refuse what cannot work, before any call."""

from __future__ import annotations

from pathlib import Path

import pytest

from rag_pipeline.embedding import create_embedder
from rag_pipeline.embedding_models import (
    INDEXABLE_DIMENSIONS,
    MODELS,
    api_name,
    find_model,
    folder_digest,
)
from rag_pipeline.errors import ProviderError, SettingsError
from rag_pipeline.settings import EmbeddingSettings, Settings
from rag_pipeline.usage import DEFAULT_PRICES


@pytest.mark.parametrize(
    ("provider", "model", "dimensions"),
    [
        ("local", "multilingual-e5-small", 384),
        ("openai", "text-embedding-3-small", 1_536),
        ("voyage", "voyage-context-4", 1_024),
        ("vertex", "gemini-embedding-001", 3_072),
        ("ollama", "nomic-embed-text", 768),
    ],
)
def test_each_provider_has_a_default(provider: str, model: str, dimensions: int) -> None:
    settings = EmbeddingSettings(provider=provider)
    assert (settings.model, settings.dimensions) == (model, dimensions)
    again = EmbeddingSettings.model_validate(settings.model_dump())
    assert again == settings


@pytest.mark.parametrize(
    ("provider", "model", "dimensions"),
    [
        ("openai", "text-embedding-3-large", 3_072),
        ("vertex", "text-embedding-005", 768),
        ("ollama", "mxbai-embed-large", 1_024),
        ("ollama", "nomic-embed-text:v1.5", 768),
        ("voyage", "voyage-context-3", 1_024),
    ],
)
def test_known_models_have_their_dimensions(provider: str, model: str, dimensions: int) -> None:
    settings = EmbeddingSettings(provider=provider, model=model)
    assert (settings.model, settings.dimensions) == (model, dimensions)


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"model": "other"}, r"embedding\.model.*'multilingual-e5-small'"),
        ({"dimensions": 768}, r"has 384, not 768; set embedding\.dimensions = 384"),
        (
            {"provider": "vertex", "model": "textembedding-gecko@003"},
            r"shut down.*text-embedding-005",
        ),
        (
            {"provider": "vertex", "model": "textembedding-gecko-multilingual@001"},
            "shut down.*text-multilingual-embedding-002",
        ),
        ({"provider": "openai", "model": "unheard-of"}, r"embedding\.dimensions: not known"),
        ({"provider": "openai", "dimensions": 2_000}, "has 1 to 1536, not 2000"),
        ({"provider": "voyage", "dimensions": 1_000}, "has 256, 512, 1024, 2048, not 1000"),
        (
            {"provider": "ollama", "model": "qwen3-embedding:8b", "dimensions": 4_096},
            r"4,096 cannot be indexed \(pgvector's HNSW takes at most 4,000\); choose",
        ),
        ({"provider": "openai", "model_path": "models/x"}, "model_path is for the local provider"),
        ({"model_path": "models/x"}, r"embedding\.dimensions: not known"),
        ({"model_path": "models/x", "dimensions": 384}, "has no model.onnx"),
    ],
)
def test_what_cannot_work_is_refused_with_the_fix(values: dict[str, object], message: str) -> None:
    with pytest.raises(SettingsError, match=message):
        EmbeddingSettings(**values)


def test_every_listed_model_can_be_indexed_and_has_a_price() -> None:
    for model in MODELS:
        assert model.dimensions <= INDEXABLE_DIMENSIONS
        assert model.max_tokens <= model.tokens_per_request or model.provider == "local"
        if model.provider not in ("local", "ollama"):
            assert f"{model.provider}/{model.name}" in DEFAULT_PRICES


def test_a_model_that_is_not_listed_is_assumed_to_be_small() -> None:
    settings = EmbeddingSettings(
        provider="openai", base_url="http://localhost:8080/v1", model="bge-m3", dimensions=1_024
    )
    model = find_model("openai", settings.model, settings.dimensions)
    assert model is not None
    assert (model.max_tokens, model.items_per_request) == (512, 64)
    contextual = find_model("voyage", "voyage-context-5", 1_024)
    assert contextual is not None
    assert contextual.contextual


def test_a_prefix_or_limit_of_ones_own_is_another_space() -> None:
    plain = EmbeddingSettings(provider="ollama", model="bge-m3")
    own = EmbeddingSettings(provider="ollama", model="bge-m3", document_prefix="passage: ")
    shorter = EmbeddingSettings(provider="ollama", model="bge-m3", max_tokens=256)
    question = EmbeddingSettings(provider="ollama", model="bge-m3", query_prefix="query: ")
    assert len({plain.model, own.model, shorter.model}) == 3
    assert question.model == plain.model  # what is stored does not change
    assert api_name(own.model) == "bge-m3"
    assert EmbeddingSettings.model_validate(own.model_dump()).model == own.model


def test_the_hash_of_a_folder_follows_its_files(tmp_path: Path) -> None:
    (tmp_path / "model.onnx").write_bytes(b"graph")
    (tmp_path / "tokenizer.json").write_bytes(b"{}")
    first = folder_digest(tmp_path)
    (tmp_path / "model.onnx_data").write_bytes(b"weights")
    second = folder_digest(tmp_path)
    (tmp_path / "model.onnx_data").write_bytes(b"WEIGHTS!")
    assert len({first, second, folder_digest(tmp_path)}) == 3


def test_a_key_in_the_file_is_refused(tmp_path: Path) -> None:
    (tmp_path / "rag.toml").write_text('[embedding]\napi_key = "sk-1"\n', encoding="utf-8")
    with pytest.raises(SettingsError, match="RAG_EMBEDDING__API_KEY"):
        Settings.load(tmp_path)


@pytest.mark.parametrize(
    ("provider", "variable"),
    [("openai", "OPENAI_API_KEY"), ("voyage", "VOYAGE_API_KEY"), ("vertex", "GOOGLE_API_KEY")],
)
def test_keys_come_from_the_environment(
    provider: str, variable: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "rag.toml").write_text(f'[embedding]\nprovider = "{provider}"\n', encoding="utf-8")
    monkeypatch.setenv(variable, "hunter2")
    settings = Settings.load(tmp_path)
    assert settings.embedding.api_key is not None
    assert settings.embedding.api_key.get_secret_value() == "hunter2"
    assert "hunter2" not in repr(settings)
    monkeypatch.setenv("RAG_EMBEDDING__API_KEY", "hunter3")
    other = Settings.load(tmp_path).embedding.api_key
    assert other is not None
    assert other.get_secret_value() == "hunter3"


def test_the_environment_names_a_provider(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RAG_EMBEDDING__PROVIDER", "openai")
    monkeypatch.setenv("RAG_EMBEDDING__DIMENSIONS", "512")
    settings = Settings.load(tmp_path).embedding
    assert (settings.model, settings.dimensions) == ("text-embedding-3-small", 512)


@pytest.mark.parametrize("provider", ["openai", "voyage"])
def test_a_missing_key_ends_everything_and_names_the_variable(
    provider: str, tmp_path: Path
) -> None:
    embedder = create_embedder(EmbeddingSettings(provider=provider), tmp_path)
    assert embedder.count_tokens(["oil filter"])[0] > 0  # chunking needs no key
    with pytest.raises(ProviderError, match=f"{provider.upper()}_API_KEY"):
        embedder.embed_query("oil filter")
