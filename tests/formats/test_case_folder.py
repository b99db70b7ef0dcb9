"""The folder of cases: each input's right values, and no loss by the second reading."""

from __future__ import annotations

from pathlib import Path

import pytest

from rag_pipeline.parsing.local_parser import audit_file
from tests.formats.packages import SETTINGS, parse

pytestmark = pytest.mark.bench_data
RIGHT = {
    "docx_content_controls.docx": [
        *["Cover title in a control", "Block paragraph in a control: 35 bar."],
        *["Inline value 42 after.", "Bolt Torque\nM8 25 Nm", "SN-778899"],
    ],
    "docx_tracked_insertion.docx": [
        *["Tighten to 21 Nm.", "Never run the pump dry."],
        "Moved sentence about the relief valve.",
    ],
    "docx_wrapped_runs.docx": [
        *["Busan works", "See Figure 7", "東京 plant", "Code E-4711 shown"],
        *["Set gap 0.3 mm now", "P=U×I"],
    ],
    "docx_line_breaks.docx": ["soft±5 mm"],
    "docx_text_box.docx": ["cover.\nWARNING: hot surface in a box, 90 degrees.\nClose"],
    "docx_broken_link.docx": ["Oil: 500 h. See the log today.", "Filter: 1000 h."],
    "docx_strict.docx": ["Pump manual", "Oil: 500 h."],
    "pptx_alternate_content.pptx": ["Pressure limit is 16 bar."],
    "pptx_broken_picture.pptx": ["Oil change every 500 h."],
    "xlsx_formula_not_cached.xlsx": ["=B2*C2 30:05", "Manual link"],
    "md_comment_with_markup.md": ["Pump", "Oil every 2000 h.", "Filter every 500 h."],
    "md_comment_with_arrow.md": ["Pump", "Oil every 2000 h.", "Filter every 500 h."],
    "html_fragment.html": ["Oil change", "Every 500 h.", "M8 25 Nm"],
    "html_long_comment_first.html": ["Valve", "Clearance 0.45 mm"],
    "html_warnings.html": [
        *["400 V inside", "16 bar before opening", "U=24", "torque changed to 39 Nm"]
    ],
    "rtf_list_first_character.rtf": ["- oil filter", "- -20 degrees minimum"],
    "rtf_star_inside_group.rtf": ["The pump is tested at 16 bar."],
    "csv_sep_line.csv": ["Part Torque\nM8 25,5"],
    "csv_space_after_comma.csv": ["Bolt Text with, comma 12"],
    "eml_alternative_image_html.eml": ["The plain part holds 52 Nm."],
    "eml_mixed_body_and_disclaimer.eml": [
        *["The relief valve opens at 16 bar.", "This message is confidential."]
    ],
}


@pytest.mark.parametrize("name", RIGHT)
def test_every_case_holds_its_right_values_once(bench_data: Path, name: str) -> None:
    file = bench_data / "cases_formats" / name
    if not file.is_file():
        pytest.skip(f"{file} is absent")
    parsed = parse(file)
    text = "\n".join(parsed.blocks["text"])
    for value in RIGHT[name]:
        assert text.count(value) == 1
    assert audit_file(file, SETTINGS).lost.total() == 0
    if name == "docx_broken_link.docx":
        assert parsed.warnings == ["document: the link 'See the log' leads nowhere"]
