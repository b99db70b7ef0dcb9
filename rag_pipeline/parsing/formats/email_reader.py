"""E-mails (.eml): subject, addresses and date, then the body (RFC 5322, RFC 2045)."""

from __future__ import annotations

import email
import email.policy
from email.message import EmailMessage

from rag_pipeline.errors import DamagedFileError
from rag_pipeline.parsing.formats.decoding import Decoded, decode
from rag_pipeline.parsing.formats.elements import Element, Reading
from rag_pipeline.parsing.formats.markup import decode_html, parse_html, read_markup
from rag_pipeline.parsing.formats.plain_text import text_elements
from rag_pipeline.text import one_line

_SHOWN = ("From", "To", "Cc", "Date")


def read_mail(data: bytes, document: str) -> Reading:
    """Elements of a message: its subject is a heading, its HTML body goes before the plain one.

    Attachments are named, not read. Raises `DamagedFileError` where the message has no body.
    """
    if data.startswith(b"From "):
        data = data.split(b"\n", 1)[-1]  # mbox
    message = email.message_from_bytes(data, policy=email.policy.default)
    assert isinstance(message, EmailMessage)
    subject = one_line(_header(message, "Subject")) or None
    elements = [Element(subject, level=1)] if subject else []
    lines = [f"{name}: {value}" for name in _SHOWN if (value := one_line(_header(message, name)))]
    if lines:
        elements.append(Element("\n".join(lines)))
    body = _body(message)
    attachments = [_name_of(part) for part in message.iter_attachments()]
    if body is None and not attachments:
        raise DamagedFileError("the message has no body", document=document, hint="export it again")
    warnings: list[str] = []
    if body is not None:
        decoded = _text_of(body)
        warnings.extend(decoded.warnings)
        if body.get_content_type() == "text/html" and decoded.text.strip():
            root, missing = parse_html(decoded.text, document)
            warnings.extend(missing)
            # The subject stands above all headings of the body.
            for element in read_markup(root):
                if element.level is not None and subject:
                    element.level += 1
                elements.append(element)
        else:
            elements.extend(text_elements(decoded.text))
    if attachments:
        elements.append(Element(f"Attachments: {', '.join(attachments)}"))
        count = f"{len(attachments)} attachment" + "s" * (len(attachments) > 1)
        warnings.append(f"{count} not read: {', '.join(attachments[:10])}")
    return Reading(elements, title=subject, warnings=warnings)


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


def _body(message: EmailMessage) -> EmailMessage | None:
    found = message.get_body(preferencelist=("html", "plain"))
    return found if isinstance(found, EmailMessage) else None


def _text_of(part: EmailMessage) -> Decoded:
    """The part's text; what its bytes are goes before the charset that it states."""
    payload = part.get_payload(decode=True)
    data = payload if isinstance(payload, bytes) else b""
    if part.get_content_type() == "text/html" and not part.get_content_charset():
        return decode_html(data)
    return decode(data, part.get_content_charset())
