"""The statements of a search as they would be sent, for `rag search --sql`."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from psycopg import ClientCursor, Connection
from psycopg.rows import TupleRow

from rag_pipeline.analysis import name_query_words, query_weights
from rag_pipeline.search.filters import Filters
from rag_pipeline.search.legs.named_files import MAX_FILES
from rag_pipeline.search.legs.phrases import Phrase
from rag_pipeline.store.embeddings import EmbeddingSpace
from rag_pipeline.store.named_queries import queries


@dataclass(frozen=True)
class Statement:
    """One statement; `sql` has the values that are known beforehand in it."""

    name: str
    purpose: str
    sql: str
    parameters: dict[str, Any] = field(default_factory=dict)


class _Later(str):
    """The name of a value that an earlier statement, or the embedder, gives."""

    __slots__ = ()


def search_statements(
    connection: Connection[TupleRow],
    query: str,
    candidates: int,
    *,
    space: EmbeddingSpace | None,
    by_text: bool,
    by_name: bool,
    by_feedback: bool,
    filters: Filters,
) -> list[Statement]:
    """Return the statements in their order; the legs' run at the same time."""
    filtered = not filters.is_empty
    found: list[Statement] = []

    def add(name: str, purpose: str, **parameters: Any) -> None:
        dimensions = space.dimensions if space else 0
        text = getattr(queries, name).sql.replace("{dimensions}", str(dimensions))
        found.append(Statement(name, purpose, _written(connection, text, parameters), parameters))

    scope = {
        "source_hashes": _Later("source_hashes") if filters.concern_documents else None,
        "first_page": filters.first_page,
        "last_page": filters.last_page,
        "metadata": " && ".join(f"({one.predicate})" for one in filters.metadata) or None,
    }
    if filters.concern_documents:
        add("passing_documents", "filter: documents", **filters.document_parameters())
    if filtered:
        add("passing_chunks", "filter: chunks, if they are few", **scope, limit=20_001)
    if by_text:
        languages = [language for (language,) in queries.corpus_languages(connection)]
        weights = query_weights(query, languages)
        phrase = Phrase.of(query)
        lexemes = sorted({*weights, *(phrase.lexemes if phrase else ())})
        add("posting_buckets", "text: size of the corpus")
        add("document_frequencies", "text: how many chunks have each word", lexemes=lexemes)
        add("lexeme_frequencies", "text: corrections of unknown words", lexemes=_Later("variants"))
        if by_name:
            names = list(name_query_words(query, languages))
            add("named_documents", "text: files that it names", lexemes=names, most=MAX_FILES)
            add("chunks_of", "text: their chunks", source_hashes=_Later("source_hashes"))
        add("postings", "text: which chunks have them, how often", lexemes=lexemes)
        if filtered:
            add("passing_of", "text: which pass", **scope, chunk_ids=_Later("chunk_ids"))
        if phrase:
            add(
                "with_phrase",
                "text: which have the phrase",
                chunk_ids=_Later("chunk_ids"),
                phrase=phrase.tsquery,
            )
    if space is not None:
        vector = {
            "space_id": space.space_id,
            "embedding": _Later("embedding"),
            "limit": candidates,
        }
        if filtered:
            add("vector_exact", "vector: of few", **vector, chunk_ids=_Later("chunk_ids"))
            add("vector_candidates_filtered", "vector: of many", **vector, **scope)
        else:
            add("vector_candidates", "vector: nearest neighbours", **vector)
    if by_feedback:
        add(
            "shared_lexemes",
            "feedback: words of the best, where few were found",
            chunk_ids=_Later("chunk_ids"),
            scores=_Later("scores"),
            least=2,
        )
        add("postings", "feedback: which chunks have them", lexemes=_Later("lexemes"))
        if filtered:
            add("passing_of", "feedback: which pass", **scope, chunk_ids=_Later("chunk_ids"))
    add("found_chunks", "the results", chunk_ids=_Later("chunk_ids"))
    return found


def _written(connection: Connection[TupleRow], statement: str, parameters: dict[str, Any]) -> str:
    """Return the statement with the known values written out as Postgres would read them."""
    later = {name for name, value in parameters.items() if isinstance(value, _Later)}
    for name in later:
        statement = statement.replace(f"%({name})s", f":{name}")
    known = {name: value for name, value in parameters.items() if name not in later}
    if not known:
        return statement.replace("%%", "%").strip()
    return ClientCursor(connection).mogrify(statement, known).strip()
