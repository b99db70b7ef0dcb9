"""Another group's rows: looked for by every read path of the product and by raw SQL; 0 found."""

from __future__ import annotations

import ast
import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict
from typing import Any

import psycopg
import pytest
from psycopg import Connection, sql

from rag_pipeline.errors import StoreError
from rag_pipeline.evaluation import KnownQuestion, current_settings, evaluate
from rag_pipeline.evaluation.known_questions import Gold
from rag_pipeline.search import Filters, MetadataFilter, Searcher, SearchResponse
from rag_pipeline.store.documents import document_states, list_documents
from rag_pipeline.store.named_queries import queries
from rag_pipeline.store.source_tables import list_roots, list_sources
from rag_pipeline.system import RagSystem
from tests.conftest import PROJECT_DIR
from tests.security.conftest import OURS, SECRETS, Stores

QUERIES = [
    "oil filter QF-1142/B",
    "airend of the compressor",
    "Zanzibar",
    "zanzibra discounts",
    "QX-9900",
    "QX-99",
    "late delivery penalty in dollars",
    "torque wrench",
    "quotation",
    "airendd coolar",
    "what do analysts, investors and auditors say of the wrench",
]
WAYS: list[dict[str, Any]] = [
    {},
    {"weights": {"text": 1.0, "vector": 0.0}},
    {"weights": {"text": 0.0, "vector": 1.0}},
    {"expand": "parent"},
    {"expand": "neighbours"},
    {"selection": "mmr"},
    {"filters": Filters(source_types=["md"])},
    {"filters": Filters(languages=["en"], first_page=1)},
    {"filters": Filters(metadata=[MetadataFilter("nothing")])},
    {"filters": Filters(tags=["margin"])},
    {"filters": Filters(documents=["quotation.md", "shared-sales.md"])},
    {"duplicate_similarity": 0.9, "relevance_threshold": 0.01},
]


def told(response: SearchResponse) -> dict[str, Any]:
    """Return all that a response says, but for ids and times, which differ between stores."""
    rows = []
    for one in response.results:
        row = asdict(one)
        for name in ("chunk_id", "updated_at"):
            row.pop(name, None)
        rows.append(row)
    told = ("notes", "corrections", "feedback")
    return {"results": rows, **{name: getattr(response, name) for name in told}}


def assert_clean(text: str) -> None:
    found = [secret for secret in SECRETS if secret in text.lower()]
    assert not found, f"{found} in {text[:500]}"


@pytest.mark.parametrize("way", WAYS, ids=lambda way: ",".join(way) or "default")
def test_a_search_is_that_of_a_store_that_never_had_them(
    stores: Stores, way: dict[str, Any]
) -> None:
    ours = stores.ours
    for query in QUERIES:
        found = told(ours.search(query, **way))
        expected = told(stores.without.search(query, **way))
        assert found["corrections"] == expected["corrections"]
        assert found["feedback"] == expected["feedback"]
        assert found["results"] == expected["results"], query
        assert_clean(json.dumps(found["results"], default=str))


def test_the_whole_store_has_them(stores: Stores) -> None:
    """The tests above would prove nothing of a store without them."""
    assert stores.full.search("Zanzibar").results[0].content
    sales = stores.full.reading_as(["group:sales"]).search("zanzibra discounts")
    assert "Zanzibar" in sales.results[0].content
    assert [one.found for one in sales.corrections] == ["zanzibar"]
    assert stores.ours.search(QUERIES[-1]).feedback


@pytest.mark.parametrize("principals", [[], ["user:nobody"], ["group:serv"], ['group:service"']])
def test_others_see_what_is_public_and_nobody_sees_nothing(
    stores: Stores, principals: list[str]
) -> None:
    seen = stores.full.reading_as(principals)
    names = {one.source_path.rsplit("/", 1)[-1] for q in QUERIES for one in seen.search(q).results}
    assert names == ({"qv40.md"} if principals else set())
    with seen.database.connection() as connection:
        assert len(list_documents(connection)) == len(names)


