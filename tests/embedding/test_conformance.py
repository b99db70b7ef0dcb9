"""What every provider must do, through its real client library, against a local server."""

from __future__ import annotations

import pickle
import time
import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from rag_pipeline.embedding import Embedder, create_embedder
from rag_pipeline.embedding_models import find_model
from rag_pipeline.errors import EmbeddingError, EmbeddingReplyError, ProviderError
from rag_pipeline.remote import Patience
from rag_pipeline.settings import EmbeddingSettings
from rag_pipeline.text import clean_text
from tests.clock import skip_time
from tests.embedding.provider_server import Answer, ProviderServer, chunk_vector, vector_of


@dataclass(frozen=True)
class Case:
    """One provider and model, with vectors as short as it makes them."""

    name: str
    settings: dict[str, Any]
    dimensions: int
    path: str = ""
    has_index: bool = False
    many: int = 2_049
    document_prefix: str = ""
    query_prefix: str = ""
    marks: dict[str, str] = field(default_factory=dict)
    """What the body says of the input type, by purpose."""


CASES = [
    Case("openai", {"provider": "openai", "dimensions": 64}, 64, "/v1", has_index=True),
    Case(
        "voyage",
        {"provider": "voyage", "model": "voyage-3.5", "dimensions": 256},
        256,
        "/voyage/v1",
        has_index=True,
        marks={"document": '"input_type": "document"', "query": '"input_type": "query"'},
    ),
    Case(
        "voyage-context",
        {"provider": "voyage", "model": "voyage-context-3", "dimensions": 256},
        256,
        "/voyage/v1",
        has_index=True,
        marks={"document": '"input_type": "document"', "query": '"input_type": "query"'},
    ),
    Case(
        "vertex",
        {"provider": "vertex", "model": "text-embedding-005", "dimensions": 64},
        64,
        marks={"document": "RETRIEVAL_DOCUMENT", "query": "RETRIEVAL_QUERY"},
    ),
    Case(
        "gemini",
        {"provider": "vertex", "model": "gemini-embedding-001", "dimensions": 64},
        64,
        many=65,
        marks={"document": "RETRIEVAL_DOCUMENT", "query": "RETRIEVAL_QUERY"},
    ),
    Case(
        "ollama",
        {"provider": "ollama", "model": "nomic-embed-text"},
        768,
        document_prefix="search_document: ",
        query_prefix="search_query: ",
    ),
]


@pytest.fixture(scope="module")
def running_server() -> Iterator[ProviderServer]:
    with ProviderServer().serving() as server:
        yield server


@pytest.fixture(params=CASES, ids=lambda case: case.name)
def case(request: pytest.FixtureRequest) -> Case:
    return request.param


@pytest.fixture
def server(
    running_server: ProviderServer, case: Case, monkeypatch: pytest.MonkeyPatch
) -> ProviderServer:
    running_server.reset()
    running_server.dimensions = case.dimensions
    monkeypatch.setattr(Patience, "first_wait", 0.02)
    return running_server


@pytest.fixture
def make(server: ProviderServer, case: Case, tmp_path: Path) -> Any:
    def make(**changes: Any) -> Embedder:
        settings = {"api_key": "key", "base_url": server.url + case.path} | case.settings | changes
        return create_embedder(EmbeddingSettings(**settings), tmp_path)

    return make


class Landed:
    """Keeps what is handed over."""

    def __init__(self) -> None:
        self.vectors: dict[int, np.ndarray] = {}

    def __call__(self, indices: Sequence[int], vectors: np.ndarray) -> None:
        assert not self.vectors.keys() & set(indices), "handed over twice"
        self.vectors.update(zip(indices, vectors, strict=True))


def expected(case: Case, texts: Sequence[str], prefix: str | None = None) -> np.ndarray:
    rows = []
    for plain in texts:
        text = (case.document_prefix if prefix is None else prefix) + plain
        vector = (
            chunk_vector(text, [text], case.dimensions)
            if case.name == "voyage-context"
            else vector_of(text, case.dimensions)
        )
        rows.append(vector / np.linalg.norm(vector))
    return np.stack(rows)


def words(count: int) -> list[str]:
    return [f"Tighten screw number {n}." for n in range(count)]


