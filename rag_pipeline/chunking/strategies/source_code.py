"""The code strategy: functions and classes whole, by tree-sitter."""

from __future__ import annotations

import itertools

import pandas as pd
from semantic_text_splitter import CodeSplitter

from rag_pipeline.chunking.assemble import ChunkDraft
from rag_pipeline.chunking.cutting.body import BodyPassage, Range
from rag_pipeline.chunking.cutting.ranges import BodyCutter, TrailOf
from rag_pipeline.chunking.cutting.windows import Atom, body_atoms, glue_atoms, pack
from rag_pipeline.chunking.strategies.grammars import definitions, grammar, known_language
from rag_pipeline.chunking.task import Task
from rag_pipeline.frames import FURNITURE_ROLES
from rag_pipeline.text import TRAIL_SEPARATOR

_NAME_SHARE = 12
"""A twelfth of the budget is reserved for the names of the class and function around a chunk."""
_SMALL_SHARE = 3
"""A part of a definition below a third of the budget joins the next one."""


def is_source_code(structured: pd.DataFrame) -> bool:
    """Whether a document is source code: code in a known language and nothing else."""
    if "code_language" not in structured or not len(structured):
        return False
    roles, languages = structured["role"].tolist(), structured["code_language"].tolist()
    body = [
        (role, language)
        for role, language in zip(roles, languages, strict=True)
        if role not in FURNITURE_ROLES
    ]
    return bool(body) and all(role == "code" and _known(name) for role, name in body)


def chunk_code(task: Task) -> list[ChunkDraft]:
    """Fill windows with whole functions, classes and paragraphs.

    Tree-sitter cuts a class or function above the budget between its methods or statements; its
    parts share no chunk with its neighbours, and the names of the definitions around a part are
    added to its trail. Code without a grammar is cut between lines, prose between sentences.
    """
    cutter = BodyCutter(task)
    reserve = cutter.budget // _NAME_SHARE

    def room(section: int) -> int:
        return max(1, cutter.room(section) - reserve)

    languages = {p.start: language for p in cutter.body.passages if (language := _language(p))}
    split: list[Atom] = []
    apart = False
    for atom in glue_atoms(cutter.counted(body_atoms(cutter.body, None)), room):
        language = languages.get(atom.start)
        if language and atom.tokens > room(atom.section):
            parts = _split(atom, language, cutter, room(atom.section))
            split += parts
            apart = True
        else:
            atom.opens |= apart
            split.append(atom)
            apart = False
    ranges = pack(cutter.fitted(split, room), room)
    return cutter.chunks(ranges, trail_of=_names_around(cutter, languages))


def _names_around(cutter: BodyCutter, languages: dict[int, str]) -> TrailOf:
    """Return the function that adds to a trail the innermost definition around a range of code.

    `languages`: by the offset at which a passage of code begins.
    """
    text = cutter.body.text
    found = [
        (passage.start + part.start, passage.start + part.end, part.path)
        for passage in cutter.body.passages
        if (language := languages.get(passage.start))
        for part in definitions(text[passage.start : passage.end], language)
    ]

    def trail_of(part: Range, trail: str) -> str | None:
        code = text[part.start : part.end]
        start, end = part.start + len(code) - len(code.lstrip()), part.start + len(code.rstrip())
        around = [path for first, last, path in found if first <= start and end <= last]
        path = max(around, key=len, default=())
        return TRAIL_SEPARATOR.join([trail, *path] if trail else path) if path else None

    return trail_of


def _split(atom: Atom, language: str, cutter: BodyCutter, room: int) -> list[Atom]:
    """Cut a definition at the coarsest borders of its syntax that keep parts within the room."""
    text = cutter.body.text[atom.start : atom.end]
    counter = cutter.counter
    splitter = CodeSplitter.from_callback(
        grammar(language), lambda part: counter.parts([part])[0], room
    )
    starts = [_line_start(text, start) for start, _ in splitter.chunk_indices(text)]
    borders = sorted({0, *starts[1:], len(text)})
    ranges = [Range(atom.start + a, atom.start + b) for a, b in itertools.pairwise(borders)]
    parts: list[Atom] = []
    for found, tokens in zip(reversed(ranges), reversed(cutter.count(ranges)), strict=True):
        # A decorator, signature or docstring comes as a separate part: join it to what follows.
        if parts and tokens < room // _SMALL_SHARE and tokens + parts[-1].tokens <= room:
            parts[-1].start = found.start
            parts[-1].tokens += tokens + counter.newline
        else:
            parts.append(Atom(*found, atom.section, tokens + counter.newline, is_code=True))
    parts[-1].opens = True
    return parts[::-1]


def _line_start(text: str, offset: int) -> int:
    """Return the offset before the indentation, which the splitter excludes."""
    indentation = text.rfind("\n", 0, offset) + 1
    return indentation if not text[indentation:offset].strip() else offset


def _language(passage: BodyPassage) -> str | None:
    return _known(passage.piece.block.code_language) if passage.piece.kind == "code" else None


def _known(name: object) -> str | None:
    return known_language(name) if isinstance(name, str) else None
