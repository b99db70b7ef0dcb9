"""Replies made by hand → blocks: trees, spans, turned pages, boxes in pixels, styles."""

from __future__ import annotations

import doctest
import importlib
import pkgutil
from collections.abc import Iterator
from typing import Any

import pytest
from google.cloud.documentai_v1 import Document
from hypothesis import given
from hypothesis import strategies as st

from rag_pipeline.errors import ParserServiceError
from rag_pipeline.parsing import document_ai
from rag_pipeline.parsing import page_choice as choice
from rag_pipeline.parsing.document_ai.convert.replies_to_blocks import to_blocks
from rag_pipeline.parsing.document_ai.service.page_ranges import halves, split_pages
from rag_pipeline.parsing.document_ai.service.reply_cache import pack, unpack
from rag_pipeline.parsing.document_ai.service.reply_checks import check_reply, renumber
from rag_pipeline.parsing.document_ai.service.sent_file import mime_type_of, tiff_pages
from rag_pipeline.settings import StructureSettings
from rag_pipeline.structure import infer_structure


def modules() -> Iterator[Any]:
    yield choice
    for info in pkgutil.iter_modules(document_ai.__path__, f"{document_ai.__name__}."):
        yield importlib.import_module(info.name)


@pytest.mark.parametrize("module", modules(), ids=lambda module: module.__name__)
def test_examples_in_docstrings(module: Any) -> None:
    assert doctest.testmod(module).failed == 0


def raw(**values: Any) -> Any:
    return Document.pb(Document(**values))


def layout_block(kind: str, text: str, page: int, *below: Any, **values: Any) -> dict[str, Any]:
    return {
        "text_block": {"text": text, "type_": kind, "blocks": list(below)},
        "page_span": {"page_start": page, "page_end": page},
        **values,
    }


def cell(text: str, columns: int = 1, rows: int = 1) -> dict[str, Any]:
    blocks = [{"text_block": {"text": text, "type_": "paragraph"}}]
    return {"blocks": blocks, "col_span": columns, "row_span": rows}


def test_a_tree_of_headings_tables_and_lists() -> None:
    corners = [{"x": x, "y": y} for x, y in ((0.1, 0.2), (0.9, 0.2), (0.9, 0.25), (0.1, 0.25))]
    table = {
        "table_block": {
            "caption": "Table 1. Torques",
            "header_rows": [{"cells": [cell("Bolt"), cell("Torque", columns=2)]}],
            "body_rows": [
                {"cells": [cell("M8", rows=2), cell("20"), cell("Nm")]},
                {"cells": [cell("25"), cell("Nm")]},
            ],
        },
        "page_span": {"page_start": 2, "page_end": 2},
    }
    steps = {
        "list_block": {
            "type_": "ordered",
            "list_entries": [
                {"blocks": [layout_block("paragraph", "Open the valve.", 2)]},
                {"blocks": [layout_block("paragraph", "Close it.", 2)]},
            ],
        },
        "page_span": {"page_start": 2, "page_end": 2},
    }
    tree = [
        layout_block("header", "ACME", 1),
        layout_block(
            "heading-1",
            "Maintenance",
            1,
            layout_block("paragraph", "Read all of it.", 1),
            layout_block("heading-2", "Filters", 2, table, steps),
            bounding_box={"normalized_vertices": corners},
        ),
        {
            "image_block": {"image_text": "Filter, exploded view"},
            "page_span": {"page_start": 3, "page_end": 3},
        },
    ]
    document = raw(document_layout={"blocks": tree})
    check_reply(document, (1, 2, 3), "manual.pdf", is_layout=True)
    blocks, _ = to_blocks([document], {1: (500.0, 700.0)})
    assert blocks[["page_number", "kind", "text"]].to_numpy().tolist() == [
        [1, "text", "ACME"],
        [1, "text", "Maintenance"],
        [1, "text", "Read all of it."],
        [2, "text", "Filters"],
        [2, "text", "Table 1. Torques"],
        [2, "table", "Bolt Torque\nM8 20 Nm\n25 Nm"],
        [2, "text", "1. Open the valve."],
        [2, "text", "2. Close it."],
        [3, "figure", "Filter, exploded view"],
    ]
    assert blocks["level_hint"].fillna(0).tolist() == [0, 1, 0, 2, 0, 0, 0, 0, 0]
    assert blocks["table_cells"].iloc[5] == [
        ["Bolt", "Torque", ""],
        ["M8", "20", "Nm"],
        ["", "25", "Nm"],
    ]
    assert blocks["table_spans"].iloc[5] == [
        [(1, 1), (2, 1), (0, 0)],
        [(1, 2), (1, 1), (1, 1)],
        [(0, 0), (1, 1), (1, 1)],
    ]
    assert blocks.loc[1, ["x0", "y0", "x1", "y1"]].tolist() == [0.1, 0.2, 0.9, 0.25]
    assert blocks.loc[0, ["y0", "y1"]].tolist() == [0.0, 0.05]  # a header without a box
    assert blocks["page_width"].iloc[0] == 500.0
    structured = infer_structure(blocks, StructureSettings())
    assert structured["breadcrumb_trail"].iloc[-2] == "Maintenance > Filters"
    assert structured["role"].tolist()[6:8] == ["procedure_step"] * 2


