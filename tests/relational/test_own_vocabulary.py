"""Words and numbers of a database's owner: metrics, synonyms, a dbt model, comments."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from textwrap import dedent

import pytest
import sqlalchemy as sa

from rag_pipeline.errors import SettingsError
from rag_pipeline.relational.databases import Databases
from rag_pipeline.relational.questions.exact_numbers import ExactAnswerer
from rag_pipeline.relational.questions.forms.metrics import Metric, dbt_metrics, metrics_of
from rag_pipeline.relational.schema.lexicon import Lexicon
from rag_pipeline.relational.schema.table_schema import read_schema, restricted
from tests.relational.conftest import Source

MYSQL = os.environ.get("RAG_TEST_MYSQL", "")
COMMENTED = """
CREATE TABLE tb_cst (cst_no INTEGER PRIMARY KEY, cst_nm VARCHAR(20), rgn_cd VARCHAR(10));
CREATE TABLE tb_ord (ord_no INTEGER PRIMARY KEY, cst_no INTEGER, ord_dt DATE,
    amt DECIMAL(10, 2), FOREIGN KEY (cst_no) REFERENCES tb_cst (cst_no));
INSERT INTO tb_cst VALUES (1, 'Ada', 'north'), (2, 'Bo', 'south');
INSERT INTO tb_ord VALUES (1, 1, '2023-01-02', 10.50), (2, 1, '2024-02-03', 20.00);
"""
POSTGRES_COMMENTS = """
COMMENT ON TABLE tb_cst IS '고객 (patron)';
COMMENT ON TABLE tb_ord IS '구매 주문';
COMMENT ON COLUMN tb_cst.rgn_cd IS '지역 코드, sales area';
COMMENT ON COLUMN tb_ord.ord_dt IS 'The day on which the order came in, never changed later';
COMMENT ON COLUMN tb_ord.amt IS '주문액';
"""
MYSQL_COMMENTS = """
ALTER TABLE tb_cst COMMENT '고객 (patron)';
ALTER TABLE tb_ord COMMENT '구매 주문';
ALTER TABLE tb_cst MODIFY rgn_cd VARCHAR(10) COMMENT '지역 코드, sales area';
ALTER TABLE tb_ord MODIFY amt DECIMAL(10, 2) COMMENT '주문액';
"""


def test_a_metric_is_added_up_under_all_its_names(source: Source) -> None:
    stock_value = {
        "name": "stock_value",
        "table": "parts",
        "expression": "price * stock",
        "words": ["inventory worth", "재고 가치"],
    }
    databases = Databases([source(metric=[stock_value])])
    # 2.50 * 100 + 80 * 3 + 10 * 7
    for question in (
        "What is the stock value?",
        "What is the total inventory worth?",
        "재고 가치는 얼마인가요?",
    ):
        assert databases.answer(question).text == "560"
    assert databases.answer("What is the stock value of the Rotor?").text == "240"


@pytest.mark.parametrize(
    ("expression", "reason"),
    [
        ("price * shelf", "parts has no number shelf"),
        ("price / stock", "is not one of columns, numbers, + - * and brackets"),
        ("price *", "is no expression"),
    ],
)
def test_a_metric_that_cannot_be_is_named(source: Source, expression: str, reason: str) -> None:
    metric = {"name": "worth", "table": "parts", "expression": expression}
    answer = Databases([source(metric=[metric])]).answer("What is the worth?")
    assert answer.reason is not None
    assert "the metric worth: " in answer.reason
    assert reason in answer.reason


def test_synonyms_of_a_table_a_column_and_a_value(source: Source) -> None:
    synonyms = [
        {"words": ["Mandant", "의뢰인"], "means": "clients"},
        {"words": ["head office"], "means": "clients.city"},
        {"words": ["the harbour town", "항구 도시"], "means": "Busan"},
    ]
    databases = Databases([source(synonym=synonyms)])
    assert databases.answer("How many Mandants are there?").text == "3"
    assert databases.answer("How many clients by head office?").text == "Bremen, 2; Busan, 1"
    assert databases.answer("항구 도시의 의뢰인은 몇 명인가요?").text == "1"


def test_a_synonym_of_nothing_is_named(source: Source) -> None:
    settings = source(words={"clientele": ["Mandant"]})
    answer = Databases([settings]).answer("How many Mandants are there?")
    assert "the database has no clientele" in str(answer.reason)


DBT = """
    semantic_models:
      - name: lines
        model: ref('invoice_lines')
        measures:
          - {name: gross, agg: sum, expr: price * quantity}
          - {name: dearest, agg: max, expr: price}
    metrics:
      - {name: turnover_gross, label: Gross turnover, type: simple, type_params: {measure: gross}}
      - {name: growth, type: derived, type_params: {expr: gross - 1}}
"""


def test_a_dbt_model_gives_sums_and_simple_metrics(source: Source, tmp_path: Path) -> None:
    (tmp_path / "model.yml").write_text(dedent(DBT), encoding="utf-8")
    metrics = metrics_of(source(dbt_semantic_model="model.yml"), tmp_path)
    assert metrics == [
        Metric("gross", "invoice_lines", "price * quantity"),
        Metric("turnover_gross", "invoice_lines", "price * quantity", ("Gross turnover",)),
    ]
    engine = sa.create_engine(str(source().url))
    answerer = ExactAnswerer(engine, read_schema(engine, Lexicon()), metrics=metrics)
    # 10 + 80 + 30 + 150
    assert answerer.answer("What is the gross turnover?").text == "270"
    assert answerer.answer("What is the turnover gross of Hansol Works?").text == "150"


def test_a_dbt_model_that_cannot_be_read_is_named(tmp_path: Path) -> None:
    with pytest.raises(SettingsError, match=r"missing\.yml cannot be read"):
        dbt_metrics(tmp_path / "missing.yml")


@pytest.fixture(params=["postgres", "mysql"])
def commented(request: pytest.FixtureRequest) -> Iterator[ExactAnswerer]:
    """Ask a database whose names tell nothing, and whose comments do."""
    if request.param == "mysql":
        if not MYSQL:
            pytest.skip("RAG_TEST_MYSQL names no server")
        engine, comments = sa.create_engine(MYSQL), MYSQL_COMMENTS
    else:
        url = sa.make_url(request.getfixturevalue("database_url"))
        engine = sa.create_engine(url.set(drivername="postgresql+psycopg"))
        comments = POSTGRES_COMMENTS
    with engine.begin() as connection:
        for statement in (COMMENTED + comments).split(";"):
            if statement.strip():
                connection.exec_driver_sql(statement)
    try:
        schema = restricted(read_schema(engine, Lexicon()), ["tb_cst", "tb_ord"], [])
        yield ExactAnswerer(engine, schema)
    finally:
        with engine.begin() as connection:
            connection.exec_driver_sql("DROP TABLE tb_ord")
            connection.exec_driver_sql("DROP TABLE tb_cst")
        engine.dispose()


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("How many patrons are there?", "2"),
        ("고객은 몇 명인가요?", "2"),
        ("구매 주문은 몇 건인가요?", "2"),
        ("How many patrons by sales area?", "north, 1; south, 1"),
        ("구매 주문이 없는 고객은 몇 명인가요?", "1"),
        ("2023년 주문액 합계는 얼마인가요?", "10.5"),
        ("주문액 합계는 얼마인가요?", "30.5"),
    ],
)
def test_comments_of_the_database_are_vocabulary(
    commented: ExactAnswerer, question: str, expected: str
) -> None:
    answer = commented.answer(question)
    assert answer.text == expected
