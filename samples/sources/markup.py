"""Reader for the light markup the two service manuals are written in.

The file starts with ``key: value`` lines, then a line ``---``, then blocks
separated by blank lines:

    = Heading {#id}        front-matter heading (unnumbered, level 0)
    # Heading {#id}        chapter      (level 0, numbered)
    ## Heading {#id}       section      (level 1, numbered)
    ### Heading {#id}      subsection   (level 2, numbered)
    #- Heading {#id}       chapter without a number
    - item                 bullet; two spaces in front make it nested
    3. step                numbered step, printed with exactly this number
       a) substep          lettered substep of the step above
    WARNING: text          box (also CAUTION:, NOTE:)
    |a|b|c                 table row; the first row is the repeated header
    !table WIDTHS Caption  starts a table (widths in percent, e.g. 20,80)
    !figure FILE Caption   a drawing from this folder
    !glossary              following "term :: explanation" lines
    !index                 following "term :: id, id" lines
    !toc                   table of contents

In a table ``<`` joins a cell with its left neighbour, ``^`` with the one above.

Inline: **bold**, `code`, ^[footnote], [[id]] for the number of a heading.
"""

import re
from dataclasses import dataclass, field
from pathlib import Path


@dataclass
class Block:
    kind: str
    text: str = ""
    level: int = 0
    id: str = ""
    number: str = ""
    items: list = field(default_factory=list)
    widths: list = field(default_factory=list)


@dataclass
class Manual:
    meta: dict
    blocks: list

    def headings(self):
        return [b for b in self.blocks if b.kind == "heading"]

    def section_number(self, ident):
        for block in self.headings():
            if block.id == ident:
                return block.number or block.text
        raise KeyError(f"no heading with the id {ident!r}")


HEADING = re.compile(r"(=|#{1,3}-?) (.+?)(?: \{#([\w-]+)\})?$")
STEP = re.compile(r"(\d+)\. (.+)$")
SUBSTEP = re.compile(r" +([a-z])\) (.+)$")
BULLET = re.compile(r"( *)- (.+)$")
BOX = re.compile(r"(WARNING|CAUTION|NOTE): (.+)$")


def read_manual(path):
    head, _, body = Path(path).read_text(encoding="utf-8").partition("\n---\n")
    meta = dict(line.split(": ", 1) for line in head.splitlines() if line.strip())
    blocks = []
    for chunk in re.split(r"\n\s*\n", body.strip("\n")):
        blocks.extend(read_chunk(chunk.strip("\n").split("\n")))
    number_headings(blocks, meta)
    return Manual(meta, blocks)


def read_chunk(lines):
    first = lines[0]
    if first == "!toc":
        return [Block("toc")]
    if first.startswith("!figure "):
        _, name, caption = first.split(" ", 2)
        return [Block("figure", caption, id=name)]
    if first.startswith("!table "):
        _, widths, caption = first.split(" ", 2)
        rows = [line[1:].split("|") for line in lines[1:]]
        for row in rows:
            if len(row) != len(rows[0]):
                raise ValueError(f"row of the wrong length in {caption!r}: {row}")
        rows = [[cell.strip() for cell in row] for row in rows]
        return [Block("table", caption, items=rows, widths=[float(w) for w in widths.split(",")])]
    if first in ("!glossary", "!index"):
        return [Block(first[1:], items=[line.split(" :: ", 1) for line in lines[1:]])]
    match = HEADING.match(first)
    if match:
        mark, text, ident = match.groups()
        numbered = "#" in mark and not mark.endswith("-")
        level = max(mark.count("#") - 1, 0)
        block = Block("heading", text, level, ident or "")
        block.number = "?" if numbered else ""
        return [block] + (read_chunk(lines[1:]) if lines[1:] else [])
    match = BOX.match(first)
    if match:
        return [
            Block("box", " ".join([match[2]] + [line.strip() for line in lines[1:]]), id=match[1])
        ]
    if BULLET.match(first):
        return [Block("bullets", items=read_bullets(lines))]
    if STEP.match(first):
        return [Block("steps", items=read_steps(lines))]
    return [Block("para", " ".join(lines))]


def read_bullets(lines):
    items = []
    for line in lines:
        match = BULLET.match(line)
        if match:
            items.append([len(match[1]) // 2, match[2]])
        else:
            items[-1][1] += " " + line.strip()
    return items


def read_steps(lines):
    """Steps as [number, text, substeps]."""
    steps = []
    for line in lines:
        step, sub = STEP.match(line), SUBSTEP.match(line)
        if step:
            steps.append([int(step[1]), step[2], []])
        elif sub:
            steps[-1][2].append(sub[2])
        elif steps[-1][2]:
            steps[-1][2][-1] += " " + line.strip()
        else:
            steps[-1][1] += " " + line.strip()
    return steps


def number_headings(blocks, meta):
    chapter_format = meta.get("chapter", "{}")
    counts = [0, 0, 0]
    for block in blocks:
        if block.kind == "heading" and block.number:
            counts[block.level] += 1
            counts[block.level + 1 :] = [0] * (2 - block.level)
            number = ".".join(str(n) for n in counts[: block.level + 1])
            block.number = chapter_format.format(number) if block.level == 0 else number


INLINE = re.compile(r"\*\*(.+?)\*\*|`(.+?)`|\^\[(.+?)\]|\[\[([\w-]+)\]\]")


def inline(text):
    """Split a text into ("text" | "bold" | "code" | "note" | "ref", value)."""
    position = 0
    for match in INLINE.finditer(text):
        if match.start() > position:
            yield "text", text[position : match.start()]
        kind = ("bold", "code", "note", "ref")[match.lastindex - 1]
        yield kind, match[match.lastindex]
        position = match.end()
    if position < len(text):
        yield "text", text[position:]


def spans(rows):
    """Yield rows of (text, colspan, rowspan); None for a cell that is covered."""
    for r, row in enumerate(rows):
        out = []
        for c, cell in enumerate(row):
            if cell in ("<", "^"):
                out.append(None)
                continue
            across = 1
            while c + across < len(row) and row[c + across] == "<":
                across += 1
            down = 1
            while r + down < len(rows) and rows[r + down][c] == "^":
                down += 1
            out.append((cell, across, down))
        yield out
