"""What the first bytes of a file say about its type: the one table of signatures."""

from __future__ import annotations

import re
from typing import NamedTuple

HEADER_WINDOW = 1024
"""Readers accept `%PDF-` anywhere in the first 1024 bytes (ISO 32000-1, annex H, note 13)."""
PDF_MIME = "application/pdf"
TIFF_MIME = "image/tiff"


class _Signature(NamedTuple):
    """How files of a kind begin. `mime_type` is set for images that Document AI reads."""

    pattern: bytes
    description: str
    mime_type: str | None = None


_SIGNATURES = (
    _Signature(rb"PK\x03\x04", "a ZIP archive (perhaps DOCX, XLSX, PPTX or EPUB)"),
    _Signature(rb"\xd0\xcf\x11\xe0", "an old Microsoft Office file"),
    _Signature(rb"\{\\rtf", "an RTF document"),
    _Signature(rb"%!PS", "a PostScript file"),
    _Signature(rb"\x89PNG\r\n\x1a\n", "a PNG image", "image/png"),
    _Signature(rb"\xff\xd8\xff", "a JPEG image", "image/jpeg"),
    _Signature(rb"GIF8[79]a", "a GIF image", "image/gif"),
    _Signature(rb"II\*\x00|MM\x00\*", "a TIFF image", TIFF_MIME),
    _Signature(rb"RIFF.{4}WEBP", "a WebP image", "image/webp"),
    # The reserved bytes tell a bitmap from text that begins with BM.
    _Signature(rb"BM.{4}\x00{4}", "a BMP image", "image/bmp"),
    _Signature(rb"\x1f\x8b", "a gzip archive"),
    _Signature(rb"7z\xbc\xaf", "a 7-Zip archive"),
    _Signature(rb"Rar!", "a RAR archive"),
)


def is_pdf(head: bytes) -> bool:
    """Tell by the first `HEADER_WINDOW` bytes whether a file is a PDF."""
    return b"%PDF-" in head[:HEADER_WINDOW]


def mime_type_of(head: bytes) -> str | None:
    """MIME type of a PDF or an image that Document AI reads, by its first bytes; else None.

    >>> mime_type_of(b"%PDF-1.7"), mime_type_of(b"II*\\x00"), mime_type_of(b"PK")
    ('application/pdf', 'image/tiff', None)
    """
    if is_pdf(head):
        return PDF_MIME
    signature = _signature_of(head)
    return signature.mime_type if signature else None


def describe_content(head: bytes) -> str:
    """Say in words what a file seems to be, by its first bytes.

    >>> describe_content(b"<!DOCTYPE html><html>")
    'an HTML page'
    >>> describe_content(b"Hello, world")
    'plain text'
    """
    if signature := _signature_of(head):
        return signature.description
    start = head.lstrip(b"\xef\xbb\xbf \t\r\n").lower()
    if start.startswith(b"<!doctype html") or b"<html" in start[:HEADER_WINDOW]:
        return "an HTML page"
    if start.startswith(b"<?xml"):
        return "an XML file"
    if not any(head):
        return "a file of zero bytes' values only"
    try:
        head.decode("utf-8")
    except UnicodeDecodeError as error:
        # A multi-byte character may be cut at the window's end.
        if error.start < len(head) - 4:
            return "binary data of an unknown kind"
    return "binary data of an unknown kind" if b"\x00" in head else "plain text"


def _signature_of(head: bytes) -> _Signature | None:
    return next((one for one in _SIGNATURES if re.match(one.pattern, head, re.S)), None)
