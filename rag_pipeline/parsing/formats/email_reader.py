"""E-mails (.eml): subject, addresses and date, then the body (RFC 5322, RFC 2045)."""

from __future__ import annotations

import email
import email.policy
import html
import re
from collections.abc import Iterator
from email.message import EmailMessage

from rag_pipeline.errors import DamagedFileError
from rag_pipeline.parsing.formats.decoding import Decoded, decode
from rag_pipeline.parsing.formats.elements import Element, Reading
from rag_pipeline.parsing.formats.markup import decode_html, parse_html, read_markup
from rag_pipeline.parsing.formats.markup_nodes import hidden_texts
from rag_pipeline.parsing.formats.plain_text import text_elements
from rag_pipeline.text import one_line

_SHOWN = ("From", "To", "Cc", "Date")
_TAGS = re.compile(
    r"<(?:script|style)\b.*?</(?:script|style)>|<!--.*?-->|<[^>]*>", re.DOTALL | re.I
)
NEW_SHARE = 0.2
"""Share of words that the forms before lack from which another alternative is read as well."""
MAX_FORWARDS = 5
"""Messages within each other that are read."""


def read_mail(data: bytes, document: str) -> Reading:
    """Elements of a message: its subject is a heading, then every part of its body in order.

    Of alternatives the HTML one is read, or the plain one where that says what HTML does not.
    Attachments are named, not read; forwarded messages are read. Raises `DamagedFileError` where
    the message has no body.
    """
    if data.startswith(b"From "):
        data = data.split(b"\n", 1)[-1]  # mbox
    message = email.message_from_bytes(data, policy=email.policy.default)
    assert isinstance(message, EmailMessage)
    reading = Reading([])
    attachments: list[str] = []
    bodies = _take(message, reading, attachments, document, level=1)
    reading.title = one_line(_header(message, "Subject")) or None
    if not bodies and not attachments:
        raise DamagedFileError("the message has no body", document=document, hint="export it again")
    if attachments:
        reading.elements.append(Element(f"Attachments: {', '.join(attachments)}"))
        count = f"{len(attachments)} attachment" + "s" * (len(attachments) > 1)
        reading.warnings.append(f"{count} not read: {', '.join(attachments[:10])}")
    return reading


def _take(
    message: EmailMessage, reading: Reading, attachments: list[str], document: str, level: int
) -> int:
    """Read a message's headers and its parts; returns how many parts of a body it has."""
    subject = one_line(_header(message, "Subject")) or None
    if subject:
        reading.elements.append(Element(subject, level=level))
    lines = [f"{name}: {value}" for name in _SHOWN if (value := one_line(_header(message, name)))]
    if lines:
        reading.elements.append(Element("\n".join(lines)))
    bodies = 0
    for part in _parts(message):
        if part.get_content_type() == "message/rfc822":
            inner = part.get_payload(0) if level < MAX_FORWARDS else None
            if isinstance(inner, EmailMessage):
                bodies += _take(inner, reading, attachments, document, level + 1)
                continue
        if _is_attachment(part):
            attachments.append(_name_of(part))
            continue
        bodies += 1
        decoded = _text_of(part)
        reading.warnings.extend(decoded.warnings)
        if part.get_content_type() != "text/html" or not decoded.text.strip():
            reading.elements.extend(text_elements(decoded.text))
            continue
        root, missing = parse_html(decoded.text, document)
        reading.warnings.extend(missing)
        reading.furniture.extend(hidden_texts(root))
        # The subject stands above all headings of the body.
        for element in read_markup(root):
            if element.level is not None and subject:
                element.level += level
            reading.elements.append(element)
    return bodies


def _parts(part: EmailMessage) -> Iterator[EmailMessage]:
    """Yield the parts to read in order; of alternatives, those that say something of their own."""
    if part.get_content_type() == "message/rfc822" or not part.is_multipart():
        yield part
        return
    children = [one for one in part.iter_parts() if isinstance(one, EmailMessage)]
    if part.get_content_type() != "multipart/alternative":
        for child in children:
            yield from _parts(child)
        return
    said: set[str] = set()
    # The richest form comes last (RFC 2046, section 5.1.4).
    chosen: list[EmailMessage] = []
    for child in sorted(children, key=_is_plain):
        own = list(_parts(child))
        words = {word for one in own if not _is_attachment(one) for word in _words(one)}
        if not chosen or len(words - said) > NEW_SHARE * len(words):
            chosen.extend(one for one in own if one not in chosen)
            said |= words
    yield from chosen


def _is_plain(part: EmailMessage) -> int:
    """Order of alternatives: HTML, then plain text, then all else."""
    kinds = {one.get_content_type() for one in part.walk()}
    return 0 if "text/html" in kinds else 1 if "text/plain" in kinds else 2


def _words(part: EmailMessage) -> list[str]:
    text = _text_of(part).text
    if part.get_content_type() == "text/html":
        text = html.unescape(_TAGS.sub(" ", text))
    return re.findall(r"\w+", text)


def _is_attachment(part: EmailMessage) -> bool:
    if part.get_content_maintype() not in ("text", "message"):
        return True
    try:
        return part.is_attachment() or bool(part.get_filename())
    except Exception:  # headers that break the rules, as above
        return True


def _header(message: EmailMessage, name: str) -> str:
    """A header's decoded value; headers that break the rules are taken as they stand."""
    try:
        return str(message.get(name, ""))
    except Exception:  # a year of ten digits is an OverflowError, and so on
        return next((str(value) for key, value in message.raw_items() if key == name), "")


def _name_of(part: EmailMessage) -> str:
    try:
        return part.get_filename() or part.get_content_type()
    except Exception:  # headers that break the rules, as above
        return "a part without a name"


def _text_of(part: EmailMessage) -> Decoded:
    """The part's text; what its bytes are goes before the charset that it states."""
    payload = part.get_payload(decode=True)
    data = payload if isinstance(payload, bytes) else b""
    if part.get_content_type() == "text/html" and not part.get_content_charset():
        return decode_html(data)
    return decode(data, part.get_content_charset())
