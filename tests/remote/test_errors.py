from datetime import UTC, datetime, timedelta
from email.utils import format_datetime

import pytest

from rag_pipeline.remote import BAD_KEY, NO_QUOTA, retry_after


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({"Retry-After": "7"}, 7),
        ({"retry-after": "0.5"}, 0.5),
        ({"Retry-After": "-3"}, 0),
        ({"Retry-After": "Wed, 21 Oct 2015 07:28:00 GMT"}, 0),
        ({"Retry-After": "Wed, 21 Oct 2015 07:28:00 +99999999999999999"}, None),
        ({"Retry-After": "soon"}, None),
        ({"retry-after": "7", "retry-after-ms": "250"}, 0.25),
        ({"x": "7"}, None),
        ({}, None),
    ],
)
def test_waits_as_they_are_written(headers: dict[str, str], seconds: float | None) -> None:
    assert retry_after(headers) == seconds


def test_a_date_is_the_seconds_until_then() -> None:
    soon = format_datetime(datetime.now(UTC) + timedelta(seconds=60), usegmt=True)
    assert retry_after({"Retry-After": soon}) == pytest.approx(60, abs=2)


@pytest.mark.parametrize(
    ("said", "is_final"),
    [
        ("insufficient_quota You exceeded your current quota", True),
        ("Insufficient Balance", True),
        ("billing_not_active", True),
        ("slow down; see your plan and billing details", False),
        ("Quota exceeded for requests per minute", False),
    ],
)
def test_no_money_is_told_from_a_rate_limit(said: str, is_final: bool) -> None:
    assert bool(NO_QUOTA.search(said)) is is_final


def test_a_bad_key_is_told_from_a_bad_request() -> None:
    assert BAD_KEY.search("API key not valid. Please pass a valid API key.")
    assert BAD_KEY.search("Invalid API key")
    assert not BAD_KEY.search("the text is not accepted")
