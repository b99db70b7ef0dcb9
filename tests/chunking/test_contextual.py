"""The contextual strategy on hand-made documents."""

from __future__ import annotations

import hashlib
import json
import re

import pandas as pd
import pytest

from rag_pipeline.chunking import chunk
from rag_pipeline.frames import StructuredBlocks, empty
from rag_pipeline.settings import ChunkingSettings
from tests.chunking.documents import Writer, children, count_words


def chunks_of(writer: Writer, tokens: int = 400, *, title: str | None = None, **settings: int):
    chosen = ChunkingSettings(target_tokens=tokens, **settings)
    return children(chunk(writer.frame(), chosen, count_words, title=title))


def bullets(steps: range) -> list[str]:
    return [f"{i}. Turn bolt {i} left." for i in steps]


def procedure() -> Writer:
    """Thirty steps of five words, a warning of four before step 4: 154 words, and the title's 3."""
    writer = Writer()
    writer.heading(1, "Maintenance")
    writer.heading(2, "Replacing the filter")
    group = writer.group()
    writer.steps(bullets(range(1, 4)), group)
    writer.add("admonition", "WARNING: Hot oil burns.")
    writer.steps(bullets(range(4, 31)), group)
    return writer


def test_a_procedure_within_the_budget_is_whole() -> None:
    # 1 + 3 words of headings, 154 of the procedure, 5 of the trail "Maintenance > Replacing …"
    result = chunks_of(procedure(), 163)
    assert result["content"].tolist() == [
        "Maintenance\n\nReplacing the filter\n"
        + "\n".join([*bullets(range(1, 4)), "WARNING: Hot oil burns.", *bullets(range(4, 31))])
    ]
    assert result.loc[0, "kind"] == "procedure"
    assert result.loc[0, "token_count"] == 163
    assert result.loc[0, "breadcrumb_trail"] == "Maintenance > Replacing the filter"
    assert result.loc[0, "metadata"] == {
        "roles": ["heading", "procedure_step", "admonition"],
        "heading": "Replacing the filter",
        "step_range": [1, 30],
    }


def test_a_split_procedure_repeats_its_title_and_keeps_the_warning_with_its_step() -> None:
    result = chunks_of(procedure(), 40)
    contents = result["content"].tolist()
    assert len(contents) > 1
    assert result["token_count"].max() <= 40
    assert all("Replacing the filter" in content for content in contents)
    steps = [int(n) for c in contents for n in re.findall(r"^(\d+)\. Turn", c, re.MULTILINE)]
    assert steps == list(range(1, 31))
    warned = [c for c in contents if "WARNING" in c]
    assert len(warned) == 1
    assert "WARNING: Hot oil burns.\n4. Turn bolt 4 left." in warned[0]
    ranges = [m["step_range"] for m in result["metadata"]]
    assert [first for first, _ in ranges[1:]] == [last + 1 for _, last in ranges[:-1]]
    assert set(result["kind"]) == {"procedure"}


def test_the_warning_moves_on_with_its_step_when_both_do_not_fit() -> None:
    for budget in range(32, 60, 5):
        contents = chunks_of(procedure(), budget)["content"]
        assert sum("WARNING: Hot oil burns.\n4. Turn" in c for c in contents) == 1, budget


def test_a_warning_before_the_first_step_and_after_the_last_stay_with_them() -> None:
    writer = Writer()
    writer.heading(1, "Start")
    writer.paragraph(" ".join(["filler"] * 25))
    writer.add("admonition", "DANGER")
    writer.add("paragraph", "High voltage.")
    writer.steps([f"{i}. " + "word " * 10 + f"end{i}" for i in (1, 2, 3)])
    writer.add("admonition", "NOTE: Wait a minute.")
    contents = chunks_of(writer, 40)["content"].tolist()
    assert any("DANGER\nHigh voltage.\n1. word" in c for c in contents)
    assert any("end3\nNOTE: Wait a minute." in c for c in contents)


def test_steps_without_numbers_get_theirs() -> None:
    writer = Writer()
    writer.heading(1, "Start")
    writer.steps(["Open the valve.", "Close the valve."])
    assert chunks_of(writer).loc[0, "content"] == "Start\n1. Open the valve.\n2. Close the valve."


