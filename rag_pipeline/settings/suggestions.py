"""What was meant by a setting that is not there: the one whose name is most like it."""

from __future__ import annotations

import difflib
from collections.abc import Iterator, Sequence
from typing import get_args

from pydantic import BaseModel

ALIKE = 0.75
"""Least likeness of two names, between 0 and 1 (difflib)."""


def meant(model: type[BaseModel], path: Sequence[str]) -> str | None:
    """Return the dotted name of the setting that a misspelt path most likely means.

    A right name in the wrong section counts as well. None where nothing is like it.
    """
    names = list(_names(model, ""))
    alike = difflib.get_close_matches(".".join(path), names, 1, ALIKE)
    if alike:
        return alike[0]
    last = {name.rpartition(".")[2]: name for name in reversed(names)}
    elsewhere = difflib.get_close_matches(path[-1], last, 1, ALIKE)
    return last[elsewhere[0]] if elsewhere else None


def _names(model: type[BaseModel], prefix: str) -> Iterator[str]:
    for name, field in model.model_fields.items():
        yield f"{prefix}{name}"
        for kind in (field.annotation, *get_args(field.annotation)):
            if isinstance(kind, type) and issubclass(kind, BaseModel):
                yield from _names(kind, f"{prefix}{name}.")
