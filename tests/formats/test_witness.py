"""The second reading: it notices every kind of loss, and finds none in what is read right."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

import docx
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from typer.testing import CliRunner

from rag_pipeline.cli.commands import app
from rag_pipeline.parsing.file_type import file_type
from rag_pipeline.parsing.local_parser import audit_file
from rag_pipeline.parsing.witness.losses import LOSS_SHARE, Losses, find_losses
from tests.formats.packages import SETTINGS, paragraph, parse, run, texts, word_file
from tests.formats.samples import FORMATS

SAMPLES = sorted(
    file.name for file in FORMATS.iterdir() if file.is_file() and file.name != "make.py"
)
WORDS = st.lists(
    st.text(st.characters(categories=["L", "N"], max_codepoint=0x2FFF), min_size=1, max_size=8),
    min_size=1,
    max_size=6,
).map(" ".join)


@pytest.mark.parametrize("name", SAMPLES)
def test_the_samples_lose_no_word(name: str) -> None:
    losses = audit_file(FORMATS / name, SETTINGS)
    assert losses.words > 0
    assert losses.lost == Counter()


@pytest.mark.parametrize("name", SAMPLES)
def test_a_reader_that_loses_a_paragraph_is_noticed(name: str) -> None:
    found = texts(parse(FORMATS / name))
    # The headers of a mail are its longest text, and no part of its body.
    kept = found[:2] if name.endswith(".eml") else sorted(found, key=len)[:-1]
    kind = file_type(FORMATS / name, name).format
    losses = find_losses(FORMATS / name, kind, kept)
    assert losses.share > LOSS_SHARE
    assert " not read: " in (losses.warning or "")


def test_a_warning_names_share_and_words() -> None:
    assert Losses(1000, Counter({"pump": 1})).warning is None
    assert Losses(100, Counter({"16": 2, "bar": 1})).warning == (
        "3 of 100 words (3.0%) were not read: 16, bar"
    )


WRAPPERS = (
    "{}",
    "<w:ins w:id='1'>{}</w:ins>",
    "<w:sdt><w:sdtContent>{}</w:sdtContent></w:sdt>",
    "<w:smartTag>{}</w:smartTag>",
    "<w:fldSimple w:instr='x'>{}</w:fldSimple>",
    "<w:hyperlink r:id='rId99'>{}</w:hyperlink>",
    "<w:r><w:pict><v:textbox><w:txbxContent><w:p>{}</w:p></w:txbxContent></v:textbox></w:pict></w:r>",
    "<mc:AlternateContent><mc:Choice>{0}</mc:Choice><mc:Fallback>{0}</mc:Fallback>"
    "</mc:AlternateContent>",
)


@settings(
    max_examples=12, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(st.lists(st.lists(st.tuples(st.sampled_from(WRAPPERS), WORDS), max_size=4), min_size=1))
def test_word_documents_lose_no_word_in_any_wrapper(
    tmp_path: Path, paragraphs: list[list[tuple[str, str]]]
) -> None:
    pieces = [[wrapper.format(run(f" {text} ")) for wrapper, text in one] for one in paragraphs]
    body = paragraph(run("Pump")) + "".join(paragraph(*one) for one in pieces)
    file = word_file(tmp_path / "a.docx", body)
    assert audit_file(file, SETTINGS).lost == Counter()
    everything = " ".join(texts(parse(file))).split()
    for one in paragraphs:
        for _, text in one:
            assert set(text.split()) <= set(everything)


def test_doctor_audits_a_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    document = docx.Document()
    document.add_paragraph("Oil 500 h")
    document.save(str(tmp_path / "a.docx"))
    result = CliRunner().invoke(app, ["doctor", "--audit", str(tmp_path / "a.docx"), "--json"])
    assert result.exit_code == 0
    assert json.loads(result.stdout) == {
        "words": 3,
        "share_lost": 0.0,
        "lost": {},
        "numbers_changed": {},
    }
