"""One request with its repeats: bounded by one deadline, paced by the limiter."""

from __future__ import annotations

import random
import time
from collections.abc import Callable
from typing import TypeVar

from rag_pipeline.errors import ParserServiceError, ProviderError
from rag_pipeline.parsing.document_ai.faults import (
    TooLargeError,
    code_of,
    fatal_error,
    is_too_large,
    is_transient,
    message_of,
    retry_delay,
)
from rag_pipeline.parsing.document_ai.limiter import RequestLimiter

Reply = TypeVar("Reply")
FIRST_BACKOFF = 1.0
MAX_BACKOFF = 30.0
MIN_ATTEMPT = 60.0
"""Seconds; an attempt that hangs may take half of what is left, and this much at least."""


def call(
    send: Callable[[float], Reply],
    *,
    document: str,
    timeout: float,
    limiter: RequestLimiter,
    clock: Callable[[], float] = time.monotonic,
    sleep: Callable[[float], None] = time.sleep,
) -> Reply:
    """Send a request until it is answered; `send` gets the seconds that an attempt may take.

    `timeout` seconds are the deadline of all attempts and waits together. A wait that the service
    asks for is kept, unless it ends after the deadline: then nothing is waited for.

    Raises `ParserServiceError` at the deadline, `TooLargeError` where smaller parts may pass,
    `ProviderError` where every document would be refused, `ParseError` where this one is.
    """
    from google.api_core.exceptions import GoogleAPICallError
    from google.auth.exceptions import GoogleAuthError

    deadline: float | None = None
    attempt = 0
    while True:
        attempt += 1
        try:
            with limiter.slot():
                # Waiting for a turn is no fault of the service: the deadline starts with it.
                deadline = clock() + timeout if deadline is None else deadline
                left = deadline - clock()
                if left <= 0:
                    raise _late(document, timeout, attempt - 1, "the quota left no time")
                return send(min(left, max(left / 2, MIN_ATTEMPT)))
        except GoogleAPICallError as error:
            if is_too_large(error):
                raise TooLargeError(message_of(error)) from error
            if not is_transient(error):
                raise fatal_error(error, document) from error
            said = f"{code_of(error)}: {message_of(error)}"
            asked = retry_delay(error)
            backoff = min(MAX_BACKOFF, FIRST_BACKOFF * 2 ** (attempt - 1))
            wait = asked if asked is not None else backoff * random.uniform(0.5, 1.0)
            if deadline is None or clock() + wait >= deadline:
                raise _late(document, timeout, attempt, said) from error
            if code_of(error) == "RESOURCE_EXHAUSTED":
                limiter.hold(wait)
            sleep(wait)
        except GoogleAuthError as error:
            raise ProviderError(
                f"Document AI: the credentials do not work ({error})",
                hint="run `gcloud auth application-default login`, or set"
                " document_ai.credentials_file",
            ) from error


def _late(document: str, timeout: float, attempts: int, said: str) -> ParserServiceError:
    return ParserServiceError(
        f"Document AI gave no answer within {timeout:g} s ({attempts} attempts; last {said})",
        document=document,
        hint="the next sync asks again, for the missing pages only; raise"
        " document_ai.timeout_seconds, or lower document_ai.requests_per_minute",
    )
