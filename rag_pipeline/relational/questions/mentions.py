"""Nouns of a question to tables and columns of a schema, by their concepts."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field

from rag_pipeline.errors import SettingsError
from rag_pipeline.relational.questions.pieces import Piece, rhythm_words, unit_words
from rag_pipeline.relational.schema.lexicon import stem, units
from rag_pipeline.relational.schema.table_schema import Schema, is_date

MODIFIERS = frozenset(
    {"unit", "in", "on", "of", "per", "list", "the", "number", "count", "us", "is", "has", "at"}
)
"""Words of a column's name that say nothing of what it holds, while another word is left."""
MAX_COMMENT_WORDS = 4
Place = tuple[str, str]
"""A table and a column of it."""


@dataclass(frozen=True)
class Mention:
    """Some nouns in a row that name one thing."""

    concepts: tuple[str, ...]
    start: int
    """Index of its first piece."""
    end: int
    table: str | None = None
    columns: tuple[Place, ...] = field(default=())
    """Columns with just these concepts."""

    @property
    def text(self) -> str:
        """Its concepts, for messages."""
        return " ".join(self.concepts)


def phrases(schema: Schema) -> dict[str, list[str]]:
    """Return columns whose name has a word that alone says something else.

    Such as out_of_print, monthly_pay. A phrase of two columns names none.
    """
    found: dict[str, list[str]] = {}
    for table in schema.tables.values():
        for column in table.table.columns:
            words = schema.lexicon.shown(column.name, "en").split()
            is_said_otherwise = any(
                stem(word) in rhythm_words() and stem(word) != word for word in words[:-1]
            )
            if set(words[1:-1]) & MODIFIERS or is_said_otherwise:
                found.setdefault(" ".join(words), []).append(f"{table.name}.{column.name}")
    return {names[0]: [phrase] for phrase, names in found.items() if len(names) == 1}


def names_of_synonyms(schema: Schema) -> dict[str, list[str]]:
    """Return the owner's words for tables and columns; synonyms of values are none of them."""
    columns = {f"{t.name}.{c.name}" for t in schema.tables.values() for c in t.table.columns}
    named = {n: f for n, f in schema.lexicon.synonyms.items() if n in schema.tables or n in columns}
    own = schema.lexicon.own_words
    return {n: [*own.get(n, ()), *named.get(n, ())] for n in (*own, *named)}


def numbered(schema: Schema) -> dict[str, list[str]]:
    """Return what the rows of a table are called by that have nothing but a key: order numbers."""
    return {
        table.name: [
            f"{schema.lexicon.shown(table.name, 'en')} number",
            f"{schema.lexicon.shown(table.name, 'en')} id",
            f"{schema.lexicon.shown(table.name, 'ko')} 번호",
        ]
        for table in schema.tables.values()
        if table.label == table.key and len(table.key) == 1
    }


def commented(schema: Schema) -> dict[str, str | tuple[Place, ...]]:
    """Return what the database's own comments call a table, or columns, by the phrase.

    Parts of a comment between commas, strokes and brackets are phrases; one of more than
    `MAX_COMMENT_WORDS` words explains, and names nothing. What several tables are called by is
    left out, and what the lexicon knows of the schema's names already.
    """
    tables: dict[str, list[str]] = {}
    columns: dict[str, list[Place]] = {}
    for info in schema.tables.values():
        for phrase in _phrases_of(info.table.comment):
            tables.setdefault(phrase, []).append(info.name)
        for column in info.table.columns:
            for phrase in _phrases_of(column.comment):
                columns.setdefault(phrase, []).append((info.name, column.name))
    used = {concept for info in schema.tables.values() for concept in info.concepts}
    found: dict[str, str | tuple[Place, ...]] = {
        phrase: tuple(places) for phrase, places in columns.items()
    }
    found |= {phrase: names[0] for phrase, names in tables.items() if len(names) == 1}
    known = schema.lexicon.forms
    return {
        phrase: what
        for phrase, what in found.items()
        if not used & set(known.get(units(phrase), ()))
        and (phrase not in tables or len(tables[phrase]) == 1)
    }


