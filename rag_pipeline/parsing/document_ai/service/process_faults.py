"""What errors of the service mean: retry, smaller parts, or stop. Pure."""

from __future__ import annotations

from rag_pipeline.errors import ParseError, ProviderError
from rag_pipeline.remote import GrpcFault, ServiceFault

_SIZE_PHRASES = (
    "larger than max",
    "exceeds the limit",
    "exceed the limit",
    "page_limit_exceeded",
    "document size",
    "too large",
    "payload size",
)
_TOO_LARGE = {
    # gRPC reports a message above a channel's limit with the code of an exhausted quota.
    "RESOURCE_EXHAUSTED": _SIZE_PHRASES[:1],
    "INVALID_ARGUMENT": _SIZE_PHRASES,
    "OUT_OF_RANGE": _SIZE_PHRASES,
}
_OWN_FIELDS = ("raw_document", "inline_document", "gcs_document", "input_documents", "content")
"""Fields of a request that hold the document; an error in any other is one of the settings."""
CREDENTIALS_HINT = (
    "run `gcloud auth application-default login`, or set document_ai.credentials_file"
)
_HINTS = {
    "UNAUTHENTICATED": CREDENTIALS_HINT,
    "PERMISSION_DENIED": "give the account the role roles/documentai.apiUser in the project",
    "NOT_FOUND": "check document_ai.project, location, processor and processor_version; a processor"
    " is known only in its own location",
    "FAILED_PRECONDITION": "enable the processor, and deploy the version that"
    " document_ai.processor_version names",
}


def meaning_of(fault: GrpcFault, document: str) -> ServiceFault | ProviderError | ParseError:
    """Return what to raise: retry, split, refuse this document, or stop with the fix named."""
    if meaning := fault.meaning(_TOO_LARGE):
        return meaning
    if fault.code != "INVALID_ARGUMENT":
        said = f"Document AI refuses every request ({fault})"
        return ProviderError(said, hint=_hint(fault))
    fields = [field for field in fault.fields if not field.startswith(_OWN_FIELDS)]
    if fields:
        return ProviderError(
            f"Document AI refuses the settings ({fault.message})",
            hint=f"the request's {', '.join(fields)} is wrong: see [document_ai] in rag.toml",
        )
    return ParseError(
        f"Document AI refuses the document ({fault.message})",
        document=document,
        hint="is it a whole PDF or image without a password? If every document is refused,"
        " check document_ai.processor and its options",
    )


def _hint(fault: GrpcFault) -> str:
    if "billing" in fault.words:
        return "enable billing for the project in the Google Cloud console"
    if "service_disabled" in fault.words or "has not been used" in fault.words:
        return "enable the API: `gcloud services enable documentai.googleapis.com`"
    return _HINTS.get(fault.code, "see docs/document-ai.md")
