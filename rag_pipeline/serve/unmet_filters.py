"""Says which filter nothing passes, and what there is instead."""

from __future__ import annotations

from collections.abc import Iterable

from psycopg import Connection
from psycopg.rows import TupleRow

from rag_pipeline.serve.request_models import FiltersRequest
from rag_pipeline.store.named_queries import queries

SHOWN = 10
"""Languages or tags that are listed."""


def unmet_filters(connection: Connection[TupleRow], filters: FiltersRequest) -> list[str]:
    """Return a remark on each document, language and tag that does not exist, and on pages."""
    found = {one: list(queries.find_documents(connection, wanted=one)) for one in filters.documents}
    remarks = [f"no document is called “{one}”" for one, rows in found.items() if not rows]
    if filters.languages:
        languages = {language for (language,) in queries.corpus_languages(connection)}
        remarks += _missing("no document is in the language", filters.languages, languages)
    if filters.tags:
        tags = {tag for _, tagged in queries.document_tags(connection) for tag in tagged}
        remarks += _missing("no document has the tag", filters.tags, tags)
    if (filters.first_page or filters.last_page) and not remarks:
        remarks = ["there is nothing on these pages"]
    return remarks


def _missing(saying: str, wanted: Iterable[str], known: set[str]) -> list[str]:
    there = ", ".join(sorted(known)[:SHOWN]) + (", …" if len(known) > SHOWN else "")
    return [
        f"{saying} “{one}”" + (f" (there are: {there})" if there else "")
        for one in wanted
        if one not in known and one.lower() not in known
    ]
