"""The folder of PDFs that go wrong: the words and values that each must give."""

from __future__ import annotations

from pathlib import Path

import pytest

from rag_pipeline.parsing import parse_file
from rag_pipeline.parsing.local_parser import audit_file
from rag_pipeline.settings import ParsingSettings, StructureSettings
from rag_pipeline.structure import infer_structure

pytestmark = pytest.mark.bench_data
FURNITURE = ["page_header", "page_footer", "contents_entry"]
RIGHT = {
    "white_on_rounded_bar.pdf": ["3 Maintenance", "4 Troubleshooting"],
    "white_outlined_title.pdf": ["Pump P-200 Service Manual"],
    "white_on_circle_steps.pdf": ["1 Close the inlet valve.", "3 Unscrew the housing."],
    "cjk_one_character_a_time.pdf": ["使用前请阅读说明书"],
    "dot_leader_data.pdf": ["230", "2900", "IP54", "M12", "34"],
    "title_block_of_each_part.pdf": ["Bulletin 1: Hose"],
    "code_headings_on_each_page.pdf": ["E-01", "E-02", "E-03", "E-04", "E-05"],
    "fault_headings_on_each_page.pdf": ["Fault code 1: stop of the pump"],
    "last_line_is_a_code.pdf": ["F1", "F100", "F204"],
    "superscripts_and_subscripts.pdf": ["10^-6", "10^3 cycles", "2.5 m³"],
    "part_number_at_line_end.pdf": ["qcl-ab-22", "non-return"],
    "filled_form.pdf": ["SN-2024-00817", "16.5", "Maria Koslowski"],
    "cover_up.pdf": ["14 bar"],
    "drop_cap.pdf": ["The pump moves"],
    "text_drawn_twice_apart.pdf": ["Set the relief valve to 16 bar."],
    "letters_beyond_the_basic_plane.pdf": ["n = 60"],
    "page_number_in_gutter.pdf": ["of the text about the pump and its parts\nLeft line 2 of"],
    "side_heads.pdf": ["Cleaning the\nstrainer\nClose the inlet", "the belt\nClose the inlet"],
    "line_numbers_in_margin.pdf": ["1 Scope\nwatches the pressure", "4 Tests\nwatches"],
    "hebrew.pdf": ["1 בטיחות", "הוא 16 bar, והדגם הוא P-200.", "1. סגור את", "הבורג M8."],
    "vertical_japanese.pdf": ["ポンプをはじめて使うまえに", "手入れ\n毎週フィルターを"],
    "code_listing_in_prose_font.pdf": ['2      stop(motor);\n3      log("E-04");\n4  } else'],
    "code_indentation.pdf": ["        stop(motor)\n    else:"],
    "table_with_notes.pdf": ["10 ¹⁾", "25 ²⁾"],
}
ABSENT = {"cover_up.pdf": ["16 bar"], "letters_beyond_the_basic_plane.pdf": ["\ufffd"]}


@pytest.mark.parametrize("name", RIGHT)
def test_every_case_holds_its_values(bench_data: Path, name: str) -> None:
    file = bench_data / "cases_pdf" / name
    if not file.is_file():
        pytest.skip(f"{file} is absent")
    parsed = parse_file(file, ParsingSettings(), document=name)
    frame = infer_structure(parsed.blocks, StructureSettings())
    text = "\n".join(frame["text"][~frame["role"].isin(FURNITURE)])
    for value in RIGHT[name]:
        assert value in text
    for value in ABSENT.get(name, []):
        assert value not in text


def test_a_typed_note_that_is_not_drawn_is_said(bench_data: Path) -> None:
    file = bench_data / "cases_pdf" / "free_text_annotation.pdf"
    if not file.is_file():
        pytest.skip(f"{file} is absent")
    parsed = parse_file(file, ParsingSettings(), document=file.name)
    assert any("CHANGED 2024-05" in warning for warning in parsed.warnings)


def test_no_case_loses_a_word_or_changes_a_number(bench_data: Path) -> None:
    folder = bench_data / "cases_pdf"
    if not folder.is_dir():
        pytest.skip(f"{folder} is absent")
    for file in sorted(folder.glob("*.pdf")):
        losses = audit_file(file, ParsingSettings(ocr="off"))
        # Neither engine of the witness puts the digits of a line from right to left in order.
        assert not losses.lost, (file.name, losses.lost)
        assert not losses.changed or file.name == "hebrew.pdf", (file.name, losses.changed)
