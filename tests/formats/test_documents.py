"""One document of every format, made by the programs people use: all is asserted by hand."""

from __future__ import annotations

import pytest

from tests.formats.samples import FORMATS, headings, items, parsed, structured, tables, texts

HEADINGS = [
    (1, "Maintenance"),
    (2, "Replacing the seal"),
    (3, "Tools"),
    (3, "Procedure"),
    (2, "Service intervals"),
    (1, "고장 진단"),
    (2, "오류 코드 읽기"),
    (3, "오류 E-17"),
]
ITEMS = [
    (1, "- Hook spanner"),
    (2, "- Size 40 for the cover"),
    (2, "- Size 22 for the drain"),
    (1, "- Seal kit SK-40/B"),
    (1, "1. Close both valves."),
    (1, "2. Loosen the cover with the hook spanner."),
    (1, "3. Pull out the seal and clean its seat."),
    (1, "4. Press in the new seal until it stops."),
]
CELLS = [
    ["Part", "Interval in hours", ""],
    ["", "Check", "Replace"],
    ["Seal SK-40/B", "500", "2000"],
    ["Spring S-7", "500", "4000"],
]
PLAIN = [(1, 1), (1, 1), (1, 1)]
SPANS = [[(1, 2), (2, 1), (0, 0)], [(0, 0), (1, 1), (1, 1)], PLAIN, PLAIN]
CODE = 'pump status --last\n    code = E-17\n    state = "stopped"'
LINKED = (
    "The coolant pump CP-40 moves up to 40 litres a minute. Service it every 500 hours and keep a "
    "record of each visit in the service log (https://pumps.example/log)."
)
MANUALS = [
    "sources/manual.html",
    "libreoffice.docx",
    "libreoffice.odt",
    "libreoffice.rtf",
    "pandoc.docx",
    "pandoc.epub",
    "pandoc.rtf",
]
TITLE_IN_TEXT = {"pandoc.docx", "pandoc.epub", "pandoc.rtf"}
"""Documents that begin with their title, as a heading or in bold."""
# pandoc 2.17 writes no cells merged downwards, and RTF without any merged cells.
PANDOC_CELLS = [["Part", "Interval in hours", ""], ["Check", "Replace", ""], *CELLS[2:]]
PANDOC_SPANS = [[(1, 1), (2, 1), (0, 0)], PLAIN, PLAIN, PLAIN]


@pytest.mark.parametrize("name", MANUALS)
def test_headings_have_the_levels_that_the_file_states(name: str) -> None:
    title = [(1, "Coolant pump CP-40")] if name in TITLE_IN_TEXT else []
    assert headings(name) == [*title, *HEADINGS]


@pytest.mark.parametrize("name", MANUALS)
def test_lists_are_nested_and_numbered(name: str) -> None:
    assert items(name) == ITEMS


@pytest.mark.parametrize("name", MANUALS)
def test_tables_have_cells_and_spans(name: str) -> None:
    if name == "pandoc.rtf":
        assert tables(name) == [(PANDOC_CELLS, [PLAIN] * 4)]
    elif name.startswith("pandoc"):
        assert tables(name) == [(PANDOC_CELLS, PANDOC_SPANS)]
    else:
        assert tables(name) == [(CELLS, SPANS)]


@pytest.mark.parametrize("name", MANUALS)
def test_code_keeps_its_form_and_links_their_address(name: str) -> None:
    assert LINKED in texts(name, "paragraph")
    if name == "libreoffice.odt":
        # The page ends within the listing.
        assert texts(name, "code") == [CODE.split("\n")[0], CODE.split("\n", 1)[1]]
    else:
        assert texts(name, "code") == [CODE]


@pytest.mark.parametrize("name", MANUALS)
def test_titles_language_and_trails(name: str) -> None:
    document = parsed(name)
    assert document.language == "ko"
    assert document.warnings == []
    assert document.title == (None if name == "pandoc.rtf" else "Coolant pump CP-40")
    last = structured(name).iloc[-1]
    assert last["text"].startswith("냉각수 온도가 95 °C를")
    assert last["breadcrumb_trail"].endswith("고장 진단 > 오류 코드 읽기 > 오류 E-17")


@pytest.mark.parametrize(
    "path",
    sorted(path for path in FORMATS.iterdir() if path.is_file() and path.suffix),
    ids=lambda path: path.name,
)
def test_boxes_go_down_the_page(path) -> None:
    blocks = parsed(path.name).blocks
    assert len(blocks)
    assert (blocks["x0"] < blocks["x1"]).all()
    assert (blocks["y0"] < blocks["y1"]).all()
    if path.suffix != ".pptx":
        for _, page in blocks.groupby("page_number"):
            assert (page["y0"].diff().dropna() > 0).all()
            assert (page["y0"].to_numpy()[1:] >= page["y1"].to_numpy()[:-1]).all()


