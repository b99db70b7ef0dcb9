"""Encodings, kinds of text, and the small readers, by values worked out by hand."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rag_pipeline.parsing import parse_file
from rag_pipeline.parsing.file_type import file_type
from rag_pipeline.parsing.formats.data.csv_reader import read_csv
from rag_pipeline.parsing.formats.decoding import decode
from rag_pipeline.parsing.formats.elements import Element, blocks_of
from rag_pipeline.parsing.formats.markup import parse_html, read_markup
from rag_pipeline.parsing.formats.plain_text import (
    read_source_code,
    read_text,
    text_elements,
)
from rag_pipeline.parsing.formats.rtf.rtf_reader import read_rtf
from rag_pipeline.parsing.table_grid import covered_grid
from rag_pipeline.settings import ParsingSettings, StructureSettings
from rag_pipeline.structure import headings_of, infer_structure

KOREAN = "냉각수 펌프의 필터를 청소하고 오류 코드를 확인합니다. "
SETTINGS = ParsingSettings()


@pytest.mark.parametrize(
    ("text", "written", "detected"),
    [
        ("plain words", "ascii", "utf-8"),
        (KOREAN, "utf-8", "utf-8"),
        (KOREAN, "utf-8-sig", "utf-8"),
        (KOREAN, "cp949", "cp949"),
        (KOREAN + "E-17 pump status", "euc-kr", "cp949"),
        ("똠방각하 펲시콜라 뷁", "cp949", "cp949"),
        (KOREAN, "utf-16", "utf-16"),
        ("pump status E-17", "utf-16-le", "utf-16-le"),
        ("pump status E-17", "utf-16-be", "utf-16-be"),
        ("Überprüfen Sie den Ölstand der Pumpe täglich.", "latin-1", "cp1252"),
        ("“Vérifiez” – le niveau d’huile à l’arrêt", "cp1252", "cp1252"),
        ("ポンプのフィルターを掃除してください。圧力を確認します。", "cp932", "cp932"),
    ],
)
def test_encodings_are_told_from_the_bytes(text: str, written: str, detected: str) -> None:
    decoded = decode(text.encode(written))
    assert (decoded.text.lstrip("\ufeff"), decoded.encoding, decoded.faults) == (text, detected, 0)


def test_faults_are_counted() -> None:
    data = (KOREAN * 20).encode("utf-8")
    decoded = decode(data[:30] + b"\xff" + data[30:90] + b"\xfe" + data[90:])
    assert (decoded.encoding, decoded.faults) == ("utf-8", 2)
    assert decoded.warnings == ["2 places could not be decoded as utf-8"]


def test_a_declaration_decides_where_the_bytes_do_not() -> None:
    assert decode("Żółw".encode("iso8859-2"), "iso-8859-2").text == "Żółw"
    assert decode("물".encode("cp949"), "EUC-KR").text == "물"
    assert decode("Öl".encode(), "iso-8859-1").text == "Öl", "UTF-8 goes before a declaration"
    assert decode(b"caf\xe9", "no-such-encoding").text == "café"


@given(st.text())
def test_utf8_always_comes_back(text: str) -> None:
    data = text.encode("utf-8", "replace")
    if b"\x00" not in data and not data.startswith((b"\xef\xbb\xbf", b"\xff\xfe")):
        assert decode(data).text == data.decode("utf-8")


@pytest.mark.parametrize(
    ("name", "content", "expected"),
    [
        ("a.txt", b"From: x\nTo: y\n\nA note.", "text"),
        ("a.eml", b"From: x\nTo: y\n\nA message.", "email"),
        ("a", b"Received: x\nSubject: y\n\nA message.", "email"),
        ("README.md", b"<html>\n# Title", "markdown"),
        ("a.html", b"<!-- saved -->\n<!DOCTYPE html><p>x", "html"),
        ("a.xhtml", b'<?xml version="1.0"?>\n<html xmlns="x"/>', "html"),
        ("a.py", b"print(1)", "code"),
        ("a.csv", b"a,b\n", "csv"),
        ("a.log", b"\x1b[31mred\x1b[0m", "text"),
        ("a.pdf", b"junk before %PDF-1.7", "pdf"),
        ("a.txt", "유틸".encode("utf-16-le") * 40, "text"),
        ("a.rtf", rb"{\rtf1 x}", "rtf"),
        ("mail.txt", b"Date: today\nSubject: y\n\nA note.", "text"),
        ("a.doc", rb"{\rtf1 x}", "rtf"),
    ],
)
def test_the_content_decides(tmp_path: Path, name: str, content: bytes, expected: str) -> None:
    file = tmp_path / name
    file.write_bytes(content)
    found = file_type(file, name)
    assert (found.format, found.mismatch) == (expected, None)


def test_the_covered_places_of_spans() -> None:
    cells, spans = covered_grid([[("a", 1, 9), ("b", 1, 1)], [("c", 1, 1)]])
    assert cells == [["a", "b"], ["", "c"]]
    assert spans == [[(1, 2), (1, 1)], [(0, 0), (1, 1)]], "a span ends with the table"


@given(
    st.lists(
        st.lists(st.tuples(st.just("x"), st.integers(0, 4), st.integers(0, 4)), max_size=5),
        max_size=6,
    )
)
def test_grids_are_rectangles_that_hold_every_cell(rows: list) -> None:
    cells, spans = covered_grid(rows)
    assert len({len(row) for row in cells}) <= 1
    assert [list(map(len, cells))] == [list(map(len, spans))]
    assert sum(cell == "x" for row in cells for cell in row) == sum(map(len, rows))


@given(st.text(alphabet="ab{}()#'\" \n\t:=", max_size=200))
def test_source_code_loses_no_line(text: str) -> None:
    found = read_source_code(text.encode(), "python").elements
    lines = [line for element in found for line in element.text.split("\n") if line.strip()]
    assert lines == [line for line in text.split("\n") if line.strip()]


def test_form_feeds_end_pages() -> None:
    reading = read_text(
        b"Pump\n====\n\nfirst page\n\fsecond page\n\nFilter\n====\n\f\fthe fourth\n\f"
    )
    found = [(element.text, element.page, element.level) for element in reading.elements]
    assert found == [
        ("Pump", 1, 1),
        ("first page", 1, None),
        ("second page", 2, None),
        ("Filter", 2, 1),
        ("the fourth", 4, None),
    ]
    assert reading.page_count == 4


@given(st.lists(st.text(alphabet="ab 1.-\n#*", min_size=1, max_size=40), max_size=8))
def test_plain_text_keeps_every_word(paragraphs: list[str]) -> None:
    text = "\n\n".join(paragraphs)
    kept = " ".join(element.text for element in text_elements(text)).split()
    marks = [word for word in text.split() if set(word) not in ({"-"}, {"#"}, {"*"}, {"."})]
    assert [word for word in kept if set(word) not in ({"-"}, {"#"}, {"*"}, {"."})] == marks


@pytest.mark.parametrize("delimiter", [",", ";", "\t", "|"])
def test_delimiters_are_found(delimiter: str) -> None:
    rows = [["a", "b", "c"], ["1,5", "x;y", ""], ["", "2", 'say "hi"']]
    text = "\n".join(delimiter.join('"' + c.replace('"', '""') + '"' for c in row) for row in rows)
    (table,) = read_csv(text.encode()).elements
    assert table.cells == rows


def test_rtf_of_other_writers() -> None:
    source = (
        rb"{\rtf1\ansi\ansicpg949{\fonttbl{\f0\fnil\fcharset129 Batang;}{\f1 Courier New;}}"
        rb"{\stylesheet{\s3\outlinelevel1 \'b0\'b3\'bf\'e4;}}"
        rb"{\*\unknown ignored}\pard\s3\f0 \'b0\'b3\'bf\'e4\par"
        rb"\pard\plain\f0 a\~b \u54156\'3f \'c6\'df{\v hidden}\line next\par"
        rb"\pard\li720 -\tab item\par\pard\li1440 -\tab deeper\par"
        rb"\pard\f1 code  x\par\f1   y\par}"
    )
    found = read_rtf(source, "a.rtf").elements
    assert [(e.level, e.kind, e.depth, e.text) for e in found] == [
        (2, "text", 0, "개요"),
        (None, "text", 0, "a b 펌 펌\nnext"),
        (None, "text", 1, "- item"),
        (None, "text", 2, "- deeper"),
        (None, "code", 0, "code  x\n  y"),
    ]


def test_html_lists_definitions_and_breaks() -> None:
    root, faults = parse_html(
        "<ol start=3><li>Do<ul><li>sub</ul><li><p>one<p>two</ol><dl><dt>Term<dd>Meaning</dl>"
        "<p>a<br>b <b>c</b></p><p><b>All bold</b></p><h4>Head <a href='#x'>#</a></h4>"
        "<div role=heading aria-level=5>Also</div><script>no</script><table><tr><td>Lone</table>",
        "a.html",
    )
    assert faults == []
    found = read_markup(root)
    assert [(e.text, e.depth, e.hanging, e.bold, e.level) for e in found] == [
        ("3. Do", 1, False, False, None),
        ("- sub", 2, False, False, None),
        ("4. one", 1, False, False, None),
        ("two", 1, True, False, None),
        ("Term", 0, False, False, None),
        ("Meaning", 1, False, False, None),
        ("a\nb c", 0, False, False, None),
        ("All bold", 0, False, True, None),
        ("Head", 0, False, False, 4),
        ("Also", 0, False, False, 5),
        ("Lone", 0, False, False, None),
    ]


def test_web_pages_without_marks_lose_only_menus(tmp_path: Path) -> None:
    file = tmp_path / "a.html"
    file.write_text(
        "<html><body><div class='nav-bar'><a href='/'>Home</a></div><div id='sidebar'>"
        "<a href='/1'>One</a> <a href='/2'>Two</a></div><div class='post-navigation-help'><p>How "
        "to navigate.</p></div><p>Short.</p><footer>Imprint</footer></body></html>"
    )
    assert parse_file(file, SETTINGS).blocks["text"].tolist() == ["How to navigate.", "Short."]
    whole = parse_file(file, ParsingSettings(main_content=False)).blocks["text"].tolist()
    assert whole == ["Home", "One Two", "How to navigate.", "Short.", "Imprint"]


def test_given_levels_hold_even_where_there_are_few() -> None:
    """Two headings of one size: rules of style could not tell them apart."""
    frame, _ = blocks_of(
        [Element("Pumps", level=1), Element("Seals", level=3), Element("A seal wears out.")]
    )
    structured = infer_structure(frame, StructureSettings())
    assert headings_of(structured) == [[0, "Pumps", 1], [1, "Seals", 1]]
    assert structured["breadcrumb_trail"].iloc[2] == "Pumps > Seals"


def test_titles_that_repeat_on_slides_are_no_running_heads() -> None:
    elements = []
    for page in range(1, 6):
        box = (0.1, 0.02, 0.9, 0.1)
        elements.append(Element("Installation", level=1, page=page, box=box))
        elements.append(
            Element(f"The work goes on with part {page}.", page=page, box=(0.1, 0.3, 0.9, 0.4))
        )
    structured = infer_structure(blocks_of(elements)[0], StructureSettings())
    assert structured["role"].tolist() == ["heading", "paragraph"] * 5


def test_a_thousand_pages_in_one_still_have_room() -> None:
    frame, _ = blocks_of([Element(f"Paragraph {n} of many.") for n in range(20_000)])
    assert (frame["y1"] > frame["y0"]).all()
    assert frame["y1"].max() == pytest.approx(0.85, abs=1e-4)
