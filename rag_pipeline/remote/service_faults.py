"""What can go wrong with a request to a service, and what to do about it.

ServiceFault
├── TransientFault     retry: too many requests, an error of the server, a lost connection
│   └── ReplyFault     the reply failed the checks
├── RefusedFault       the service does not take this request; split it if it is `too_long`
├── HttpFault          an error as the service reported it; `meaning` turns it into one of the above
├── GrpcFault          the same for Google's APIs
└── GaveUpFault        every retry failed

What every request would run into (a bad key, no quota left, wrong settings) is a `ProviderError`,
which stops everything and tells the user what to fix.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Self

from rag_pipeline.errors import ProviderError

LONGEST_MESSAGE = 300
"""Characters of a service's message that are shown."""

_TRANSIENT = frozenset({408, 409, 425, 429, 499})  # 499 is Google's CANCELLED
_WRONG_ADDRESS = frozenset({404, 405, 410, 501, 505})
_NO_QUOTA = re.compile(
    # Not "quota" or "billing" alone: ordinary rate limits of Google and Voyage mention them too.
    r"insufficient[_ ](quota|balance|credit|funds)|billing_(hard_limit_reached|not_active)",
    re.IGNORECASE,
)
_BAD_KEY = re.compile(r"api[_ ]?key (not valid|expired|invalid)|invalid api[_ ]?key", re.IGNORECASE)
_WRONG_SETTING = re.compile(
    r"dimension|model_not_found|(invalid|unknown|unsupported) model"
    r"|model\b.{0,80}\bnot (be )?(found|exist|supported)",
    re.IGNORECASE,
)
_TOO_LONG = re.compile(
    r"context[_ ](length|window|size)|too (long|large|many tokens)|max\w* .{0,20}tokens"
    r"|token limit|tokens? .*exceed|exceed\w* .*tokens?",
    re.IGNORECASE,
)
_TRANSIENT_CODES = frozenset(
    {
        "RESOURCE_EXHAUSTED",
        "UNAVAILABLE",
        "DEADLINE_EXCEEDED",
        "INTERNAL",
        "ABORTED",
        "UNKNOWN",
        "CANCELLED",
    }
)
_HTML = re.compile(r"\s*<(!doctype|html)", re.IGNORECASE)


@dataclass(frozen=True)
class Service:
    """How messages name a service, and what the user can do about its key, bill and settings."""

    name: str
    key_hint: str
    quota_hint: str
    settings_hint: str


class ServiceFault(Exception):  # noqa: N818 - faults of requests; errors are for the user
    """A request failed; `str(fault)` is what the service said."""


class TransientFault(ServiceFault):
    """The same request may succeed when it is sent again."""

    def __init__(
        self,
        message: str,
        *,
        retry_after: float | None = None,
        is_busy: bool = False,
        is_unreachable: bool = False,
    ) -> None:
        super().__init__(message)
        self.retry_after = retry_after
        """Seconds that the service asks to wait."""
        self.is_busy = is_busy
        """The service has too much to do, so other requests should wait as well."""
        self.is_unreachable = is_unreachable
        """Nothing listens at the address."""


class ReplyFault(TransientFault):
    """The service answered, but not what was asked for."""


class RefusedFault(ServiceFault):
    """The service does not take this request, or answers it wrongly each time."""

    def __init__(self, message: str, *, too_long: bool = False, bad_reply: bool = False) -> None:
        super().__init__(message)
        self.too_long = too_long
        self.bad_reply = bad_reply


