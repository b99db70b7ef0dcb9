"""Contextual models: the ordered chunks of several documents, through Voyage's own library."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from rag_pipeline.embedding import ContextualEmbedder, create_embedder
from rag_pipeline.embedding.remote.contextual_embedder import ContextualRemoteEmbedder
from rag_pipeline.errors import EmbeddingError, EmbeddingReplyError, ProviderError
from rag_pipeline.remote import Patience
from rag_pipeline.settings import EmbeddingSettings
from tests.embedding.provider_server import Answer, ProviderServer, chunk_vector

DIMENSIONS = 256


@pytest.fixture(scope="module")
def running_server() -> Iterator[ProviderServer]:
    with ProviderServer().serving() as server:
        yield server


@pytest.fixture
def server(running_server: ProviderServer, monkeypatch: pytest.MonkeyPatch) -> ProviderServer:
    running_server.reset()
    running_server.dimensions = DIMENSIONS
    monkeypatch.setattr(Patience, "first_wait", 0.02)
    return running_server


@pytest.fixture
def embedder(server: ProviderServer, tmp_path: Path) -> ContextualEmbedder:
    settings = EmbeddingSettings(
        provider="voyage",
        model="voyage-context-4",
        dimensions=DIMENSIONS,
        api_key="key",
        base_url=f"{server.url}/voyage/v1",
        max_concurrent_requests=1,
    )
    embedder = create_embedder(settings, tmp_path)
    assert isinstance(embedder, ContextualRemoteEmbedder)
    assert embedder.contextual
    return embedder


def expected(group: list[str]) -> np.ndarray:
    rows = np.stack([chunk_vector(chunk, group, DIMENSIONS) for chunk in group])
    return rows / np.linalg.norm(rows, axis=1, keepdims=True)


def document(name: str, chunks: int, words: int = 3) -> list[str]:
    return [f"{name} {n} " + "pump " * words for n in range(chunks)]


def test_documents_share_a_request_and_keep_their_order(
    embedder: ContextualEmbedder, server: ProviderServer
) -> None:
    groups = [document("a", 3), document("b", 1), [], document("c", 5)]
    handed: dict[int, np.ndarray] = {}
    matrices = embedder.embed_groups(groups, handed.__setitem__)
    for group, matrix in zip(groups, matrices, strict=True):
        assert matrix.shape == (len(group), DIMENSIONS)
        if group:
            np.testing.assert_allclose(matrix, expected(group), atol=1e-5)
    assert len(server.requests) == 1
    assert server.requests[0].body["inputs"] == [group for group in groups if group]
    assert handed.keys() == {0, 1, 3}
    (usage,) = embedder.take_usage()
    assert (usage.model, usage.requests) == ("voyage-context-4", 1)
    assert usage.tokens > 0


def test_shuffled_documents_and_chunks_are_put_in_order(
    embedder: ContextualEmbedder, server: ProviderServer
) -> None:
    server.always = Answer(change=lambda items: items[::-1])
    groups = [document("a", 3), document("b", 4)]
    for group, matrix in zip(groups, embedder.embed_groups(groups), strict=True):
        np.testing.assert_allclose(matrix, expected(group), atol=1e-5)


def test_a_missing_chunk_is_seen(embedder: ContextualEmbedder, server: ProviderServer) -> None:
    server.answers = [Answer(change=lambda items: items[:-1])]
    groups = [document("a", 3), document("b", 4)]
    embedder.embed_groups(groups)
    assert len(server.requests) == 2
    server.always = Answer(change=lambda items: items[:-1] if len(items) > 1 else items)
    with pytest.raises((EmbeddingReplyError, ProviderError)):
        embedder.embed_groups(groups)


def test_limits_of_groups_and_requests_hold(
    embedder: ContextualEmbedder, server: ProviderServer
) -> None:
    # 40 chunks of about 1,500 tokens are more than a group may have, the whole more than a request.
    groups = [document("long", 40, words=1_500), *(document(f"s{n}", 10, 500) for n in range(20))]
    matrices = embedder.embed_groups(groups)
    assert [len(matrix) for matrix in matrices] == [40, *[10] * 20]
    for request in server.requests:
        sizes = [sum(embedder.count_tokens(group)) for group in request.body["inputs"]]
        assert max(sizes) <= 32_000
        assert sum(sizes) <= 120_000
        assert len(request.body["inputs"]) <= 1_000
    sent = [
        chunk for request in server.requests for group in request.body["inputs"] for chunk in group
    ]
    assert sent == [chunk.strip(" ") + " " for group in groups for chunk in group]


def test_a_thousand_documents_a_request(
    embedder: ContextualEmbedder, server: ProviderServer
) -> None:
    embedder.embed_groups([document(f"d{n}", 1) for n in range(1_001)])
    assert [len(request.body["inputs"]) for request in server.requests] == [1_000, 1]


def test_a_document_that_is_refused_fails_alone(
    embedder: ContextualEmbedder, server: ProviderServer
) -> None:
    server.refuse = lambda text: text.startswith("bad")
    handed: dict[int, np.ndarray] = {}
    groups = [document("a", 2), document("bad", 3), document("c", 2), document("d", 2)]
    with pytest.raises(EmbeddingError, match="1 of 4") as caught:
        embedder.embed_groups(groups, handed.__setitem__)
    assert caught.value.bad_texts == (1,)
    assert handed.keys() == {0, 2, 3}


def test_a_group_that_is_too_long_after_all_is_halved_between_chunks(
    embedder: ContextualEmbedder, server: ProviderServer
) -> None:
    groups = [document("a", 4, words=200)]
    server.answers = [Answer(status=400, message="exceeds the max allowed tokens")]
    (matrix,) = embedder.embed_groups(groups)
    np.testing.assert_allclose(matrix[:2], expected(groups[0][:2]), atol=1e-5)
    np.testing.assert_allclose(matrix[2:], expected(groups[0][2:]), atol=1e-5)


def test_a_chunk_over_the_limit_of_a_group_is_split_and_averaged(
    embedder: ContextualEmbedder, server: ProviderServer
) -> None:
    (matrix,) = embedder.embed_groups([["first", "pump " * 30_000, "last"]])
    assert matrix.shape == (3, DIMENSIONS)
    np.testing.assert_allclose(np.linalg.norm(matrix, axis=1), 1, atol=1e-5)
    assert "".join(server.sent) == "first" + "pump " * 30_000 + "last"


def test_a_blank_chunk_is_reported_with_its_document(
    embedder: ContextualEmbedder, server: ProviderServer
) -> None:
    with pytest.raises(EmbeddingError, match="blank") as caught:
        embedder.embed_groups([["a"], ["b", " "]])
    assert caught.value.bad_texts == (1,)
    assert server.sent == ["a"]