def page_of(
    text: str, lines: list[tuple[str, list[tuple[float, float]]]], **values: Any
) -> dict[str, Any]:
    """A page whose every line is a paragraph; corners in shares of the page."""
    made, at = [], 0
    for line, points in lines:
        start = text.index(line, at)
        at = start + len(line)
        segment = {"start_index": start, "end_index": at}
        vertices = [{"x": x, "y": y} for x, y in points]
        made.append(
            {
                "layout": {
                    "text_anchor": {"text_segments": [segment]},
                    "bounding_poly": {"normalized_vertices": vertices},
                    "confidence": 0.9,
                    "orientation": values.get("orientation", 1),
                }
            }
        )
    return {
        "page_number": values.get("number", 1),
        "dimension": {"width": 1000, "height": 2000, "unit": "pixels"},
        "layout": {"text_anchor": {"text_segments": [{"end_index": len(text)}]}},
        "lines": made,
        "paragraphs": made,
    }


def test_a_turned_page_is_measured_along_its_lines() -> None:
    """Text that runs down the page: its first corner is the top right."""
    text = "Open the gate\nSlowly\n"
    lines = [
        ("Open the gate\n", [(0.6, 0.1), (0.6, 0.5), (0.55, 0.5), (0.55, 0.1)]),
        ("Slowly\n", [(0.5, 0.1), (0.5, 0.3), (0.45, 0.3), (0.45, 0.1)]),
    ]
    document = raw(text=text, pages=[page_of(text, lines, orientation=2)])
    blocks, _ = to_blocks([document], {1: (500.0, 1000.0)})
    assert blocks.loc[0, ["x0", "y0", "x1", "y1"]].tolist() == [0.55, 0.1, 0.6, 0.5]
    # .05 of 500 points, .93 of a font size high: 26.9, both lines alike.
    assert blocks["font_size"].tolist() == [26.9, 26.9]
    assert blocks["is_upright"].all()  # as most of the page


def test_a_page_that_the_service_turned() -> None:
    """The file's page is 1,000 points wide; the reply's is upright, 1,000 by 2,000 pixels."""
    text = "Open the gate\n"
    lines = [("Open the gate\n", [(0.1, 0.1), (0.6, 0.1), (0.6, 0.15), (0.1, 0.15)])]
    document = raw(text=text, pages=[page_of(text, lines)])
    blocks, _ = to_blocks([document], {1: (1000.0, 500.0)})
    assert blocks[["page_width", "page_height"]].iloc[0].tolist() == [500.0, 1000.0]
    assert blocks["font_size"].tolist() == [53.8]  # .05 of 1,000 points, .93 of a font size


def test_boxes_in_pixels_alone() -> None:
    document = raw(
        text="Danger\n",
        pages=[
            {
                "page_number": 1,
                "dimension": {"width": 400, "height": 800},
                "paragraphs": [
                    {
                        "layout": {
                            "text_anchor": {"text_segments": [{"end_index": 7}]},
                            "bounding_poly": {
                                "vertices": [
                                    {"x": 40, "y": 80},
                                    {"x": 200, "y": 80},
                                    {"x": 200, "y": 120},
                                    {"x": 40, "y": 120},
                                ]
                            },
                        }
                    }
                ],
            }
        ],
    )
    blocks, _ = to_blocks([document])
    assert blocks.loc[0, ["x0", "y0", "x1", "y1"]].tolist() == [0.1, 0.1, 0.5, 0.15]
    assert blocks[["page_width", "page_height"]].iloc[0].tolist() == [396.0, 792.0]


