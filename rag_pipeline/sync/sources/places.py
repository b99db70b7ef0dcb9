"""Where documents come from: local folders and files, folders of an object store, web pages.

A root is a local path, an fsspec URL of a folder or file (`s3://bucket/manuals`), or the address of
a single web page (`https://…`).
"""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import Literal
from urllib.parse import urlsplit

from rag_pipeline.errors import SourceError
from rag_pipeline.settings import Settings, SourceSettings
from rag_pipeline.store.source_tables import SourceRoot
from rag_pipeline.text import clean_text, one_line

Kind = Literal["local", "remote", "web"]
_SCHEME = re.compile(r"([a-z][a-z0-9+.-]+)://", re.IGNORECASE)


def kind_of(root: str) -> Kind:
    """Tell what a root, or a file's URI, is.

    >>> kind_of("/manuals"), kind_of("s3://bucket/manuals"), kind_of("https://example.org/a")
    ('local', 'remote', 'web')
    """
    scheme = _SCHEME.match(root)
    if scheme is None:
        return "local"
    return "web" if scheme[1].lower() in ("http", "https") else "remote"


def file_name(uri: str) -> str:
    """Return the last part of a URI without line breaks and escapes, safe for logs and messages.

    >>> file_name("/manuals/oil.pdf"), file_name("s3://bucket/a.pdf")
    ('oil.pdf', 'a.pdf')
    """
    return one_line(clean_text(Path(uri).name))


def root_of(settings: Settings, source: SourceSettings) -> str:
    """Return the root of a source of rag.toml as the store knows it."""
    if kind_of(source.path) != "local":
        return _normal_url(source.path)
    return str((settings.project_dir / source.path).expanduser().resolve())


def configured_roots(settings: Settings) -> list[SourceRoot]:
    """Return the sources of rag.toml as roots."""
    return [
        SourceRoot(
            root=root_of(settings, source),
            include=tuple(source.include),
            exclude=tuple(source.exclude),
            tags=tuple(source.tags),
            readers=tuple(source.readers),
            origin="settings",
            project=str(settings.project_dir),
        )
        for source in settings.sources
    ]


def given_root(place: str | Path) -> SourceRoot:
    """Return the root of a folder, file or URL given on the command line.

    Raises `SourceError` if a path leads to nothing.
    """
    if kind_of(str(place)) != "local":
        return SourceRoot(root=_normal_url(str(place)))
    resolved = Path(place).expanduser().resolve()
    if not resolved.exists():
        raise SourceError(f"{place} does not exist", hint="give a folder, a file or a URL")
    if not (resolved.is_dir() or resolved.is_file()):
        raise SourceError(f"{place} is neither a folder nor a file", hint="give one of these")
    if not is_plain(str(resolved)):
        raise SourceError(f"the name of {str(place)!a} is not valid text", hint="rename it")
    return SourceRoot(root=str(resolved))


def is_below(uri: str, root: str) -> bool:
    """Tell whether a file or folder is a root, or lies in it.

    >>> is_below("s3://b/x/y.pdf", "s3://b/x"), is_below("/ab/c.pdf", "/a")
    (True, False)
    """
    if uri == root:
        return True
    separator = os.sep if kind_of(root) == "local" else "/"
    return uri.startswith(root if root.endswith(separator) else root + separator)


def is_plain(name: str) -> bool:
    """Tell whether Postgres can store the name as it is: no NUL, no undecodable bytes."""
    return "\x00" not in name and not any(0xD800 <= ord(letter) <= 0xDFFF for letter in name)


def _normal_url(url: str) -> str:
    """Return a URL with a small scheme and, for folders, without a slash at the end.

    Raises `SourceError` for one that cannot be an address, or that carries a password.
    """
    scheme, _, rest = url.partition("://")
    normal = f"{scheme.lower()}://{rest}"
    try:
        parts = urlsplit(normal)
        parts.port  # noqa: B018 - reading it checks it
    except ValueError as error:
        raise SourceError(f"{url!a} is no valid address ({error})", hint="check it") from None
    if parts.password:
        raise SourceError(
            f"the address of {parts.hostname} carries a password",
            hint="give passwords by the environment variables of its file system",
        )
    if kind_of(normal) != "web":
        return normal.rstrip("/")
    if not parts.hostname or parts.username:
        raise SourceError(f"{url!a} is no address of a web page", hint="write https://host/path")
    return normal