def test_answers_and_evaluations(stores: Stores) -> None:
    ours = stores.ours
    for query in QUERIES:
        answer, expected = ours.ask(query), stores.without.ask(query)
        assert (answer.text, answer.status) == (expected.text, expected.status)
        assert_clean(
            json.dumps([answer.text, [asdict(one) for one in answer.context]], default=str)
        )
    questions = [
        KnownQuestion(str(number), query, (Gold(doc="quotation.md"),))
        for number, query in enumerate(QUERIES)
    ]
    variants = [current_settings(stores.settings)]
    (evaluation,) = evaluate(stores.full.database, questions, variants, principals=OURS)
    assert all(one.rank is None for one in evaluation.asked)
    assert_clean(json.dumps([one.found for one in evaluation.asked]))
    with ours.database.connection() as connection:
        rows = list(queries.chunks_to_ask_about(connection, count=50, seed="0"))
    assert rows
    assert_clean(str(rows))


def test_lists_counts_and_statements(stores: Stores) -> None:
    ours = stores.ours.database
    with ours.connection() as connection, stores.without.database.connection() as other:
        assert [row.uris for row in list_documents(connection)] == [
            row.uris for row in list_documents(other)
        ]
        assert {one.uri for one in list_sources(connection)} == {
            one.uri for one in list_sources(other)
        }
        assert {one.root for one in list_roots(connection)} == {
            one.root for one in list_roots(other)
        }
        states = [document_states(one, 1, None) for one in (connection, other)]
        assert sorted(s.source_hash for s in states[0]) == sorted(s.source_hash for s in states[1])
        assert all(state.is_intact for state in states[0])
        counts = [queries.count_everything(one)[:-1] for one in (connection, other)]
        assert counts[0] == counts[1]
        assert set(queries.corpus_languages(connection)) == {("en",)}
    for statement in Searcher(ours, stores.settings).statements("airend"):
        assert_clean(statement.sql)


@contextmanager
def reading(stores: Stores, principals: tuple[str, ...] = OURS) -> Iterator[Connection[Any]]:
    with stores.full.reading_as(principals).database.connection() as connection:
        yield connection


def relations(connection: Connection[Any]) -> list[str]:
    rows = connection.execute(
        "SELECT oid::regclass::text FROM pg_class WHERE relkind IN ('r', 'v', 'm', 'p', 'S') "
        "ORDER BY 1"
    )
    return [name for (name,) in rows]


def select_all(connection: Connection[Any], statement: str) -> list[Any] | None:
    try:
        with connection.transaction():
            return connection.execute(sql.SQL(statement)).fetchall()
    except (psycopg.errors.InsufficientPrivilege, psycopg.errors.ObjectNotInPrerequisiteState):
        return None
    except (psycopg.errors.FeatureNotSupported, psycopg.errors.UndefinedTable):
        return None


def test_raw_sql_over_every_table_and_view(stores: Stores) -> None:
    """Of the system's catalogues too: statistics of columns quote their values."""
    with stores.full.database.connection() as connection:
        connection.execute("ANALYZE")
        their_hashes = [
            row[0]
            for row in connection.execute(
                "SELECT source_hash FROM source WHERE uri LIKE %s", ("%quotation%",)
            )
        ]
    looked_at = 0
    with reading(stores) as connection:
        for name in relations(connection):
            rows = select_all(connection, f"SELECT * FROM {name} AS r")
            if rows is None:
                continue
            looked_at += 1
            text = "\n".join(map(str, rows))
            # The statement of this very session would quote what it looks for.
            assert_clean(text)
            assert not any(source_hash in text for source_hash in their_hashes), name
    assert looked_at > 100


OURS_TABLES = (
    "document source source_root chunk section chunk_embedding posting posting_bucket "
    "rag_documents embedding_space"
).split()


def test_raw_counts_are_those_of_a_store_that_never_had_them(stores: Stores) -> None:
    with reading(stores) as connection, stores.without.database.connection() as other:
        for name in OURS_TABLES:
            statement = f"SELECT count(*) FROM {name}"
            mine, theirs = select_all(connection, statement), select_all(other, statement)
            if name in ("posting", "posting_bucket"):
                # A bucket a set of readers; the words and their counts are the same.
                statement = (
                    "SELECT lexeme, sum(chunk_count) FROM posting GROUP BY 1 ORDER BY 1"
                    if name == "posting"
                    else "SELECT sum(chunk_count), sum(lexeme_total) FROM posting_bucket"
                )
                mine, theirs = select_all(connection, statement), select_all(other, statement)
            assert mine == theirs, name


