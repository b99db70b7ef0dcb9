"""What is special to one provider's client."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import rsa

from rag_pipeline.embedding import create_embedder
from rag_pipeline.errors import ProviderError, SettingsError
from rag_pipeline.settings import EmbeddingSettings
from tests.embedding.provider_server import ProviderServer, vector_of


@pytest.fixture(scope="module")
def running_server() -> Iterator[ProviderServer]:
    with ProviderServer().serving() as server:
        yield server


@pytest.fixture
def server(running_server: ProviderServer) -> ProviderServer:
    running_server.reset()
    return running_server


def embed(server: ProviderServer, tmp_path: Path, **settings: Any) -> dict[str, Any]:
    """Embed one text and return what was asked for."""
    values = {"base_url": server.url, "deadline_seconds": 60} | settings
    create_embedder(EmbeddingSettings(**values), tmp_path).embed_documents(["oil"])
    return server.requests[-1].body


def test_openai_is_asked_for_dimensions_only_where_they_differ(
    server: ProviderServer, tmp_path: Path
) -> None:
    server.dimensions = 512
    assert embed(server, tmp_path, provider="openai", dimensions=512)["dimensions"] == 512
    server.dimensions = 1_536
    for model in ("text-embedding-3-small", "text-embedding-ada-002"):
        body = embed(server, tmp_path, provider="openai", model=model)
        assert "dimensions" not in body
        assert body["model"] == model


def test_a_server_like_openai_needs_no_key(server: ProviderServer, tmp_path: Path) -> None:
    body = embed(server, tmp_path, provider="openai", model="bge-small", dimensions=64)
    assert (body["model"], body["input"]) == ("bge-small", ["oil"])


def test_ones_own_variant_is_asked_for_by_its_plain_name(
    server: ProviderServer, tmp_path: Path
) -> None:
    body = embed(
        server,
        tmp_path,
        provider="ollama",
        model="all-minilm",
        dimensions=64,
        document_prefix="doc: ",
    )
    assert body == {"model": "all-minilm", "truncate": False, "input": ["doc: oil"]}


def test_no_request_is_larger_than_a_minute_has_room_for(
    server: ProviderServer, tmp_path: Path
) -> None:
    settings = EmbeddingSettings(
        provider="openai",
        base_url=server.url,
        dimensions=64,
        tokens_per_minute=1_000_000_000,
        requests_per_minute=1_000_000,
    )
    embedder = create_embedder(settings, tmp_path)
    texts = [f"{n} " + "oil pump " * 500 for n in range(40)]
    embedder.embed_documents(texts)
    assert len(server.requests) == 1
    server.reset()
    slower = create_embedder(settings.model_copy(update={"tokens_per_minute": 10_000}), tmp_path)
    slower._limiter = embedder._limiter  # the waiting itself is another test's
    slower._sender._limiter = embedder._limiter
    slower.embed_documents(texts)
    for request in server.requests:
        assert sum(embedder.count_tokens(request.texts)) <= 10_000


def test_threads_share_one_embedder(server: ProviderServer, tmp_path: Path) -> None:
    embedder = create_embedder(
        EmbeddingSettings(provider="openai", base_url=server.url, dimensions=64), tmp_path
    )
    texts = [f"question {n}" for n in range(16)]
    with ThreadPoolExecutor(8) as pool:
        vectors = list(pool.map(embedder.embed_query, texts))
    for text, vector in zip(texts, vectors, strict=True):
        expected = vector_of(text, 64)
        np.testing.assert_allclose(vector, expected / np.linalg.norm(expected), atol=1e-5)
    (usage,) = embedder.take_usage()
    assert usage.requests == 16
    assert server.most_running <= 4


def test_ollama_that_does_not_run_is_named(tmp_path: Path) -> None:
    settings = EmbeddingSettings(
        provider="ollama", base_url="http://127.0.0.1:9", deadline_seconds=0.2
    )
    with pytest.raises(Exception, match="ollama serve"):
        create_embedder(settings, tmp_path).embed_query("oil")


def test_vertex_never_cuts_and_one_gemini_text_goes_a_request(
    server: ProviderServer, tmp_path: Path
) -> None:
    server.dimensions = 768
    body = embed(server, tmp_path, provider="vertex", model="text-embedding-005", api_key="k")
    assert body["parameters"] == {"autoTruncate": False}
    assert body["instances"] == [{"content": "oil", "task_type": "RETRIEVAL_DOCUMENT"}]
    body = embed(server, tmp_path, provider="vertex", dimensions=768, api_key="k")
    assert body["embedContentConfig"] == {
        "taskType": "RETRIEVAL_DOCUMENT",
        "outputDimensionality": 768,
        "autoTruncate": False,
    }
    assert server.requests[-1].headers["x-goog-api-key"] == "k"
    server.dimensions = 3_072
    body = embed(server, tmp_path, provider="vertex", model="gemini-embedding-2", api_key="k")
    assert body["content"]["parts"] == [{"text": "title: none | text: oil"}]


def test_vertex_takes_application_default_credentials(
    server: ProviderServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    key = rsa.generate_private_key(public_exponent=65_537, key_size=2_048).private_bytes(
        serialization.Encoding.PEM,
        serialization.PrivateFormat.PKCS8,
        serialization.NoEncryption(),
    )
    account = {
        "type": "service_account",
        "project_id": "plant",
        "client_email": "rag@plant.iam.gserviceaccount.com",
        "private_key": key.decode(),
        "token_uri": f"{server.url}/token",
    }
    (tmp_path / "account.json").write_text(json.dumps(account), encoding="utf-8")
    monkeypatch.setenv("GOOGLE_APPLICATION_CREDENTIALS", str(tmp_path / "account.json"))
    server.dimensions = 768
    embed(
        server,
        tmp_path,
        provider="vertex",
        model="text-embedding-005",
        project="plant",
        location="europe-west4",
    )
    request = server.requests[-1]
    assert "projects/plant/locations/europe-west4" in request.path
    assert request.headers["Authorization"] == "Bearer local-token"


def test_vertex_without_credentials_says_how_to_get_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GOOGLE_APPLICATION_CREDENTIALS", str(tmp_path / "missing.json"))
    for name in ("GOOGLE_API_KEY", "GEMINI_API_KEY", "GOOGLE_CLOUD_PROJECT"):
        monkeypatch.delenv(name, raising=False)
    embedder = create_embedder(EmbeddingSettings(provider="vertex", project="plant"), tmp_path)
    with pytest.raises(ProviderError, match="gcloud auth application-default login"):
        embedder.embed_query("oil")


@pytest.mark.parametrize(
    ("provider", "module"),
    [("openai", "openai"), ("voyage", "voyageai"), ("vertex", "google.genai")],
)
def test_a_missing_library_names_the_install_line(
    provider: str, module: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, module, None)
    embedder = create_embedder(EmbeddingSettings(provider=provider, api_key="k"), tmp_path)
    with pytest.raises(SettingsError, match=rf"pip install 'rag-pipeline\[{provider}\]'"):
        embedder.embed_query("oil")


def test_making_an_embedder_loads_no_library(tmp_path: Path) -> None:
    program = (
        "import sys\n"
        "from pathlib import Path\n"
        "from rag_pipeline.embedding import create_embedder\n"
        "from rag_pipeline.settings import EmbeddingSettings\n"
        "for provider in ('openai', 'voyage', 'vertex', 'ollama'):\n"
        "    create_embedder(EmbeddingSettings(provider=provider), Path(sys.argv[1]))\n"
        "loaded = {'openai', 'voyageai', 'google.genai', 'bpe_openai'} & set(sys.modules)\n"
        "assert not loaded, loaded\n"
    )
    subprocess.run([sys.executable, "-c", program, str(tmp_path)], check=True)
