"""Single web pages: fetched by address, asked for again only where the server says they changed.

A page's address comes from a user's settings, but what it redirects to does not: addresses of this
machine and of private networks are refused unless they are allowed, and the address that was
checked is the one that is connected to.
"""

from __future__ import annotations

import ipaddress
import socket
from dataclasses import dataclass
from http import HTTPStatus
from typing import TYPE_CHECKING
from urllib.parse import urljoin, urlsplit

from rag_pipeline.errors import SourceError
from rag_pipeline.settings import WebSettings

if TYPE_CHECKING:
    import httpx

MAX_REDIRECTS = 5
_HEADERS = {"User-Agent": "rag_pipeline (+document sync)", "Accept": "text/html,*/*;q=0.8"}


@dataclass(frozen=True)
class WebPage:
    """What a server answered."""

    content: bytes | None
    """None where the page is the same as before (status 304)."""
    etag: str = ""
    """Its entity tag, or else the time of its last modification."""


class PageGoneError(SourceError):
    """The server says that there is no such page (any more): status 404 or 410."""


def fetch_page(url: str, settings: WebSettings, known_etag: str = "") -> WebPage:
    """Fetch a page, or learn that it is as `known_etag` says.

    Raises `PageGoneError` where it is gone, and `SourceError` where it cannot be fetched: a refused
    address, too large, too slow, an error of the server.
    """
    import httpx  # here, since few syncs have web pages and all would wait for it

    address = url
    for _ in range(MAX_REDIRECTS + 1):
        try:
            host = _checked_host(address, settings)
            with (
                httpx.Client(timeout=settings.timeout_seconds, trust_env=False) as client,
                client.stream(
                    "GET",
                    _by_address(address, host),
                    headers={**_HEADERS, **_conditions(known_etag), "Host": _host_header(address)},
                    extensions={"sni_hostname": urlsplit(address).hostname or ""},
                ) as response,
            ):
                if response.has_redirect_location:
                    address = urljoin(address, response.headers["location"])
                    continue
                return _page(url, response, settings)
        except (httpx.HTTPError, httpx.InvalidURL, ValueError) as error:
            # ValueError: an address, of the user's or of a redirect, that is none.
            raise SourceError(
                f"{url} cannot be fetched ({str(error) or type(error).__name__})",
                hint="check the address and the network; its document was kept",
            ) from error
    raise SourceError(f"{url} redirects more than {MAX_REDIRECTS} times", hint="check the address")


def _page(url: str, response: httpx.Response, settings: WebSettings) -> WebPage:
    status = response.status_code
    if status == HTTPStatus.NOT_MODIFIED:
        return WebPage(None)
    if status in (HTTPStatus.NOT_FOUND, HTTPStatus.GONE):
        raise PageGoneError(f"{url} is gone (status {status})")
    if not response.is_success:
        raise SourceError(
            f"{url} cannot be fetched (status {status})", hint="its document was kept"
        )
    limit = int(settings.max_megabytes * 2**20)
    content = bytearray()
    for part in response.iter_bytes():
        content += part
        if len(content) > limit:
            raise SourceError(
                f"{url} is larger than {settings.max_megabytes:g} MB",
                hint="raise web.max_megabytes, or leave it out",
            )
    headers = response.headers
    return WebPage(bytes(content), headers.get("etag") or headers.get("last-modified") or "")


def _checked_host(url: str, settings: WebSettings) -> str:
    """Resolve a URL's host; return the address to connect to. Raises `SourceError` if refused."""
    parts = urlsplit(url)
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise SourceError(f"{url} is no address of a web page", hint="use http:// or https://")
    try:
        found = socket.getaddrinfo(parts.hostname, parts.port or 443, type=socket.SOCK_STREAM)
    except (OSError, UnicodeError) as error:
        raise SourceError(
            f"{url}: the host is not known", hint="check the address and the network"
        ) from error
    address = str(found[0][4][0])
    if not settings.allow_private_addresses and not _is_public(address):
        raise SourceError(
            f"{url} leads to {address}, an address of this machine or of a private network",
            hint="set web.allow_private_addresses = true if that is meant",
        )
    return address


def _is_public(address: str) -> bool:
    """Tell whether an address is of the open Internet, an IPv4 one in IPv6 clothes too.

    >>> _is_public("93.184.215.14"), _is_public("::ffff:127.0.0.1"), _is_public("169.254.1.1")
    (True, False, False)
    """
    parsed = ipaddress.ip_address(address.partition("%")[0])
    mapped = getattr(parsed, "ipv4_mapped", None)
    return (mapped or parsed).is_global and not parsed.is_multicast


def _by_address(url: str, address: str) -> str:
    """Return the URL with its host replaced by the address that was checked."""
    parts = urlsplit(url)
    host = f"[{address}]" if ":" in address else address
    port = f":{parts.port}" if parts.port else ""
    return parts._replace(netloc=f"{host}{port}", fragment="").geturl()


def _host_header(url: str) -> str:
    parts = urlsplit(url)
    name = (parts.hostname or "").encode("idna").decode("ascii")
    return f"{name}:{parts.port}" if parts.port else name


def _conditions(etag: str) -> dict[str, str]:
    if not etag:
        return {}
    is_tag = etag.startswith(('"', 'W/"'))
    return {"If-None-Match": etag} if is_tag else {"If-Modified-Since": etag}
