"""What the errors of HTTP services say alike: no money left, a bad key, when to come again."""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime

NO_QUOTA = re.compile(
    # Not "quota" or "billing" alone: these stand in ordinary rate limits of Google and Voyage too.
    r"insufficient[_ ](quota|balance|credit|funds)|billing_(hard_limit_reached|not_active)",
    re.IGNORECASE,
)
BAD_KEY = re.compile(r"api[_ ]?key (not valid|expired|invalid)|invalid api[_ ]?key", re.IGNORECASE)


def retry_after(headers: Mapping[str, str]) -> float | None:
    """Return the seconds that a reply asks to wait, or None.

    Retry-After has seconds or a date (RFC 9110, 10.2.3); OpenAI's `retry-after-ms` is finer.
    """
    values = {name.lower(): value for name, value in headers.items()}
    try:
        if (milliseconds := values.get("retry-after-ms")) is not None:
            return max(0.0, float(milliseconds) / 1000)
        value = values.get("retry-after")
        return None if value is None else max(0.0, _seconds(value))
    except (ValueError, OverflowError):
        return None


def _seconds(value: str) -> float:
    try:
        return float(value)
    except ValueError:
        moment = parsedate_to_datetime(value)
    if moment.tzinfo is None:
        moment = moment.replace(tzinfo=UTC)
    return (moment - datetime.now(UTC)).total_seconds()