def test_odt_pages_are_those_of_its_last_layout() -> None:
    assert parsed("libreoffice.odt").page_count == 2
    frame = structured("libreoffice.odt")
    assert frame[frame["text"] == "오류 E-17"]["page_number"].tolist() == [2]


@pytest.mark.parametrize("name", ["pandoc.pptx", "libreoffice.pptx"])
def test_a_slide_is_a_page(name: str) -> None:
    document = parsed(name)
    assert document.page_count == 7
    assert document.title == "Coolant pump CP-40"
    below = 2 if name == "pandoc.pptx" else 1  # LibreOffice drops the layouts of sections
    assert headings(name) == [
        (1, "Coolant pump CP-40"),
        (1, "Maintenance"),
        (below, "Tools"),
        (below, "Procedure"),
        (below, "Service intervals"),
        (1, "고장 진단"),
        (below, "오류 E-17"),
    ]
    assert items(name) == [
        *ITEMS[:4],
        (1, "1. Close both valves."),
        (1, "2. Loosen the cover with the hook spanner."),
        (1, "3. Pull out the seal and clean its seat."),
    ]
    assert tables(name) == [
        (
            [["Part", "Check", "Replace"], ["Seal SK-40/B", "500", "2000"], CELLS[3]],
            [PLAIN, PLAIN, PLAIN],
        )
    ]
    assert texts(name, "code") == ["pump status --last\n    code = E-17"]
    frame = structured(name)
    pages = dict(zip(frame["text"], frame["page_number"], strict=True))
    assert pages["See the service log (https://pumps.example/log)."] == 3
    assert pages["Speaker notes: Show the spanner to everyone."] == 3
    assert pages["다음 명령으로 마지막 오류를 표시합니다."] == 7


def test_slides_have_the_boxes_of_their_shapes() -> None:
    blocks = parsed("pandoc.pptx").blocks
    title = blocks[blocks["text"] == "Tools"].iloc[0]
    # The title of pandoc's template: 457200, 205979 EMU, 8229600 wide, 857250 high, of 9144000 by
    # 5143500.
    assert (title["x0"], title["x1"]) == pytest.approx((0.05, 0.95))
    assert (title["y0"], title["y1"]) == pytest.approx((205979 / 5143500, 1063229 / 5143500))


def test_a_sheet_is_a_page() -> None:
    document = parsed("workbook.xlsx")
    assert document.page_count == 2
    assert document.title == "Coolant pump CP-40"
    assert document.warnings == ["hidden sheets were left out: Draft"]
    assert headings("workbook.xlsx") == [(1, "Intervals"), (1, "오류 코드")]
    assert texts("workbook.xlsx", "paragraph") == ["Service intervals for clean water"]
    assert tables("workbook.xlsx") == [
        (CELLS, SPANS),
        (
            [
                ["코드", "뜻", "부품", "비율", "날짜"],
                ["E-17", "과열", "0040", "15%", "2026-03-01"],
                ["E-20", "압력 낮음", "0007", "50%", ""],
            ],
            [[(1, 1)] * 5] * 3,
        ),
    ]
    assert structured("workbook.xlsx")["page_number"].tolist() == [1, 1, 1, 2, 2]


def test_a_web_page_gives_its_main_content() -> None:
    assert parsed("page.html").title == "Replacing the seal – Pump help"
    assert headings("page.html") == [(1, "Replacing the seal"), (2, "Tools"), (2, "Procedure")]
    assert items("page.html") == [
        (1, "- Hook spanner"),
        (1, "- Seal kit SK-40/B"),
        (1, "3. Pull out the seal."),
        (1, "4. Press in the new seal.\nListen for the click."),
    ]
    assert texts("page.html", "code") == ["pump vent --slow\n  --port 2"]
    assert texts("page.html", "caption") == ["Table 1. Seals"]
    assert tables("page.html") == [
        (
            [["Pump", "Seal", ""], ["CP-40", "SK-40/A", "cold"], ["", "SK-40/B", "hot"]],
            [[(1, 1), (2, 1), (0, 0)], [(1, 2), (1, 1), (1, 1)], [(0, 0), (1, 1), (1, 1)]],
        )
    ]
    assert texts("page.html", "paragraph") == [
        "A worn seal shows as a drip below the shaft of the CP-40.",
        "More in the service log (https://pumps.example/log) and above.",
    ]
    code = parsed("page.html").blocks.query("kind == 'code'")
    assert code["code_language"].tolist() == ["bash"]


