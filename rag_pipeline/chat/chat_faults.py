"""What can go wrong with a request, and what it means: try again, give up, or tell the user."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import Any

from rag_pipeline.chat.endpoint import Endpoint
from rag_pipeline.errors import ChatError, ProviderError
from rag_pipeline.remote import BAD_KEY, NO_QUOTA

LONGEST_MESSAGE = 300
"""Characters of a server's message that are shown."""

_TRANSIENT = frozenset({408, 409, 425, 429})
_WRONG_ADDRESS = frozenset({404, 405, 410, 501, 505})
_NO_MODEL = re.compile(
    r"model_not_found|model\b.{0,80}\b(not found|not exist)|(invalid|unknown) model", re.I
)
_TOO_LONG = re.compile(
    r"context[_ ](length|window|size)|too (long|large|many tokens)|maximum .{0,20}tokens", re.I
)
_HTML = re.compile(r"\s*<(!doctype|html)", re.IGNORECASE)


class Fault(Exception):  # noqa: N818 - faults of requests; errors are for the user
    """A request failed and may succeed when it is sent again."""

    def __init__(
        self,
        message: str,
        *,
        retry_after: float | None = None,
        bad_reply: bool = False,
        unreachable: bool = False,
    ) -> None:
        super().__init__(message)
        self.retry_after = retry_after
        """Seconds that the server asks to wait."""
        self.bad_reply = bad_reply
        """The server answered, but not as the protocol has it."""
        self.unreachable = unreachable
        """Nobody listens at the address."""


@dataclass(frozen=True)
class Problem:
    """What a server says of an error: its sentence, its name for it, the parameter at fault."""

    message: str
    code: str = ""
    parameter: str = ""


class RefusedRequest(Exception):  # noqa: N818 - the same
    """The server answered with an error: a status, or an event within a stream."""

    def __init__(self, status: int, problem: Problem, retry_after: float | None = None) -> None:
        super().__init__(f"{status} {problem.message}")
        self.status = status
        self.problem = problem
        self.retry_after = retry_after

    @property
    def is_content_filter(self) -> bool:
        """Whether the question itself was filtered out, as Azure does."""
        return self.status == 400 and self.problem.code in ("content_filter", "content_policy")


def problem_of(body: Any, endpoint: Endpoint) -> Problem:
    """Read the body of an error: JSON in one of the usual shapes, else plain text.

    `{"error": {"message", "code", "param"}}` is OpenAI's; others send the inner object, or a
    string, or FastAPI's `{"detail": …}`, whose list repeats the request and is therefore picked.
    """
    found: Any = body
    if isinstance(body, bytes):
        text = body.decode("utf-8", "replace")
        try:
            found = json.loads(text)
        except ValueError:
            found = "" if _HTML.match(text) else text
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
    message = " ".join(str(found).split())
    if endpoint.key:  # some servers quote the key that they refuse
        message = message.replace(endpoint.key, "***")
    return Problem(message[:LONGEST_MESSAGE], code, parameter)


def _path(location: Any) -> str:
    return ".".join(map(str, location)) if isinstance(location, list) else str(location)


def fault_of(endpoint: Endpoint, answer: RefusedRequest) -> Fault:
    """Return the fault where it is worth another try.

    Raises `ProviderError` where every request would fail, `ChatError` where this one would.
    """
    status, problem = answer.status, answer.problem
    text = f"{endpoint.provider} answered {status}: {problem.message or 'no reason given'}"
    words = f"{problem.code} {problem.message}"
    if status == 402 or NO_QUOTA.search(words):
        raise ProviderError(text, hint=endpoint.quota_hint)
    if status in _TRANSIENT or (status >= 500 and status not in _WRONG_ADDRESS):
        return Fault(text, retry_after=answer.retry_after)
    if status in (401, 403) or BAD_KEY.search(problem.message):
        raise ProviderError(text, hint=endpoint.key_hint)
    if status == 413 or _TOO_LONG.search(words):
        raise ChatError(
            text,
            hint="give the model less to read, lower chat.max_tokens, or take a longer context",
        )
    if status < 400 or status in _WRONG_ADDRESS or _NO_MODEL.search(words):
        raise ProviderError(text, hint=endpoint.settings_hint)
    raise ChatError(text, hint=endpoint.settings_hint)
