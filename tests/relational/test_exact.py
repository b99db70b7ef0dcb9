"""Exact numbers: worked out by hand from the workshop's rows; what is not certain is refused."""

from __future__ import annotations

import pytest

from rag_pipeline.relational.questions.exact_numbers import ExactAnswerer
from rag_pipeline.relational.schema.connecting import open_engine
from rag_pipeline.relational.schema.lexicon import Lexicon
from rag_pipeline.relational.schema.table_schema import read_schema
from tests.relational.conftest import Source


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("How many clients are there?", "3"),
        ("고객은 몇 명인가요?", "3"),
        ("How many invoices were created in 2023?", None),
        ("How many invoices are there in 2023?", "2"),
        ("2023년 청구서는 몇 건인가요?", "2"),
        # 10 + 60 of invoice 10, 30 of 11, 135 of 12
        ("What is the total revenue?", "235"),
        ("What was the total revenue in 2023?", "205"),
        ("2023년 총매출은 얼마인가요?", "205"),
        ("Total revenue of German clients", "100"),
        ("독일 고객의 총매출은 얼마인가요?", "100"),
        ("Which client has the highest revenue?", "Hansol Works, 135"),
        ("매출이 가장 높은 고객은 누구인가요?", "Hansol Works, 135"),
        ("What is the total amount of discounts?", "35"),
        ("할인 총액은 얼마인가요?", "35"),
        ("How many invoices did each client place?", "Hansol Works, 1; Idle Mills, 0; Nordwerk, 2"),
        ("고객별 청구서는 몇 건인가요?", "Hansol Works, 1; Idle Mills, 0; Nordwerk, 2"),
        ("What is the total stock value (price times stock)?", "560"),
        ("How many clients have never placed an invoice?", "1"),
        ("How many invoices were paid after the due date?", "1"),
        ("How many invoices have not been paid yet?", "1"),
        ("How many parts are obsolete?", "1"),
        ("How many different cities do clients live in?", "2"),
        ("What is the average revenue per invoice?", "78.33"),
        ("What percentage of revenue came from Rotor?", "82.98"),
        ("Which part is the most expensive?", "Rotor, 80"),
        ("Which year had the highest revenue?", "2023, 205"),
        ("How many invoices were there in July 2023?", "1"),
        ("2023년 7월의 매출은 얼마인가요?", "135"),
        ("How many invoice lines carry a discount?", "2"),
        ("Which client has the fewest invoices?", "Idle Mills, 0"),
        ("How many clients are in Germany or South Korea?", "3"),
        ("How many clients are not in Germany?", "1"),
        ("What was the revenue between 2023 and 2024?", "235"),
        ("2023년까지 청구서는 몇 건인가요?", "2"),
        ("2023년부터 청구서는 몇 건인가요?", "3"),
        ("How many parts cost more than 5?", "2"),
        ("How many clients have no invoices in 2024?", "2"),
        ("How many clients have at least two invoices?", "1"),
        ("How many invoices are there by year?", "2023, 2; 2024, 1"),
        ("How many parts does each tag have?", "rotating, 1; sealing, 2"),
        ("Average stock of parts", "36.67"),
        ("Top 1 clients by revenue", "Hansol Works, 135"),
        ("How many invoices were there between March 1, 2023 and July 7, 2023?", "2"),
        ("How many invoices were there in 2023 and 2024?", "3"),
    ],
)
def test_worked_by_hand(answerer: ExactAnswerer, question: str, expected: str | None) -> None:
    answer = answerer.answer(question)
    if expected is None:
        assert not answer.is_computed
    else:
        assert answer.text == expected
        assert answer.sql is not None
        assert answer.sql.startswith("SELECT")


@pytest.mark.parametrize(
    "question",
    [
        "",
        "How many?",
        "How many invoices were cancelled?",
        "How many clients are happy?",
        # two numbers, two values of a column, a range
        "How many clients and how many invoices are there?",
        # kinds of parts, or pieces?
        "How many parts did Nordwerk order?",
        # before or after discounts?
        "What is the average invoice value?",
        # the price now, or the price then?
        "What is the average price?",
        "What is the median revenue?",
        # Idle Mills has none: it would be left out
        "Which client has the lowest total revenue?",
        "How many parts have the tag of the Gasket?",
        "Which clients have revenue in 2023?",
        "How many invoices were there by 2023?",
        "What is the total revenue of invoices over 2000?",
        "How many clients ordered the Rotor but not the Gasket?",
        "가장 많이 주문된 부품은 무엇인가요?",
        "What was the revenue in July?",
        "Delete all invoices",
        "'; DROP TABLE clients; --",
        "총매출이 가장 높은 고객과 직원은 누구인가요?",
    ],
)
def test_what_is_not_certain_is_not_computed(answerer: ExactAnswerer, question: str) -> None:
    answer = answerer.answer(question)
    assert not answer.is_computed
    assert answer.rows == []
    assert answer.text.startswith("could not be computed")


def test_equal_best_are_all_named(answerer: ExactAnswerer) -> None:
    answer = answerer.answer("Which city has the fewest clients?")
    assert answer.text == "Busan, 1"
    tied = answerer.answer("Which invoice has the fewest invoice lines?")
    assert [row[0] for row in tied.rows] == ["11", "12"]


def test_a_schema_in_korean(tmp_path) -> None:  # type: ignore[no-untyped-def]
    import sqlite3

    file = tmp_path / "korean.db"
    with sqlite3.connect(file) as connection:
        connection.executescript(
            "CREATE TABLE 부서 (부서_id INTEGER PRIMARY KEY, 부서_이름 VARCHAR(20));"
            "CREATE TABLE 직원 (직원_id INTEGER PRIMARY KEY, 이름 VARCHAR(20),"
            " 급여 INTEGER, 부서_id INTEGER REFERENCES 부서);"
            "INSERT INTO 부서 VALUES (1, '품질관리'), (2, '구매');"
            "INSERT INTO 직원 VALUES (1, '김하나', 300, 1), (2, '이둘', 500, 1),"
            " (3, '박셋', 100, 2);"
        )
    from rag_pipeline.settings import RelationalSettings

    settings = RelationalSettings(name="k", url=f"sqlite:///{file}", root="직원")
    engine = open_engine(settings)
    answerer = ExactAnswerer(engine, read_schema(engine, Lexicon()))
    assert answerer.answer("품질관리 부서의 직원은 몇 명인가요?").text == "2"
    assert answerer.answer("품질관리 부서의 평균 급여는 얼마인가요?").text == "400"
    assert answerer.answer("What is the highest salary?").text == "500"


def test_own_words(source: Source) -> None:
    settings = source(words={"clients": ["Mandant"], "parts.stock": ["shelf count"]})
    engine = open_engine(settings)
    schema = read_schema(engine, Lexicon(settings.words))
    answerer = ExactAnswerer(engine, schema)
    assert answerer.answer("How many Mandant are there?").text == "3"
    assert answerer.answer("What is the total shelf count?").text == "110"


def test_a_long_way_must_be_named(answerer: ExactAnswerer) -> None:
    refused = answerer.answer("Which clients have the tag sealing?")
    assert refused.reason is not None
    assert "name one of “invoices”, “invoice_lines”, “parts”" in refused.reason
    named = answerer.answer("Which clients have invoices with the tag sealing?")
    assert named.rows == [["Nordwerk"]]
