"""Errors of the service → what they mean: try again, smaller parts, or stop. Pure."""

from __future__ import annotations

from typing import Any

from rag_pipeline.errors import ParseError, ProviderError

_TRANSIENT = frozenset(
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
_REFUSED = frozenset({"PERMISSION_DENIED", "UNAUTHENTICATED", "NOT_FOUND", "FAILED_PRECONDITION"})
_TOO_LARGE = (
    "larger than max",
    "exceeds the limit",
    "exceed the limit",
    "page_limit_exceeded",
    "document size",
    "too large",
    "payload size",
)
_OWN_FIELDS = ("raw_document", "inline_document", "gcs_document", "input_documents", "content")
"""Fields of a request that hold the document; a fault in any other is one of the settings."""


class TooLargeError(Exception):
    """The request or its reply has too many bytes or pages; smaller parts may pass."""


def code_of(error: Any) -> str:
    """Name of the gRPC status of an error of `google.api_core`: `UNAVAILABLE`."""
    code = getattr(error, "grpc_status_code", None)
    return str(code.name) if code is not None else "UNKNOWN"


def is_too_large(error: Any) -> bool:
    """Is it about size or number of pages?

    gRPC reports a message above a channel's limit as RESOURCE_EXHAUSTED, like a quota.
    """
    if code_of(error) not in ("RESOURCE_EXHAUSTED", "INVALID_ARGUMENT", "OUT_OF_RANGE"):
        return False
    said = _words(error)
    if code_of(error) == "RESOURCE_EXHAUSTED":
        return "larger than max" in said
    return any(phrase in said for phrase in _TOO_LARGE)


def is_transient(error: Any) -> bool:
    """May the same request succeed later?"""
    return code_of(error) in _TRANSIENT and not is_too_large(error)


def retry_delay(error: Any) -> float | None:
    """Seconds that the service asks to wait (google.rpc.RetryInfo), or None."""
    for detail in getattr(error, "details", None) or []:
        delay = getattr(detail, "retry_delay", None)
        if delay is not None:
            return float(delay.seconds + delay.nanos / 1e9)
    return None


def fatal_error(error: Any, document: str) -> ProviderError | ParseError:
    """The error to raise where trying again is no use.

    A `ProviderError` stops the sync, as every document would meet it; a `ParseError` is the
    document's own.
    """
    code, said = code_of(error), message_of(error)
    if code == "INVALID_ARGUMENT" and not (fields := _settings_fields(error)):
        return ParseError(
            f"Document AI refuses the document ({said})",
            document=document,
            hint="is it a whole PDF or image without a password? If every document is refused,"
            " check document_ai.processor and its options",
        )
    if code == "INVALID_ARGUMENT":
        return ProviderError(
            f"Document AI refuses the settings ({said})",
            hint=f"the request's {', '.join(fields)} is wrong: see [document_ai] in rag.toml",
        )
    return ProviderError(f"Document AI refuses every request ({code}: {said})", hint=_hint(error))


def _hint(error: Any) -> str:
    code, said = code_of(error), _words(error)
    if "billing" in said:
        return "enable billing for the project in the Google Cloud console"
    if "service_disabled" in said or "has not been used" in said:
        return "enable the API: `gcloud services enable documentai.googleapis.com`"
    if code == "UNAUTHENTICATED":
        return "run `gcloud auth application-default login`, or set document_ai.credentials_file"
    if code == "PERMISSION_DENIED":
        return "give the account the role roles/documentai.apiUser in the project"
    if code == "NOT_FOUND":
        return (
            "check document_ai.project, location, processor and processor_version; a processor"
            " is known in its own location only"
        )
    if code == "FAILED_PRECONDITION":
        return "enable the processor, and deploy the version that document_ai.processor_version is"
    return "see docs/document-ai.md"


def message_of(error: Any) -> str:
    """What the service said, with the fields that it names, on one line."""
    said = " ".join(str(getattr(error, "message", None) or error).split())
    named = [f"{v.field}: {v.description}" for v in _violations(error) if v.description]
    extra = "; ".join(text for text in named if text not in said)
    return f"{said}; {extra}"[:500] if extra else said[:500]


def _words(error: Any) -> str:
    reasons = " ".join(
        str(getattr(detail, "reason", "")) for detail in getattr(error, "details", None) or []
    )
    return f"{message_of(error)} {reasons}".lower()


def _violations(error: Any) -> list[Any]:
    return [
        violation
        for detail in getattr(error, "details", None) or []
        for violation in getattr(detail, "field_violations", ())
    ]


def _settings_fields(error: Any) -> list[str]:
    fields = [violation.field for violation in _violations(error) if violation.field]
    return [field for field in fields if not field.startswith(_OWN_FIELDS)]
