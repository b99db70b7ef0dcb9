"""Lists, procedures and tables that belong together (faults T2, T3, T4)."""

from __future__ import annotations

import pandas as pd

from tests.structure.frames import Pages

CELLS = [["Code", "Meaning"], ["E-01", "No oil"]]


def table(pages: Pages, cells: list[list[str]] = CELLS) -> Pages:
    text = "\n".join(" ".join(row) for row in cells)
    return pages.add(text, kind="table", table_cells=cells, x0=0.12, x1=0.88)


def groups(frame: pd.DataFrame, role: str) -> list[int]:
    return frame.loc[frame["role"] == role, "group_id"].tolist()


def test_thirty_steps_with_a_warning_are_one_group() -> None:
    """Fault T3."""
    pages = Pages().heading("5.2 Changing the oil filter").body(n=1)
    for step in range(1, 31):
        if step == 4:
            pages.add("WARNING", is_bold=True).add("Hot oil burns the skin.")
        if step == 16:
            pages.next_page()
        pages.add(f"{step}. Do what step {step} says.", x0=0.14)
    frame = pages.body(n=1).infer()
    steps = frame[frame["role"] == "procedure_step"]
    assert len(steps) == 30
    assert steps["group_id"].nunique() == 1
    warning = frame[frame["role"] == "admonition"]
    assert warning["group_id"].tolist() == [steps["group_id"].iloc[0]] * 2
    assert frame["group_id"].isna().sum() == 3  # heading and the paragraphs around


def test_substeps_and_text_below_steps() -> None:
    pages = Pages().heading("Start").add("1. Close the valve:", x0=0.14)
    pages.add("a) the red one,", x0=0.18).add("b) the blue one.", x0=0.18)
    pages.add("Both turn clockwise.", x0=0.18).add("2. Press START.", x0=0.14)
    frame = pages.infer()
    inside = frame.iloc[1:]
    assert inside["group_id"].nunique() == 1
    assert inside["list_level"].fillna(0).tolist() == [1, 2, 2, 0, 1]


def test_counting_goes_on_after_text_between_steps() -> None:
    pages = Pages().heading("Start").add("1. Close the valve.", x0=0.14)
    pages.add("The lamp goes out.", x0=0.12).add("2. Press START.", x0=0.14)
    frame = pages.infer()
    assert frame["group_id"].tolist()[1:] == [1, 1, 1]


def test_a_new_step_one_begins_another_procedure() -> None:
    pages = Pages().heading("Start").add("1. Close.", x0=0.14).add("2. Open.", x0=0.14)
    pages.add("To stop the machine:").add("1. Press STOP.", x0=0.14).add("2. Wait.", x0=0.14)
    frame = pages.infer()
    assert groups(frame, "procedure_step") == [1, 1, 2, 2]


def test_bullets_are_lists() -> None:
    pages = Pages().body(n=1).add("• Oil", x0=0.14).add("– thin", x0=0.17).add("• Air", x0=0.14)
    frame = pages.infer()
    assert groups(frame, "list_item") == [1, 1, 1]
    assert frame["list_level"].fillna(0).tolist() == [0, 1, 2, 1]


def test_each_table_stays_under_its_heading() -> None:
    """Fault T2."""
    pages = Pages()
    table(pages.heading("1 Pressures").body(n=1))
    table(pages.heading("2 Torques").body(n=1))
    frame = pages.infer()
    tables = frame[frame["role"] == "table"]
    assert tables["breadcrumb_trail"].tolist() == ["1 Pressures", "2 Torques"]
    assert tables["group_id"].nunique() == 2


def test_a_table_over_a_page_break_is_one_group() -> None:
    """Fault T4: both parts keep their page and box."""
    pages = Pages().heading("Error codes").body(n=1)
    table(pages)
    pages.add("17", y0=0.96, x0=0.5)
    pages.next_page()
    table(pages, [["E-02", "Too hot"]])
    pages.body(n=1)
    table(pages)
    frame = pages.infer()
    tables = frame[frame["role"] == "table"]
    assert tables["page_number"].tolist() == [1, 2, 2]
    first, second, third = tables["group_id"]
    assert first == second != third
