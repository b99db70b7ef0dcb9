"""Slides, workbooks, pages, mail, RTF and CSV: nothing lost, nothing changed."""

from __future__ import annotations

import datetime
from pathlib import Path

import openpyxl
import pptx
import pytest
from pptx.chart.data import CategoryChartData
from pptx.enum.chart import XL_CHART_TYPE
from pptx.util import Inches

from rag_pipeline.parsing import ParsedDocument
from tests.formats.packages import changed_file, parse, texts


def written(path: Path, content: str | bytes) -> ParsedDocument:
    """The parsed form of a file with this content."""
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return parse(path)


# Slides


def slide_file(path: Path) -> Path:
    show = pptx.Presentation()
    slide = show.slides.add_slide(show.slide_layouts[5])
    slide.shapes.title.text = "Limits"
    for at, text in enumerate(("Pressure 16 bar", "Oil 500 h")):
        box = slide.shapes.add_textbox(Inches(1), Inches(2 + at), Inches(4), Inches(0.5))
        box.text_frame.text = text
    show.save(str(path))
    return path


def test_a_shape_without_geometry_and_a_broken_picture_cost_themselves_alone(
    tmp_path: Path,
) -> None:
    def change(name: str, data: bytes) -> bytes:
        if name != "ppt/slides/slide1.xml":
            return data
        start = data.index(b"<a:prstGeom")
        end = data.index(b"</a:prstGeom>") + len(b"</a:prstGeom>")
        data = data[:start] + data[end:]
        picture = (
            b'<p:pic><p:nvPicPr><p:cNvPr id="9" name="Picture 8"/><p:cNvPicPr/><p:nvPr/>'
            b"</p:nvPicPr>"
            b'<p:blipFill><a:blip r:embed="rId99"/></p:blipFill><p:spPr/></p:pic>'
        )
        return data.replace(b"</p:spTree>", picture + b"</p:spTree>").replace(b' txBox="1"', b"")

    parsed = parse(changed_file(slide_file(tmp_path / "a.pptx"), change))
    assert texts(parsed) == ["Limits", "Pressure 16 bar", "Oil 500 h"]
    assert parsed.warnings == ["slide1: the picture 'Picture 8' leads nowhere"]


def test_alternatives_and_formulas_on_slides(tmp_path: Path) -> None:
    def change(name: str, data: bytes) -> bytes:
        if name != "ppt/slides/slide1.xml":
            return data
        space = b'xmlns:mc="http://schemas.openxmlformats.org/markup-compatibility/2006"'
        math = (
            b'<a14:m xmlns:a14="http://schemas.microsoft.com/office/drawing/2010/main">'
            b'<m:oMath xmlns:m="http://schemas.openxmlformats.org/officeDocument/2006/math">'
            b"<m:r><m:t>U=24</m:t></m:r></m:oMath></a14:m>"
        )
        at, end = data.rindex(b"<p:sp>"), data.rindex(b"</p:sp>") + len(b"</p:sp>")
        shape = data[at:end].replace(b"</a:p>", math + b"</a:p>")
        both = b"<mc:Choice>" + shape + b"</mc:Choice><mc:Fallback>" + data[at:end]
        return (
            data[:at] + b"<mc:AlternateContent " + space + b">" + both
            + b"</mc:Fallback></mc:AlternateContent>" + data[end:]
        )  # fmt: skip

    parsed = parse(changed_file(slide_file(tmp_path / "a.pptx"), change))
    assert texts(parsed) == ["Limits", "Pressure 16 bar", "Oil 500 hU=24"]