def test_a_table_of_200_rows_is_split_by_rows_and_repeats_header_and_caption() -> None:
    writer = Writer()
    writer.heading(1, "Error codes")
    writer.add("caption", "Table 7: Codes")
    rows = [[f"E{i:03}", f"Fault number {i}"] for i in range(200)]
    writer.table([["Code", "Meaning"], *rows])
    result = chunks_of(writer, 100)
    assert len(result) > 10
    assert result["token_count"].max() <= 100
    found: list[str] = []
    for content in result["content"]:
        lines = content.splitlines()
        start = lines.index("Table 7: Codes")
        body = [line for line in lines[start + 1 :] if line]
        assert body[:2] == ["| Code | Meaning |", "|---|---|"]
        found += body[2:]
    assert found == [f"| E{i:03} | Fault number {i} |" for i in range(200)]
    assert set(result["kind"]) == {"table"}
    # parts are of about the same size
    assert min(result["token_count"]) > 60


def test_a_caption_below_its_table_is_repeated_above_and_not_twice_in_a_part() -> None:
    writer = Writer()
    writer.heading(1, "Error codes")
    writer.table([["Code", "Meaning"], *([f"E{i:03}", "Fault"] for i in range(40))])
    writer.add("caption", "Table 7: Codes")
    whole = chunks_of(writer)["content"].tolist()
    assert len(whole) == 1
    assert whole[0].endswith("| E039 | Fault |\n\nTable 7: Codes")
    for content in chunks_of(writer, 60)["content"]:
        assert content.count("Table 7: Codes") == 1
        assert content.count("| Code | Meaning |") == 1


def test_each_table_stays_under_its_own_heading() -> None:
    writer = Writer()
    writer.heading(1, "Data")
    for name in ("Pump", "Motor"):
        writer.heading(2, name)
        writer.table([["Property", "Value"], [f"{name} mass", "7 kg"]])
    result = chunks_of(writer)
    assert result["breadcrumb_trail"].tolist() == ["Data > Pump", "Data > Motor"]
    assert result["content"].tolist() == [
        "Data\n\nPump\n\n| Property | Value |\n|---|---|\n| Pump mass | 7 kg |",
        "Motor\n\n| Property | Value |\n|---|---|\n| Motor mass | 7 kg |",
    ]


def test_merged_sections_keep_each_table_below_its_heading() -> None:
    writer = Writer()
    writer.heading(2, "Data")
    for name in ("Pump", "Motor"):
        writer.heading(3, name)
        writer.table([["Property", "Value"], [f"{name} mass", "7 kg"]])
    result = chunks_of(writer)
    assert result["breadcrumb_trail"].tolist() == ["Data"]
    assert re.findall(r"Pump\n|Motor\n|(?:Pump|Motor) mass", result.loc[0, "content"]) == [
        "Pump\n",
        "Pump mass",
        "Motor\n",
        "Motor mass",
    ]


def test_a_table_over_a_page_break_is_one_table_with_both_regions() -> None:
    writer = Writer()
    writer.heading(1, "Error codes")
    group = writer.group()
    writer.table([["Code", "Meaning"], ["E1", "Low oil"]], group, y0=0.8, y1=0.9)
    writer.add("footnote", "1 See the index.")
    writer.add("page_footer", "17")
    writer.new_page()
    writer.add("page_header", "Service manual")
    writer.table([["Code", "Meaning"], ["E2", "Hot oil"]], group, y0=0.1, y1=0.2)
    result = chunks_of(writer)
    assert result["content"].tolist() == [
        "Error codes\n\n| Code | Meaning |\n|---|---|\n| E1 | Low oil |\n| E2 | Hot oil |"
        "\n\n1 See the index."
    ]
    assert (result.loc[0, "page_start"], result.loc[0, "page_end"]) == (1, 2)
    boxes = [(r["page"], r["y0"], r["y1"]) for r in result.loc[0, "regions"]]
    content = result.loc[0, "content"]
    begins = [content[r["start"] :].split("\n")[0] for r in result.loc[0, "regions"]]
    assert begins[-2:] == ["| E2 | Hot oil |", "1 See the index."]
    assert (1, 0.8, 0.9) in boxes
    assert (2, 0.1, 0.2) in boxes


def test_words_that_the_cells_left_out_are_kept() -> None:
    writer = Writer()
    writer.add(
        "table",
        "Code Meaning\nE1 Low oil\nall values at 20 °C",
        table_cells=[["Code", "Meaning"], ["E1", "Low oil"]],
    )
    assert chunks_of(writer).loc[0, "content"].endswith("| E1 | Low oil |\nall values at 20 °C")


