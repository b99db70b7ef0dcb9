"""Files that lie, break, or would grow without bound: one clear error that names the document."""

from __future__ import annotations

import io
import re
import socket
import sys
import zipfile
from collections.abc import Callable
from pathlib import Path

import openpyxl
import pytest

from rag_pipeline.errors import (
    DamagedFileError,
    EmptyFileError,
    MissingLibraryError,
    NoTextError,
    UnsafeFileError,
    UnsupportedFileError,
)
from rag_pipeline.parsing import parse_file
from rag_pipeline.parsing.formats.office.openpyxl_cells import stored_cells
from rag_pipeline.parsing.formats.office.unstructured_docx import paragraph_elements
from rag_pipeline.settings import ParsingSettings
from tests.formats.samples import FORMATS

SETTINGS = ParsingSettings()
CONTAINERS = ["libreoffice.docx", "libreoffice.odt", "pandoc.epub", "pandoc.pptx", "workbook.xlsx"]
MAIN_PART = {
    "libreoffice.docx": "word/document.xml",
    "libreoffice.odt": "content.xml",
    "pandoc.epub": "EPUB/content.opf",
    "pandoc.pptx": "ppt/presentation.xml",
    "workbook.xlsx": "xl/workbook.xml",
}


def changed(name: str, change: Callable[[str, bytes], bytes | None]) -> bytes:
    """A sample with each part as `change` returns it; None leaves the part out."""
    packed = io.BytesIO()
    with (
        zipfile.ZipFile(FORMATS / name) as source,
        zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as target,
    ):
        for part in source.namelist():
            content = change(part, source.read(part))
            if content is not None:
                target.writestr(part, content)
    return packed.getvalue()


@pytest.mark.parametrize("name", CONTAINERS)
def test_a_copy_under_another_name_is_read_with_a_warning(tmp_path: Path, name: str) -> None:
    file = tmp_path / "scan.pdf"
    file.write_bytes((FORMATS / name).read_bytes())
    parsed = parse_file(file, SETTINGS)
    original = parse_file(FORMATS / name, SETTINGS)
    assert parsed.blocks["text"].tolist() == original.blocks["text"].tolist()
    assert re.fullmatch(
        r"the name ends with \.pdf, but by its content it is an? [\w ]+", parsed.warnings[0]
    )
    assert parsed.warnings[1:] == original.warnings


def test_plain_text_under_the_name_of_a_word_document(tmp_path: Path) -> None:
    file = tmp_path / "notes.docx"
    file.write_text("Only words.\n", encoding="utf-8")
    parsed = parse_file(file, SETTINGS, document="inbox/notes.docx")
    assert parsed.blocks["text"].tolist() == ["Only words."]
    assert parsed.warnings == [
        "the name ends with .docx, but by its content it is plain text",
    ]


