"""All readings of a question: wherever it can be taken in two ways, each is followed."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TypeVar

from rag_pipeline.relational.schema.ways import NotComputableError

Option = TypeVar("Option")
Result = TypeVar("Result")
MAX_READINGS = 24


class Choices:
    """What one reading takes at each fork, in order."""

    def __init__(self, script: Sequence[int] = ()) -> None:
        self.taken = list(script)
        self.sizes: list[int] = []

    def pick(self, options: Sequence[Option]) -> Option:
        """Return this reading's option. Raises `NotComputableError` where there is none."""
        if not options:
            raise NotComputableError("there is nothing that it could mean")
        at = len(self.sizes)
        if at == len(self.taken):
            self.taken.append(0)
        self.sizes.append(len(options))
        return options[self.taken[at]]


def readings(read: Callable[[Choices], Result]) -> list[Result]:
    """Return what `read` makes of every combination of choices, without those that fail.

    Raises the first one's `NotComputableError` where all fail, and one of its own where there are
    more than `MAX_READINGS`.
    """
    found: list[Result] = []
    errors: list[NotComputableError] = []
    for script in _scripts(read, found, errors):
        if len(found) + len(errors) > MAX_READINGS:
            raise NotComputableError(f"it can be read in more than {MAX_READINGS} ways: {script}")
    if not found:
        raise errors[0]
    return list(dict.fromkeys(found))


def _scripts(
    read: Callable[[Choices], Result], found: list[Result], errors: list[NotComputableError]
) -> Iterator[list[int]]:
    script: list[int] | None = []
    while script is not None:
        choices = Choices(script)
        try:
            found.append(read(choices))
        except NotComputableError as error:
            errors.append(error)
        yield script
        script = _next(choices)


def _next(choices: Choices) -> list[int] | None:
    taken = choices.taken[: len(choices.sizes)]
    while taken:
        if taken[-1] + 1 < choices.sizes[len(taken) - 1]:
            taken[-1] += 1
            return taken
        taken.pop()
    return None
