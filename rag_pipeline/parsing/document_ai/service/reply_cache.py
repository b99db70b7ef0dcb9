"""Stored replies: a page that was paid for is never requested again."""

from __future__ import annotations

import gzip
from typing import Any, Protocol

from rag_pipeline.parsing.document_ai.service.page_ranges import PageRange, describe_pages


class ReplyCache(Protocol):
    """Keeps raw replies by key. Several threads write at once."""

    def get(self, key: str) -> bytes | None:
        """The value of a key, or None."""

    def put(self, key: str, value: bytes) -> None:
        """Keep a value, replacing an older one."""


class MemoryReplies:
    """Replies of this process only, used if no store is given."""

    def __init__(self) -> None:
        self._values: dict[str, bytes] = {}

    def get(self, key: str) -> bytes | None:
        """The value of a key, or None."""
        return self._values.get(key)

    def put(self, key: str, value: bytes) -> None:
        """Keep a value."""
        self._values[key] = value


def reply_key(source_hash: str, processing: str, pages: PageRange) -> str:
    """Key of the reply for some pages of a file; a valid path on any file system.

    `processing` is the hash of processor, version and options.

    >>> reply_key("ab12", "9f", (1, 2, 3, 7))
    'document_ai/ab12/9f/1-3_7.pb.gz'
    """
    return f"document_ai/{source_hash}/{processing}/{describe_pages(pages, '_')}.pb.gz"


def job_key(source_hash: str, processing: str, pages: PageRange) -> str:
    """Key of the name of the batch job that was started for some pages."""
    return reply_key(source_hash, processing, pages).removesuffix(".pb.gz") + ".job"


def pack(document: Any) -> bytes:
    """A `Document` message for storage: without page images, compressed, always the same bytes."""
    for page in document.pages:
        page.ClearField("image")
    return gzip.compress(document.SerializeToString(deterministic=True), mtime=0)


def unpack(value: bytes) -> Any:
    """The `Document` message that `pack` stored."""
    from google.cloud.documentai_v1 import Document

    return Document.pb(Document()).__class__.FromString(gzip.decompress(value))
