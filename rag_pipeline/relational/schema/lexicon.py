"""The vocabulary that questions and schemas share: words in two languages, by concept."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping, Sequence
from functools import lru_cache
from importlib.resources import files
from typing import Any

import Stemmer

_WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[가-힣]+|\d+")
_IRREGULAR = {
    "people": "person", "men": "man", "women": "woman", "children": "child", "feet": "foot",
    "drove": "drive", "driven": "drive", "wrote": "write", "written": "write", "taught": "teach",
    "flew": "fly", "flown": "fly", "rode": "ride", "ridden": "ride", "sang": "sing", "sung": "sing",
    "caught": "catch", "grew": "grow", "grown": "grow", "held": "hold", "led": "lead",
    "lent": "lend", "sent": "send", "taken": "take", "took": "take", "won": "win",
    "went": "go", "gone": "go", "chosen": "choose", "broken": "break", "fed": "feed",
}  # fmt: skip
_UNSTEMMED = {"department", "publisher", "officer", "nationality", "purchaser"}
"""Words whose stem is that of another word: depart, publish, office, nation."""


class Lexicon:
    """Concepts by the words for them; a word that is not listed is a concept of its own stem."""

    def __init__(
        self,
        words: Mapping[str, Sequence[str]] | None = None,
        synonyms: Mapping[str, Sequence[str]] | None = None,
    ) -> None:
        """`words`: of tables and `table.column`; `synonyms`: of values, too, by what they mean."""
        data = _data()
        self.nouns: dict[str, list[str]] = {k: list(v) for k, v in data["nouns"].items()}
        self.value_names: dict[tuple[str, ...], list[str]] = {}
        """Units of a value that has several names (countries, states of rows), with all names."""
        for name, aliases in {**data["countries"], **data["states"], **data["us_states"]}.items():
            names = [name, *aliases]
            self.value_names |= dict.fromkeys(map(units, names), names)
        self._concepts: dict[str, tuple[str, ...]] = {}
        self._by_form: dict[tuple[str, ...], str] = {}
        self.forms: dict[tuple[str, ...], list[str]] = {}
        """Units of each form, with the concepts that it may stand for."""
        for concept, forms in self.nouns.items():
            for form in forms:
                self._by_form.setdefault(units(form), concept)
                concepts = self.forms.setdefault(units(form), [])
                if concept not in concepts:
                    concepts.append(concept)
        self.abbreviations = {
            units(form): concept
            for concept, forms in data["abbreviations"].items()
            for form in forms
        }
        """Words that stand for a concept in names of a schema, and in questions about it."""
        self._by_form = {**self.abbreviations, **self._by_form}
        self.own_words = dict(words or {})
        self.synonyms = dict(synonyms or {})
        for value, own in self.synonyms.items():
            self.value_names |= {units(form): [form, value] for form in own}

    def name_concepts(self, name: str) -> tuple[str, ...]:
        """Split an identifier into concepts; words that mean one together are one.

        >>> Lexicon().name_concepts("invoice_items"), Lexicon().name_concepts("ShippingCost")
        (('invoice', 'line'), ('freight',))
        """
        if name in self._concepts:
            return self._concepts[name]
        words = _WORD.findall(name) or [name]
        found: list[str] = []
        begin = 0
        while begin < len(words):
            for end in range(len(words), begin, -1):
                concept = self._by_form.get(units(" ".join(words[begin:end])))
                if concept is not None:
                    break
            found.append(concept if concept is not None else stem(words[begin]))
            begin = end
        self._concepts[name] = tuple(found)
        return self._concepts[name]

    def shown(self, name: str, language: str) -> str:
        """Return an identifier as a person reads it: `order_date` → order date, 주문 날짜."""
        words = [word.lower() for word in _WORD.findall(name)]
        if language != "ko":
            return " ".join(words) or name
        return " ".join(self._korean(word) for word in words) or name

    def _korean(self, word: str) -> str:
        concept = self._by_form.get(units(word))
        forms = self.nouns.get(concept or "", [])
        return next((form for form in forms if is_hangul(form)), word)


@lru_cache(maxsize=1)
def _data() -> dict[str, Any]:
    path = files("rag_pipeline.relational.schema").joinpath("lexicon.toml")
    return tomllib.loads(path.read_text(encoding="utf-8"))


_stemmer = Stemmer.Stemmer("english")


def stem(word: str) -> str:
    """Return the stem of an English word; Korean comes back as it is."""
    lowered = word.lower()
    if lowered.removesuffix("s") in _UNSTEMMED:
        return lowered.removesuffix("s")
    return str(_stemmer.stemWord(_IRREGULAR.get(lowered, lowered)))


UNIT = re.compile(
    r"[가-힣]|\d{4}-\d{2}-\d{2}|\d{1,3}(?:,\d{3})+(?:\.\d+)?|\d+(?:\.\d+)?|[^\W\d_가-힣]+|[×*%+/]"
)
"""A word, a number, one Korean syllable, a sign of arithmetic."""


def units(text: str) -> tuple[str, ...]:
    """Cut text into what is compared: stems of words, numbers, single Korean syllables.

    >>> units("Unit prices"), units("주문 수")
    (('unit', 'price'), ('주', '문', '수'))
    """
    return tuple(stem(match) for match in UNIT.findall(text))


def is_hangul(text: str) -> bool:
    """Whether any of it is Korean."""
    return bool(re.search("[가-힣]", text))
