"""Atoms (words, sentences, paragraphs) to windows of at most the budget, with overlap."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from rag_pipeline.chunking.cutting.body import Body, Range
from rag_pipeline.chunking.cutting.splitting import Fragment, split_texts, words
from rag_pipeline.chunking.token_counts import TokenCounter

Room = Callable[[int], int]
"""Tokens that a chunk which begins in this section has for its content."""


@dataclass(slots=True)
class Atom:
    """A range of the body that windows are made of.

    `opens`: no window goes on across its start. `glued`: it stays with the next one (a heading).
    """

    start: int
    end: int
    section: int
    tokens: int = 0
    opens: bool = False
    glued: bool = False
    is_code: bool = False


def body_atoms(body: Body, divide: Callable[[str], Sequence[int]] | None) -> list[Atom]:
    """Return the atoms of a body, not counted yet: its pieces, and where `divide` is given their
    parts, from the offsets that it returns for a text. Tables' rows and code stay whole.
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
    atoms: list[Atom] = []
    offset = 0
    section, limit = -1, -1
    passages = iter(body.passages)
    for word in words(body.text):
        while offset >= limit:
            passage = next(passages, None)
            if passage is None:
                break
            section, limit = passage.section, passage.end
        atoms.append(Atom(offset, offset + len(word), section))
        offset += len(word)
    return atoms


def count_atoms(atoms: Sequence[Atom], body: Body, counter: TokenCounter) -> None:
    """Count all atoms in one call, equal texts once; what joins them to the next is added."""
    texts = [body.text[atom.start : atom.end] for atom in atoms]
    unique = list(dict.fromkeys(text.strip() for text in texts))
    counts = dict(zip(unique, counter.parts(unique), strict=True))
    for atom, text in zip(atoms, texts, strict=True):
        join = counter.newline if text.endswith("\n") else counter.space
        atom.tokens = counts[text.strip()] + join


def fit_atoms(atoms: list[Atom], body: Body, room: Room, counter: TokenCounter) -> list[Atom]:
    """Split the atoms above their room: into sentences, words, at last characters."""
    long = [atom for atom in atoms if atom.tokens > room(atom.section)]
    parts: dict[int, list[Atom]] = {}
    for by_line in (False, True):
        chosen = [atom for atom in long if atom.is_code == by_line]
        found = split_texts(
            [Fragment(body.text[atom.start : atom.end], atom.tokens) for atom in chosen],
            [room(atom.section) for atom in chosen],
            counter,
            by_line=by_line,
            language=body.language,
        )
        for atom, fragments in zip(chosen, found, strict=True):
            start = atom.start
            parts[id(atom)] = []
            for number, fragment in enumerate(fragments):
                end = start + len(fragment.text)
                opens = atom.opens and number == 0
                part = Atom(start, end, atom.section, fragment.tokens, opens, is_code=by_line)
                parts[id(atom)].append(part)
                start = end
    return [part for atom in atoms for part in parts.get(id(atom), [atom])]


def glue_atoms(atoms: Sequence[Atom], room: Room) -> list[Atom]:
    """Join each glued atom (a heading) to the next one where both fit into one window."""
    joined: list[Atom] = []
    for atom in atoms:
        last = joined[-1] if joined else None
        if last and last.glued and last.tokens + atom.tokens <= room(last.section):
            # Major headings below one another, without text between them, open together.
            last.end, last.glued = atom.end, atom.glued
            last.tokens += atom.tokens
        else:
            joined.append(atom)
    return joined


def pack(atoms: Sequence[Atom], room: Room, overlap: int = 0) -> list[Range]:
    """Fill windows with atoms in order; each repeats whole atoms of the last, up to `overlap`
    tokens, and holds at least one that is new."""
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
        start = _step_back(atoms, start, end, overlap, room)
    return found


def pack_even(atoms: Sequence[Atom], room: Room, ideal: Room, overlap: int = 0) -> list[Range]:
    """Part atoms into windows near `ideal` tokens, none above the room unless one atom is.

    Of all ways the one with the least squared deviation from the ideal, each window weighed by its
    length, by dynamic programming in time linear in the text. A search returns the longer windows
    of `pack` more often than the short, and pays for them in every answer; even ones cost the same.
    `overlap`: as `pack`; windows are parted within the room that it leaves.
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
        back = _repeat_from(atoms, first, end, overlap, room)
        found.append(Range(atoms[back].start, atoms[end - 1].end))
        end = first
    return found[::-1]


def _repeat_from(atoms: Sequence[Atom], first: int, end: int, overlap: int, room: Room) -> int:
    """Return where a window begins that also repeats atoms before its first."""
    total = sum(atom.tokens for atom in atoms[first:end])
    back, repeated = first, 0
    while back and not atoms[back].opens:
        repeated += atoms[back - 1].tokens
        if repeated > overlap or repeated + total > room(atoms[back - 1].section):
            break
        back -= 1
    return back


def _step_back(atoms: Sequence[Atom], start: int, end: int, overlap: int, room: Room) -> int:
    """Return where the window after `end` begins."""
    back, repeated = end, 0
    if atoms[end].opens:
        return end
    while back - 1 > start and repeated + atoms[back - 1].tokens <= overlap:
        back -= 1
        repeated += atoms[back].tokens
    while back < end and repeated + atoms[end].tokens > room(atoms[back].section):
        repeated -= atoms[back].tokens
        back += 1
    return back


def join_small(
    measured: Iterable[tuple[Range, int]], body: Body, small: int, room: Room
) -> list[Range]:
    """Join ranges below `small` tokens to a neighbour in their major section, where both fit.

    `measured`: ranges in order, each with its tokens.
    """
    joined: list[tuple[Range, int]] = []
    for current, tokens in measured:
        if joined:
            last, before = joined[-1]
            near = body.major_at(last.start) == body.major_at(current.start)
            fits = before + tokens <= room(body.section_at(last.start))
            if near and fits and min(before, tokens) < small:
                joined[-1] = (Range(last.start, current.end), before + tokens)
                continue
        joined.append((current, tokens))
    return [found for found, _ in joined]
