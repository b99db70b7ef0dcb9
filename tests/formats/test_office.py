"""Office files made here by python-docx, python-pptx and openpyxl: what the samples do not have."""

from __future__ import annotations

from pathlib import Path

import docx
import openpyxl
import pptx
from docx.enum.style import WD_STYLE_TYPE
from docx.oxml import OxmlElement
from docx.oxml.ns import qn
from pptx.util import Inches

from rag_pipeline.inspection.file_inspection import inspect_file
from rag_pipeline.parsing import parse_file
from rag_pipeline.settings import ParsingSettings, Settings, StructureSettings
from rag_pipeline.structure import headings_of, infer_structure
from tests.formats.samples import FORMATS

SETTINGS = ParsingSettings()


def test_word_pages_styles_and_running_heads(tmp_path: Path) -> None:
    document = docx.Document()
    document.core_properties.title = "Pumps"
    document.sections[0].header.paragraphs[0].text = "Running head"
    style = document.styles.add_style("Kapitel", WD_STYLE_TYPE.PARAGRAPH)
    outline = OxmlElement("w:outlineLvl")
    outline.set(qn("w:val"), "0")
    style.element.get_or_add_pPr().append(outline)
    document.add_paragraph("Safety", style="Kapitel")
    document.add_paragraph("Keep off.")
    document.add_paragraph().add_run("Gloves").bold = True
    document.add_paragraph("Wear them.")
    document.add_page_break()
    document.add_heading("Filter", level=2)
    listing = document.add_paragraph()
    listing.add_run("pump --stop").font.name = "Courier New"
    document.add_paragraph("outer", style="List Bullet")
    document.add_paragraph("inner", style="List Bullet 2")
    document.add_paragraph("A")
    file = tmp_path / "a.docx"
    document.save(str(file))

    parsed = parse_file(file, SETTINGS)
    assert (parsed.title, parsed.page_count) == ("Pumps", 2)
    found = zip(
        parsed.blocks["page_number"],
        parsed.blocks["level_hint"].fillna(0),
        parsed.blocks["kind"],
        parsed.blocks["is_bold"],
        parsed.blocks["text"],
        strict=True,
    )
    assert list(found) == [
        (1, 1, "text", False, "Safety"),
        (1, 0, "text", False, "Keep off."),
        (1, 0, "text", True, "Gloves"),
        (1, 0, "text", False, "Wear them."),
        (2, 2, "text", False, "Filter"),
        (2, 0, "code", False, "pump --stop"),
        (2, 0, "text", False, "- outer"),
        (2, 0, "text", False, "- inner"),
        (2, 0, "text", False, "A"),
    ]
    assert parsed.blocks["x0"][7] > parsed.blocks["x0"][6]
    structured = infer_structure(parsed.blocks, StructureSettings())
    assert headings_of(structured) == [[0, "Safety", 1], [1, "Gloves", 1], [1, "Filter", 2]]


def test_a_paragraph_takes_its_level_from_its_own_style_alone(tmp_path: Path) -> None:
    document = docx.Document()
    chapter = document.styles.add_style("Kapitel", WD_STYLE_TYPE.PARAGRAPH)
    chapter.base_style = document.styles["Heading 2"]
    document.add_heading("Safety", level=1)
    document.add_paragraph("See Safety")
    document.add_paragraph("Safety")
    document.add_paragraph("2.1 Safety")
    document.add_paragraph("Inherited", style="Kapitel")
    for text, value in (("Own level", "2"), ("Own body text", "9")):
        outline = OxmlElement("w:outlineLvl")
        outline.set(qn("w:val"), value)
        style = "Heading 1" if value == "2" else "Normal"
        document.add_paragraph(text, style=style)._p.get_or_add_pPr().append(outline)
    file = tmp_path / "a.docx"
    document.save(str(file))

    blocks = parse_file(file, SETTINGS).blocks
    assert list(zip(blocks["text"], blocks["level_hint"].fillna(0), strict=True)) == [
        ("Safety", 1),
        ("See Safety", 0),
        ("Safety", 0),
        ("2.1 Safety", 0),
        ("Inherited", 2),
        ("Own level", 3),
        ("Own body text", 0),
    ]


def test_slides_with_merged_cells_groups_and_own_bullets(tmp_path: Path) -> None:
    show = pptx.Presentation()
    slide = show.slides.add_slide(show.slide_layouts[5])
    slide.shapes.title.text = "Seals"
    grid = slide.shapes.add_table(2, 2, Inches(1), Inches(2), Inches(4), Inches(1)).table
    grid.cell(0, 0).merge(grid.cell(0, 1))
    grid.cell(0, 0).text = "Both"
    grid.cell(1, 0).text, grid.cell(1, 1).text = "left", "right"
    box = slide.shapes.add_group_shape().shapes.add_textbox(
        Inches(1), Inches(5), Inches(3), Inches(1)
    )
    box.text_frame.text = "In a group"
    file = tmp_path / "a.pptx"
    show.save(str(file))

    blocks = parse_file(file, SETTINGS).blocks
    assert blocks["text"].tolist() == ["Seals", "Both\nleft right", "In a group"]
    assert blocks["table_cells"][1] == [["Both", ""], ["left", "right"]]
    assert blocks["table_spans"][1] == [[(2, 1), (0, 0)], [(1, 1), (1, 1)]]
    # 1 of 10 inches from the left, 2 of 7.5 from above.
    assert (round(blocks["x0"][1], 3), round(blocks["y0"][1], 3)) == (0.1, 0.267)


def test_sheets_keep_far_cells_types_and_links(tmp_path: Path) -> None:
    book = openpyxl.Workbook()
    sheet = book.active
    sheet.title = "Parts"
    sheet.append(["Part", None, "Stock", "Share", "Open"])
    sheet.append(["SK-40/B", None, 7, 0.125, True])
    sheet["D2"].number_format = "0.0%"
    sheet["A2"].hyperlink = "https://pumps.example/sk"
    sheet["XFD1048576"] = "far away"
    file = tmp_path / "a.xlsx"
    book.save(file)

    parsed = parse_file(file, SETTINGS)
    assert parsed.blocks["text"].tolist()[0] == "Parts"
    assert parsed.blocks["table_cells"][1] == [
        ["Part", "Stock", "Share", "Open"],
        ["SK-40/B (https://pumps.example/sk)", "7", "12.5%", "TRUE"],
    ]
    assert parsed.blocks["text"].tolist()[2:] == ["far away"]


def test_every_sample_can_be_inspected(tmp_path: Path) -> None:
    settings = Settings(project_dir=tmp_path)
    for path in sorted(FORMATS.iterdir()):
        if path.suffix:
            inspection = inspect_file(path, settings)
            assert inspection.file == path.name
            assert inspection.pages >= 1
            assert len(inspection.blocks) >= 1
            assert inspection.markdown.strip()
            assert all(block["rule"] for block in inspection.blocks)
