"""The session's local model as if this machine had chosen the one or the other graph."""

from __future__ import annotations

import json
import os
from pathlib import Path

from rag_pipeline.embedding.local.graph_choice import VERSIONS, Arithmetic
from rag_pipeline.embedding.local.model_files import model_files

FLOAT32, INT8 = VERSIONS["float32"], VERSIONS["int8"]


def models_that_chose(arithmetic: Arithmetic, models_dir: Path, target: Path) -> Path:
    """Return a folder with links to the model's files, and a manifest that names this graph."""
    built = model_files(models_dir).folder
    folder = target / built.name
    folder.mkdir(parents=True)
    for file in built.iterdir():
        os.link(file, folder / file.name)
    manifest = json.loads((folder / "manifest.json").read_text(encoding="utf-8"))
    manifest["choice"]["arithmetic"] = arithmetic
    (folder / "manifest.json").unlink()
    (folder / "manifest.json").write_text(json.dumps(manifest), encoding="utf-8")
    return target