def test_charts_are_tables_of_their_values(tmp_path: Path) -> None:
    show = pptx.Presentation()
    slide = show.slides.add_slide(show.slide_layouts[6])
    data = CategoryChartData()
    data.categories = ["M8", "M10"]
    data.add_series("Torque", (25, 49.5))
    slide.shapes.add_chart(
        XL_CHART_TYPE.COLUMN_CLUSTERED, Inches(1), Inches(1), Inches(4), Inches(3), data
    )
    show.save(str(tmp_path / "a.pptx"))
    blocks = parse(tmp_path / "a.pptx").blocks
    assert list(blocks["table_cells"])[-1] == [["", "Torque"], ["M8", "25"], ["M10", "49.5"]]


# Workbooks


def test_formulas_without_a_value_times_and_units(tmp_path: Path) -> None:
    book = openpyxl.Workbook()
    sheet = book.active
    sheet.title = "Parts"
    sheet.append(["Part", "Total", "Run time", "Torque", "Short"])
    sheet.append(["A-1", "=2*3", datetime.timedelta(hours=30, minutes=5), 25, None])
    sheet["C2"].number_format = "[h]:mm"
    sheet["D2"].number_format = '0.0" Nm"'
    sheet["E2"] = datetime.timedelta(minutes=75, seconds=3)
    sheet["E2"].number_format = "[mm]:ss"
    sheet["A3"] = '=HYPERLINK("https://a.example","Manual link")'
    sheet["B3"] = "x"
    book.save(tmp_path / "a.xlsx")
    parsed = parse(tmp_path / "a.xlsx")
    assert list(parsed.blocks["table_cells"])[1] == [
        ["Part", "Total", "Run time", "Torque", "Short"],
        ["A-1", "=2*3", "30:05", "25 Nm", "75:03"],
        ["Manual link (https://a.example)", "x", "", "", ""],
    ]
    assert parsed.warnings == [
        "2 formulas were never computed; the formula stands in its cell: Parts!B2, Parts!A3"
    ]


def test_comments_are_read_and_a_workbook_that_openpyxl_refuses(tmp_path: Path) -> None:
    book = openpyxl.Workbook()
    sheet = book.active
    sheet.title = "Parts"
    sheet.append(["Part", "Torque"])
    sheet.append(["M8", 25])
    sheet["B2"].comment = openpyxl.comments.Comment("Dry threads", "a")
    book.save(tmp_path / "a.xlsx")
    assert texts(parse(tmp_path / "a.xlsx")) == [
        *["Parts", "Part Torque\nM8 25", "Comment on B2: Dry threads"]
    ]

    def break_styles(name: str, data: bytes) -> bytes:
        return data.replace(b'fontId="0"', b'fontId="many"') if name == "xl/styles.xml" else data

    parsed = parse(changed_file(tmp_path / "a.xlsx", break_styles))
    assert texts(parsed)[:2] == ["Parts", "Part Torque\nM8 25"]
    assert "read as plain paragraphs" in " ".join(parsed.warnings)


# Pages

LONG = "<p>" + "The compressor delivers air at a higher pressure. " * 8 + "</p>"


def test_warnings_and_notes_are_content_wherever_they_stand(tmp_path: Path) -> None:
    parsed = written(
        tmp_path / "a.html",
        "<!DOCTYPE html><html><body>"
        '<div role="alert">Danger! 400 V inside.</div>'
        '<nav><a href="/">Home</a></nav><aside><a href="/b">Other pump</a></aside>'
        f'<main><h1>Service</h1>{LONG}<aside class="note"><p>Vent at 16 bar.</p></aside>'
        "<article><p>Note 7.</p><footer><p>Torque is 39 Nm.</p></footer></article></main>"
        "<aside><p>Warning: the housing reaches 90 °C.</p></aside>"
        "<footer><p>Imprint</p></footer></body></html>",
    )
    found = texts(parsed)
    for text in (
        "Danger! 400 V inside.",
        "Vent at 16 bar.",
        "Torque is 39 Nm.",
        "Warning: the housing reaches 90 °C.",
    ):
        assert found.count(text) == 1
    assert not {"Home", "Other pump", "Imprint"} & set(found)
    assert parsed.warnings == []


