"""Questions cut into pieces by the words of one schema and the values of its data."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from sqlalchemy import Connection

from rag_pipeline.relational.questions.forms.metrics import Metric
from rag_pipeline.relational.questions.mentions import (
    Namer,
    commented,
    names_of_synonyms,
    numbered,
    phrases,
)
from rag_pipeline.relational.questions.named_values import FoundValue, ValueFinder
from rag_pipeline.relational.questions.pieces import (
    MAX_UNITS,
    Cutter,
    Piece,
    candidate_spans,
    cut_units,
)
from rag_pipeline.relational.schema.lexicon import is_hangul, stem, units
from rag_pipeline.relational.schema.table_schema import Schema
from rag_pipeline.text import clean_text, one_line


@dataclass(frozen=True)
class CutQuestion:
    """The pieces of a question, and what the data has of them."""

    pieces: Sequence[Piece]
    values: Mapping[tuple[int, int], list[FoundValue]]
    """Values of the data, by their first unit and the one behind."""


class QuestionReader:
    """Cuts questions about one schema; made once, since its words take long to gather."""

    def __init__(self, schema: Schema, metrics: Sequence[Metric] = ()) -> None:
        """`metrics`: numbers with names of one's own, which questions may use."""
        self.schema = schema
        self.metrics = metrics
        self.namer = Namer(schema)
        self._cutter = _cutter(schema, metrics)
        self._finder = ValueFinder(schema)

    def read(self, connection: Connection, question: str) -> CutQuestion | None:
        """Look a question up in the data and cut it; None where it is empty, or too long."""
        cleaned = one_line(clean_text(question))
        parts = cut_units(cleaned)
        if not parts or len(parts) > MAX_UNITS:
            return None
        values = self._finder.find(connection, candidate_spans(cleaned, parts))
        return CutQuestion(self._cutter.cut(cleaned, parts, values), values)


def _cutter(schema: Schema, metrics: Sequence[Metric]) -> Cutter:
    present = {word for table in schema.tables.values() for word in table.concepts}
    named = present | {
        word
        for table in schema.tables.values()
        for column in table.table.columns
        for word in schema.lexicon.name_concepts(column.name)
    }
    own = _own_words(schema)
    for metric in metrics:
        forms = (metric.name, metric.name.replace("_", " "), *metric.words)
        own |= {units(form): metric.name for form in forms}
    return Cutter(schema.lexicon, own, present, named | set(own.values()))


def _own_words(schema: Schema) -> dict[tuple[str, ...], str]:
    """Words of the schema's names that the lexicon does not know, and those of its owner."""
    known = set(schema.lexicon.nouns)
    used: set[str] = set()
    found: dict[tuple[str, ...], str] = {}
    for table in schema.tables.values():
        names = [table.name, *(column.name for column in table.table.columns)]
        for name in names:
            for concept in schema.lexicon.name_concepts(name):
                used.add(concept)
                if concept not in known and len(concept) > 2:
                    found[units(concept) if is_hangul(concept) else (concept,)] = concept
            short = units(schema.lexicon.shown(name, "en"))
            abbreviations = schema.lexicon.abbreviations
            found |= {(one,): abbreviations[one,] for one in short if (one,) in abbreviations}
    for concept in _acting(schema):
        for verb in _verbs(concept):
            if not used & set(schema.lexicon.forms.get((verb,), ())):
                found.setdefault((verb,), concept)
    found |= {units(phrase): phrase for phrase in commented(schema)}
    for named in (numbered(schema), phrases(schema), names_of_synonyms(schema)):
        for key, forms in named.items():
            found |= dict.fromkeys(map(units, forms), key)
    return found


def _acting(schema: Schema) -> list[str]:
    """Return the concepts that verbs are told from: things, and roles of those who act."""
    things = [table.concepts[-1] for table in schema.tables.values()]
    links = [link for table in schema.tables.values() for link in table.foreign_keys]
    return [*things, *(word for link in links for word in sorted(schema.role_words(link)))]


def _verbs(concept: str) -> list[str]:
    """Return the stems of the verb that a noun is made of.

    >>> _verbs("rental"), _verbs("delivery"), _verbs("driver"), _verbs("order")
    (['rent'], ['deliv'], ['driv', 'drive'], [])
    """
    noun = stem(concept)
    ending = next((one for one in ("ment", "eri", "al", "er", "or") if noun.endswith(one)), None)
    verb = noun.removesuffix(ending) if ending else ""
    if len(verb) < 4 and ending in ("er", "or"):
        return []
    if len(verb) < 3:
        return []
    return [verb, f"{verb}e"] if ending in ("er", "or") else [verb]
