"""What belongs together in a section: groups, captions, warnings, lead-ins, step numbers."""

from __future__ import annotations

import re
import unicodedata

from rag_pipeline.chunking.sections.body_blocks import BodyBlock
from rag_pipeline.line_marks import BULLETS, CIRCLED, DASHES, STEP_WORDS, TABLE_CAPTION_WORDS

ITEM_ROLES = frozenset({"procedure_step", "list_item"})
_WARNED = ITEM_ROLES | {"admonition"}
_INTRODUCED = ITEM_ROLES | {"table", "code", "caption", "admonition", "figure"}
_LONGEST_LEAD_IN = 300
"""Most characters of a paragraph ending in a colon that introduces a list."""
_LONGEST_LABEL = 30
"""Most characters of an admonition that is only a label, with its text in the next block."""
_NUMBER = re.compile(
    rf"\s*\(?(?:{STEP_WORDS}|제)?\s*"
    r"(?:(\d{1,3})(?:[.):](?!\d)|\s*단계|\s+(?=[^\W\d_a-z])|\s*$)|([①-⑳]))",
    re.IGNORECASE,
)
_MARKER = re.compile(
    rf"\s*(?:\(?\d|[{BULLETS}{DASHES}]|\(?[a-z가-하][.)]|\(?[ivx]+[.)]|[{CIRCLED}]"
    rf"|(?:{STEP_WORDS})\s*\d)",
    re.IGNORECASE,
)
_TABLE_CAPTION = re.compile(rf"\s*[<\[(]?\s*(?:{TABLE_CAPTION_WORDS})", re.IGNORECASE)


def group_ends(blocks: list[BodyBlock]) -> list[int]:
    """Return the last position of each block's group; runs of ungrouped items or code are groups.

    Everything between the first and last block of a group counts as inside it.
    """
    last = {block.group: i for i, block in enumerate(blocks) if block.group is not None}
    ends = list(range(len(blocks)))
    for i in range(len(blocks) - 1, -1, -1):
        block = blocks[i]
        if block.group is not None:
            ends[i] = last[block.group]
        elif block.role in ITEM_ROLES or block.role == "code":
            following = blocks[i + 1] if i + 1 < len(blocks) else None
            if following and following.group is None and following.role == block.role:
                ends[i] = ends[i + 1]
    return ends


def glue(blocks: list[BodyBlock]) -> list[bool]:
    """Mark the blocks that must stay with the next one.

    A heading with what follows; a warning with the step below it, or with the last step if none
    follows; a caption with its table or figure; a lead-in that ends in a colon with its list.
    """
    glued = [False] * len(blocks)
    is_label = False  # the block above was only the label of an admonition
    for i, block in enumerate(blocks):
        following = blocks[i + 1] if i + 1 < len(blocks) else None
        warns = block.role == "admonition" or (is_label and block.role == "paragraph")
        is_label = block.role == "admonition" and len(block.text) <= _LONGEST_LABEL
        if following is None and not (warns or block.role == "caption"):
            continue
        if block.is_heading:
            glued[i] = True
        elif warns:
            text_below = is_label and following is not None and following.role == "paragraph"
            if text_below or (following and following.role in _WARNED):
                glued[i] = True
            elif i and blocks[i - 1].role in _WARNED:
                glued[i - 1] = True
        elif block.role == "caption":
            target = _captioned(blocks, i, glued)
            if target is not None:
                glued[min(i, target)] = True
        elif block.role == "paragraph" and following:
            leads = len(block.text) <= _LONGEST_LEAD_IN and block.text.endswith((":", "："))
            glued[i] = glued[i] or (leads and following.role in _INTRODUCED)
    return glued


def _captioned(blocks: list[BodyBlock], caption: int, glued: list[bool]) -> int | None:
    """Return the neighbour a caption describes: by group, then by wording, then by distance."""
    block = blocks[caption]
    wanted = "table" if _TABLE_CAPTION.match(block.text) else "figure"
    best: tuple[tuple[bool, bool, float], int] | None = None
    for i in (caption + 1, caption - 1):
        if not 0 <= i < len(blocks) or blocks[i].role not in ("table", "figure", "code"):
            continue
        if i < caption and i and glued[i - 1] and blocks[i - 1].role == "caption":
            continue  # it has a caption above it
        other = blocks[i]
        gap = other.box[2] - block.box[4] if i > caption else block.box[2] - other.box[4]
        apart = abs(gap) if other.box[0] == block.box[0] else 1.0
        other_group = block.group is None or other.group != block.group
        rank = (other_group, other.role != wanted, apart)
        if best is None or rank < best[0]:
            best = (rank, i)
    return best[1] if best else None


def chunk_kinds(
    blocks: list[BodyBlock], glued: list[bool], ends: list[int], start: int, end: int
) -> list[str]:
    """Return the chunk kind each block of a unit (`start` to `end`, exclusive) suggests.

    Inside a group it is that of the outermost group; a warning or caption takes the kind of what it
    belongs to.
    """
    kinds: list[str] = []
    outer_end = -1
    kind = "text"
    for i in range(start, end):
        if i > outer_end:
            outer_end = ends[i]
            kind = _group_kind({block.role for block in blocks[i : outer_end + 1]})
        kinds.append(kind)
    for i in range(end - 2, start - 1, -1):
        if glued[i] and kinds[i - start] == "text" and _is_note(blocks, glued, i):
            kinds[i - start] = kinds[i + 1 - start]
    for i in range(start + 1, end):
        if glued[i - 1] and kinds[i - start] == "text" and _is_note(blocks, glued, i):
            kinds[i - start] = kinds[i - 1 - start]
    return kinds


def _is_note(blocks: list[BodyBlock], glued: list[bool], i: int) -> bool:
    """Whether a block is a warning, the text below a warning's label, or a caption."""
    if blocks[i].role == "paragraph":
        return i > 0 and blocks[i - 1].role == "admonition" and glued[i - 1]
    return blocks[i].role in ("admonition", "caption")


def _group_kind(roles: set[str]) -> str:
    for role, kind in (
        ("procedure_step", "procedure"),
        ("list_item", "list"),
        ("table", "table"),
        ("code", "code"),
    ):
        if role in roles:
            return kind
    return "text"


def step_numbers(blocks: list[BodyBlock]) -> list[int | None]:
    """Number the top-level steps: by the number in the text, or else by counting on."""
    steps = [block for block in blocks if block.role == "procedure_step"]
    top = min((block.list_level for block in steps), default=1)
    numbers: list[int | None] = []
    group: int | None = None
    count = 0
    for block in blocks:
        if block.role != "procedure_step" or block.list_level > top:
            numbers.append(None)
            continue
        if block.group != group:
            group, count = block.group, 0
        match = _NUMBER.match(block.text)
        if match:
            count = int(match[1]) if match[1] else int(unicodedata.numeric(match[2]))
        else:
            count += 1
        numbers.append(count)
    return numbers


def lacks_numbers(blocks: list[BodyBlock]) -> bool:
    """Whether no step has a number, letter or bullet of its own, so that numbers are added."""
    steps = [block for block in blocks if block.role == "procedure_step"]
    return bool(steps) and not any(_MARKER.match(block.text) for block in steps)