class HttpFault(ServiceFault):
    """The service reported an error: by its status, or inside a reply."""

    def __init__(
        self,
        status: int,
        message: str = "",
        *,
        code: str = "",
        parameter: str = "",
        retry_after: float | None = None,
    ) -> None:
        self.status = status
        self.message = " ".join(message.split())[:LONGEST_MESSAGE]
        self.code = code
        """The service's own name of the error."""
        self.parameter = parameter
        """The parameter that the service objects to."""
        self.retry_after = retry_after
        self._words = f"{code} {message}"
        super().__init__(f"{status} {self.message}")

    @classmethod
    def of_body(
        cls,
        status: int | None,
        body: object,
        *,
        key: str | None = None,
        retry_after: float | None = None,
    ) -> Self:
        """Read the body of an error: JSON in one of the usual shapes, else plain text.

        `{"error": {"message", "code", "param"}}` is OpenAI's; others send the inner object, or a
        string, or FastAPI's `{"detail": […]}`, of which only the parts that do not repeat the
        request are read. `key` is blotted out, because some servers quote the key they refuse.
        With a `status` of None the error came inside a reply, and its code may be the status.
        """
        found = _decoded(body) if isinstance(body, bytes) else body
        if isinstance(found, dict):
            found = found.get("error") or found.get("detail") or found
        code = parameter = ""
        if isinstance(found, dict):
            code = str(found.get("code") or found.get("type") or "")
            parameter = str(found.get("param") or "")
            found = found.get("message", "")
        elif isinstance(found, list):
            found = "; ".join(
                f"{_path(item.get('loc'))}: {item.get('msg', '')}"
                for item in found
                if isinstance(item, dict)
            )
        if status is None:
            status = int(code) if code.isdecimal() and 400 <= int(code) <= 599 else 500
        message = str(found).replace(key, "***") if key else str(found)
        return cls(status, message, code=code, parameter=parameter, retry_after=retry_after)

    def meaning(self, service: Service) -> TransientFault | RefusedFault | ProviderError:
        """Return what to raise: retry, refuse this request, or stop with the fix named."""
        text = f"{service.name} answered {self.status}: {self.message or 'no reason given'}"
        wrong_address = self.status < 400 or self.status in _WRONG_ADDRESS
        if self.status == 402 or _NO_QUOTA.search(self._words):
            return ProviderError(text, hint=service.quota_hint)
        if self.status in _TRANSIENT or (self.status >= 500 and not wrong_address):
            return TransientFault(text, retry_after=self.retry_after)
        if self.status in (401, 403) or _BAD_KEY.search(self._words):
            return ProviderError(text, hint=service.key_hint)
        if wrong_address or _WRONG_SETTING.search(self._words):
            return ProviderError(text, hint=service.settings_hint)
        too_long = self.status == 413 or bool(_TOO_LONG.search(self._words))
        return RefusedFault(text, too_long=too_long)


class GrpcFault(ServiceFault):
    """A Google API reported an error (`google.api_core`), with details as google.rpc has them."""

    def __init__(self, error: BaseException) -> None:
        details = getattr(error, "details", None) or []
        violations = [v for detail in details for v in getattr(detail, "field_violations", ())]
        said = " ".join(str(getattr(error, "message", None) or error).split())
        named = [f"{v.field}: {v.description}" for v in violations if v.description]
        extra = "; ".join(text for text in named if text not in said)
        reasons = " ".join(str(getattr(detail, "reason", "")) for detail in details)
        self.code = grpc_code(error)
        self.message = (f"{said}; {extra}" if extra else said)[:500]
        """What the service said, with the fields it names, on one line."""
        self.words = f"{self.message} {reasons}".lower()
        self.fields = [violation.field for violation in violations if violation.field]
        """The fields of the request that the service objects to."""
        delays = [detail.retry_delay for detail in details if hasattr(detail, "retry_delay")]
        self.retry_after = float(delays[0].seconds + delays[0].nanos / 1e9) if delays else None
        super().__init__(f"{self.code}: {self.message}")

    def meaning(
        self, too_large: Mapping[str, Sequence[str]]
    ) -> TransientFault | RefusedFault | None:
        """Return what to raise: retry, or split the request; None if every retry would fail.

        `too_large` gives, for each code, the phrases that tell a request or reply over a limit
        from other errors of that code.
        """
        if any(phrase in self.words for phrase in too_large.get(self.code, ())):
            return RefusedFault(self.message, too_long=True)
        if self.code not in _TRANSIENT_CODES:
            return None
        is_busy = self.code == "RESOURCE_EXHAUSTED"
        return TransientFault(str(self), retry_after=self.retry_after, is_busy=is_busy)


def grpc_code(error: BaseException | None) -> str:
    """Return the name of the gRPC status of an error of `google.api_core`: `UNAVAILABLE`."""
    code = getattr(error, "grpc_status_code", None)
    return str(code.name) if code is not None else "UNKNOWN"


def _decoded(body: bytes) -> object:
    text = body.decode("utf-8", "replace")
    try:
        found: object = json.loads(text)
    except ValueError:
        return "" if _HTML.match(text) else text
    return found


def _path(location: object) -> str:
    return ".".join(map(str, location)) if isinstance(location, list) else str(location)


def retry_after(headers: Mapping[str, str]) -> float | None:
    """Return the seconds that a reply asks to wait, or None.

    Retry-After holds seconds or a date (RFC 9110, 10.2.3); OpenAI's `retry-after-ms` is finer.
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
