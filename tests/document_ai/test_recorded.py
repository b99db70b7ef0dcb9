"""Recorded replies of eleven kinds of processors: what their blocks must be, value by value.

Texts, boxes and cells were read off the recordings themselves.
"""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from google.cloud.documentai_v1 import Document

from rag_pipeline.errors import ParseError
from rag_pipeline.parsing.document_ai.convert.replies_to_blocks import to_blocks
from rag_pipeline.parsing.document_ai.service.reply_checks import check_reply, pages_without_text
from rag_pipeline.parsing.document_ai.service.shards import merge_shards
from rag_pipeline.settings import StructureSettings
from rag_pipeline.structure import infer_structure

FILES = {
    1: "01_ocr_v1_winnie_3p.json",
    2: "02_ocr_v2_styleinfo_symbols_invoice.json",
    3: "03_form_parser_table.json",
    4: "04_form_parser_intake.json",
    5: "05_layout_parser_v1_winnie_15p.json",
    6: "06_batch_shard_5of5_8p_tables.json",
    7: "07_contract_parser_cymbal.json",
    8: "08_ocr_quality_slovak_scan.json",
    9: "09_invoice_french_2p.json",
    10: "10_ocr_patent_two_column.json",
    11: "11_ocr_multiple_orientations.json",
    12: "12_ocr_blank_page.json",
    13: "13_ocr_v2_math_visual_elements.json",
    14: "14_splitter_text_no_pages.json",
}


def load(recorded: Path, number: int) -> Any:
    text = (recorded / FILES[number]).read_text("utf-8")
    return Document.pb(Document.from_json(text, ignore_unknown_fields=True))


def blocks_of(recorded: Path, number: int) -> tuple[pd.DataFrame, str]:
    return to_blocks([load(recorded, number)])


def box(blocks: pd.DataFrame, row: int) -> tuple[float, ...]:
    return tuple(round(float(blocks.at[row, name]), 3) for name in ("x0", "y0", "x1", "y1"))


def trails(blocks: pd.DataFrame) -> pd.DataFrame:
    return infer_structure(blocks, StructureSettings())


@pytest.mark.parametrize("number", [1, 2, 3, 4, 6, 7, 8, 9, 10, 11, 12, 13])
def test_recorded_pages_pass_the_checks(recorded: Path, number: int) -> None:
    document = load(recorded, number)
    pages = tuple(page.page_number for page in document.pages)
    check_reply(document, pages, "recorded")
    assert pages_without_text(document, pages) == ([1] if number == 12 else [])


@pytest.mark.parametrize("number", [1, 2, 3, 4, 6, 7, 8, 9, 10, 11, 13])
def test_no_word_is_lost_or_doubled(recorded: Path, number: int) -> None:
    """Words at line ends that a hyphen breaks are put together: compared without white space."""
    document = load(recorded, number)
    blocks, _ = to_blocks([document])

    def characters(text: str) -> Counter[str]:
        return Counter(re.sub(r"[\s\-‐\u00ad:：☐☑]", "", text))

    assert characters(" ".join(blocks["text"])) == characters(document.text)


def test_01_a_scanned_book(recorded: Path) -> None:
    blocks, language = blocks_of(recorded, 1)
    assert language == "en"
    assert blocks["page_number"].value_counts(sort=False).to_dict() == {1: 13, 2: 14, 3: 10}
    assert blocks["text"].iloc[:2].tolist() == ["CHAPTER I", "IN WHICH We Are Introduced to"]
    assert box(blocks, 0) == (0.639, 0.102, 0.843, 0.117)
    body = blocks[blocks["text"].str.startswith("Once upon a time")].iloc[0]
    assert (body["page_number"], body["line_count"]) == (2, 3)
    assert body["font_size"] == 18.7  # a letter page's points: the scan's size is not known
    assert blocks["confidence"].iloc[0] == 0.903
    # 'Chris-' and 'topher' stand on two lines.
    assert "Christopher" in blocks[blocks["page_number"] == 3]["text"].str.cat(sep=" ")
    roles = trails(blocks).set_index("text")["role"]
    assert (roles["Digitized by"] == "page_footer").all()


def test_02_style_of_tokens(recorded: Path) -> None:
    blocks, _ = blocks_of(recorded, 2)
    assert len(blocks) == 35
    assert blocks["text"].iloc[0] == "Invoice"
    assert box(blocks, 0) == (0.749, 0.099, 0.881, 0.122)
    # fontWeight is over 600 in the table's head and sums, 415 in the title.
    assert blocks.loc[blocks["is_bold"], "text"].tolist() == [
        "Item Description",
        "Quantity",
        "Price",
        "Amount",
        "Subtotal",
        "Tax",
        "BALANCE DUE",
        "$2140.00",
        "NOTES:",
    ]
    assert blocks["font_size"].iloc[0] == 23.0
    assert blocks["font_size"].iloc[1] == 11.1


