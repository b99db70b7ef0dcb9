"""The folder of Cloud Storage that batch jobs read and write."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

from rag_pipeline.errors import ParserServiceError, ProviderError

if TYPE_CHECKING:
    from google.cloud.storage import Blob, Bucket
    from google.cloud.storage import Client as StorageClient


@dataclass
class BucketStorage:
    """Files of batch jobs in a bucket; `client` connects when it is first needed.

    Methods raise `ProviderError` if access is refused, and `ParserServiceError` for other faults.
    """

    location: str
    """`gs://bucket/prefix`."""
    client: Callable[[], StorageClient]
    timeout: float = 300.0
    """Seconds for one file."""

    def uri(self, name: str) -> str:
        """Where a file is: `gs://bucket/prefix/name`."""
        return f"{self.location.rstrip('/')}/{name}"

    def write(self, name: str, content: bytes, mime_type: str) -> None:
        """Upload a file, replacing one of the same name."""
        with _storage_errors(self.location):
            blob = self._bucket().blob(self._path(name))
            blob.upload_from_string(content, content_type=mime_type, timeout=self.timeout)

    def read_all(self, folder: str) -> dict[str, bytes]:
        """Download all files below a folder, by name."""
        with _storage_errors(self.location):
            return {
                blob.name: blob.download_as_bytes(timeout=self.timeout)
                for blob in self._blobs(folder)
            }

    def remove_all(self, folder: str) -> None:
        """Delete all files below a folder."""
        with _storage_errors(self.location):
            for blob in self._blobs(folder):
                blob.delete(timeout=self.timeout)

    def _blobs(self, folder: str) -> list[Blob]:
        prefix = self._path(folder).rstrip("/") + "/"
        return list(self.client().list_blobs(self._bucket(), prefix=prefix))

    def _bucket(self) -> Bucket:
        return self.client().bucket(self._parts()[0])

    def _parts(self) -> tuple[str, str]:
        bucket, _, prefix = self.location.removeprefix("gs://").partition("/")
        return bucket, prefix.strip("/")

    def _path(self, name: str) -> str:
        prefix = self._parts()[1]
        return f"{prefix}/{name}" if prefix else name


@contextmanager
def _storage_errors(location: str) -> Iterator[None]:
    """Turn refusals into `ProviderError`, and transient faults into `ParserServiceError`.

    The library itself retries transient faults for two minutes.
    """
    from google.api_core.exceptions import Forbidden, GoogleAPIError, NotFound, Unauthorized
    from google.auth.exceptions import GoogleAuthError

    try:
        yield
    except (Forbidden, NotFound, Unauthorized, GoogleAuthError) as error:
        raise ProviderError(
            f"Cloud Storage refuses {location} ({error})",
            hint="create the bucket, and give the account the role roles/storage.objectAdmin on it",
        ) from error
    except (GoogleAPIError, OSError) as error:
        raise ParserServiceError(f"Cloud Storage failed ({error})", hint="try again") from error
