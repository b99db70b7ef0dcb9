"""A chunk's text as units that can be quoted whole: sentences, list items, steps, table rows. Pure.

Lines of a paragraph are joined first, so that no sentence ends where a line of the page does. A
row gets the names of its columns, and a warning stays with its signal word.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from rag_pipeline.line_marks import list_marker
from rag_pipeline.sentence_borders import sentences
from rag_pipeline.text import TRAIL_SEPARATOR, one_line

_SENTENCE_END = re.compile(r"[.!?:;。！？](?:[\"'”’)\]]|\d{1,2})*$")


def content_units(content: str, trail: str, language: str) -> list[str]:
    """Return the units of a chunk in order, without the headings of its trail.

    >>> text = "2 Oil\\n\\nUse FL-46\\nonly. Wait.\\n1. Drain\\nit."
    >>> text += "\\n\\n| Part | No. |\\n|---|---|\\n| Cap | 7 |"
    >>> content_units(text, "2 Oil", "en")
    ['Use FL-46 only.', 'Wait.', '1. Drain it.', 'Part: Cap · No.: 7']
    """
    headings = {one_line(part) for part in trail.split(TRAIL_SEPARATOR)}
    found: list[str] = []
    for paragraph in _paragraphs(content):
        if paragraph[0].startswith("|"):
            found += _rows(paragraph)
            continue
        text = one_line(" ".join(paragraph))
        if text in headings:
            continue
        if list_marker(text):
            found.append(text)
        elif _is_signal(paragraph[0]):
            joined = f"{paragraph[0]}: {one_line(' '.join(paragraph[1:]))}"
            found.append(joined.rstrip(": "))
        else:
            found += (
                one_line(sentence) for sentence in sentences(text, language) if sentence.strip()
            )
    return found


def _paragraphs(content: str) -> list[list[str]]:
    """Return the lines of each paragraph, list item, warning and table."""
    groups: list[list[str]] = []
    is_apart = True
    for line in map(str.strip, content.split("\n")):
        if not line:
            is_apart = True
            continue
        is_row = line.startswith("|")
        after_row = bool(groups) and groups[-1][0].startswith("|")
        # A paragraph that ends in mid-sentence goes on behind an empty line, too.
        goes_on = bool(groups) and not _SENTENCE_END.search(groups[-1][-1]) and line[0].islower()
        if groups and is_row and after_row:
            groups[-1].append(line)
        elif (
            not groups
            or is_row != after_row
            or (is_apart and not goes_on)
            or list_marker(line)
            or _is_signal(line)
        ):
            groups.append([line])
        else:
            groups[-1].append(line)
        is_apart = False
    return groups


def _is_signal(line: str) -> bool:
    """Return whether a line is a signal word such as WARNING."""
    return len(line) <= 40 and line.isupper() and not any(char.isdigit() for char in line)


def _rows(lines: list[str]) -> Iterator[str]:
    """Yield the rows below a table's header, each cell with the name of its column."""
    cells = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]
    rule = next((i for i, row in enumerate(cells) if all(set(c) <= set("-: ") for c in row)), None)
    names = cells[rule - 1] if rule else []
    for row in cells[rule + 1 :] if rule is not None else cells:
        named = len(names) == len(row)
        filled = [
            f"{name}: {cell}" if name and name != cell else cell
            for name, cell in zip(names if named else [""] * len(row), row, strict=True)
            if cell
        ]
        if filled:
            yield " · ".join(dict.fromkeys(filled))
