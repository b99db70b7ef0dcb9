"""The sample manuals from file to trails, and what must hold for every document."""

from __future__ import annotations

import json
from pathlib import Path

import pandas as pd
import pytest

from rag_pipeline.frames import StructuredBlocks, check
from rag_pipeline.parsing import parse_file
from rag_pipeline.settings import ParsingSettings, StructureSettings
from rag_pipeline.structure import headings_of, infer_structure, to_markdown

SAMPLES = Path(__file__).parents[2] / "samples"
MANUALS = ("service-manual-en", "service-manual-ko", "bulletin-two-column")


@pytest.fixture(scope="module", params=MANUALS)
def sample(request: pytest.FixtureRequest) -> tuple[str, pd.DataFrame, pd.DataFrame]:
    blocks = parse_file(
        SAMPLES / f"{request.param}.pdf", ParsingSettings(ignore_outline=True)
    ).blocks
    return request.param, blocks, infer_structure(blocks, StructureSettings())


def test_headings_are_those_of_the_manual(sample: tuple[str, pd.DataFrame, pd.DataFrame]) -> None:
    """Without bookmarks: every heading with its level and page; the rest is front matter."""
    name, _, structured = sample
    gold = [tuple(row) for row in json.loads((SAMPLES / "outline.json").read_text())[f"{name}.pdf"]]
    found = [tuple(row) for row in headings_of(structured)]
    assert [row for row in found if row in set(gold)] == gold
    assert len(found) <= len(gold) + 2


def test_no_word_is_lost(sample: tuple[str, pd.DataFrame, pd.DataFrame]) -> None:
    """Fault P6, on this side of the chunker."""
    _, blocks, structured = sample
    before = sorted(" ".join(blocks["text"]).split())
    after = sorted(" ".join(structured["text"]).replace(". ", " . ").split())
    assert set(before) <= set(" ".join(structured["text"]).split()) | set(after)


def test_the_frame_survives_parquet(
    sample: tuple[str, pd.DataFrame, pd.DataFrame], tmp_path: Path
) -> None:
    _, blocks, structured = sample
    blocks.to_parquet(tmp_path / "blocks.parquet")
    again = infer_structure(pd.read_parquet(tmp_path / "blocks.parquet"), StructureSettings())
    check(again, StructuredBlocks)
    assert to_markdown(again) == to_markdown(structured)
    again.to_parquet(tmp_path / "structured.parquet")
    assert to_markdown(pd.read_parquet(tmp_path / "structured.parquet")) == to_markdown(structured)


def test_steps_with_a_warning_stay_together(
    sample: tuple[str, pd.DataFrame, pd.DataFrame],
) -> None:
    name, _, structured = sample
    if name != "service-manual-en":
        pytest.skip("asserted on the English manual")
    inside = structured[
        structured["breadcrumb_trail"].str.endswith(
            "1.4 Locking Out and Depressurising the Compressor"
        )
    ]
    steps = inside[inside["role"] == "procedure_step"]
    assert steps["text"].str[0].tolist() == list("123abc4567")
    assert steps["list_level"].tolist() == [1, 1, 1, 2, 2, 2, 1, 1, 1, 1]
    assert steps["group_id"].nunique() == 1
    warning = inside[inside["role"] == "admonition"]
    assert warning["text"].iloc[0] == "WARNING"
    assert set(warning["group_id"]) == set(steps["group_id"])
