"""The text of an RTF file by two expressions: no groups, no properties, no tables."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

_RTF_LEFT_OUT = (
    "fonttbl|colortbl|stylesheet|info|listtable|listoverridetable|pict|object|header[lrf]?"
    "|footer[lrf]?|fldinst|listtext|pntext|themedata|datastore|latentstyles|xmlnstbl|generator"
    "|rsidtbl|annotation|atnid|atnauthor|atnref|bkmkstart|bkmkend|shprslt|sn|sv|fldtype|mmathPr"
    "|mctrlPr|revtbl|xe|tc|template|userprops|private|panose|falt|do"
)
_RTF_GROUP = re.compile(
    rf"\{{\s*(?:\\\*\\(?!shpinst|moMath)\w+|(?:\\\*)?\\(?:{_RTF_LEFT_OUT})\b)(?:[^{{}}\\]|\\.|\{{[^{{}}]*\}})*\}}",
    re.DOTALL,
)
_RTF_TOKEN = re.compile(
    r"\\u(-?\d+) ?(?:\\'[0-9a-fA-F]{2}|\?)?|\\'([0-9a-fA-F]{2})|\\([a-zA-Z]+)-?\d* ?|\\(.)"
    r"|([{}])|[\r\n]+|([^\\{}\r\n]+)",
    re.DOTALL,
)
RTF_PASSES = 50
"""Groups within each other that are cut out."""


def raw_rtf(path: Path) -> Iterator[str]:
    """Text by one expression: groups that hold no text of the document are cut out first."""
    text = path.read_bytes().decode("cp1252", "replace")
    for _ in range(RTF_PASSES):
        shorter = _RTF_GROUP.sub("", text)
        if shorter == text:
            break
        text = shorter
    parts: list[str] = []
    for code, byte, word, symbol, _, plain in _RTF_TOKEN.findall(text):
        if code:
            value = int(code) % 65536
            parts.append(chr(value) if not 0xD800 <= value <= 0xDFFF else "")
        elif byte:
            continue  # its meaning depends on the font
        elif word:
            parts.append(
                " " if word in ("par", "cell", "row", "tab", "line", "sect", "page") else ""
            )
        elif symbol:
            parts.append(symbol if symbol in "\\{}" else " " if symbol == "~" else "")
        else:
            parts.append(plain)
    yield "".join(parts)