def _phrases_of(comment: str | None) -> list[str]:
    parts = [part.strip() for part in re.split(r"[,;/()|\n]", comment or "")]
    return [part for part in parts if units(part) and len(part.split()) <= MAX_COMMENT_WORDS]


class Namer:
    """Finds what nouns name in one schema."""

    def __init__(self, schema: Schema) -> None:
        self._schema = schema
        self._tables: dict[tuple[str, ...], list[str]] = {}
        self.words: dict[Place, frozenset[str]] = {}
        """What a column's name says, without modifiers, unit, and its table's name."""
        self.units: dict[Place, str] = {}
        """The unit of measure at the end of a column's name: `weight_kg`."""
        for table in schema.tables.values():
            self._tables.setdefault(table.concepts, []).append(table.name)
            for column in table.table.columns:
                concepts = schema.lexicon.name_concepts(column.name)
                words = set(concepts)
                if (unit := unit_words().get(stem(concepts[-1]))) is not None:
                    self.units[table.name, column.name] = unit
                    words = set(concepts[:-1]) or words
                own = words - MODIFIERS or words
                self.words[table.name, column.name] = frozenset(own - set(table.concepts) or own)

        self.date_words = {
            word
            for (table, name), words in self.words.items()
            if is_date(schema.tables[table].column(name))
            for word in words
        }
        self._heads = self._unique_heads()
        self._own: dict[tuple[str, ...], tuple[Place, ...]] = {}
        for name in (*phrases(schema), *names_of_synonyms(schema), *numbered(schema)):
            owner, _, column_name = name.partition(".")
            if (owner, column_name) in self.words:
                self._own[(name,)] = ((owner, column_name),)
            elif name in schema.tables:
                self._tables[(name,)] = [name]
            else:
                raise SettingsError(
                    f"relational words: the database has no {name}",
                    hint="write a table, or table.column",
                )

        for phrase, what in commented(schema).items():
            if isinstance(what, str):
                self._tables[(phrase,)] = [what]
            else:
                self._own[(phrase,)] = what

    def _unique_heads(self) -> dict[str, str]:
        """Return the tables that the last word of their name tells alone: jobs, parts."""
        ends: dict[str, list[str]] = {}
        for table in self._schema.tables.values():
            if not table.key or not set(table.key) <= table.reference_columns:
                # Rows of a relation are called by what they relate.
                ends.setdefault(table.concepts[-1], []).append(table.name)
        columns = {words for words in self.words.values() if len(words) == 1}
        return {
            head: names[0]
            for head, names in ends.items()
            if len(names) == 1 and frozenset({head}) not in columns
        }

    def mentions(self, pieces: Sequence[Piece]) -> list[Mention]:
        """Return every mention, in order; nouns that name nothing alone have no table or column."""
        found: list[Mention] = []
        index = 0
        while index < len(pieces):
            if pieces[index].kind != "noun":
                index += 1
                continue
            end = index
            while end < len(pieces) and pieces[end].kind == "noun":
                end += 1
            found += self._run(pieces, index, end)
            index = end
        return found

    def _run(self, pieces: Sequence[Piece], start: int, end: int) -> list[Mention]:
        found = []
        while start < end:
            for stop in range(end, start, -1):
                concepts = tuple(piece.value for piece in pieces[start:stop])
                mention = self._named(concepts, start, stop)
                if mention is not None or stop == start + 1:
                    found.append(mention or Mention(concepts, start, stop))
                    start = stop
                    break
        return found

    def _named(self, concepts: tuple[str, ...], start: int, end: int) -> Mention | None:
        tables = self._tables.get(concepts, [])
        if len(tables) == 1:
            return Mention(concepts, start, end, tables[0], self.with_words(concepts))
        columns = self._own.get(concepts) or self.with_words(concepts)
        if not columns and len(concepts) == 1 and concepts[0] in self._heads:
            return Mention(concepts, start, end, self._heads[concepts[0]])
        return Mention(concepts, start, end, None, columns) if columns else None

    def with_words(
        self, concepts: Collection[str], hints: Collection[str] = ()
    ) -> tuple[Place, ...]:
        """Return the columns that have all these words and, beyond them, only some of `hints`."""
        wanted = set(concepts)
        return tuple(
            place
            for place, words in self.words.items()
            if wanted <= words and words - wanted <= set(hints)
        )
