"""Outlines of documents against their bookmarks, in one process: parsed once, inferred, scored.

Blocks are kept as Parquet under `RAG_BENCH_CACHE` (none: parsed each time) and used again as long
as the parser's version is the same, so that a change of the rules is measured in seconds.
"""

from __future__ import annotations

import hashlib
import importlib.util
import json
import os
import sys
from collections import defaultdict
from pathlib import Path
from statistics import fmean
from types import ModuleType
from typing import Any, NamedTuple

import pandas as pd

from rag_pipeline.code_versions import PARSER_VERSION
from rag_pipeline.parsing import parse_file
from rag_pipeline.settings import ParsingSettings, StructureSettings
from rag_pipeline.structure import headings_of, infer_structure

SETS = ("manuals_outline", "outlines2")
FOLDS = 5
BOOKS = "book-"
"""How the families of publishers' books begin."""
SEARCHED: dict[str, tuple[float, ...]] = {
    "heading_large": (1.05, 1.12),
    "heading_bold_characters": (80, 120),
    "styled_min": (3, 6),
}
"""Settings, and the values beside their default, that are chosen on the training folds."""
FIGURES = ("R", "P", "Pl", "F1", "BC")


class Outline(NamedTuple):
    """The headings found in a document, and the rule behind each."""

    headings: list[list[Any]]
    rules: list[str]


class DocumentScore(NamedTuple):
    """One document's figures by name, with the set and template family it belongs to."""

    name_of_set: str
    name: str
    family: str
    figures: dict[str, float]


class OutlineScorer:
    """The scorer that comes with the data, loaded as a module."""

    def __init__(self, data: Path) -> None:
        self.module = _load(data / "outline_score.py")

    def gold(self, source: Path, name: str) -> list[Any]:
        """The headings of a document's bookmarks."""
        found: list[Any] = self.module.read_headings(source / "gold" / f"{name}.json")
        return found

    def headings(self, rows: list[list[Any]]) -> list[Any]:
        """Our headings in the scorer's form."""
        return [
            self.module.Heading(int(level), str(title), int(page)) for level, title, page in rows
        ]

    def score(self, source: Path, name: str, settings: StructureSettings) -> dict[str, float]:
        """All figures of one document, inferred without its bookmarks and tags."""
        outline = infer_blind(parsed(source / "pdf" / f"{name}.pdf"), settings)
        figures: dict[str, float] = self.module.score(
            self.gold(source, name), self.headings(outline.headings)
        )
        return figures


def parsed(path: Path) -> pd.DataFrame:
    """The blocks of a PDF, from the cache where there is one."""
    folder = os.environ.get("RAG_BENCH_CACHE")
    settings = ParsingSettings(ignore_outline=True)
    if not folder:
        return parse_file(path, settings).blocks
    key = hashlib.sha256(path.read_bytes()).hexdigest()[:16]
    kept = Path(folder) / f"{path.stem}-{PARSER_VERSION}-{key}.parquet"
    if not kept.is_file():
        kept.parent.mkdir(parents=True, exist_ok=True)
        parse_file(path, settings).blocks.to_parquet(kept)
    blocks: pd.DataFrame = pd.read_parquet(kept)
    return blocks


def infer_blind(blocks: pd.DataFrame, settings: StructureSettings | None = None) -> Outline:
    """Headings and their rules."""
    structured = infer_structure(blocks, settings or StructureSettings())
    shown = structured["role"].isin(["heading", "title"]) & structured["heading_level"].notna()
    return Outline(headings_of(structured), structured.loc[shown, "rule"].tolist())


def document_names(source: Path) -> list[str]:
    """The documents of a set."""
    return [entry["name"] for entry in _manifest(source)]


def scores(data: Path, settings: StructureSettings | None = None) -> list[DocumentScore]:
    """Figures of every document of both sets."""
    scorer = OutlineScorer(data)
    settings = settings or StructureSettings()
    return [
        DocumentScore(
            name_of_set,
            entry["name"],
            entry.get("family", entry["producer"]),
            scorer.score(data / name_of_set, entry["name"], settings),
        )
        for name_of_set in SETS
        for entry in _manifest(data / name_of_set)
    ]


def by_fold(found: list[DocumentScore]) -> list[list[DocumentScore]]:
    """Five folds by template family: no family is in two, and large ones are spread first."""
    families: dict[str, list[DocumentScore]] = defaultdict(list)
    for one in found:
        families[one.family].append(one)
    folds: list[list[DocumentScore]] = [[] for _ in range(FOLDS)]
    for family in sorted(families, key=lambda name: (-len(families[name]), name)):
        min(folds, key=len).extend(families[family])
    return folds


def held_out(data: Path) -> tuple[list[DocumentScore], list[list[Any]]]:
    """Every document scored with settings that were chosen on the other folds.

    The search is stated in `SEARCHED`: each value in turn replaces its default. Of these, the one
    with the best mean of BC and F1 over four folds scores the fifth. Also returns a row a fold:
    its number, its families, the setting chosen, BC and F1.
    """
    trials = {"defaults": StructureSettings()}
    for name, values in SEARCHED.items():
        for value in values:
            trials[f"{name} {value:g}"] = StructureSettings.model_validate({name: value})
    found = {label: by_fold(scores(data, settings)) for label, settings in trials.items()}
    kept: list[DocumentScore] = []
    rows: list[list[Any]] = []
    for fold in range(FOLDS):

        def fitness(label: str, fold: int = fold) -> float:
            others = [one for at, part in enumerate(found[label]) if at != fold for one in part]
            return fmean(one.figures["BC"] + one.figures["F1"] for one in others)

        chosen = max(trials, key=fitness)
        part = found[chosen][fold]
        kept += part
        figures = dict(zip(FIGURES, means(part), strict=True))
        families = len({one.family for one in part})
        rows.append([fold + 1, families, len(part), chosen, figures["F1"], figures["BC"]])
    return kept, rows


def means(found: list[DocumentScore]) -> list[float]:
    """Mean figures over documents."""
    return [fmean(one.figures[figure] for one in found) for figure in FIGURES]


def groups(found: list[DocumentScore]) -> list[tuple[str, list[DocumentScore]]]:
    """The sets, with publishers' books apart."""
    newer = [one for one in found if one.name_of_set == "outlines2"]
    books = [one for one in newer if one.family.startswith(BOOKS)]
    return [
        ("manuals_outline", [one for one in found if one.name_of_set == "manuals_outline"]),
        ("outlines2", newer),
        ("outlines2 without books", [one for one in newer if one not in books]),
        ("outlines2, books", books),
    ]


def _manifest(source: Path) -> list[dict[str, Any]]:
    entries: list[dict[str, Any]] = json.loads(
        (source / "manifest.json").read_text(encoding="utf-8")
    )
    return entries


def _load(path: Path) -> ModuleType:
    spec = importlib.util.spec_from_file_location(path.stem, path)
    if spec is None or spec.loader is None:
        sys.exit(f"no scorer at {path}")
    module = importlib.util.module_from_spec(spec)
    sys.modules[path.stem] = module
    spec.loader.exec_module(module)
    return module