@pytest.mark.parametrize("name", CONTAINERS)
def test_a_truncated_container_is_damaged(tmp_path: Path, name: str) -> None:
    file = tmp_path / name
    content = (FORMATS / name).read_bytes()
    file.write_bytes(content[: len(content) // 2])
    with pytest.raises(DamagedFileError, match=f"^{re.escape(name)}: the file is damaged"):
        parse_file(file, SETTINGS)


@pytest.mark.parametrize("name", CONTAINERS)
def test_a_broken_main_part_is_damaged(tmp_path: Path, name: str) -> None:
    file = tmp_path / name
    main = MAIN_PART[name]
    file.write_bytes(changed(name, lambda part, data: data[:200] if part == main else data))
    with pytest.raises(DamagedFileError, match="damaged"):
        parse_file(file, SETTINGS)


@pytest.mark.parametrize("name", CONTAINERS)
def test_a_missing_main_part_is_damaged(tmp_path: Path, name: str) -> None:
    file = tmp_path / name
    main = MAIN_PART[name]
    file.write_bytes(changed(name, lambda part, data: None if part == main else data))
    with pytest.raises(DamagedFileError):
        parse_file(file, SETTINGS)


@pytest.mark.parametrize("name", CONTAINERS)
@pytest.mark.parametrize("encoding", ["utf-8", "utf-16"])
def test_entities_are_refused_before_anything_expands(
    tmp_path: Path, name: str, encoding: str
) -> None:
    doubled = "".join(f'<!ENTITY e{n} "{f"&e{n - 1};" * 10}">' for n in range(1, 9))
    bomb = (
        f'<?xml version="1.0" encoding="{encoding}"?><!-- <root> -->'
        f'<!DOCTYPE x [<!ENTITY e0 "ha">{doubled}]><x>&e8;</x>'
    ).encode(encoding)
    file = tmp_path / name
    main = MAIN_PART[name]
    file.write_bytes(changed(name, lambda part, data: bomb if part == main else data))
    with pytest.raises(UnsafeFileError, match="declares entities"):
        parse_file(file, SETTINGS)


def test_entities_behind_a_long_comment_are_refused(tmp_path: Path) -> None:
    bomb = b'<?xml version="1.0"?><!--' + b"<a>" * 40_000 + b"--><!DOCTYPE x [<!ENTITY e 'e'>]><x/>"
    file = tmp_path / "a.odt"
    file.write_bytes(
        changed("libreoffice.odt", lambda part, data: bomb if part == "content.xml" else data)
    )
    with pytest.raises(UnsafeFileError):
        parse_file(file, SETTINGS)


def test_a_bomb_is_not_unpacked(tmp_path: Path) -> None:
    def swollen(part: str, data: bytes) -> bytes:
        return data + b" " * 20_000_000 if part == "content.xml" else data

    file = tmp_path / "bomb.odt"
    file.write_bytes(changed("libreoffice.odt", swollen))
    with pytest.raises(UnsafeFileError, match=r"bomb\.odt: it would unpack to \d+ times its size"):
        parse_file(file, SETTINGS)
    with pytest.raises(UnsafeFileError, match="max_unpacked_mb"):
        parse_file(file, ParsingSettings(max_unpacked_mb=19, max_unpacked_ratio=10_000))
    assert len(parse_file(file, ParsingSettings(max_unpacked_ratio=10_000)).blocks) > 20


def test_merged_cells_without_bound_are_refused(tmp_path: Path) -> None:
    def merged(part: str, data: bytes) -> bytes:
        return data.replace(b'ref="A3:A4"', b'ref="A3:XFD900000"')

    file = tmp_path / "far.xlsx"
    file.write_bytes(changed("workbook.xlsx", merged))
    with pytest.raises(UnsafeFileError, match="merged cells cover 14,745,567,234 cells"):
        parse_file(file, SETTINGS)


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"\x89PNG\r\n\x1a\n" + bytes(100), "a PNG image"),
        (b"\x7fELF" + bytes(range(256)) * 4, "binary data of an unknown kind"),
        (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + "WordDocument".encode("utf-16-le"), r"\.doc\)"),
        (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + "EncryptedPackage".encode("utf-16-le"), "password"),
        (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(64), "old Microsoft Office"),
        (b"PK\x05\x06" + bytes(18), "ZIP archive"),
    ],
)
def test_what_no_reader_knows_is_named(tmp_path: Path, content: bytes, said: str) -> None:
    file = tmp_path / "a.docx"
    file.write_bytes(content)
    with pytest.raises(UnsupportedFileError, match=rf"^in/a\.docx: .*{said}") as caught:
        parse_file(file, SETTINGS, document="in/a.docx")
    assert caught.value.permanent


@pytest.mark.parametrize("ending", ["txt", "md", "csv", "html", "py", "eml"])
def test_empty_files(tmp_path: Path, ending: str) -> None:
    file = tmp_path / f"a.{ending}"
    file.write_bytes(b"")
    with pytest.raises(EmptyFileError, match="zero bytes"):
        parse_file(file, SETTINGS)
    file.write_bytes(b" \n\n ")
    with pytest.raises(NoTextError, match="holds no text"):
        parse_file(file, SETTINGS)


def test_a_page_nested_without_end_says_what_is_missing(tmp_path: Path) -> None:
    file = tmp_path / "deep.html"
    file.write_bytes(b"<p>first</p>" + b"<div>" * 5000 + b"deep")
    file.write_bytes(b"<!DOCTYPE html>" + file.read_bytes())
    parsed = parse_file(file, SETTINGS)
    assert parsed.blocks["text"].tolist() == ["first"]
    assert parsed.warnings[0].startswith("parts of the page may be missing: Excessive depth")
    file.write_bytes(b"<!DOCTYPE html>" + b"<div>" * 1000 + b"deep" + b"</div>" * 1000)
    assert parse_file(file, SETTINGS).blocks["text"].tolist() == ["deep"]


