"""Text inside wrappers of Word's XML, bad elements, and signs that are no bullets."""

from __future__ import annotations

from pathlib import Path

import docx
import pytest

from tests.formats.packages import changed_file, paragraph, parse, run, texts, word_file

TABLE = (
    "<w:tbl><w:tblPr/><w:tblGrid><w:gridCol/><w:gridCol/></w:tblGrid>"
    "<w:tr><w:tc><w:p>{0}</w:p></w:tc><w:tc><w:p>{1}</w:p></w:tc></w:tr></w:tbl>"
)
BOX = "<w:txbxContent>{}</w:txbxContent>"


def control(inner: str) -> str:
    return f"<w:sdt><w:sdtPr/><w:sdtContent>{inner}</w:sdtContent></w:sdt>"


@pytest.mark.parametrize(
    ("inner", "expected"),
    [
        (control(run("60 bar")), "Set 60 bar."),
        (control(control(run("60 bar"))), "Set 60 bar."),
        (f'<w:ins w:id="1">{control(run("60 bar"))}</w:ins>', "Set 60 bar."),
        (f'<w:moveTo w:id="1">{run("60 bar")}</w:moveTo>', "Set 60 bar."),
        (f'<w:smartTag w:element="x"><w:smartTagPr/>{run("60 bar")}</w:smartTag>', "Set 60 bar."),
        (f"<w:customXml><w:customXmlPr/>{run('60 bar')}</w:customXml>", "Set 60 bar."),
        (f'<w:fldSimple w:instr=" REF x ">{run("60 bar")}</w:fldSimple>', "Set 60 bar."),
        (f'<w:bdo w:val="ltr">{run("60 bar")}</w:bdo>', "Set 60 bar."),
        (f'<w:hyperlink w:anchor="x"><w:ins w:id="2">{run("60 bar")}</w:ins></w:hyperlink>', None),
        (
            "<w:r><w:ruby><w:rubyPr/><w:rt><w:r><w:t>yomi</w:t></w:r></w:rt><w:rubyBase>"
            f"{run('60 bar')}</w:rubyBase></w:ruby></w:r>",
            "Set 60 bar.",
        ),
        ('<w:r><w:sym w:font="Symbol" w:char="F0A3"/><w:t>60 bar</w:t></w:r>', "Set ≤60 bar."),
        ('<w:r><w:sym w:font="Wingdings" w:char="F0FC"/></w:r>', "Set ✓."),
        (
            '<w:r><w:rPr><w:rFonts w:ascii="Symbol" w:hAnsi="Symbol"/></w:rPr>'
            "<w:t>\uf0b1</w:t></w:r>" + run("60 bar"),
            "Set ±60 bar.",
        ),
        (
            "<w:del w:id='1'><w:r><w:delText>40</w:delText></w:r></w:del>"
            f"<w:moveFrom w:id='2'>{run('50')}</w:moveFrom><w:ins w:id='3'>{run('60 bar')}</w:ins>",
            "Set 60 bar.",
        ),
        (
            "<m:oMath><m:f><m:num><m:r><m:t>P</m:t></m:r></m:num><m:den><m:r><m:t>U</m:t></m:r>"
            "</m:den></m:f><m:sSup><m:e><m:r><m:t>I</m:t></m:r></m:e><m:sup><m:r><m:t>2</m:t></m:r>"
            "</m:sup></m:sSup></m:oMath>",
            "Set P/UI^2.",
        ),
        (
            f"<mc:AlternateContent><mc:Choice>{run('60 bar')}</mc:Choice>"
            f"<mc:Fallback>{run('60 bar')}</mc:Fallback></mc:AlternateContent>",
            "Set 60 bar.",
        ),
        (
            "<w:r><w:fldChar w:fldCharType='begin'><w:ffData><w:ddList><w:result w:val='1'/>"
            "<w:listEntry w:val='40 bar'/><w:listEntry w:val='60 bar'/></w:ddList></w:ffData>"
            "</w:fldChar></w:r>",
            "Set 60 bar.",
        ),
    ],
)
def test_text_inside_wrappers_is_read_in_its_place(
    tmp_path: Path, inner: str, expected: str | None
) -> None:
    parsed = parse(word_file(tmp_path / "a.docx", paragraph(run("Set "), inner, run("."))))
    assert texts(parsed) == [expected or "Set 60 bar."]
    assert parsed.warnings == []


