"""Steps of procedures in five manuals, against steps counted by hand.

    python -m benchmarks.structure_steps

Counted on the pages: every numbered or lettered item of a procedure or list, sub-steps included;
no headings, footnotes, or lines that begin with a quantity. Found and counted steps were compared
item by item when the counts were made; here only the numbers are.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from benchmarks.common import bench_data, print_report
from benchmarks.structure_outlines import parsed
from rag_pipeline.settings import StructureSettings
from rag_pipeline.structure import infer_structure

COUNTED = {
    "manuals_dev/corpus/watch_d.pdf": 68,
    "manuals_dev/corpus/honor_watch_gs_pro.pdf": 82,
    "manuals_dev/corpus/nova_y70.pdf": 180,
    "manuals_outline/pdf/nrpe.pdf": 2,
    "manuals_outline/pdf/gpredict.pdf": 24,
}


def step_rows(data: Path) -> list[list[Any]]:
    """Manual, steps counted by hand, steps found; the sum in the last row."""
    rows: list[list[Any]] = []
    for name, counted in COUNTED.items():
        structured = infer_structure(parsed(data / name), StructureSettings())
        rows.append([Path(name).stem, counted, int((structured["role"] == "procedure_step").sum())])
    rows.append(["all", sum(row[1] for row in rows), sum(row[2] for row in rows)])
    return rows


def main() -> None:
    """Print the table."""
    print_report("Steps", ["manual", "counted", "found"], step_rows(bench_data()), {}, False)


if __name__ == "__main__":
    main()
