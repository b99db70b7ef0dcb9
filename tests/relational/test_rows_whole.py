"""A row is told whole: each value stands in a chunk of its row, once, and no chunk is too long."""

from __future__ import annotations

import random
import sqlite3
from pathlib import Path

import pytest

from rag_pipeline.relational.rows.row_chunks import Chunker, EntityChunks
from rag_pipeline.relational.rows.row_plan import plan_relational
from rag_pipeline.relational.rows.row_reading import read_batch
from rag_pipeline.relational.rows.row_text import Renderer
from rag_pipeline.relational.rows.row_views import CUT, MAX_VALUE_CHARACTERS, Viewer
from rag_pipeline.relational.schema.connecting import open_engine, reading
from rag_pipeline.relational.schema.lexicon import Lexicon
from rag_pipeline.relational.schema.relation_tree import build_tree
from rag_pipeline.relational.schema.table_schema import read_schema
from rag_pipeline.settings import RelationalSettings

DOCK = """
CREATE TABLE skippers (id INTEGER PRIMARY KEY, full_name VARCHAR(40) NOT NULL,
    trained_by INTEGER REFERENCES skippers, last_update TIMESTAMP, portrait BLOB);
CREATE TABLE harbours (id INTEGER PRIMARY KEY, name VARCHAR(40));
CREATE TABLE berths (id INTEGER PRIMARY KEY, skipper_id INTEGER NOT NULL REFERENCES skippers,
    place VARCHAR(40));
CREATE TABLE bills (id INTEGER PRIMARY KEY, skipper_id INTEGER NOT NULL REFERENCES skippers,
    berth_id INTEGER REFERENCES berths, remark TEXT);
CREATE TABLE trips (id INTEGER PRIMARY KEY, berth_id INTEGER NOT NULL REFERENCES berths,
    from_harbour INTEGER REFERENCES harbours, to_harbour INTEGER REFERENCES harbours,
    cargo VARCHAR(60));
CREATE TABLE licences (id INTEGER PRIMARY KEY, title VARCHAR(40));
CREATE TABLE skipper_licences (skipper_id INTEGER REFERENCES skippers,
    licence_id INTEGER REFERENCES licences, last_update TIMESTAMP,
    PRIMARY KEY (skipper_id, licence_id));
CREATE TABLE diary (skipper_id INTEGER REFERENCES skippers, line TEXT);
"""


def count_tokens(texts: list[str]) -> list[int]:
    """A token for each word, and for every line break."""
    return [len(text.split()) + text.count("\n") for text in texts]


def make_dock(file: Path, seed: int) -> list[str]:
    """Fill a harbour's database at random; return the values that people would look for."""
    rng = random.Random(seed)
    values = []

    def value(what: str, words: int = 1) -> str:
        text = " ".join(f"{what}{rng.randrange(10**9)}" for _ in range(words))
        values.append(text)
        return text

    with sqlite3.connect(file) as connection:
        connection.executescript(DOCK)
        add = connection.execute
        for n in range(1, 4):
            add("INSERT INTO harbours VALUES (?, ?)", (n, f"Port {n}"))
            add("INSERT INTO licences VALUES (?, ?)", (n, f"Licence {n}"))
        trips = 0
        for n in range(1, 5):
            by = rng.choice([None, *range(1, n)])
            add("INSERT INTO skippers VALUES (?, ?, ?, '2024-05-05 10:00:00', x'00ff')",
                (n, value("Skipper"), by))  # fmt: skip
            add("INSERT INTO skipper_licences VALUES (?, ?, '2024-05-05 10:00:00')",
                (n, rng.randint(1, 3)))  # fmt: skip
            for m in range(rng.randint(0, 4)):
                berth = 10 * n + m
                add("INSERT INTO berths VALUES (?, ?, ?)", (berth, n, value("place")))
                for _ in range(rng.randint(0, 9)):
                    trips += 1
                    ends = rng.randint(1, 3), rng.randint(1, 3)
                    add("INSERT INTO trips VALUES (?, ?, ?, ?, ?)",
                        (trips, berth, *ends, value("cargo", rng.randint(1, 4))))  # fmt: skip
                bill = rng.choice([None, berth])
                add("INSERT INTO bills VALUES (?, ?, ?, ?)",
                    (berth, n, bill, value("remark", rng.choice([1, 3, 60]))))  # fmt: skip
    return values


def settings_of(file: Path, **values: object) -> RelationalSettings:
    full = {"name": "dock", "url": f"sqlite:///{file}", "root": "skippers", "depth": 2, **values}
    return RelationalSettings.model_validate(full)


def chunks_of(settings: RelationalSettings) -> list[EntityChunks]:
    engine = open_engine(settings)
    schema = read_schema(engine, Lexicon())
    chunker = Chunker(settings, schema, Renderer(settings, Path()), count_tokens)
    with reading(engine, 5) as connection:
        records = read_batch(connection, build_tree(schema, settings), 100).records
    return chunker.chunks_of([Viewer(schema, settings.language).view(record) for record in records])


@pytest.mark.parametrize("strategy", ["auto", "entity", "child", "parent_child"])
@pytest.mark.parametrize("seed", range(5))
def test_each_value_once_and_no_chunk_too_long(tmp_path: Path, strategy: str, seed: int) -> None:
    values = make_dock(tmp_path / "dock.db", seed)
    settings = settings_of(tmp_path / "dock.db", strategy=strategy, token_budget=120)
    made = chunks_of(settings)
    texts = [text for entity in made for text in entity.texts]
    assert max(count_tokens(texts)) <= 120
    together = " ".join(" ".join(texts).split())
    for value in values:
        words = value.split()
        # Sixty words go over a part's end; each of them is there.
        assert all(word in together for word in words), value
        if len(words) == 1 and not value.startswith("Skipper"):
            assert together.count(value) == 1, value