def test_wrapped_paragraphs_tables_rows_and_cells(tmp_path: Path) -> None:
    row = "<w:tr><w:tc><w:p>{0}</w:p></w:tc>" + control("<w:tc><w:p>{1}</w:p></w:tc>") + "</w:tr>"
    body = (
        control(paragraph(run("Limit 35 bar")))
        + control(TABLE.format(run("M8"), run("25 Nm")))
        + "<w:tbl><w:tblPr/><w:tblGrid><w:gridCol/><w:gridCol/></w:tblGrid>"
        + row.format(run("Key"), run("Value"))
        + control(row.format(run("Serial"), run("SN-1")))
        + "</w:tbl>"
    )
    parsed = parse(word_file(tmp_path / "a.docx", body))
    assert texts(parsed) == ["Limit 35 bar", "M8 25 Nm", "Key Value\nSerial SN-1"]
    assert list(parsed.blocks["table_cells"])[1:] == [
        [["M8", "25 Nm"]],
        [["Key", "Value"], ["Serial", "SN-1"]],
    ]


def test_text_boxes_of_both_kinds_follow_their_paragraph_once(tmp_path: Path) -> None:
    box = BOX.format(paragraph(run("WARNING: 90 degrees")))
    drawn = f"<w:drawing><wp:inline><wps:txbx>{box}</wps:txbx></wp:inline></w:drawing>"
    old = f"<w:pict><v:shape><v:textbox>{box}</v:textbox></v:shape></w:pict>"
    both = (
        f"<w:r><mc:AlternateContent><mc:Choice Requires='wps'>{drawn}</mc:Choice>"
        f"<mc:Fallback>{old}</mc:Fallback></mc:AlternateContent></w:r>"
    )
    other = BOX.format(paragraph(run("Second box")) + TABLE.format(run("M8"), run("25")))
    body = (
        paragraph(run("Open."), both)
        + paragraph(run("Wait."), f"<w:r><w:pict><v:textbox>{other}</v:textbox></w:pict></w:r>")
        + paragraph(run("Close."))
    )
    parsed = parse(word_file(tmp_path / "a.docx", body))
    assert texts(parsed) == [
        *["Open.", "WARNING: 90 degrees", "Wait.", "Second box", "M8 25", "Close."]
    ]


def test_notes_follow_their_paragraph_or_table(tmp_path: Path) -> None:
    notes = (
        '<w:footnotes NAMESPACES><w:footnote w:type="separator" w:id="-1"><w:p/></w:footnote>'
        + "".join(
            f'<w:footnote w:id="{number}">{paragraph(run(text))}</w:footnote>'
            for number, text in ((2, "At 20 °C."), (3, "Dry threads."))
        )
        + "</w:footnotes>"
    )
    mark = '<w:r><w:footnoteReference w:id="{}"/></w:r>'
    body = (
        paragraph(run("Set 10"), mark.format(2), run(" bar."))
        + TABLE.format(run("M8") + mark.format(3), run("25 Nm"))
        + paragraph(run("End."))
    )
    parsed = parse(word_file(tmp_path / "a.docx", body, {"footnotes": notes}))
    assert texts(parsed) == [
        "Set 10 bar.",
        "Note 1: At 20 °C.",
        "M8 25 Nm",
        "Note 2: Dry threads.",
        "End.",
    ]


def test_deleted_rows_and_paragraph_ends(tmp_path: Path) -> None:
    gone = "<w:tr><w:trPr><w:del w:id='1'/></w:trPr><w:tc><w:p>{0}</w:p></w:tc></w:tr>"
    body = (
        "<w:p><w:pPr><w:rPr><w:del w:id='2'/></w:rPr></w:pPr>" + run("Set the valve ") + "</w:p>"
        + paragraph(run("to 16 bar."))
        + "<w:tbl><w:tblPr/><w:tblGrid><w:gridCol/></w:tblGrid><w:tr><w:tc>"
        + paragraph(run("New row")) + "</w:tc></w:tr>" + gone.format(run("Old row")) + "</w:tbl>"
    )  # fmt: skip
    assert texts(parse(word_file(tmp_path / "a.docx", body))) == [
        "Set the valve to 16 bar.",
        "New row",
    ]


