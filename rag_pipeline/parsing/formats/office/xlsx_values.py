"""Values of spreadsheet cells about as the sheet shows them, and formulas that have no value."""

from __future__ import annotations

import datetime
import re
from typing import Any

from rag_pipeline.text import one_line

_LITERAL = re.compile(r'"([^"]*)"|\\(.)|\[\$([^\]-]*)[^\]]*\]|([0#?])|\[[^\]]*\]|[_*].')
_CELL = re.compile(
    rb"<(?:\w+:)?c\b([^>]*)>\s*<(?:\w+:)?f\b[^>]*?(?:/>|>[^<]*</(?:\w+:)?f>)\s*"
    rb"(?:<(?:\w+:)?v\s*/>|<(?:\w+:)?v>\s*</(?:\w+:)?v>|(?=</(?:\w+:)?c>))"
)
_PLACE = re.compile(rb"""\br=["']([A-Z]{1,3}\d{1,7})["']""")
_TEXT_RESULT = re.compile(rb"""\bt=["']str["']""")
_LINK = re.compile(r'^=\s*HYPERLINK\(\s*"([^"]*)"\s*(?:[,;]\s*"([^"]*)"\s*)?\)$', re.IGNORECASE)


def uncomputed(sheet: bytes) -> list[str]:
    """Return the places (`B7`) of formulas in a sheet's XML that no program ever computed.

    An empty text is a result, which is stored with the type `str`.
    """
    found = []
    for attributes in _CELL.findall(sheet):
        place = _PLACE.search(attributes)
        if place and not _TEXT_RESULT.search(attributes):
            found.append(place[1].decode("ascii"))
    return found


def shown_formula(formula: Any) -> str:
    """Return a formula as text; a link is what it shows and where it leads.

    >>> shown_formula("=B2*C2"), shown_formula('=HYPERLINK("http://a.example","Manual")')
    ('=B2*C2', 'Manual (http://a.example)')
    """
    text = one_line(str(getattr(formula, "text", formula)))
    if match := _LINK.match(text):
        return f"{match[2]} ({match[1]})" if match[2] else match[1]
    return text if text.startswith("=") else f"={text}"


def shown_value(cell: Any) -> str:
    """Return a value about as the sheet shows it; units in a number's format belong to it."""
    value, form = cell.value, cell.number_format
    if isinstance(value, bool):
        return "TRUE" if value else "FALSE"
    if isinstance(value, datetime.timedelta):
        return _duration(value, form)
    if isinstance(value, datetime.datetime):
        return _moment(value, form)
    if isinstance(value, datetime.time):
        return value.isoformat("auto" if "s" in form.lower() else "minutes")
    if isinstance(value, (int, float)):
        return _with_units(_number(value, form), form)
    text = str(value).strip()
    link = cell.hyperlink
    target = link.target if link is not None else None
    if target and target.startswith(("http://", "https://")) and target not in text:
        return f"{text} ({target})"
    return text


def _number(value: float, form: str) -> str:
    if form.endswith("%"):
        return f"{value * 100:.10g}%" if isinstance(value, float) else f"{value * 100}%"
    if isinstance(value, float):
        return f"{value:.15g}"
    if set(form) == {"0"}:
        return str(value).zfill(len(form))  # part numbers with leading zeros
    return str(value)


def _with_units(text: str, form: str) -> str:
    """Add what a number's format writes before and after it.

    >>> _with_units("25", '0.0" Nm"'), _with_units("-3", "General"), _with_units("5", "[$€-407]0")
    ('25 Nm', '-3', '€5')
    """
    section = re.split(r';(?=(?:[^"]*"[^"]*")*[^"]*$)', form)[0]
    before = after = ""
    has_digits = False
    for quoted, escaped, currency, digit in _LITERAL.findall(section):
        has_digits |= bool(digit)
        literal = quoted or escaped or currency
        if has_digits:
            after += literal
        else:
            before += literal
    if not has_digits or not any(
        letter.isalnum() or letter in "€$£¥%°±²³" for letter in before + after
    ):
        return text
    return f"{before}{text}{after}".strip()


def _duration(value: datetime.timedelta, form: str) -> str:
    """Hours beyond a day stay hours, as `[h]:mm` says.

    >>> _duration(datetime.timedelta(days=1, hours=6, minutes=5), "[h]:mm")
    '30:05'
    """
    seconds = round(value.total_seconds())
    sign, seconds = ("-", -seconds) if seconds < 0 else ("", seconds)
    hours, rest = divmod(seconds, 3600)
    lower = form.lower()
    if "[h" not in lower and "[m" in lower:
        return f"{sign}{seconds // 60}:{seconds % 60:02}"
    if "[h" not in lower and "[s" in lower:
        return f"{sign}{seconds}"
    with_seconds = "s" in lower or rest % 60
    return f"{sign}{hours}:{rest // 60:02}" + (f":{rest % 60:02}" if with_seconds else "")


def _moment(value: datetime.datetime, form: str) -> str:
    lower = re.sub(r'"[^"]*"|\[[^\]]*\]', "", form.lower())
    if value.year <= 1900 and "h" in lower and not ("y" in lower or "d" in lower):
        return value.time().isoformat("minutes")  # the sheet shows a time of day alone
    if value.time() == datetime.time():
        return value.date().isoformat()
    return value.isoformat(" ", "minutes")