def test_a_table_without_cells_keeps_its_lines() -> None:
    writer = Writer()
    writer.add("table", "Code Meaning\nE1 Low")
    assert chunks_of(writer).loc[0, "content"] == "| Code Meaning |\n|---|\n| E1 Low |"


def test_furniture_is_in_no_chunk() -> None:
    writer = Writer()
    writer.add("contents_entry", "1 Safety ........ 3")
    for page in range(3):
        writer.add("page_header", "Running head")
        writer.paragraph(f"Body of page {page}.")
        writer.add("page_footer", f"Page-{page}")
        writer.new_page()
    text = "\n".join(chunks_of(writer)["content"])
    assert text == "Body of page 0.\n\nBody of page 1.\n\nBody of page 2."


def test_a_heading_of_2000_characters_survives_within_the_budget() -> None:
    writer = Writer()
    heading = " ".join(f"word{i:05}" for i in range(200))
    assert len(heading) >= 1990
    writer.heading(1, heading)
    writer.paragraph("The body.")
    writer.steps([f"{i}. Do this." for i in range(1, 60)])
    result = chunks_of(writer, 64)
    assert result["token_count"].max() <= 64
    words = set(" ".join(result["content"]).split())
    assert set(heading.split()) <= words
    assert all(trail.startswith("word00000 ") for trail in result["breadcrumb_trail"])
    assert max(len(trail.split()) for trail in result["breadcrumb_trail"]) <= 64 // 3


def test_small_sections_merge_below_major_headings_and_never_across() -> None:
    writer = Writer()
    writer.heading(1, "A")
    writer.heading(2, "B")
    writer.heading(3, "B one")
    writer.paragraph("first")
    writer.heading(3, "B two")
    writer.paragraph("second")
    writer.heading(2, "C")
    writer.heading(3, "C one")
    writer.paragraph("third")
    result = chunks_of(writer)
    assert result["breadcrumb_trail"].tolist() == ["A > B", "A > C > C one"]
    assert result["content"].tolist() == [
        "A\n\nB\n\nB one\n\nfirst\n\nB two\n\nsecond",
        "C\n\nC one\n\nthird",
    ]
    apart = chunks_of(writer, major_heading_level=3)
    assert apart["breadcrumb_trail"].tolist() == ["A > B > B one", "A > B > B two", "A > C > C one"]
    never = chunks_of(writer, small_section_tokens=0)
    assert never["breadcrumb_trail"].tolist() == apart["breadcrumb_trail"].tolist()


def test_sections_of_another_parent_do_not_merge() -> None:
    writer = Writer()
    writer.heading(3, "P")
    writer.heading(4, "P one")
    writer.paragraph(" ".join(["x"] * 30))
    writer.heading(4, "P two")
    writer.paragraph(" ".join(["y"] * 30))
    writer.heading(3, "Q")
    writer.paragraph("short")
    result = chunks_of(writer, 45, small_section_tokens=20)
    assert result["breadcrumb_trail"].tolist() == ["P > P one", "P > P two", "Q"]


@pytest.mark.parametrize("with_itself", [True, False])
def test_a_headings_own_trail_may_hold_it_or_not(with_itself: bool) -> None:
    writer = Writer()
    for level, name, above in ((1, "A", ""), (2, "B", "A")):
        writer.heading(level, name)
        if not with_itself:
            writer.rows[-1] |= {"breadcrumb_trail": above, "section_id": writer.section - 1}
    writer.paragraph("text")
    result = chunks_of(writer)
    assert result["breadcrumb_trail"].tolist() == ["A > B"]
    assert result["content"].tolist() == ["A\n\nB\n\ntext"]


def test_without_headings_the_title_is_the_trail() -> None:
    writer = Writer()
    writer.paragraph("Plain text.")
    assert chunks_of(writer).loc[0, "breadcrumb_trail"] == ""
    result = chunks_of(writer, title="The  manual\n")
    assert result.loc[0, "breadcrumb_trail"] == "The manual"
    assert result.loc[0, "token_count"] == 4
    expected = hashlib.sha256(b"The manual\nPlain text.").hexdigest()
    assert result.loc[0, "content_hash"] == expected


def test_code_is_whole_where_it_fits_and_else_split_at_lines() -> None:
    writer = Writer()
    writer.heading(1, "Program")
    lines = [f"    call {i} end" for i in range(30)]
    writer.add("code", "\n".join(lines[:15]))
    writer.add("code", "\n".join(lines[15:]))
    whole = chunks_of(writer, 95)
    assert whole["content"].tolist() == ["Program\n" + "\n".join(lines)]
    assert whole.loc[0, "kind"] == "code"
    parts = chunks_of(writer, 40)
    assert parts["token_count"].max() <= 40
    assert "\n".join(parts["content"]).splitlines()[1:] == lines


