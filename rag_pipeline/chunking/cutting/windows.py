"""Atoms (words, sentences, paragraphs) to windows of at most the budget, with overlap."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from rag_pipeline.chunking.cutting.body import Body, Range
from rag_pipeline.chunking.cutting.splitting import words

Room = Callable[[int], int]
"""Tokens available for the content of a chunk that begins in this section."""
Divide = Callable[[str], Sequence[int]]
"""From a text to the offsets at which its parts begin, the first 0."""


@dataclass(slots=True)
class Atom:
    """A range of the body; windows are runs of atoms.

    `opens`: no window crosses its start. `glued`: it stays with the next one (a heading).
    """

    start: int
    end: int
    section: int
    tokens: int = 0
    opens: bool = False
    glued: bool = False
    is_code: bool = False


def body_atoms(body: Body, divide: Divide | None) -> list[Atom]:
    """Return the atoms of a body, not counted yet: its pieces, divided by `divide` if given.

    Table rows and code stay whole.
    """
    atoms: list[Atom] = []
    major: int | None = None
    for passage in body.passages:
        if passage.start == passage.end:
            continue
        text = body.text[passage.start : passage.end]
        whole = divide is None or passage.piece.kind in {"table", "code"}
        starts = [0] if whole or divide is None else divide(text)
        for number, start in enumerate(starts):
            atoms.append(
                Atom(
                    passage.start + start,
                    passage.end,
                    passage.section,
                    glued=passage.piece.block.is_heading,
                    is_code=passage.piece.kind == "code",
                )
            )
            if number:
                atoms[-2].end = atoms[-1].start
        first = atoms[-len(starts)]
        now = body.major_at(passage.start)
        first.opens = major is not None and now != major
        major = now
    for atom, following in itertools.pairwise(atoms):
        atom.end = following.start  # the white space between them belongs to the first
    return atoms


def word_atoms(body: Body) -> list[Atom]:
    """Return the words of a body as atoms."""
    found = words(body.text)
    ends = list(itertools.accumulate(map(len, found)))
    return [
        Atom(end - len(word), end, body.section_at(end - len(word)))
        for word, end in zip(found, ends, strict=True)
    ]


def glue_atoms(atoms: Sequence[Atom], room: Room) -> list[Atom]:
    """Join each glued atom (a heading) to the next one if both fit into one window."""
    joined: list[Atom] = []
    for atom in atoms:
        last = joined[-1] if joined else None
        if last and last.glued and last.tokens + atom.tokens <= room(last.section):
            # Consecutive major headings without text between them open together.
            last.end, last.glued = atom.end, atom.glued
            last.tokens += atom.tokens
        else:
            joined.append(atom)
    return joined


def pack(atoms: Sequence[Atom], room: Room, overlap: int = 0) -> list[Range]:
    """Fill windows with atoms in order.

    Each repeats whole atoms of the last, up to `overlap` tokens, and holds at least one new one.
    """
    found: list[Range] = []
    start = 0
    while start < len(atoms):
        limit = room(atoms[start].section)
        total, end = atoms[start].tokens, start + 1
        while end < len(atoms) and not atoms[end].opens and total + atoms[end].tokens <= limit:
            total += atoms[end].tokens
            end += 1
        found.append(Range(atoms[start].start, atoms[end - 1].end))
        if end == len(atoms):
            break
        start = _repeat_from(atoms, end, atoms[end].tokens, overlap, room, after=start)
    return found


def pack_even(atoms: Sequence[Atom], room: Room, ideal: Room, overlap: int = 0) -> list[Range]:
    """Divide atoms into windows of about `ideal` tokens, within the room unless one atom is larger.

    Minimises the squared deviation from the ideal, weighted by the windows' length, by dynamic
    programming in time linear in the text. Searches return the longer windows of `pack` more often
    than the short ones, and every answer pays for them; even windows cost the same. `overlap` is as
    in `pack`; it reduces the room.
    """
    costs = [0.0] + [math.inf] * len(atoms)
    begins = [0] * (len(atoms) + 1)
    for end in range(1, len(atoms) + 1):
        total = 0
        for first in range(end - 1, -1, -1):
            total += atoms[first].tokens
            section = atoms[first].section
            if first < end - 1 and total > room(section) - overlap:
                break
            ratio = total / ideal(section)
            cost = costs[first] + ratio * (ratio - 1) ** 2
            if cost < costs[end]:
                costs[end], begins[end] = cost, first
            if atoms[first].opens:
                break
    found: list[Range] = []
    end = len(atoms)
    while end:
        first = begins[end]
        fresh = sum(atom.tokens for atom in atoms[first:end])
        back = _repeat_from(atoms, first, fresh, overlap, room)
        found.append(Range(atoms[back].start, atoms[end - 1].end))
        end = first
    return found[::-1]


def _repeat_from(
    atoms: Sequence[Atom], first: int, fresh: int, overlap: int, room: Room, after: int = -1
) -> int:
    """Return where a window begins that repeats atoms before its first new one.

    `fresh`: tokens of the new atoms. Goes back no further than past `after`, nor past an atom that
    opens.
    """
    back, repeated = first, 0
    while back - 1 > after and not atoms[back].opens:
        repeated += atoms[back - 1].tokens
        if repeated > overlap or repeated + fresh > room(atoms[back - 1].section):
            break
        back -= 1
    return back
