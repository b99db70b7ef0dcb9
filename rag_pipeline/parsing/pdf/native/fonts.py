"""What a font's name, weight and flags say about its style.

Producers spell "bold" in many ways and often not at all (Computer Modern: `CMBX10`, `SFBX1000`;
URW: `NimbusSanL-Bold`; Asian families: `-Bd`, `-W7`), so the name, the weight and the flags of the
font descriptor are all asked.
"""

from __future__ import annotations

import re

FIXED_PITCH_FLAG = 1 << 0  # ISO 32000-1, table 123
ITALIC_FLAG = 1 << 6
FORCE_BOLD_FLAG = 1 << 18
BOLD_WEIGHT = 600
"""Weights from here on are bold (CSS: 600 is semi-bold)."""

_SUBSET_PREFIX = re.compile(r"^[A-Z]{6}\+")
_BOLD = re.compile(
    r"bold|black|heavy|demi(?!light)|[-,_ ]bd\b|(?<=[a-z])Bd\b|[-_]W[6-9]\b|\bgothic-?(?:db|eb)\b"
    r"|^(?:ec|tc|la)?(?:CM|SF|T1|EC)-?(?:BX|SSBX|CSSBX|SSDC|B|BXTI|BXSL|BXCC|SX|RX)\d"
    r"|^(?:ec|la)(?:bx|sx|rx|rb)\d|^cmb(?:x|xsl|xti)?\d|^cmss(?:bx|dc)\d|lmroman(?:caps)?\w*bold",
    re.IGNORECASE,
)
_NOT_BOLD = re.compile(r"semilight|demilight|bold(?:ing|face)?less", re.IGNORECASE)
_MONOSPACE = re.compile(
    r"mono|courier|consol|typewriter|menlo|monaco|inconsolata|terminal|fixed|nimbusmonl"
    r"|source ?code|andale|letter ?gothic|ocr-?b|lucida ?console|d2coding|gothic ?coding"
    r"|^(?:cm|sf|ec|lm|tc)(?:v?tt|sltt|tcsc|itt|btl|tl)\w*\d",
    re.IGNORECASE,
)
_ITALIC = re.compile(r"ital|obli|slant|kursiv|^(?:cm|sf|ec)(?:ti|sl|bxti|bxsl)\d", re.IGNORECASE)


def plain_font_name(name: str) -> str:
    """Strip the tag of an embedded subset.

    >>> plain_font_name("ABCDEF+NimbusSanL-Bold")
    'NimbusSanL-Bold'
    """
    return _SUBSET_PREFIX.sub("", name)


def is_bold_font(name: str, weight: int, flags: int) -> bool:
    """Decide from the name first, then from flag and weight.

    >>> is_bold_font("CMBX12", 400, 0), is_bold_font("Arial-BoldMT", 400, 0)
    (True, True)
    >>> is_bold_font("CMR10", 400, 0), is_bold_font("Univers-65", 700, 0)
    (False, True)
    """
    if _BOLD.search(name) and not _NOT_BOLD.search(name):
        return True
    return bool(flags & FORCE_BOLD_FLAG) or weight >= BOLD_WEIGHT


def is_monospace_font(name: str, flags: int, *, asian: bool = False) -> bool:
    """Decide from the name, then from the flag.

    Chinese, Japanese and Korean fonts (`asian`: the page has such text) carry the flag because all
    ideographs are of one width; it says nothing there.

    >>> is_monospace_font("CMTT10", 0), is_monospace_font("Helvetica", 0)
    (True, False)
    >>> is_monospace_font("Ume-Mincho", 1, asian=True), is_monospace_font("Special", 1)
    (False, True)
    """
    return bool(_MONOSPACE.search(name)) or (bool(flags & FIXED_PITCH_FLAG) and not asian)


def is_italic_font(name: str, flags: int) -> bool:
    """Decide from the name, then from the flag.

    >>> is_italic_font("Times-Italic", 0), is_italic_font("Times-Roman", 0)
    (True, False)
    """
    return bool(_ITALIC.search(name)) or bool(flags & ITALIC_FLAG)