def test_a_long_paragraph_is_split_between_sentences() -> None:
    writer = Writer()
    writer.heading(1, "Prose")
    sentences = [f"Sentence number {i} has six words." for i in range(40)]
    writer.paragraph(" ".join(sentences))
    result = chunks_of(writer, 60)
    assert result["token_count"].max() <= 60
    assert all(content.endswith("words.") for content in result["content"])
    assert " ".join(result["content"]) == "Prose\n\n" + " ".join(sentences)


def test_a_lead_in_stays_with_its_list() -> None:
    writer = Writer()
    writer.heading(1, "Tools")
    writer.paragraph(" ".join(["filler"] * 30))
    writer.paragraph("You need:")
    group = writer.group()
    for item in ("a hammer", "a saw"):
        writer.add("list_item", f"• {item}", list_level=1, group_id=group)
    result = chunks_of(writer, 36)
    assert result.loc[1, "content"] == "You need:\n• a hammer\n• a saw"
    assert result.loc[1, "kind"] == "list"


def test_the_frame_survives_parquet_and_the_metadata_is_json(tmp_path) -> None:
    writer = procedure()
    writer.table([["Code", "Meaning"], ["E1", "Low oil"]])
    frame = writer.frame()
    frame.to_parquet(tmp_path / "frame.parquet")
    back = pd.read_parquet(tmp_path / "frame.parquet")
    settings = ChunkingSettings(target_tokens=80)
    first, second = (chunk(f, settings, count_words) for f in (frame, back))
    pd.testing.assert_frame_equal(first, second)
    json.dumps(first["metadata"].tolist())
    json.dumps(first["regions"].tolist())


def test_an_empty_document_has_no_chunks() -> None:
    assert len(chunk(empty(StructuredBlocks), ChunkingSettings(), count_words)) == 0
    writer = Writer()
    writer.add("page_header", "Only a head")
    assert len(chunks_of(writer)) == 0


def test_tokens_are_counted_in_few_calls() -> None:
    calls = 0

    def counting(texts):
        nonlocal calls
        calls += 1
        return count_words(texts)

    writer = procedure()
    for _ in range(50):
        writer.paragraph("word " * 500)
    chunk(writer.frame(), ChunkingSettings(target_tokens=64), counting)
    assert calls <= 8


def test_rows_and_headers_above_the_budget_are_cut_and_bounds_hold() -> None:
    writer = Writer()
    writer.heading(1, "Wide")
    header = [f"column{i}" for i in range(60)]
    row = [" ".join(f"r{r}c{c}" for c in range(100)) for r in range(4)]
    writer.table([header, row, ["short", "row"]])
    result = chunks_of(writer, 64)
    assert result["token_count"].max() <= 64
    words = set(" ".join(result["content"]).split())
    assert {*header, *" ".join(row).split(), "short", "row"} <= words


def test_headings_without_text_do_not_stand_alone() -> None:
    writer = Writer()
    writer.heading(2, "Chapter 3")
    writer.heading(1, "Choosing a pump")
    writer.add("figure", "")
    writer.heading(2, "Size")
    writer.paragraph("Small.")
    writer.heading(2, "Weight")
    writer.paragraph("Light.")
    result = chunks_of(writer)
    assert result["content"].tolist() == [
        "Chapter 3\n\nChoosing a pump\n\nSize\n\nSmall.",
        "Weight\n\nLight.",
    ]
    assert result["breadcrumb_trail"].tolist() == [
        "Choosing a pump > Size",
        "Choosing a pump > Weight",
    ]


def test_a_procedure_that_begins_inside_a_chunk_has_its_title_on_top() -> None:
    writer = Writer()
    writer.heading(1, "Replacing the filter")
    writer.paragraph(" ".join(["first"] * 50))
    writer.paragraph(" ".join(["second"] * 30))
    writer.steps(["1. Open.", "2. Close."])
    contents = chunks_of(writer, 60)["content"].tolist()
    assert contents[0].startswith("Replacing the filter\n\nfirst")
    assert contents[1] == (
        "Replacing the filter\n\n" + " ".join(["second"] * 30) + "\n1. Open.\n2. Close."
    )