def test_03_table_and_form_fields(recorded: Path) -> None:
    blocks, _ = blocks_of(recorded, 3)
    assert blocks["text"].tolist() == [
        "Form Title",
        "Form Number: 12345678",
        "Form Date: 2020/10/01",
        "Name: First Last",
        "Address: 123 Fake St",
        "Item Description\nItem 1 Description 1\nItem 2 Description 2\nItem 3 Description 3",
    ]
    assert blocks["kind"].tolist() == ["text"] * 5 + ["table"]
    assert blocks["table_cells"].iloc[5] == [
        ["Item", "Description"],
        ["Item 1", "Description 1"],
        ["Item 2", "Description 2"],
        ["Item 3", "Description 3"],
    ]
    assert box(blocks, 0) == (0.358, 0.174, 0.622, 0.205)
    assert box(blocks, 5) == (0.035, 0.639, 0.966, 0.846)
    structured = trails(blocks)
    assert structured["role"].tolist() == ["heading", *["paragraph"] * 4, "table"]
    assert set(structured["breadcrumb_trail"]) == {"Form Title"}


def test_04_a_form_filled_in_by_hand(recorded: Path) -> None:
    blocks, _ = blocks_of(recorded, 4)
    assert len(blocks) == 19  # a title, a paragraph, 17 fields
    texts = blocks["text"].tolist()
    assert texts[0] == "FakeDoc M.D."
    assert texts[2:9] == [
        "Date: 9/14/19",
        "Name: Sally Walker",
        "DOB: 09/04/1986",
        "Address: 24 Barney Lane",
        "City: Towaco",
        "State: NJ",
        "Zip: 07082",
    ]
    assert "Emergency Contact Phone: (906) 334-8976" in texts


def test_05_the_layout_parsers_tree(recorded: Path) -> None:
    document = load(recorded, 5)
    check_reply(document, tuple(range(1, 16)), "winnie.pdf", is_layout=True)
    assert pages_without_text(document, tuple(range(1, 16))) == []
    blocks, language = to_blocks([document])
    assert (len(blocks), language) == (175, "en")
    assert blocks["page_number"].drop_duplicates().tolist() == list(range(1, 16))
    assert blocks["page_number"].is_monotonic_increasing
    # Running heads that the tree takes for headings (pages 5 and 8) are none.
    assert blocks.loc[blocks["level_hint"].notna(), ["text", "level_hint"]].to_numpy().tolist() == [
        ["CHAPTER I", 1]
    ]
    structured = trails(blocks)
    heads = structured[structured["text"] == "WINNIE-THE-POOH"]
    assert (heads["role"] == "page_header").all()
    feet = structured[structured["text"] == "Digitized by Google"]
    assert len(feet) == 15
    assert (feet["role"] == "page_footer").all()
    verse = structured[structured["text"] == "Floating in the Blue!"]
    assert verse["page_number"].tolist() == [15]
    assert verse["breadcrumb_trail"].tolist() == ["CHAPTER I"]


def test_06_a_batch_shard_with_tables(recorded: Path) -> None:
    blocks, _ = blocks_of(recorded, 6)
    assert len(blocks) == 80
    assert blocks["page_number"].value_counts(sort=False).to_dict() == dict.fromkeys(
        range(41, 49), 10
    )
    tables = blocks[blocks["kind"] == "table"]
    assert tables["page_number"].tolist() == list(range(41, 49))
    for cells in tables["table_cells"]:
        assert cells == [
            ["Item Description", "Quantity", "Price", "Amount"],
            ["Tool A", "500", "$1.00", "$500.00"],
            ["Service B", "1", "$900.00", "$900.00"],
            ["Resource C", "50", "$12.00", "$600.00"],
            ["", "", "Subtotal", "$2000.00"],
            ["", "", "Tax", "$140.00"],
            ["", "", "BALANCE DUE", "$2140.00"],
        ]
    assert box(blocks, int(tables.index[0])) == (0.118, 0.448, 0.882, 0.695)
    assert "FROM: Company ABC user@companyabc.com" in blocks["text"].tolist()


