"""The vocabulary of RTF: tokens, destinations, characters, code pages, properties."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

TOKEN = re.compile(
    rb"\\(?P<word>[a-zA-Z]{1,32})(?P<number>-?\d{1,10})?[ ]?|\\'(?P<hex>[0-9a-fA-F]{2})"
    rb"|\\(?P<symbol>[^a-zA-Z])|(?P<group>[{}])|(?P<text>[^\\{}\r\n]+)|[\r\n]+",
    re.DOTALL,
)
SKIPPED = frozenset(
    "colortbl listtable listoverridetable rsidtbl generator themedata colorschememapping "
    "datastore latentstyles xmlnstbl pict object header headerl headerr headerf footer footerl "
    "footerr footerf ftnsep ftnsepc aftnsep pnseclvl template private mmathPr mctrlPr revtbl "
    "userprops pgdsctbl filetbl nonshppict bkmkstart bkmkend annotation atnid atnauthor atnref "
    "falt panose shpinst shprslt do comment fldtype datafield wgrffmtfilter xe tc".split()
)
CHARACTERS = {
    "tab": "\t",
    "line": "\n",
    "emdash": "—",
    "endash": "–",
    "lquote": "‘",
    "rquote": "’",
    "ldblquote": "“",
    "rdblquote": "”",
    "bullet": "•",
    "emspace": " ",
    "enspace": " ",
}
READ_THOUGH_STARRED = frozenset({"listtext", "pntext", "fldinst", "moMath", "moMathPara"})
"""Destinations that readers may skip, but that hold what people see."""
DESTINATIONS = {
    **{name: name for name in ("fonttbl", "stylesheet", "listtext", "fldinst", "title", "info")},
    "pntext": "listtext",
    "shprslt": "copy",
    "pict": "copy",
}
"""What a group is for, by the word that begins it; `copy` shows a shape to older programs."""
BOXES = frozenset({"shptxt", "dptxbxtext", "footnote"})
"""Destinations with paragraphs of their own: text boxes, and notes."""
MATH_BEFORE = {"mden": "/", "msup": "^", "msub": "_"}
"""Signs before parts of formulas."""
SYMBOLS = {b"\\": "\\", b"{": "{", b"}": "}", b"~": " ", b"_": "-", b"-": ""}
CHARSETS = {
    0: "cp1252",
    77: "mac_roman",
    128: "cp932",
    129: "cp949",
    130: "johab",
    134: "cp936",
    136: "cp950",
    161: "cp1253",
    162: "cp1254",
    163: "cp1258",
    177: "cp1255",
    178: "cp1256",
    186: "cp1257",
    204: "cp1251",
    222: "cp874",
    238: "cp1250",
}
"""Code page by `\\fcharset`."""
RESETS: dict[str, dict[str, Any]] = {
    "pard": {"style": 0, "outline": None, "level": 0, "indent": 0, "in_table": False},
    "plain": {"bold": False, "font": -1, "hidden": False, "deleted": False},
}
"""Words that set several properties back."""
NUMBERS = {
    "s": ("style", 0),
    "outlinelevel": ("outline", 9),
    "ilvl": ("level", 0),
    "li": ("indent", 0),
    "f": ("font", -1),
}
"""Words that set a property to their number, and the number that is meant where there is none."""
SWITCHES = {"b": "bold", "v": "hidden", "deleted": "deleted", "intbl": "in_table"}
"""Words that switch a property on, or off with the number 0."""


def tokens(data: bytes) -> Iterator[re.Match[bytes]]:
    """Control words, symbols, group braces, hexadecimal bytes and text; binary data is skipped."""
    at = 0
    while at < len(data):
        match = TOKEN.match(data, at)
        if match is None:
            at += 1
            continue
        at = match.end()
        if match["word"] == b"bin" and match["number"]:
            at += max(0, int(match["number"]))
        yield match


def is_codec(name: str) -> bool:
    """Does Python know the encoding?"""
    try:
        "".encode(name)
    except LookupError:
        return False
    return True
