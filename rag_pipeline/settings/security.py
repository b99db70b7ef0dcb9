"""Who may read what: readers of sources, tags and documents, and whether they are enforced."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from fnmatch import translate
from functools import lru_cache

from pydantic import Field

from rag_pipeline.settings.section import Section

PUBLIC = "public"
"""The reader that stands for every principal."""


class SecuritySettings(Section):
    """Access control (docs/security.md)."""

    enabled: bool = Field(
        default=False,
        description="Enforce readers on every search and answer, also where no principals are "
        "named: then nothing is visible",
    )
    principals: list[str] = Field(
        default=[],
        description="Whom commands speak for that name nobody by `--as`, where `enabled`",
    )
    tags: dict[str, list[str]] = Field(
        default={},
        description="Readers by tag; they go before the readers of the source",
    )
    documents: dict[str, list[str]] = Field(
        default={},
        description="Readers by glob of the path, `*` also matching `/`, or of the name where the "
        "glob has no `/`; they go before those of tags and sources",
    )

    def readers_of(self, uri: str, tags: Iterable[str], readers: Sequence[str]) -> tuple[str, ...]:
        """Return a file's readers: what its globs say, else its tags, else its source (`readers`).

        Where several globs, or several tags, say something, only readers whom each of them names.
        """
        by_glob = [named for glob, named in self.documents.items() if _matches(glob, uri)]
        by_tag = [self.tags[tag] for tag in tags if tag in self.tags]
        found = common_readers(by_glob or by_tag or [readers])
        return tuple(readers) if set(found) == set(readers) else found

    def named(self, principals: Sequence[str] | None) -> tuple[str, ...] | None:
        """Return whom a command or a program speaks for: those given, else `principals`.

        None is whoever runs the store, and may read everything; only where not `enabled`.
        """
        if principals is None and not self.enabled:
            return None
        return tuple(self.principals if principals is None else principals)


def common_readers(lists: Sequence[Sequence[str]]) -> tuple[str, ...]:
    """Return the readers whom every list names; `public` names everybody."""
    restricted = [set(one) for one in lists if PUBLIC not in one]
    if not restricted:
        return (PUBLIC,)
    return tuple(sorted(set.intersection(*restricted)))


def may_read(readers: Iterable[str], principals: Sequence[str] | None) -> bool:
    """Tell whether one of the principals is a reader; None is whoever runs the store.

    >>> may_read(["group:service"], ["user:kim", "group:service"]), may_read(["public"], [])
    (True, False)
    """
    if principals is None:
        return True
    return bool(principals) and not {PUBLIC, *principals}.isdisjoint(readers)


def _matches(glob: str, uri: str) -> bool:
    path = uri.replace("\\", "/")
    return bool(_pattern(glob).match(path if "/" in glob else path.rsplit("/", 1)[-1]))


@lru_cache(maxsize=256)
def _pattern(glob: str) -> re.Pattern[str]:
    # A glob that does not begin at the root may begin at any folder.
    anywhere = "" if "/" not in glob or glob.startswith(("/", "*")) or "://" in glob else "(?:.*/)?"
    return re.compile(anywhere + translate(glob), re.IGNORECASE)