def dock_with(tmp_path: Path, *statements: str) -> RelationalSettings:
    file = tmp_path / "dock.db"
    with sqlite3.connect(file) as connection:
        connection.executescript(DOCK + ";".join(statements))
    return settings_of(file)


def text_of(settings: RelationalSettings, language: str = "en") -> list[str]:
    settings = settings.model_copy(update={"language": language})
    return [entity.texts[0] for entity in chunks_of(settings)]


def test_roles_other_sides_and_none(tmp_path: Path) -> None:
    settings = dock_with(
        tmp_path,
        "INSERT INTO skippers (id, full_name, trained_by) VALUES (1, 'Ada Holm', NULL),"
        " (2, 'Bo Lind', 1), (3, 'Cy Moe', 1)",
        "INSERT INTO harbours VALUES (1, 'Kiel'), (2, 'Oslo')",
        "INSERT INTO berths VALUES (1, 2, 'pier 4')",
        "INSERT INTO trips VALUES (1, 1, 1, 2, 'timber')",
    )
    ada, bo, _ = text_of(settings)
    assert "skippers (trained by): Bo Lind, Cy Moe" in ada
    assert "skippers (trained by): none" in bo
    assert "trained by: Ada Holm" in bo
    assert "bills: none" in ada
    assert "from harbour: Kiel; to harbour: Oslo; cargo: timber" in bo
    assert "): 없음" in text_of(settings, "ko")[1]


def test_a_row_stands_under_one_parent_unless_it_would_be_lost(tmp_path: Path) -> None:
    settings = dock_with(
        tmp_path,
        "INSERT INTO skippers (id, full_name) VALUES (1, 'Ada Holm')",
        "INSERT INTO berths VALUES (1, 1, 'pier 4')",
        "INSERT INTO bills VALUES (1, 1, 1, 'paid late'), (2, 1, NULL, 'disputed')",
    )
    (text,) = text_of(settings)
    assert (text.count("paid late"), text.count("disputed")) == (1, 1)
    # The other way round: a bill without a berth would be lost if bills stood under berths alone.
    file = tmp_path / "loose.db"
    with sqlite3.connect(file) as connection:
        connection.executescript(
            DOCK.replace("skipper_id INTEGER NOT NULL REFERENCES skippers,\n    berth_id",
                         "skipper_id INTEGER REFERENCES skippers,\n    berth_id")
            + "INSERT INTO skippers (id, full_name) VALUES (1, 'Ada Holm');"
            "INSERT INTO berths VALUES (1, 1, 'pier 4');"
            "INSERT INTO bills VALUES (1, NULL, 1, 'paid late'), (2, 1, NULL, 'disputed');"
        )  # fmt: skip
    (text,) = text_of(settings_of(file))
    assert (text.count("paid late"), text.count("disputed")) == (1, 1)


def test_what_is_not_shown_is_in_the_plan(tmp_path: Path) -> None:
    settings = dock_with(
        tmp_path,
        "INSERT INTO skippers VALUES (1, 'Ada Holm', NULL, '2024-05-05 10:00:00', x'00ff')",
    )
    engine = open_engine(settings)
    schema = read_schema(engine, Lexicon())
    tree = build_tree(schema, settings)
    renderer = Renderer(settings, Path())
    with reading(engine, 5) as connection:
        plan = plan_relational(connection, schema, tree, settings, renderer, count_tokens)
    assert set(plan.left_out) == {
        "skipper_licences.last_update: time of the last change",
        "skippers.portrait: not readable as text",
        "skippers.last_update: time of the last change",
        "bills under berths: listed elsewhere in the tree already",
        "diary: it has no primary key; declare one to have its rows listed",
    }
    kinds = {node.table.name: node.kind for node in tree.walk()}
    assert kinds["licences"] == "many_to_many", "a time of change makes a link no thing of its own"
    (text,) = text_of(settings)
    assert "2024-05-05" not in text


def test_a_long_value_is_cut_with_a_mark(tmp_path: Path) -> None:
    settings = dock_with(
        tmp_path,
        "INSERT INTO skippers (id, full_name) VALUES (1, 'Ada Holm')",
        f"INSERT INTO bills VALUES (1, 1, NULL, '{'long ' * 1_000}')",
    )
    (entity,) = chunks_of(settings.model_copy(update={"token_budget": 5_000}))
    assert CUT in entity.texts[0]
    assert len(entity.texts[0]) < MAX_VALUE_CHARACTERS + 500


def test_values_that_look_like_others_are_shown(tmp_path: Path) -> None:
    """A city that the company is called after, and a child's own value that its parent has, too."""
    with sqlite3.connect(tmp_path / "shop.db") as connection:
        connection.executescript(
            "CREATE TABLE firms (id INTEGER PRIMARY KEY, name VARCHAR(40), city VARCHAR(20),"
            " motto VARCHAR(40));"
            "CREATE TABLE orders (id INTEGER PRIMARY KEY,"
            " firm_id INTEGER NOT NULL REFERENCES firms, ship_city VARCHAR(20),"
            " remark VARCHAR(40));"
            "INSERT INTO firms VALUES (1, 'Bremen Traders', 'Bremen', 'urgent');"
            "INSERT INTO orders VALUES (7, 1, 'Bremen', 'urgent'), (8, 1, 'Kiel', NULL);"
        )
    (text,) = text_of(settings_of(tmp_path / "shop.db", name="shop", root="firms"))
    assert "city: Bremen" in text.splitlines()
    assert "- orders 7: remark: urgent" in text, "the city is that of the firm"
    assert "- orders 8: ship city: Kiel" in text