def test_order_count_dimensions_and_norm(make: Any, case: Case, server: ProviderServer) -> None:
    texts = words(10)
    vectors = make().embed_documents(texts)
    assert vectors.shape == (10, case.dimensions)
    assert vectors.dtype == np.float32
    np.testing.assert_allclose(vectors, expected(case, texts), atol=1e-5)
    np.testing.assert_allclose(np.linalg.norm(vectors, axis=1), 1, atol=1e-5)
    assert make().embed_documents([]).shape == (0, case.dimensions)


def test_documents_and_questions_are_told_apart(
    make: Any, case: Case, server: ProviderServer
) -> None:
    import json

    embedder = make()
    embedder.embed_documents(["oil filter"])
    query = embedder.embed_query("oil filter")
    np.testing.assert_allclose(
        query, expected(case, ["oil filter"], case.query_prefix)[0], atol=1e-5
    )
    bodies = [json.dumps(request.body) for request in server.requests]
    for body, purpose in zip(bodies, ("document", "query"), strict=True):
        assert case.marks.get(purpose, "") in body
    usages = {usage.operation: usage for usage in embedder.take_usage()}
    assert usages.keys() == {"embed_documents", "embed_query"}
    assert all(usage.requests == 1 and usage.tokens > 0 for usage in usages.values())
    assert embedder.take_usage() == []


def test_blank_texts_are_not_sent_and_the_others_survive(
    make: Any, case: Case, server: ProviderServer
) -> None:
    landed = Landed()
    with pytest.raises(EmbeddingError, match="blank") as caught:
        make().embed_documents(["a", "", "b", " \n\x00"], landed)
    assert caught.value.bad_texts == (1, 3)
    assert landed.vectors.keys() == {0, 2}
    assert sorted(server.sent) == [case.document_prefix + "a", case.document_prefix + "b"]
    with pytest.raises(EmbeddingError, match="blank"):
        make().embed_query(" ")


def test_the_same_text_is_sent_once(make: Any, case: Case, server: ProviderServer) -> None:
    vectors = make().embed_documents(["a", "b", "a", "a"])
    assert len(server.sent) == 2
    np.testing.assert_allclose(vectors, expected(case, ["a", "b", "a", "a"]), atol=1e-5)


def test_many_texts_stay_below_the_items_of_a_request(
    make: Any, case: Case, server: ProviderServer
) -> None:
    texts = words(case.many)
    landed = Landed()
    vectors = make().embed_documents(texts, landed)
    np.testing.assert_allclose(vectors, expected(case, texts), atol=1e-5)
    assert len(landed.vectors) == case.many
    np.testing.assert_array_equal(vectors[7], landed.vectors[7])
    model = find_model(case.settings["provider"], make().model)
    assert model is not None
    assert max(len(request.texts) for request in server.requests) <= model.items_per_request
    assert len(server.sent) == case.many


def test_long_batches_stay_below_the_tokens_of_a_request(
    make: Any, case: Case, server: ProviderServer
) -> None:
    count = 8 if case.name == "gemini" else 320
    texts = [f"{n} " + "the pressure of the oil pump " * 170 for n in range(count)]
    embedder = make()
    each = embedder.count_tokens(texts)
    assert min(each) > 1_000  # together 300,000 and more
    embedder.embed_documents(texts)
    model = find_model(case.settings["provider"], embedder.model)
    assert model is not None
    for request in server.requests:
        assert sum(embedder.count_tokens(request.texts)) <= model.tokens_per_request


def test_no_more_requests_at_once_than_allowed(
    make: Any, case: Case, server: ProviderServer
) -> None:
    server.always = Answer(delay=0.02, company=2)
    embedder = make(max_concurrent_requests=2)
    embedder._facts = embedder._facts.__class__(
        **{**embedder._facts.__dict__, "items_per_request": 1}
    )
    embedder.embed_documents(words(8))
    assert len(server.requests) == 8
    assert server.most_running == 2


@pytest.mark.parametrize(
    "answer",
    [
        Answer(status=429),
        Answer(status=429, headers={"Retry-After": "0.3"}),
        Answer(status=500),
        Answer(status=503),
        Answer(cut=True),
        Answer(change=lambda items: items[:-1]),
    ],
    ids=["429", "429 with Retry-After", "500", "503", "cut", "dropped"],
)
def test_what_may_pass_is_tried_again(
    answer: Answer, make: Any, case: Case, server: ProviderServer
) -> None:
    server.answers = [answer]
    start = time.monotonic()
    vectors = make().embed_documents(["a"] if case.name == "gemini" else ["a", "b"])
    assert time.monotonic() - start >= float(answer.headers.get("Retry-After", 0))
    np.testing.assert_allclose(vectors[0], expected(case, ["a"])[0], atol=1e-5)
    assert len(server.requests) == 2