def test_sizes_are_the_bodys_or_clearly_others() -> None:
    def line(y: float, height: float) -> list[tuple[float, float]]:
        return [(0.1, y), (0.9, y), (0.9, y + height), (0.1, y + height)]

    body = [f"line {number} of the text, plainly set\n" for number in range(6)]
    text = "Safety first, always\n" + "".join(body)
    lines = [("Safety first, always\n", line(0.1, 0.0186))]
    for number, one in enumerate(body):
        lines.append((one, line(0.2 + number / 20, 0.0093 * (1.1 if number % 3 == 2 else 1))))
    blocks, _ = to_blocks([raw(text=text, pages=[page_of(text, lines)])], {1: (500, 1000)})
    # .0093 of 1,000 points is the ink of 10 points; a tenth more is the same size.
    assert blocks["font_size"].tolist() == [20.7, *[10.0] * 6]


def test_checkboxes_and_fields_in_tables() -> None:
    text = "Leak\nYes\nName\nKim\n"

    def anchor(start: int, end: int) -> dict[str, Any]:
        return {"text_anchor": {"text_segments": [{"start_index": start, "end_index": end}]}}

    page = {
        "page_number": 1,
        "paragraphs": [{"layout": anchor(0, 9)}, {"layout": anchor(9, 18)}],
        "tables": [
            {
                "body_rows": [
                    {"cells": [{"layout": anchor(9, 14)}, {"layout": anchor(14, 18)}]},
                ]
            }
        ],
        "form_fields": [
            {
                "field_name": anchor(0, 5),
                "field_value": anchor(5, 9),
                "value_type": "filled_checkbox",
            },
            {"field_name": anchor(9, 14), "field_value": anchor(14, 18)},
        ],
    }
    blocks, _ = to_blocks([raw(text=text, pages=[page])])
    assert blocks["text"].tolist() == ["Leak: ☑", "Name Kim"]
    assert blocks["table_cells"].iloc[1] == [["Name", "Kim"]]


def test_anchors_outside_the_text_and_pages_not_asked_for() -> None:
    text = "Open\n"
    page = page_of(text, [("Open\n", [(0, 0), (1, 0), (1, 1), (0, 1)])], number=3)
    document = raw(text=text, pages=[page])
    check_reply(document, (3,), "a.pdf")
    with pytest.raises(ParserServiceError, match=r"asked for 1, got 3"):
        check_reply(document, (1,), "a.pdf")
    with pytest.raises(ParserServiceError, match="speaks of page 3 of 1 pages sent"):
        renumber(document, (7,), "a.pdf")
    document.text = "Op"
    with pytest.raises(ParserServiceError, match=r"a\.pdf page 3: .*2 characters"):
        check_reply(document, (3,), "a.pdf")


def test_a_reply_that_is_an_error() -> None:
    document = raw(error={"code": 13, "message": "internal"})
    with pytest.raises(ParserServiceError, match=r"carries an error .internal"):
        check_reply(document, (1,), "a.pdf")


def test_stored_replies_are_the_same_bytes_each_time() -> None:
    text = "Open\n"
    page = page_of(text, [("Open\n", [(0, 0), (1, 0), (1, 1), (0, 1)])])
    first = pack(raw(text=text, pages=[{**page, "image": {"content": b"x" * 1000}}]))
    assert first == pack(raw(text=text, pages=[page]))
    assert unpack(first).text == text


@given(st.sets(st.integers(1, 500), min_size=1), st.integers(1, 30))
def test_every_page_is_in_one_range(pages: set[int], size: int) -> None:
    ranges = split_pages(pages, size)
    assert [page for part in ranges for page in part] == sorted(pages)
    assert all(len(part) <= size for part in ranges)
    for part in ranges:
        if len(part) > 1:
            first, second = halves(part)
            assert first + second == part
            assert first
            assert second


def test_what_is_sent_is_told_by_content() -> None:
    assert mime_type_of(b"\x00\x00%PDF-1.4") == "application/pdf"
    assert mime_type_of(b"RIFF\x00\x00\x00\x00WEBPVP8 ") == "image/webp"
    assert mime_type_of(b"BM and other car makers") is None
    two = b"II*\x00\x08\x00\x00\x00" + b"\x00\x00\x0e\x00\x00\x00" + b"\x00\x00" + bytes(4)
    assert tiff_pages(two) == 2
