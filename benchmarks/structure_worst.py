"""Gold and predicted outlines side by side, for the documents with the worst breadcrumbs.

    python -m benchmarks.structure_worst [--set manuals_outline|outlines2] [--count 10] [NAME …]

Each heading of the gold or of ours is one line, in page order: whether its trail is right, the two
levels, and for a wrong trail the *first wrong ancestor* with the rule that made it. Read the file
from the top: the first wrong ancestor costs all paths below it.
"""

from __future__ import annotations

from argparse import ArgumentParser
from pathlib import Path
from typing import Any, NamedTuple

from benchmarks.common import bench_data
from benchmarks.structure_outlines import OutlineScorer, document_names, infer_blind, parsed


class Side(NamedTuple):
    """A line of the drawing: a heading of the gold, of ours, or of both."""

    page: int
    status: str
    gold: str
    ours: str
    note: str


def main() -> None:
    """Draw the worst documents of a set, or the named ones."""
    parser = ArgumentParser(description=__doc__)
    parser.add_argument("--set", default="outlines2", dest="name_of_set")
    parser.add_argument("--count", type=int, default=10)
    parser.add_argument("names", nargs="*")
    options = parser.parse_args()
    data = bench_data()
    scorer = OutlineScorer(data)
    source = data / options.name_of_set
    scored = []
    for name in options.names or document_names(source):
        sides, accuracy = compare(source, name, scorer)
        scored.append((accuracy, name, sides))
    for accuracy, name, sides in sorted(scored, key=lambda one: one[0])[: options.count]:
        print(f"\n== {name}: BC {accuracy:.3f}")
        for side in sides:
            print(
                f"{side.page:4} {side.status:6} {side.gold:44.44} | {side.ours:44.44} {side.note}"
            )


def compare(source: Path, name: str, scorer: OutlineScorer) -> tuple[list[Side], float]:
    """One document's two outlines as lines in page order, and its breadcrumb accuracy."""
    outline = infer_blind(parsed(source / "pdf" / f"{name}.pdf"))
    gold, ours = scorer.gold(source, name), scorer.headings(outline.headings)
    pairs = scorer.module.match(gold, ours)
    gold_of = {mine: theirs for theirs, mine in pairs.items()}
    gold_chains, our_chains = scorer.module.ancestors(gold), scorer.module.ancestors(ours)
    sides = [
        Side(gold[at].page, "missed", _title(gold[at]), "", "")
        for at in range(len(gold))
        if at not in pairs
    ]
    for at, heading in enumerate(ours):
        if at not in gold_of:
            sides.append(Side(heading.page, "false", "", _title(heading), outline.rules[at]))
            continue
        theirs = gold_of[at]
        chain = [gold_of.get(above) for above in our_chains[at]]
        wanted = gold_chains[theirs]
        first = next((n for n, one in enumerate(chain) if one not in wanted), None)
        note = ""
        if chain != wanted:
            note = "an ancestor is missing"
            if first is not None:
                above = our_chains[at][first]
                note = f"under {ours[above].title[:30]!r}: {outline.rules[above]}"
        status = "wrong" if note else "right"
        sides.append(Side(heading.page, status, _title(gold[theirs]), _title(heading), note))
    sides.sort(key=lambda side: side.page)
    return sides, float(scorer.module.score(gold, ours)["BC"])


def _title(heading: Any) -> str:
    """The title, indented by its level."""
    return f"{'  ' * heading.level}{heading.title}"


if __name__ == "__main__":
    main()