def test_text_outside_of_the_main_part_is_said(tmp_path: Path) -> None:
    parsed = written(
        tmp_path / "a.html",
        f"<!DOCTYPE html><body><div>Serial SN-9</div><main>{LONG}</main></body>",
    )
    assert parsed.warnings == ["3 of 67 words (4.5%) were not read: serial, sn, 9"]


@pytest.mark.parametrize(
    "start",
    ["<h1>Oil</h1>", "<main><h1>Oil</h1>", f"<!-- {'x' * 9000} --><h1>Oil</h1>", "\n<p>x</p>"],
)
def test_pages_that_do_not_begin_like_pages(tmp_path: Path, start: str) -> None:
    parsed = written(tmp_path / "a.html", f"{start}<table><tr><td>M8</td><td>25</td></tr></table>")
    assert list(parsed.blocks["table_cells"])[-1] == [["M8", "25"]]
    assert parsed.warnings == []


def test_formulas_fields_and_drawings_on_pages(tmp_path: Path) -> None:
    parsed = written(
        tmp_path / "a.html",
        "<html><body><p>Power <math><mi>P</mi><mo>=</mo><msup><mi>I</mi><mn>2</mn></msup><mi>R</mi>"
        "</math>.</p><p>Press <button>Start</button> twice.</p><svg><text>Valve V3</text></svg>"
        '<p>Gap <input value="0.3"> mm</p></body></html>',
    )
    assert texts(parsed) == ["Power P=I^2R.", "Press Start twice.", "Valve V3", "Gap 0.3 mm"]


def test_comments_in_markdown_are_ignored(tmp_path: Path) -> None:
    parsed = written(
        tmp_path / "a.md",
        "# Pump\n\nOil 2000 h.\n\n<!-- a -> b\n\n<b>1500 h</b> -->\n\n<!-- x --> Filter 500 h.\n\n"
        'See <img src="v.png" alt="valve V3"> here.\n',
    )
    assert texts(parsed) == ["Pump", "Oil 2000 h.", "Filter 500 h.", "See valve V3 here."]
    assert parsed.warnings == []


# Mail


def mail(kind: str, *parts: tuple[str, str]) -> str:
    body = "".join(
        f'--b\nContent-Type: {part}; charset="utf-8"\n\n{text}\n' for part, text in parts
    )
    return (
        "MIME-Version: 1.0\nSubject: Valve\nFrom: a@x.example\n"
        f'Content-Type: multipart/{kind}; boundary="b"\n\n{body}--b--\n'
    )


@pytest.mark.parametrize(
    ("kind", "parts", "expected"),
    [
        ("mixed", [("plain", "Opens at 16 bar."), ("html", "<p>Secret.</p>")], None),
        ("mixed", [("html", "<p>Opens at 16 bar.</p>"), ("plain", "Secret.")], None),
        (
            "alternative",
            [("plain", "Opens at 16 bar."), ("html", '<img src="cid:1">')],
            ["Opens at 16 bar."],
        ),
        (
            "alternative",
            [("plain", "Opens at 16 bar."), ("html", "<p>Please view in a browser.</p>")],
            ["Please view in a browser.", "Opens at 16 bar."],
        ),
        (
            "alternative",
            [("plain", "Opens at 16 bar."), ("html", "<p>Opens at <b>16</b> bar.</p>")],
            ["Opens at 16 bar."],
        ),
    ],
)
def test_all_parts_of_a_body_are_read_once(
    tmp_path: Path, kind: str, parts: list[tuple[str, str]], expected: list[str] | None
) -> None:
    typed = [(f"text/{name}", text) for name, text in parts]
    parsed = written(tmp_path / "a.eml", mail(kind, *typed))
    assert texts(parsed)[2:] == (expected or ["Opens at 16 bar.", "Secret."])