def test_hidden_text_stands_in_the_warning(tmp_path: Path) -> None:
    hidden = "<w:r><w:rPr><w:vanish/></w:rPr><w:t>answer key</w:t></w:r>"
    shown = "<w:r><w:rPr><w:vanish w:val='0'/></w:rPr><w:t> 5 mm</w:t></w:r>"
    parsed = parse(word_file(tmp_path / "a.docx", paragraph(run("Gap"), hidden, shown)))
    assert texts(parsed) == ["Gap 5 mm"]
    assert parsed.warnings == ["hidden text was left out: answer key"]


def test_what_a_picture_shows_is_a_figure(tmp_path: Path) -> None:
    picture = (
        '<w:r><w:drawing><wp:inline><wp:docPr id="1" name="P" descr="Valve V3 at 16 bar"/>'
        "</wp:inline></w:drawing></w:r>"
    )
    blocks = parse(word_file(tmp_path / "a.docx", paragraph(run("See:"), picture))).blocks
    assert list(zip(blocks["text"], blocks["kind"], strict=True)) == [
        ("See:", "text"),
        ("Valve V3 at 16 bar", "figure"),
    ]


@pytest.mark.parametrize("attribute", ["r:id", "r:embed"])
def test_a_missing_relationship_costs_nothing_and_is_named(tmp_path: Path, attribute: str) -> None:
    link = f'<w:hyperlink {attribute}="rId900">{run("the log")}</w:hyperlink>'
    parsed = parse(word_file(tmp_path / "a.docx", paragraph(run("See "), link, run(" at 500 h."))))
    assert texts(parsed) == ["See the log at 500 h."]
    assert parsed.warnings == ["document: the link 'the log' leads nowhere"]


def test_parts_that_are_missing_or_broken_cost_themselves_alone(tmp_path: Path) -> None:
    file = word_file(tmp_path / "a.docx", paragraph(run("Oil: 500 h.")))
    changed_file(file, lambda name, data: None if name == "word/numbering.xml" else data)
    changed_file(file, lambda name, data: data[:300] if name == "word/styles.xml" else data)
    changed_file(file, lambda name, data: b"<a" if name == "docProps/core.xml" else data)
    parsed = parse(file)
    assert texts(parsed) == ["Oil: 500 h."]
    said = " ".join(parsed.warnings)
    assert "styles.xml is damaged" in said
    assert "numbering is missing" in said


def test_strict_open_xml_is_read_like_the_other(tmp_path: Path) -> None:
    file = tmp_path / "a.docx"
    document = docx.Document()
    document.add_heading("Pump manual", level=1)
    document.add_paragraph("Oil: 500 h.")
    document.save(str(file))
    changed_file(
        file,
        lambda _, data: data.replace(
            b"http://schemas.openxmlformats.org/wordprocessingml/2006/",
            b"http://purl.oclc.org/ooxml/wordprocessingml/",
        ).replace(
            b"http://schemas.openxmlformats.org/officeDocument/2006/",
            b"http://purl.oclc.org/ooxml/officeDocument/",
        ),
    )
    blocks = parse(file).blocks
    assert list(zip(blocks["text"], blocks["level_hint"].fillna(0), strict=True)) == [
        ("Pump manual", 1),
        ("Oil: 500 h.", 0),
    ]


def test_signs_and_letters_at_the_start_are_no_bullets(tmp_path: Path) -> None:
    document = docx.Document()
    for text in ("- 20 to 40 °C", "*see note", "o ring seals", "-5 V", "+5 V", "– 3 bar"):
        document.add_paragraph(text)
        document.add_paragraph(text, style="List Bullet")
        document.add_paragraph(text, style="List Number")
    document.add_paragraph("• 35 bar")
    document.save(str(tmp_path / "a.docx"))
    found = texts(parse(tmp_path / "a.docx"))
    for at, text in enumerate(
        ("- 20 to 40 °C", "*see note", "o ring seals", "-5 V", "+5 V", "– 3 bar")
    ):
        assert found[3 * at : 3 * at + 3] == [text, f"- {text}", f"{at + 1}. {text}"]
    assert found[-1] == "- 35 bar"
