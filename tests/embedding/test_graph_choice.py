"""Which graph a machine uses, and that it stays with it."""

from __future__ import annotations

import json
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from rag_pipeline.embedding import create_embedder
from rag_pipeline.embedding.local import graph_choice
from rag_pipeline.embedding.local.graph_builder import move_constants, word_constants
from rag_pipeline.embedding.local.graph_choice import GraphChoice, choose_graph
from rag_pipeline.embedding.local.int8_graph import Int8Graph
from rag_pipeline.embedding.local.model_files import WEIGHTS_SHA256, ModelFiles, model_files
from rag_pipeline.embedding.local.model_weights import find_weights, read_weights
from rag_pipeline.settings import EmbeddingSettings, Settings
from tests.chosen_models import FLOAT32, INT8, models_that_chose

PADDING = 1


def encode(text: str) -> list[int]:
    return [0, *(5 + ord(letter) % 1000 for letter in text[:100]), 2]


def choice_of(int8: Path, files: ModelFiles) -> GraphChoice:
    return choose_graph(files.graph("float32"), int8, encode, PADDING)


def test_the_measured_choice_lies_beside_the_graphs(files: ModelFiles) -> None:
    manifest = json.loads((files.folder / "manifest.json").read_text(encoding="utf-8"))
    assert GraphChoice(**manifest["choice"]) == files.choice
    assert files.choice.cosine >= 0.99
    assert files.choice.ratio > 0
    is_int8 = files.choice.ratio >= 1.2 and files.choice.cosine >= 0.997
    assert files.choice.arithmetic == ("int8" if is_int8 else "float32")
    assert "times as fast as float32" in files.choice.describe()


@pytest.mark.parametrize(("arithmetic", "version"), [("float32", FLOAT32), ("int8", INT8)])
def test_the_choice_decides_unless_a_space_is_named(
    arithmetic: graph_choice.Arithmetic, version: str, models_dir: Path, tmp_path: Path
) -> None:
    models = models_that_chose(arithmetic, models_dir, tmp_path)
    chosen = create_embedder(EmbeddingSettings(), models)
    assert chosen.version == version
    named = {v: create_embedder(EmbeddingSettings(), models, v) for v in (FLOAT32, INT8)}
    assert {v: embedder.version for v, embedder in named.items()} == {FLOAT32: FLOAT32, INT8: INT8}
    np.testing.assert_array_equal(chosen.embed_query("fan"), named[version].embed_query("fan"))
    unknown = create_embedder(EmbeddingSettings(), models, "of an earlier release")
    assert unknown.version == version


def test_a_rebuilt_model_keeps_its_choice(models_dir: Path, tmp_path: Path) -> None:
    """On a machine where both are about as fast, a new measurement could turn out otherwise."""
    other: graph_choice.Arithmetic = "float32"
    models = models_that_chose(other, models_dir, tmp_path)
    before = model_files(models)
    (before.folder / "words.bin").unlink()
    after = model_files(models)
    assert (after.folder / "words.bin").is_file()
    assert after.choice == before.choice
    assert after.choice.arithmetic == other


def test_a_graph_that_does_not_open_is_not_chosen(files: ModelFiles, tmp_path: Path) -> None:
    broken = tmp_path / "int8.onnx"
    broken.write_bytes(b"no graph")
    choice = choice_of(broken, files)
    assert choice.arithmetic == "float32"
    assert "int8 does not open here" in choice.describe()


def test_a_graph_that_does_not_agree_is_not_chosen(files: ModelFiles, tmp_path: Path) -> None:
    weights = read_weights(find_weights(), WEIGHTS_SHA256)
    floats = {**weights.floats, "l5.aln.b": weights.floats["l5.aln.b"] + 3.0}
    words = word_constants(weights)
    move_constants(words, tmp_path / "words.bin")
    graph = tmp_path / "int8.onnx"
    Int8Graph(replace(weights, floats=floats), words).write(graph, tmp_path / "int8.bin")
    choice = choice_of(graph, files)
    assert choice.arithmetic == "float32"
    assert choice.cosine < 0.99


def test_a_graph_that_is_not_faster_is_not_chosen(
    files: ModelFiles, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(graph_choice, "LEAST_RATIO", 1000.0)
    assert choice_of(files.graph("int8"), files).arithmetic == "float32"


@pytest.mark.skipif(sys.platform != "linux", reason="the variable is Linux's")
def test_the_model_lies_in_the_user_s_cache_or_where_the_setting_says(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("RAG_MODELS_DIR")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    assert Settings.load(tmp_path).models_path == tmp_path / "cache" / "rag-pipeline" / "models"
    monkeypatch.setenv("RAG_MODELS_DIR", "brought")
    assert Settings.load(tmp_path).models_path == tmp_path.resolve() / "brought"