def test_nothing_for_no_principals(stores: Stores) -> None:
    for principals in ((), ("",)):
        with reading(stores, principals) as connection:
            for name in OURS_TABLES:
                assert select_all(connection, f"SELECT * FROM {name}") == [], name
            assert select_all(connection, "SELECT reader_set_id FROM reader_set") == []
            assert select_all(connection, "SELECT * FROM reader_set") is None


@pytest.mark.parametrize("name", ["lexeme", "embedding_cache", "usage", "corpus_statistics"])
def test_tables_that_readers_need_not(stores: Stores, name: str) -> None:
    with reading(stores) as connection:
        assert select_all(connection, f"SELECT * FROM {name}") is None


def test_functions(stores: Stores) -> None:
    """Every function of ours that a reader may call, with the words that it must not tell."""
    with reading(stores) as connection:
        connection.execute("SELECT set_config('pg_trgm.similarity_threshold', '0.01', true)")
        allowed = connection.execute(
            "SELECT p.oid::regprocedure::text FROM pg_proc AS p "
            "WHERE pronamespace = current_schema()::regnamespace "
            "AND has_function_privilege(p.oid, 'EXECUTE') AND prorettype <> 'trigger'::regtype "
            "AND NOT EXISTS (SELECT 1 FROM pg_depend AS d WHERE d.objid = p.oid AND deptype = 'e')"
        ).fetchall()
        assert {name for (name,) in allowed} == {
            "rag_principals()",
            "known_lexemes(text[])",
            "lexemes_between(text,text,integer)",
            "similar_lexemes(text,integer,integer)",
            "visible_similar_lexemes(text,integer,integer)",
            "visible_chunks_with(jsonpath,integer)",
            "named_sources(text[],integer)",
            "visible_named_sources(text[],integer)",
        }
        calls = [
            "known_lexemes(ARRAY['zanzibar', 'airend', 'guilder'])",
            "lexemes_between('', '\U0010ffff', 100000)",
            "similar_lexemes('zanzibar', 0, 100)",
            "visible_similar_lexemes('quotation', 0, 100)",
        ]
        for call in calls:
            rows = select_all(connection, f"SELECT * FROM {call}")
            assert rows is not None
            assert_clean(str(rows))
        mine = select_all(connection, f"SELECT * FROM {calls[1]} ORDER BY lexeme")
        every = "SELECT chunk_id FROM visible_chunks_with('1 == 1', 1000000) AS v (chunk_id)"
        assert select_all(connection, f"{every} ORDER BY 1") == select_all(
            connection, "SELECT chunk_id FROM chunk ORDER BY 1"
        )
        for function in ("named_sources", "visible_named_sources"):
            call = f"{function}(ARRAY['quotation', 'shared', 'manual', 'md'], 100)"
            hashes = select_all(connection, f"SELECT source_hash FROM {call}")
            seen = select_all(connection, "SELECT source_hash FROM source")
            assert hashes
            assert seen is not None
            assert set(hashes) <= set(seen)
    with stores.without.database.connection() as other:
        theirs = other.execute(
            "SELECT lexeme, sum(chunk_count)::integer FROM posting GROUP BY 1 ORDER BY lexeme"
        ).fetchall()
    assert mine == theirs, "frequencies too"


def test_readers_write_nothing(stores: Stores) -> None:
    with reading(stores) as connection:
        for name in (*OURS_TABLES, "reader_set", "login_principal"):
            with pytest.raises(psycopg.Error), connection.transaction():
                connection.execute(sql.SQL("DELETE FROM {}").format(sql.Identifier(name)))
        with pytest.raises(psycopg.Error), connection.transaction():
            connection.execute("SELECT assign_readers('{}')")
        with pytest.raises(psycopg.ProgrammingError):
            connection.commit()
    with pytest.raises(StoreError), stores.ours.database.sync_lock():
        pass