def test_large_attributes_do_not_end_the_page(tmp_path: Path) -> None:
    file = tmp_path / "a.html"
    picture = b"<img alt='Pump' src='data:image/png;base64," + b"A" * 11_000_000 + b"'>"
    file.write_bytes(b"<!DOCTYPE html><p>before</p>" + picture + b"<p>after</p>")
    assert parse_file(file, SETTINGS).blocks["text"].tolist() == ["before", "Pump", "after"]


@pytest.mark.parametrize(
    ("name", "library"),
    [
        ("libreoffice.docx", "unstructured"),
        ("pandoc.pptx", "pptx"),
        ("workbook.xlsx", "openpyxl"),
    ],
)
def test_a_missing_library_says_how_to_install_it(
    monkeypatch: pytest.MonkeyPatch, name: str, library: str
) -> None:
    for module in list(sys.modules):
        if module == library or module.startswith(f"{library}."):
            monkeypatch.delitem(sys.modules, module)
    monkeypatch.setitem(sys.modules, library, None)
    with pytest.raises(
        MissingLibraryError, match=r"pip install 'rag-pipeline\[office\]'"
    ) as caught:
        parse_file(FORMATS / name, SETTINGS)
    assert not caught.value.permanent


def test_a_word_document_needs_no_network_and_no_language_model(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def refuse(*_: object) -> None:
        raise AssertionError("something tried to reach the network")

    path = FORMATS / "libreoffice.docx"
    paragraph_elements(io.BytesIO(path.read_bytes()), path.name)
    from unstructured import telemetry
    from unstructured.nlp import tokenize
    from unstructured.utils import _telemetry_opt_out

    monkeypatch.setattr(socket.socket, "connect", refuse)
    monkeypatch.setattr(tokenize, "_install_spacy_model", refuse)
    monkeypatch.setattr(telemetry.requests.Session, "send", refuse)
    tokenize._get_nlp.cache_clear()
    tokenize._process_cached.cache_clear()
    elements = paragraph_elements(io.BytesIO(path.read_bytes()), path.name)
    assert [type(element).__name__ for element, _ in elements].count("Title") == 8
    assert tokenize._get_nlp().pipe_names == ["sentencizer"]
    assert _telemetry_opt_out()


def test_another_way_to_the_model_is_a_loud_error(monkeypatch: pytest.MonkeyPatch) -> None:
    from unstructured.nlp import tokenize

    monkeypatch.delattr(tokenize, "_load_spacy_model")
    with pytest.raises(MissingLibraryError, match="language model"):
        parse_file(FORMATS / "libreoffice.docx", SETTINGS)


def test_an_unstructured_without_paragraphs_is_a_loud_error(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    from unstructured.partition import docx

    monkeypatch.setattr(docx, "register_picture_partitioner", lambda _: None)
    monkeypatch.setattr(docx.DocxPartitionerOptions, "_PicturePartitionerCls", None)
    with pytest.raises(MissingLibraryError, match="no longer hands out its paragraphs"):
        parse_file(FORMATS / "libreoffice.docx", SETTINGS)


def test_an_openpyxl_that_keeps_its_cells_elsewhere_is_a_loud_error() -> None:
    with pytest.raises(MissingLibraryError, match="openpyxl keeps its cells elsewhere"):
        stored_cells(object(), "a.xlsx")
    assert [place for place, _ in stored_cells(openpyxl.Workbook().active, "a.xlsx")] == []


@pytest.mark.parametrize(
    "header",
    ["Date: Mon, 1 Jan 99999999999 10:00:00 +0000", "Date: Mon, 1 Jan 2024 10:00:00 +99999999999"],
)
def test_a_header_that_breaks_the_rules_is_taken_as_it_stands(tmp_path: Path, header: str) -> None:
    file = tmp_path / "a.eml"
    file.write_text(f"From: a@example.org\n{header}\nSubject: Pump\n\nReplace the filter.\n")
    texts = parse_file(file, SETTINGS).blocks["text"].tolist()
    assert texts[0] == "Pump"
    assert header in texts[1]
    assert texts[-1] == "Replace the filter."
