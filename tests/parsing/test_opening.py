"""Files that are no readable PDF: each fails with its own reason (fault P10)."""

from __future__ import annotations

import pickle
from pathlib import Path

import pytest

from rag_pipeline.errors import (
    DamagedPdfError,
    EmptyFileError,
    EncryptedPdfError,
    NotAPdfError,
    NoTextError,
    ParseError,
    UnsupportedFileError,
)
from rag_pipeline.parsing import LocalParser, parse_file, parse_pdf
from rag_pipeline.settings import ParsingSettings
from tests.parsing.pages import draw_pdf, lines
from tests.pdfs import make_damaged_pdfs

SETTINGS = ParsingSettings()


def test_each_bad_file_has_its_reason(tmp_path: Path) -> None:
    files = make_damaged_pdfs(tmp_path)
    cases = {
        "empty": (EmptyFileError, "zero bytes"),
        "encrypted": (EncryptedPdfError, "password"),
        "truncated": (DamagedPdfError, "truncated"),
        "image": (UnsupportedFileError, "a PNG image"),
    }
    for name, (error, words) in cases.items():
        with pytest.raises(error, match=words) as caught:
            parse_file(files[name], SETTINGS)
        assert caught.value.document == files[name].name
        assert caught.value.hint


def test_the_given_name_is_in_the_message(tmp_path: Path) -> None:
    file = tmp_path / "a.pdf"
    file.write_bytes(b"")
    with pytest.raises(EmptyFileError, match=r"^manuals/pump\.pdf: "):
        parse_file(file, SETTINGS, document="manuals/pump.pdf")


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"<!DOCTYPE html><html><body>x</body></html>", "an HTML page"),
        (b"PK\x03\x04rest", "ZIP"),
        (b"\x89PNG\r\n\x1a\n", "PNG"),
        (b"\x00" * 50, "zero"),
    ],
)
def test_the_true_kind_is_said(tmp_path: Path, content: bytes, said: str) -> None:
    file = tmp_path / "a.pdf"
    file.write_bytes(content)
    with pytest.raises(NotAPdfError, match=said):
        parse_pdf(file, SETTINGS)


def test_pages_of_images_only_have_no_text(tmp_path: Path) -> None:
    def picture(canvas: object) -> None:
        canvas.rect(100, 100, 200, 200, fill=1)

    file = draw_pdf(tmp_path / "scan.pdf", picture)
    with pytest.raises(NoTextError, match="none of its 1 pages"):
        parse_file(file, SETTINGS)


def test_a_pdf_of_no_pages_is_damaged(tmp_path: Path) -> None:
    body = b"%PDF-1.4\n1 0 obj<</Type/Catalog/Pages 2 0 R>>endobj\n"
    body += b"2 0 obj<</Type/Pages/Kids[]/Count 0>>"
    file = tmp_path / "none.pdf"
    file.write_bytes(body + b"endobj\ntrailer<</Root 1 0 R/Size 3>>\n%%EOF\n")
    with pytest.raises(DamagedPdfError):
        parse_file(file, SETTINGS)


def test_a_missing_file_is_a_parse_error(tmp_path: Path) -> None:
    with pytest.raises(ParseError, match="cannot be read"):
        parse_file(tmp_path / "gone.pdf", SETTINGS)


def test_a_parsed_document_and_an_error_cross_processes(tmp_path: Path) -> None:
    file = draw_pdf(tmp_path / "a.pdf", lambda canvas: lines(canvas, ["Plain words."]))
    parsed = pickle.loads(pickle.dumps(LocalParser().parse(file)))
    assert parsed.blocks["text"].tolist() == ["Plain words."]
    assert parsed.page_count == 1
    error = pickle.loads(pickle.dumps(EmptyFileError("empty", document="a.pdf")))
    assert str(error) == "a.pdf: empty"


def test_the_syntax_of_a_pdf_without_its_header_is_no_text(tmp_path: Path) -> None:
    file = draw_pdf(tmp_path / "a.pdf", lambda canvas: lines(canvas, ["Wear gloves."]))
    file.write_bytes(file.read_bytes().replace(b"%PDF-", b"%PvF-", 1))
    with pytest.raises(NotAPdfError, match=r"^a\.pdf: "):
        parse_file(file, SETTINGS)
    notes = tmp_path / "notes.txt"
    notes.write_text("An object begins with 1 0 obj << /Type /Page >>.\n" * 3)
    assert "An object begins" in parse_file(notes, SETTINGS).blocks["text"].iloc[0]
