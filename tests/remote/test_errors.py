from datetime import UTC, datetime, timedelta
from email.utils import format_datetime

import pytest

from rag_pipeline.errors import ProviderError
from rag_pipeline.remote import HttpFault, RefusedFault, Service, TransientFault, retry_after

SERVICE = Service("acme", key_hint="key", quota_hint="quota", settings_hint="settings")


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
    meaning = HttpFault(429, said).meaning(SERVICE)
    assert type(meaning) is (ProviderError if is_final else TransientFault)


def test_a_bad_key_is_told_from_a_bad_request() -> None:
    for said in ("API key not valid. Please pass a valid API key.", "Invalid API key"):
        meaning = HttpFault(400, said).meaning(SERVICE)
        assert isinstance(meaning, ProviderError)
        assert meaning.hint == "key"
    assert type(HttpFault(400, "the text is not accepted").meaning(SERVICE)) is RefusedFault