def test_conditions_are_not_asked_about_hidden_rows(stores: Stores) -> None:
    """A condition that fails on a hidden row's text would quote it in its error."""
    statements = [
        "SELECT 1 FROM chunk WHERE content::integer > 0 AND content ~ 'Zanzibar'",
        "SELECT 1 FROM posting WHERE lexeme LIKE 'zanz%' AND lexeme::integer > 0",
        "SELECT 1 FROM source WHERE uri LIKE '%quotation%' AND uri::integer > 0",
        "SELECT 1 FROM rag_documents WHERE source_path::integer > 0 AND source_path ~ 'quotation'",
    ]
    for statement in statements:
        with reading(stores) as connection:
            try:
                with connection.transaction():
                    assert connection.execute(statement).fetchall() == []
            except psycopg.errors.InvalidTextRepresentation as error:
                assert_clean(str(error))


def test_a_login_of_its_own_does_not_choose_its_principals(stores: Stores, server_url: str) -> None:
    login = "rag_test_kim"
    with psycopg.connect(server_url, autocommit=True) as connection:
        name = sql.Identifier(login)
        connection.execute(sql.SQL("DROP ROLE IF EXISTS {}").format(name))
        connection.execute(sql.SQL("CREATE ROLE {} LOGIN IN ROLE rag_reader").format(name))
    with stores.full.database.connection() as connection:
        connection.execute("INSERT INTO login_principal VALUES (%s, %s)", (login, ["user:lee"]))
    url = stores.settings.database_url
    assert url is not None
    try:
        with psycopg.connect(url.get_secret_value(), user=login) as connection:
            connection.execute("""SELECT set_config('rag.principals', '["group:sales"]', false)""")
            rows = connection.execute("SELECT DISTINCT uri FROM source ORDER BY 1").fetchall()
            names = [uri.rsplit("/", 1)[-1] for (uri,) in rows]
            assert names == ["qv40.md", "bulletin.md", "shared.md"]
            with pytest.raises(psycopg.errors.InsufficientPrivilege):
                connection.execute("SET ROLE rag_writer")
    finally:
        with stores.full.database.connection() as connection:
            connection.execute("DELETE FROM login_principal")
        with psycopg.connect(server_url, autocommit=True) as connection:
            connection.execute(sql.SQL("DROP ROLE {}").format(name))


def test_every_table_has_row_level_security(stores: Stores) -> None:
    with stores.full.database.connection() as connection:
        rows = connection.execute(
            "SELECT relname FROM pg_class WHERE relnamespace = current_schema()::regnamespace "
            "AND relkind IN ('r', 'p') AND NOT relrowsecurity"
        ).fetchall()
    assert rows == [], "ALTER TABLE … ENABLE ROW LEVEL SECURITY in the migration that makes it"


ROOMS = ("search", "answering", "evaluation")


def test_no_read_path_goes_around_it() -> None:
    """The query layer opens no connection but by the database that it was handed."""
    for room in ROOMS:
        for file in sorted((PROJECT_DIR / "rag_pipeline" / room).glob("*.py")):
            tree = ast.parse(file.read_text(encoding="utf-8"))
            for node in ast.walk(tree):
                if isinstance(node, ast.Attribute):
                    assert node.attr not in ("connect", "open_engine"), file
                    assert not ast.unparse(node).endswith("database.whole"), file
                if isinstance(node, ast.ImportFrom):
                    assert "connect" not in {alias.name for alias in node.names}, file


def test_security_on_and_nobody_named(stores: Stores) -> None:
    project = stores.settings.project_dir
    (project / "rag.toml").write_text("[security]\nenabled = true\n", encoding="utf-8")
    try:
        settings: dict[str, Any] = {"database_url": stores.settings.database_url}
        with RagSystem(project, **settings) as system:
            response = system.search("oil filter")
            assert response.results == []
            assert "principals" in response.notes[0]
        with RagSystem(project, principals=OURS, **settings) as system:
            assert system.search("airend").results
            assert not system.search("Zanzibar", weights={"text": 1, "vector": 0}).results
    finally:
        (project / "rag.toml").unlink()