def test_07_numbered_clauses(recorded: Path) -> None:
    blocks, _ = blocks_of(recorded, 7)
    assert len(blocks) == 16  # 12 paragraphs, of which four begin with a title of their own
    texts = blocks["text"].tolist()
    assert texts[0] == "WORLDWIDE LICENSE AND DISTRIBUTION AGREEMENT"
    assert box(blocks, 0) == (0.25, 0.029, 0.746, 0.042)
    for title in (
        "1.1 Product and Brand License",
        "1.2 Term of License",
        "2.1 Notice",
        "2.2. Governing Law",
    ):
        assert title in texts
    assert set(blocks["font_size"]) == {13.9}


def test_08_another_language(recorded: Path) -> None:
    blocks, language = blocks_of(recorded, 8)
    assert language == "sk"
    assert set(blocks["language"]) == {"sk"}
    assert len(blocks) == 12
    assert blocks["text"].iloc[0] == "I. Cast.\nLiečenie ludi."
    assert box(blocks, 0) == (0.154, 0.134, 0.369, 0.236)
    assert blocks["confidence"].min() == 0.432


def test_09_two_pages_in_columns(recorded: Path) -> None:
    blocks, language = blocks_of(recorded, 9)
    assert language == "fr"
    assert blocks["page_number"].value_counts(sort=False).to_dict() == {1: 37, 2: 53}
    assert blocks["text"].iloc[0] == "NOUS CONTACTER"
    assert box(blocks, 0) == (0.06, 0.036, 0.218, 0.048)
    assert "MAËLLE ET JÉRÔME GUÉRIN\n12 RUE DE LONDRES\n75009 PARIS" in blocks["text"].tolist()
    # The imprint runs up the margin of page 1.
    turned = blocks[~blocks["is_upright"]]
    assert turned["text"].str.startswith("EDF-SA au capital").tolist() == [True]
    assert box(blocks, int(turned.index[0])) == (0.029, 0.195, 0.051, 0.799)


def test_10_two_columns_stay_apart(recorded: Path) -> None:
    blocks, _ = blocks_of(recorded, 10)
    assert len(blocks) == 52
    assert blocks["text"].iloc[0] == "US010142938B2"
    assert box(blocks, 0) == (0.621, 0.049, 0.736, 0.061)
    wide = blocks[(blocks["x0"] < 0.48) & (blocks["x1"] > 0.52) & (blocks["y1"] < 0.66)]
    assert wide.empty  # down to the drawing, nothing stands in both columns
    abstract = blocks[blocks["text"].str.startswith("A computer-implemented method")].iloc[0]
    assert "downloading" in abstract["text"] or "application" in abstract["text"]
    assert abstract["line_count"] == 14


def test_11_text_in_four_directions(recorded: Path) -> None:
    blocks, _ = blocks_of(recorded, 11)
    assert blocks["text"].tolist() == [
        "Said Deep Thought",
        "forty-two,",
        "and calm.",
        "with infinite majesty",
    ]
    # The first corner of turned text is not its top left.
    assert box(blocks, 0) == (0.472, 0.236, 0.529, 0.714)
    assert box(blocks, 2) == (0.104, 0.341, 0.141, 0.687)
    assert (blocks["x0"] < blocks["x1"]).all()
    assert (blocks["y0"] < blocks["y1"]).all()
    assert blocks["font_size"].between(25, 55).all()


def test_12_a_blank_page(recorded: Path) -> None:
    blocks, language = blocks_of(recorded, 12)
    assert blocks.empty
    assert language == "und"


def test_13_a_formula(recorded: Path) -> None:
    blocks, _ = blocks_of(recorded, 13)
    assert blocks["text"].tolist() == [r"\int_{-\infty}^{\infty}e^{-x^{2}}dx=\sqrt{x}."]
    assert blocks["kind"].tolist() == ["text"]
    assert box(blocks, 0) == (0.147, 0.279, 0.903, 0.803)


def test_14_text_without_pages_is_refused(recorded: Path) -> None:
    with pytest.raises(ParseError, match="splits or classifies; use a processor of the type OCR"):
        check_reply(load(recorded, 14), (1,), "invoices.pdf")


def test_15_shards_with_nothing_but_text(recorded: Path) -> None:
    folder = recorded / "15_batch_shards_unordered"
    shards = [
        Document.pb(Document.from_json(file.read_text("utf-8"), ignore_unknown_fields=True))
        for file in sorted(folder.glob("*.json"))
    ]
    whole = merge_shards(shards, "winnie.pdf")
    check_reply(whole, tuple(range(1, 51)), "winnie.pdf")
    blocks, _ = to_blocks([whole])
    assert blocks["page_number"].tolist() == list(range(1, 51))
    assert blocks["text"].iloc[0].startswith("WINNIE-THE-POOH\nBY A. A. MILNE\n")
    assert box(blocks, 0) == (0.0, 0.0, 1.0, 1.0)
