"""JSON, JSON Lines, XML, notebooks, and Office files with macros."""

from __future__ import annotations

import json
from pathlib import Path

import openpyxl
import pytest

from rag_pipeline.store.source_tables import SourceRoot
from rag_pipeline.sync.sources.listing import folder_notes
from rag_pipeline.sync.sources.scan import scan
from tests.formats.packages import changed_file, parse, texts


def test_json_objects_are_sections_and_records_tables(tmp_path: Path) -> None:
    file = tmp_path / "a.json"
    file.write_text(
        '{"name": "pump", "limits": {"pressure": 16.50, "on": true, "none": null},'
        ' "parts": [{"id": "M8", "torque": 25}, {"id": "M10", "torque": 1e-3}]}'
    )
    blocks = parse(file).blocks
    assert list(zip(blocks["text"], blocks["level_hint"].fillna(0), strict=True)) == [
        ("name: pump", 0),
        ("limits", 1),
        ("pressure: 16.50\non: true\nnone: null", 0),
        ("parts", 1),
        ("id torque\nM8 25\nM10 1e-3", 0),
    ]


def test_json_lines_with_a_faulty_line(tmp_path: Path) -> None:
    file = tmp_path / "a.jsonl"
    file.write_text('{"id": "M8", "nm": 25}\n{"id": "M10", "nm": 49}\n{broken\n')
    parsed = parse(file)
    assert texts(parsed) == ["id nm\nM8 25\nM10 49", "{broken"]
    assert parsed.warnings == ["1 of 3 lines are no valid JSON"]


def test_xml_by_its_titles_tables_and_fields(tmp_path: Path) -> None:
    file = tmp_path / "a.xml"
    file.write_text(
        '<?xml version="1.0"?><book><title>Pump</title><chapter><title>Oil</title>'
        "<para>Change at <b>500</b> h.</para><step>Open.</step><table><row><entry>M8</entry>"
        '<entry>25</entry></row></table></chapter><spec max="16 bar"><name>x</name><val>3</val>'
        "</spec></book>"
    )
    parsed = parse(file)
    assert texts(parsed) == [
        *["Pump", "Oil", "Change at 500 h.", "- Open.", "M8 25"],
        *["spec\nmax: 16 bar", "name: x", "val: 3"],
    ]
    assert parsed.title == "Pump"


def test_notebooks_are_read_cell_by_cell(tmp_path: Path) -> None:
    cells = [
        {"cell_type": "markdown", "source": ["# Pump\n", "Oil **500** h."]},
        {
            "cell_type": "code",
            "source": "print(5)",
            "outputs": [{"output_type": "stream", "text": ["5\n"]}],
        },
    ]
    file = tmp_path / "a.ipynb"
    file.write_text(json.dumps({"cells": cells, "metadata": {}, "nbformat": 4}))
    blocks = parse(file).blocks
    assert list(zip(blocks["text"], blocks["kind"], strict=True)) == [
        *[("Pump", "text"), ("Oil 500 h.", "text"), ("print(5)", "code"), ("5", "code")]
    ]


def test_workbooks_with_macros(tmp_path: Path) -> None:
    book = openpyxl.Workbook()
    book.active.append(["Part", "Nm"])
    book.active.append(["M8", 25])
    book.save(tmp_path / "a.xlsm")
    changed_file(
        tmp_path / "a.xlsm",
        lambda _, data: data.replace(
            b"application/vnd.openxmlformats-officedocument.spreadsheetml.sheet.main+xml",
            b"application/vnd.ms-excel.sheet.macroEnabled.main+xml",
        ),
    )
    parsed = parse(tmp_path / "a.xlsm")
    assert texts(parsed) == ["Sheet", "Part Nm\nM8 25"]
    assert parsed.warnings == []


@pytest.mark.parametrize("name", ["a.json", "a.docm", "a.pptm", "a.xlsm", "a.ipynb", "a.xml"])
def test_endings_that_can_be_read_are_taken(tmp_path: Path, name: str) -> None:
    (tmp_path / name).write_text("{}")
    found = scan([SourceRoot(root=str(tmp_path))], {})
    assert [Path(file.uri).name for file in found.files] == [name]
    assert found.problems == []


def test_files_that_nothing_takes_are_counted_by_ending_once(tmp_path: Path) -> None:
    for name in (
        "a.pages",
        "b.PAGES",
        "c.doc",
        "sub/d.doc",
        "sub/e.doc",
        "NOTES",
        ".hidden",
        "~$x.docx",
    ):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text("x")
    (tmp_path / ".ragignore").write_text("sub/e.doc\n")
    note = f"{tmp_path}: 5 files were not taken: 2 .pages, 2 .doc, 1 without ending"
    root = SourceRoot(root=str(tmp_path))
    assert scan([root], {}).problems == [note]
    assert folder_notes([root]).not_taken == [note]