def test_waits_are_bounded_by_the_deadline(make: Any, case: Case, server: ProviderServer) -> None:
    embedder = make(deadline_seconds=60)
    embedder.embed_documents(["warm"])
    server.always = Answer(status=429, headers={"Retry-After": "90"})
    start = time.monotonic()
    with pytest.raises(EmbeddingError, match=r"asked to wait 90 s.*deadline 60 s") as caught:
        embedder.embed_documents(words(3))
    assert time.monotonic() - start < 30  # there is no point in waiting
    assert caught.value.bad_texts == ()


def test_errors_that_last_end_at_the_deadline(
    make: Any, case: Case, server: ProviderServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    skip_time(monkeypatch, lambda: 60 if len(server.requests) >= 3 else 0)
    server.always = Answer(status=500)
    with pytest.raises(EmbeddingError, match=r"500.*tried 3 times; deadline 60 s"):
        make(deadline_seconds=60, max_concurrent_requests=1).embed_documents(words(3))
    assert len(server.requests) == 3


def test_a_slow_reply_ends_at_the_deadline(make: Any, case: Case, server: ProviderServer) -> None:
    make().embed_documents(["warm"])
    server.always = Answer(delay=60)
    start = time.monotonic()
    with pytest.raises(EmbeddingError, match=r"deadline 0\.3 s"):
        make(deadline_seconds=0.3).embed_documents(words(3))
    assert time.monotonic() - start < 30


def test_shuffled_items_are_put_in_order(make: Any, case: Case, server: ProviderServer) -> None:
    if not case.has_index:
        pytest.skip("its replies carry no index: the order is the API's promise")
    server.always = Answer(change=lambda items: items[::-1])
    texts = words(9)
    np.testing.assert_allclose(make().embed_documents(texts), expected(case, texts), atol=1e-5)


def test_doubled_items_are_seen(make: Any, case: Case, server: ProviderServer) -> None:
    if case.name == "gemini":
        pytest.skip("one text a request")
    server.always = Answer(change=lambda items: [*items[:-1], items[0]] if items[1:] else items)
    if not case.has_index:
        server.always = Answer(change=lambda items: [*items, items[0]] if items[1:] else items)
    texts = words(3)
    landed = Landed()
    # Bisected to single texts, whose replies are right.
    np.testing.assert_allclose(
        make().embed_documents(texts, landed), expected(case, texts), atol=1e-5
    )


def test_a_reply_that_is_wrong_for_all_ends_everything(
    make: Any, case: Case, server: ProviderServer
) -> None:
    server.dimensions = case.dimensions * 2
    landed = Landed()
    with pytest.raises(ProviderError, match=r"dimensions instead of \d+.*embedding\.dimensions"):
        make().embed_documents(words(5), landed)
    assert not landed.vectors
    server.dimensions = case.dimensions
    server.always = Answer(change=lambda items: items[:-1])
    with pytest.raises(ProviderError):
        make().embed_documents(words(5), landed)
    assert not landed.vectors


def test_a_vector_that_is_not_finite_fails_its_text_alone(
    make: Any, case: Case, server: ProviderServer
) -> None:
    server.poison = lambda text: "number 3." in text
    landed = Landed()
    with pytest.raises(EmbeddingReplyError, match="not finite") as caught:
        make().embed_documents(words(7), landed)
    assert caught.value.bad_texts == (3,)
    assert landed.vectors.keys() == {0, 1, 2, 4, 5, 6}


def test_a_text_that_is_refused_fails_alone(make: Any, case: Case, server: ProviderServer) -> None:
    server.refuse = lambda text: "number 5." in text
    landed = Landed()
    with pytest.raises(EmbeddingError, match="not accepted") as caught:
        make(max_concurrent_requests=1).embed_documents(words(20), landed)
    assert caught.value.bad_texts == (5,)
    assert landed.vectors.keys() == set(range(20)) - {5}
    np.testing.assert_allclose(
        np.stack([landed.vectors[n] for n in sorted(landed.vectors)]),
        np.delete(expected(case, words(20)), 5, axis=0),
        atol=1e-5,
    )
    # The batch, two halves on each of five levels, and one question whether anything is taken.
    assert len(server.requests) <= (21 if case.name == "gemini" else 12)


@pytest.mark.parametrize(
    ("answer", "hint"),
    [
        (Answer(status=401), "KEY"),
        (Answer(status=403), "KEY"),
        (Answer(status=404), "embedding.model|ollama pull"),
        (Answer(status=429, code="insufficient_quota"), "credit|payment|billing|account"),
        (Answer(status=400, message="unsupported dimensions"), "embedding.model"),
    ],
    ids=["401", "403", "404", "quota", "dimensions"],
)
def test_what_cannot_pass_ends_everything_at_once(
    answer: Answer, hint: str, make: Any, case: Case, server: ProviderServer
) -> None:
    server.always = answer
    with pytest.raises(ProviderError, match=f"{answer.status}.*({hint})|({hint})"):
        make(max_concurrent_requests=1).embed_documents(words(40))
    assert len(server.requests) == 1


def test_a_text_that_the_service_finds_too_long_is_halved(
    make: Any, case: Case, server: ProviderServer
) -> None:
    server.refuse = lambda text: len(text) > 1_000
    server.refusal = "the input length exceeds the context length"
    text = "The quick valve closes slowly. " * 100
    landed = Landed()
    vectors = make().embed_documents(["short", text], landed)
    assert landed.vectors.keys() == {0, 1}
    assert np.linalg.norm(vectors[1]) == pytest.approx(1, abs=1e-5)
    served = [part.removeprefix(case.document_prefix) for part in server.sent]
    windows = [part for part in served if len(part) <= 900 and part != "short"]
    assert sum(map(len, windows)) == len(text)


@pytest.mark.parametrize(
    "text",
    [
        "\ufdfa" * 1_000,
        "\x00a\x00b",
        "\ud800 lone \udfff surrogates",
        "".join(chr(0xAC00 + i * 7 % 11_000) for i in range(100_000)),
        "word " * 20_000,
        "a" * 100_000,
    ],
    ids=["ligature", "NUL", "surrogates", "Korean", "words", "letters"],
)
def test_hostile_texts_lose_nothing(
    text: str, make: Any, case: Case, server: ProviderServer
) -> None:
    embedder = make(max_concurrent_requests=1)
    vectors = embedder.embed_documents([text, "beside it"])
    assert np.isfinite(vectors).all()
    np.testing.assert_allclose(vectors[1], expected(case, ["beside it"])[0], atol=1e-5)
    sent = [part.removeprefix(case.document_prefix) for part in server.sent]
    assert "".join(sent[:-1]) == clean_text(text)
    assert max(embedder.count_tokens(sent)) <= embedder.max_tokens


@pytest.mark.parametrize("text", ["오일 필터를 교체하십시오.", "Zurücksetzen: café naïve Å"])
def test_decomposed_texts_have_the_same_vector(
    text: str, make: Any, case: Case, server: ProviderServer
) -> None:
    first, second = make().embed_documents([text, unicodedata.normalize("NFD", text)])
    assert first @ second >= 0.999
    assert len(server.sent) == 1


def test_it_crosses_process_borders(make: Any, case: Case, server: ProviderServer) -> None:
    embedder = make()
    copy = pickle.loads(pickle.dumps(embedder))
    np.testing.assert_array_equal(copy.embed_query("fan"), embedder.embed_query("fan"))


def test_what_landed_before_a_failure_is_handed_over(
    make: Any, case: Case, server: ProviderServer
) -> None:
    embedder = make(max_concurrent_requests=1)
    embedder._facts = embedder._facts.__class__(
        **{**embedder._facts.__dict__, "items_per_request": 2 if case.name != "gemini" else 1}
    )
    server.answers = [Answer(), Answer(), Answer(status=401)]
    landed = Landed()
    with pytest.raises(ProviderError):
        embedder.embed_documents(words(20), landed)
    size = 1 if case.name == "gemini" else 2
    assert landed.vectors.keys() == set(range(2 * size))
    assert len(server.requests) == 3


def test_the_good_half_of_a_refused_batch_is_not_lost(
    make: Any, case: Case, server: ProviderServer
) -> None:
    if case.name == "gemini":
        pytest.skip("one text a request")
    # Refused, the probe, the left half served; then the credit is used up.
    server.answers = [Answer(status=400), Answer(), Answer(), Answer(status=402)]
    landed = Landed()
    with pytest.raises(ProviderError, match="402"):
        make(max_concurrent_requests=1).embed_documents(words(20), landed)
    assert landed.vectors.keys() == set(range(10))