def test_an_email_with_html() -> None:
    document = parsed("html.eml")
    assert document.title == "펌프 CP-40: error E-17"
    assert document.warnings == ["1 attachment not read: pump.log"]
    assert headings("html.eml") == [(1, "펌프 CP-40: error E-17"), (2, "Report")]
    assert document.blocks["text"][1] == (
        "From: Kim Minji <minji@pumps.example>\nTo: service@pumps.example\n"
        "Date: Mon, 02 Mar 2026 09:30:00 +0900"
    )
    assert tables("html.eml") == [([["Code", "Count"], ["E-17", "3"]], [[(1, 1)] * 2] * 2)]
    assert items("html.eml") == [(1, "1. Clean the filter."), (1, "2. Start again.")]
    assert document.blocks["text"].iloc[-1] == "Attachments: pump.log"


def test_an_email_in_euc_kr() -> None:
    blocks = parsed("plain.eml").blocks
    assert parsed("plain.eml").title == "Re: 펌프"
    assert blocks["text"].tolist()[2:] == ["필터를 청소했습니다.", "> The pump stopped."]


def test_markdown() -> None:
    assert parsed("manual.md").title == "Coolant pump CP-40"
    assert headings("manual.md") == [*HEADINGS[:5], (3, "Clean water"), HEADINGS[5]]
    assert items("manual.md") == ITEMS
    assert LINKED in texts("manual.md", "paragraph")
    assert tables("manual.md") == [
        (
            [["Part", "Check", "Replace"], ["Seal SK-40/B", "500", "2000"], CELLS[3]],
            [PLAIN, PLAIN, PLAIN],
        ),
        (
            [
                ["Part", "Salt water", ""],
                ["", "Check", "Replace"],
                ["Seal SK-40/B", "250", "1000"],
            ],
            SPANS[:3],
        ),
    ]
    assert texts("manual.md", "code") == ['[status]\n    code = E-17\n    state = "stopped"']
    assert texts("manual.md", "admonition") == ["경고: 펌프가 뜨겁습니다."]
    frame = structured("manual.md")
    below = frame[frame["text"] == "It holds the spring as well."].iloc[0]
    above = frame[frame["text"] == "- Seal kit SK-40/B"].iloc[0]
    assert below["group_id"] == above["group_id"]


def test_plain_text() -> None:
    assert headings("manual.txt") == [
        (1, "Coolant pump CP-40"),
        (2, "Tools"),
        (2, "Procedure"),
        (3, "1 고장 진단"),
        (4, "1.1 오류 코드"),
        (4, "1.2 오류 E-17"),
    ]
    assert items("manual.txt") == [
        (1, "* Hook spanner of hardened steel"),
        (2, "- Size 40 for the cover"),
        (1, "* Seal kit SK-40/B"),
        (1, "1. Close both valves."),
        (1, "2. Loosen the cover."),
    ]
    assert texts("manual.txt", "code") == ["    pump status --last\n        code = E-17"]


def test_csv_in_cp949_keeps_every_cell_as_it_stands() -> None:
    assert tables("parts.csv") == [
        (
            [
                ["부품 번호", "이름", "주기", "비고"],
                ["0040", "씰", "500", "눌러 끼움; 기름 금지"],
                ["S-7", "스프링", "4000", ""],
                ["1E5", "필터", "", "TRUE"],
            ],
            [[(1, 1)] * 4] * 4,
        )
    ]
    assert parsed("parts.csv").warnings == []


def test_source_code_is_cut_at_definitions_and_kept_exactly() -> None:
    source = (FORMATS / "pump.py").read_text(encoding="utf-8")
    blocks = parsed("pump.py").blocks
    starts = ['"""Reads', "import json", "LIMIT", "# Degrees", "class Pump"]
    assert [
        text[: len(start)] for text, start in zip(blocks["text"], starts, strict=True)
    ] == starts
    for text in blocks["text"]:
        assert text in source
    assert blocks["text"][3].endswith("    return False")
    assert blocks["text"][4].startswith('class Pump:\n\t"""Tabs')
    assert set(blocks["kind"]) == {"code"}
    assert blocks["is_monospace"].all()
    assert set(blocks["code_language"]) == {"python"}
    assert parsed("pump.rs").blocks["text"].tolist()[3] == (
        "fn is_hot(degrees: f64) -> bool {\n    let hot = degrees > LIMIT;\n\n    hot\n}"
    )
    assert parsed("pump.js").blocks["text"].tolist() == [
        "// Reads the state of a coolant pump.\nconst LIMIT = 95;",
        "function isHot(degrees) {\n  return degrees > LIMIT; // 온도 확인\n}",
        "export { isHot };",
    ]
