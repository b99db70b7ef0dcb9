"""Settings → clients of Document AI and Cloud Storage, which take a second to import."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rag_pipeline.errors import ProviderError, SettingsError
from rag_pipeline.parsing.document_ai.service.process_faults import CREDENTIALS_HINT
from rag_pipeline.parsing.document_ai.service.process_requests import location_of
from rag_pipeline.settings import DocumentAiSettings

if TYPE_CHECKING:
    from google.auth.credentials import Credentials
    from google.cloud.documentai_v1 import DocumentProcessorServiceClient
    from google.cloud.storage import Client as StorageClient

CHANNEL_OPTIONS = [
    # gRPC's default of 4 MB makes a large reply look like an exhausted quota (429).
    ("grpc.max_receive_message_length", -1),
    ("grpc.max_send_message_length", -1),
    # Notice within a minute if a firewall silently drops the connection.
    ("grpc.keepalive_time_ms", 30_000),
    ("grpc.keepalive_timeout_ms", 20_000),
]
INSTALL = 'install the extra: pip install "rag-pipeline[document_ai]"'
NEEDED = "parsing.parser needs the library google-cloud-documentai"
_SCOPE = "https://www.googleapis.com/auth/cloud-platform"


def create_client(settings: DocumentAiSettings) -> DocumentProcessorServiceClient:
    """Return a client of the service; nothing is sent yet.

    Raises `SettingsError` without the libraries, `ProviderError` without credentials.
    """
    try:
        import grpc
        from google.cloud import documentai_v1 as documentai
        from google.cloud.documentai_v1.services.document_processor_service.transports import (
            DocumentProcessorServiceGrpcTransport as Transport,
        )
    except ImportError as error:
        raise SettingsError(NEEDED, hint=INSTALL) from error
    endpoint = settings.endpoint or host_of(location_of(settings))
    if endpoint.startswith("http://"):
        host = endpoint.removeprefix("http://").rstrip("/")
        channel = grpc.insecure_channel(host, options=CHANNEL_OPTIONS)
    else:
        host = endpoint.removeprefix("https://").rstrip("/")
        channel = Transport.create_channel(
            host, credentials=credentials_of(settings), options=CHANNEL_OPTIONS
        )
    return documentai.DocumentProcessorServiceClient(
        transport=Transport(channel=channel, host=host)
    )


def host_of(location: str) -> str:
    """The host that serves a location.

    >>> host_of("eu"), host_of("global")
    ('eu-documentai.googleapis.com', 'documentai.googleapis.com')
    """
    prefix = "" if location == "global" else f"{location}-"
    return f"{prefix}documentai.googleapis.com"


def create_storage_client(settings: DocumentAiSettings) -> StorageClient:
    """A client of Cloud Storage. Raises as `create_client` does."""
    try:
        from google.auth.credentials import AnonymousCredentials
        from google.cloud import storage
    except ImportError as error:
        raise SettingsError(
            "batch jobs of Document AI need the library google-cloud-storage", hint=INSTALL
        ) from error
    endpoint = settings.storage_endpoint
    local = bool(endpoint and endpoint.startswith("http://"))
    return storage.Client(
        project=settings.project or None,
        credentials=(
            AnonymousCredentials()  # type: ignore[no-untyped-call]
            if local
            else credentials_of(settings)
        ),
        client_options={"api_endpoint": endpoint} if endpoint else None,
    )


def check_credentials(settings: DocumentAiSettings) -> None:
    """Find out whether there are credentials; an endpoint without TLS needs none. Sends no page.

    Raises as `create_client` does.
    """
    if (settings.endpoint or "").startswith("http://"):
        return
    try:
        import google.auth  # noqa: F401
    except ImportError as error:
        raise SettingsError(NEEDED, hint=INSTALL) from error
    credentials_of(settings)


def credentials_of(settings: DocumentAiSettings) -> Credentials:
    """Credentials of the key file, or the default ones. Raises `ProviderError`."""
    import google.auth
    from google.auth.exceptions import GoogleAuthError
    from google.oauth2 import service_account

    file = settings.credentials_file
    try:
        if file is not None:
            own: Credentials = service_account.Credentials.from_service_account_file(  # type: ignore[no-untyped-call]
                str(file.expanduser()), scopes=[_SCOPE]
            )
            return own
        credentials: Credentials = google.auth.default(scopes=[_SCOPE])[0]
        return credentials
    except (OSError, ValueError, GoogleAuthError) as error:
        where = f"the key file {file}" if file is not None else "application default credentials"
        raise ProviderError(
            f"Document AI: no credentials from {where} ({error})",
            hint=CREDENTIALS_HINT,
        ) from error
