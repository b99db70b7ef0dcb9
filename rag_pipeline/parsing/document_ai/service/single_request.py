"""One request with its repeats: bounded by one deadline, paced by the limiter."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TypeVar

from rag_pipeline.errors import ParserServiceError, ProviderError
from rag_pipeline.parsing.document_ai.service.service_faults import (
    TooLargeError,
    code_of,
    fatal_error,
    is_too_large,
    is_transient,
    message_of,
    retry_delay,
)
from rag_pipeline.remote import Limiter, Patience

Reply = TypeVar("Reply")
MIN_ATTEMPT = 60.0
"""Seconds; an attempt that hangs may take half of what is left, and this much at least."""


class _Patience(Patience):
    first_wait, longest_wait = 1.0, 30.0


def call(
    send: Callable[[float], Reply],
    *,
    document: str,
    timeout: float,
    limiter: Limiter,
) -> Reply:
    """Send a request until it is answered; `send` gets the seconds that an attempt may take.

    `timeout` seconds are the deadline of all attempts and waits together. A wait that the service
    asks for is kept, unless it ends after the deadline: then nothing is waited for.

    Raises `ParserServiceError` at the deadline, `TooLargeError` where smaller parts may pass,
    `ProviderError` where every document would be refused, `ParseError` where this one is.
    """
    from google.api_core.exceptions import GoogleAPICallError
    from google.auth.exceptions import GoogleAuthError

    patience = _Patience(timeout)
    while True:
        try:
            with limiter.slot():
                left = patience.left
                if left <= 0:
                    raise _late(document, patience, "the quota left no time")
                return send(min(left, max(left / 2, MIN_ATTEMPT)))
        except GoogleAPICallError as error:
            if is_too_large(error):
                raise TooLargeError(message_of(error)) from error
            if not is_transient(error):
                raise fatal_error(error, document) from error
            wait = patience.next_wait(retry_delay(error))
            if wait is None:
                said = f"{code_of(error)}: {message_of(error)}"
                raise _late(document, patience, said) from error
            if code_of(error) == "RESOURCE_EXHAUSTED":
                limiter.pause(wait)
            time.sleep(wait)
        except GoogleAuthError as error:
            raise ProviderError(
                f"Document AI: the credentials do not work ({error})",
                hint="run `gcloud auth application-default login`, or set"
                " document_ai.credentials_file",
            ) from error


def _late(document: str, patience: Patience, said: str) -> ParserServiceError:
    return ParserServiceError(
        f"Document AI gave no answer within {patience.deadline:g} s"
        f" ({patience.failures} attempts; last {said})",
        document=document,
        hint="the next sync asks again, for the missing pages only; raise"
        " document_ai.timeout_seconds, or lower document_ai.requests_per_minute",
    )