def test_forwarded_messages_are_read(tmp_path: Path) -> None:
    inner = "Subject: Old\nFrom: c@x.example\nDate: x\n\nSet 21 Nm."
    parsed = written(
        tmp_path / "a.eml", mail("mixed", ("text/plain", "See below."), ("message/rfc822", inner))
    )
    assert "Set 21 Nm." in texts(parsed)


# RTF


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        (r"{\loch\f0\*\cs7 Tested at 16 bar.}", ["Tested at 16 bar."]),
        (r"Gap \u177 5 mm", ["Gap ±5 mm"]),
        (r"Gap {\u177}5 mm", ["Gap ±5 mm"]),
        (r"Gap \u177\'b15 mm", ["Gap ±5 mm"]),
        (r"Gap \u177?5 mm", ["Gap ±5 mm"]),
        (r"Area 5 m\u178 2 high", ["Area 5 m² high"]),
        (
            r"Gap \u1200000?5 mm \u-70000?wide",
            ["Gap \N{REPLACEMENT CHARACTER}5 mm \N{REPLACEMENT CHARACTER}wide"],
        ),
        (r"Gap {\f1\'b1}5 mm {\f1 m}m", ["Gap ±5 mm μm"]),
        (r'Gap {\field{\*\fldinst SYMBOL 177 \\f "Symbol"}{\fldrslt }}5 mm', ["Gap ±5 mm"]),
        (r"Set {\deleted 12 }21 Nm", ["Set 21 Nm"]),
        (
            r"Open.{\shp{\*\shpinst{\sp{\sn a}{\sv 1}}{\shptxt \pard Hot, 90 degrees.\par}}"
            r"{\shprslt{\*\do{\dptxbxtext Hot, 90 degrees.\par}}}}\par Close.",
            ["Hot, 90 degrees.", "Open.", "Close."],
        ),
        (r"Set 10{\footnote \pard At 20 degrees.} bar", ["At 20 degrees.", "Set 10 bar"]),
        (r"{\listtext \u8226\'95\tab}- 20 degrees", ["- - 20 degrees"]),
        (r"{\listtext \u8226\'95\tab}o rings", ["- o rings"]),
        (r"{\pntext\'b7\tab}oil filter", ["- oil filter"]),
        (r"-20 degrees\par *see note\par o rings", ["-20 degrees", "*see note", "o rings"]),
    ],
)
def test_rtf_text_in_any_group_and_unchanged(
    tmp_path: Path, body: str, expected: list[str]
) -> None:
    fonts = r"{\fonttbl{\f0 Arial;}{\f1\fcharset2 Symbol;}}"
    parsed = written(tmp_path / "a.rtf", rf"{{\rtf1\ansi{fonts}\pard\f0 {body}\par}}")
    assert texts(parsed) == expected


# CSV


@pytest.mark.parametrize(
    ("content", "cells", "above"),
    [
        ("sep=;\r\nPart;Nm\r\nM8;25,5\r\n", [["Part", "Nm"], ["M8", "25,5"]], []),
        ('"sep=|"\nPart|Nm\nM8|2,5\n', [["Part", "Nm"], ["M8", "2,5"]], []),
        (
            'A, B, C\n"x", "one, two", 12\n',
            [["A", "B", "C"], ["x", "one, two", "12"]],
            [],
        ),
        (
            "Torque table\nRevision C, 2024\n\nPart,Nm,Size,Grade\nM8,25,13,8.8\nM10,49,16,8.8\n",
            [
                ["Part", "Nm", "Size", "Grade"],
                ["M8", "25", "13", "8.8"],
                ["M10", "49", "16", "8.8"],
            ],
            ["Torque table", "Revision C, 2024"],
        ),
    ],
)
def test_csv_headers_and_cells_stay_in_their_columns(
    tmp_path: Path, content: str, cells: list[list[str]], above: list[str]
) -> None:
    parsed = written(tmp_path / "a.csv", content)
    assert texts(parsed)[:-1] == above
    assert list(parsed.blocks["table_cells"])[-1] == cells
    assert parsed.warnings == []
