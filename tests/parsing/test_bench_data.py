"""The hostile PDFs of the benchmark data, each as its README says."""

from __future__ import annotations

from pathlib import Path

import pytest

from rag_pipeline.errors import (
    DamagedPdfError,
    EmptyFileError,
    EncryptedPdfError,
)
from rag_pipeline.parsing import parse_file
from rag_pipeline.settings import ParsingSettings

pytestmark = pytest.mark.bench_data
SETTINGS = ParsingSettings(ignore_outline=True)


@pytest.mark.parametrize(
    ("name", "error"),
    [
        ("empty.pdf", EmptyFileError),
        ("enc_user.pdf", EncryptedPdfError),
        ("truncated70.pdf", DamagedPdfError),
    ],
)
def test_unfit_files_fail_with_their_reason(
    bench_data: Path, name: str, error: type[Exception]
) -> None:
    with pytest.raises(error):
        parse_file(bench_data / "adversarial" / name, SETTINGS)


def test_a_page_under_the_name_of_a_pdf_is_read_as_what_it_is(bench_data: Path) -> None:
    parsed = parse_file(bench_data / "adversarial" / "html_as.pdf", SETTINGS)
    assert parsed.warnings == ["the name ends with .pdf, but by its content it is an HTML page"]
    assert "\n".join(parsed.blocks["text"])


def test_hidden_text_is_left_out(bench_data: Path) -> None:
    text = "\n".join(_blocks(bench_data, "hidden.pdf")["text"])
    assert "VISIBLE body text" in text
    assert "HIDDEN" not in text


def test_korean_without_embedded_font(bench_data: Path) -> None:
    text = " ".join(_blocks(bench_data, "korean_uniks_noembed.pdf")["text"])
    assert "전원을 차단하십시오" in text


def test_fake_bold_is_bold_and_read_once(bench_data: Path) -> None:
    frame = _blocks(bench_data, "fakebold.pdf")
    bold = dict(zip(frame["text"], frame["is_bold"], strict=True))
    assert bold["FAKE BOLD HEADING"]
    assert bold["DOUBLE STRIKE"]
    assert " ".join(frame["text"]).count("DOUBLE STRIKE") == 1


def test_a_turned_page_reads_as_the_upright_one(bench_data: Path) -> None:
    turned = _blocks(bench_data, "rot_page90.pdf")
    upright = parse_file(bench_data / "manuals_outline" / "pdf" / "nrpe.pdf", SETTINGS).blocks
    assert turned["text"].tolist() == upright["text"].tolist()
    assert (turned["x0"] - (1 - upright["y1"])).abs().max() < 1e-6
    assert (turned["y0"] - upright["x0"]).abs().max() < 1e-6


def _blocks(bench_data: Path, name: str):
    return parse_file(bench_data / "adversarial" / name, SETTINGS).blocks
