"""HTTP to the endpoint: one POST, its body as it arrives, and a hard deadline."""

from __future__ import annotations

import contextlib
import json
import threading
import time
from collections.abc import Generator, Iterator, Mapping
from contextlib import contextmanager

import requests
from urllib3.exceptions import NewConnectionError

from rag_pipeline.chat.endpoint import Endpoint
from rag_pipeline.errors import ProviderError
from rag_pipeline.remote import HttpFault, TransientFault, retry_after

CONNECT_SECONDS = 10.0
"""A server that has not accepted the connection by then is considered absent."""
LONGEST_ERROR = 65_536
"""Bytes read of an error's body."""


class _BearerAuth(requests.auth.AuthBase):
    """Sets the key; without it, requests would look for one in ~/.netrc."""

    def __init__(self, key: str | None) -> None:
        self._key = key

    def __call__(self, request: requests.PreparedRequest) -> requests.PreparedRequest:
        if self._key:
            request.headers["Authorization"] = f"Bearer {self._key}"
        return request


class Connection:
    """Posts to one endpoint, from any thread."""

    def __init__(self, endpoint: Endpoint) -> None:
        self._endpoint = endpoint
        self._auth = _BearerAuth(endpoint.key)
        self._threads = threading.local()  # a session is not safe for several threads

    @contextmanager
    def post(self, body: Mapping[str, object], seconds: float) -> Iterator[Iterator[bytes]]:
        """Send `body` and lend the pieces of the reply, all within so many seconds.

        Raises `HttpFault` for an error status, `ProviderError` for a bad certificate, and
        `TransientFault` for anything that goes wrong with the connection, even while the pieces
        are read.
        """
        seconds = max(seconds, 0.001)
        end = time.monotonic() + seconds
        try:
            response = self._session().post(
                self._endpoint.url,
                data=json.dumps(body).encode("ascii"),
                auth=self._auth,
                timeout=(min(CONNECT_SECONDS, seconds), seconds),
                stream=True,
                allow_redirects=False,  # a POST would become a GET, and the key leak
            )
        except requests.RequestException as error:
            raise self._fault(error) from error
        with contextlib.closing(response):
            if response.status_code != 200:
                raise self._refusal(response)
            with contextlib.closing(self._pieces(response, end)) as pieces:
                yield pieces

    def _pieces(self, response: requests.Response, end: float) -> Generator[bytes]:
        """Yield what arrives, as soon as it arrives.

        Every read restarts its timeout; a timer ends the last one at the deadline.
        """
        watch = threading.Timer(max(end - time.monotonic(), 0), _stop_reading, (response,))
        watch.daemon = True
        watch.start()
        # A chunked body comes chunk by chunk; any other is read until the size asked for is there.
        size = None if getattr(response.raw, "chunked", False) else 1
        try:
            for piece in response.iter_content(size):
                yield piece
                if time.monotonic() >= end:
                    break
        except requests.RequestException as error:
            if time.monotonic() < end:
                raise self._fault(error) from error
        finally:
            watch.cancel()
        if time.monotonic() >= end:
            raise TransientFault(f"{self._endpoint.provider} was too slow")

    def _refusal(self, response: requests.Response) -> HttpFault:
        try:
            body = next(response.iter_content(LONGEST_ERROR), b"")
        except requests.RequestException:
            body = b""  # the status says enough
        return HttpFault.of_body(
            response.status_code,
            body,
            key=self._endpoint.key,
            retry_after=retry_after(response.headers),
        )

    def _fault(self, error: requests.RequestException) -> TransientFault:
        """Say briefly what happened; the library's own messages quote its objects."""
        provider, url = self._endpoint.provider, self._endpoint.base_url
        if isinstance(error, requests.exceptions.SSLError) and "CERTIFICATE" in str(error):
            raise ProviderError(
                f"{provider}: the certificate of {url} is not trusted",
                hint="check chat.base_url; REQUESTS_CA_BUNDLE names a file of further authorities",
            ) from error
        reason = getattr(error.args[0], "reason", None) if error.args else None
        if isinstance(error, requests.ConnectTimeout) or isinstance(reason, NewConnectionError):
            return TransientFault(f"{provider} does not answer at {url}", is_unreachable=True)
        if isinstance(error, requests.Timeout):
            return TransientFault(f"{provider} was too slow")
        return TransientFault(f"{provider} lost the connection ({type(error).__name__})")

    def _session(self) -> requests.Session:
        if not hasattr(self._threads, "session"):
            session = requests.Session()
            session.headers["Content-Type"] = "application/json"
            session.headers["Accept-Encoding"] = "identity"  # compression would delay pieces
            self._threads.session = session
        found: requests.Session = self._threads.session
        return found


def _stop_reading(response: requests.Response) -> None:
    """End a pending read; the reader then sees the end of the data."""
    with contextlib.suppress(ValueError, RuntimeError, OSError):
        response.raw.shutdown()
