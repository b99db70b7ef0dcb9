"""A model out of a folder: a table of vectors, whose mean can be worked out by hand."""

from __future__ import annotations

import pickle
from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper
from tokenizers import Tokenizer, models, pre_tokenizers, processors

from rag_pipeline.embedding import Embedder, create_embedder
from rag_pipeline.errors import EmbeddingError, SettingsError
from rag_pipeline.settings import EmbeddingSettings, Settings

WORDS = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "oil", "filter", "pump", "passage", "query"]
TABLE = np.eye(len(WORDS), dtype=np.float32)


def write_model(folder: Path, *, pooled: bool = False, table: np.ndarray = TABLE) -> Path:
    folder.mkdir(exist_ok=True)
    inputs = ["input_ids", "attention_mask", "token_type_ids"]
    nodes = [helper.make_node("Gather", ["table", "input_ids"], ["tokens"])]
    constants = [numpy_helper.from_array(table, "table")]
    shape: list[object] = ["batch", "sequence", len(WORDS)]
    output = "tokens"
    if pooled:
        constants.append(numpy_helper.from_array(np.array([1], dtype=np.int64), "axis"))
        nodes.append(helper.make_node("ReduceMax", ["tokens", "axis"], ["pooled"], keepdims=0))
        shape, output = ["batch", len(WORDS)], "pooled"
    graph = helper.make_graph(
        nodes,
        "tiny",
        [
            helper.make_tensor_value_info(name, TensorProto.INT64, ["batch", "sequence"])
            for name in inputs
        ],
        [helper.make_tensor_value_info(output, TensorProto.FLOAT, shape)],
        constants,
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)], ir_version=10)
    onnx.save(model, str(folder / "model.onnx"))
    tokenizer = Tokenizer(models.WordLevel({w: i for i, w in enumerate(WORDS)}, "[UNK]"))
    tokenizer.pre_tokenizer = pre_tokenizers.Whitespace()
    tokenizer.post_processor = processors.TemplateProcessing(
        single="[CLS] $A [SEP]", special_tokens=[("[CLS]", 2), ("[SEP]", 3)]
    )
    tokenizer.enable_truncation(6)  # must not cut anything
    tokenizer.enable_padding()
    tokenizer.save(str(folder / "tokenizer.json"))
    return folder


def embedder_of(folder: Path, **changes: object) -> Embedder:
    values = {"model_path": folder, "dimensions": len(WORDS)} | changes
    return create_embedder(EmbeddingSettings(**values), folder)


def unit(*words: str) -> np.ndarray:
    total = sum(TABLE[WORDS.index(word)] for word in words)
    return total / np.linalg.norm(total)


def test_the_mean_of_the_tokens_is_taken(tmp_path: Path) -> None:
    embedder = embedder_of(write_model(tmp_path / "tiny"))
    vectors = embedder.embed_documents(["oil oil pump", "filter"])
    np.testing.assert_allclose(
        vectors,
        [unit("[CLS]", "oil", "oil", "pump", "[SEP]"), unit("[CLS]", "filter", "[SEP]")],
        atol=1e-6,
    )
    np.testing.assert_allclose(
        embedder.embed_query("oil"), unit("[CLS]", "oil", "[SEP]"), atol=1e-6
    )
    assert embedder.count_tokens(["oil filter", ""]) == [2, 0]


def test_prefixes_are_set_before_texts_and_questions(tmp_path: Path) -> None:
    embedder = embedder_of(
        write_model(tmp_path / "tiny"), document_prefix="passage ", query_prefix="query "
    )
    np.testing.assert_allclose(
        embedder.embed_documents(["oil"])[0], unit("[CLS]", "passage", "oil", "[SEP]"), atol=1e-6
    )
    np.testing.assert_allclose(
        embedder.embed_query("oil"), unit("[CLS]", "query", "oil", "[SEP]"), atol=1e-6
    )


def test_long_texts_are_split_not_cut(tmp_path: Path) -> None:
    embedder = embedder_of(write_model(tmp_path / "tiny"), max_tokens=6)
    assert embedder.max_tokens == 4
    (vector,) = embedder.embed_documents(["oil oil oil oil filter filter filter pump"])
    # Two windows of four, each with its marks: (2 marks, 4 oil) and (2 marks, 3 filter, 1 pump).
    means = (TABLE[2] + TABLE[3] + 4 * TABLE[4]) + (TABLE[2] + TABLE[3] + 3 * TABLE[5] + TABLE[6])
    np.testing.assert_allclose(vector, means / np.linalg.norm(means), atol=1e-6)


def test_a_graph_that_pools_by_itself_is_taken_as_it_is(tmp_path: Path) -> None:
    embedder = embedder_of(write_model(tmp_path / "tiny", pooled=True))
    (vector,) = embedder.embed_documents(["oil oil"])
    np.testing.assert_allclose(vector, unit("[CLS]", "oil", "[SEP]"), atol=1e-6)


def test_other_weights_are_another_model(tmp_path: Path) -> None:
    first = embedder_of(write_model(tmp_path / "tiny"))
    assert first.model.startswith("tiny#")
    second = embedder_of(write_model(tmp_path / "tiny", table=2 * TABLE))
    assert second.model.startswith("tiny#")
    assert first.model != second.model
    again = pickle.loads(pickle.dumps(second))
    assert again.model == second.model
    np.testing.assert_array_equal(again.embed_query("oil"), second.embed_query("oil"))


def test_the_path_starts_at_the_project_folder(tmp_path: Path) -> None:
    write_model(tmp_path / "tiny")
    (tmp_path / "rag.toml").write_text(
        '[embedding]\nmodel_path = "tiny"\ndimensions = 9\n', encoding="utf-8"
    )
    settings = Settings.load(tmp_path).embedding
    assert settings.model_path == tmp_path.resolve() / "tiny"
    assert create_embedder(settings, tmp_path).embed_query("oil").shape == (9,)


def test_files_that_are_no_model_are_named(tmp_path: Path) -> None:
    folder = write_model(tmp_path / "tiny")
    (folder / "model.onnx").write_bytes(b"no graph")
    with pytest.raises(EmbeddingError, match=r"model\.onnx does not open"):
        embedder_of(folder).embed_query("oil")
    (folder / "tokenizer.json").write_text("{}", encoding="utf-8")
    with pytest.raises(SettingsError, match=r"tokenizer\.json cannot be read"):
        embedder_of(folder).embed_query("oil")


def test_wrong_dimensions_are_seen(tmp_path: Path) -> None:
    with pytest.raises(SettingsError, match=r"has 9, not 8; set embedding\.dimensions = 9"):
        embedder_of(write_model(tmp_path / "tiny"), dimensions=8).embed_query("oil")
