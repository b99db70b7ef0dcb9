"""Signs of symbol fonts, which files store as codes of the font, → Unicode."""

from __future__ import annotations

_SYMBOL_LOW = (
    " !∀#∃%&∍()∗+,−./0123456789:;<=>?≅ΑΒΧΔΕΦΓΗΙϑΚΛΜΝΟΠΘΡΣΤΥςΩΞΨΖ[∴]⊥_"
    "‾αβχδεφγηιϕκλμνοπθρστυϖωξψζ{|}∼"
)
"""Codes 0x20 to 0x7E of the font Symbol."""
_SYMBOL_HIGH = (
    "€ϒ′≤⁄∞ƒ♣♦♥♠↔←↑→↓°±″≥×∝∂•÷≠≡≈…⏐⎯↵ℵℑℜ℘⊗⊕∅∩∪⊃⊇⊄⊂⊆∈∉∠∇®©™∏√⋅¬∧∨⇔⇐⇑⇒⇓"
    "◊〈®©™∑⎛⎜⎝⎡⎢⎣⎧⎨⎩⎪\uf8ff〉∫⌠⎮⌡⎞⎟⎠⎤⎥⎦⎫⎬⎭"
)
"""Codes 0xA0 to 0xFE of the font Symbol."""
_WINGDINGS = {
    0x4A: "☺",
    0x4C: "☹",
    0x4D: "💣",
    0x4E: "☠",
    0x6C: "●",
    0x6D: "❍",
    0x6E: "■",
    0x6F: "□",
    0x71: "❑",
    0x73: "⬧",
    0x74: "⧫",
    0x75: "◆",
    0x76: "❖",
    0x77: "⬥",
    0x9F: "•",
    0xA7: "▪",
    0xA8: "◻",
    0xD8: "➢",
    0xDF: "←",
    0xE0: "→",
    0xE1: "↑",
    0xE2: "↓",
    0xE7: "⬅",
    0xE8: "➡",
    0xE9: "⬆",
    0xEA: "⬇",
    0xF0: "⇨",
    0xFB: "✗",
    0xFC: "✓",
    0xFD: "☒",
    0xFE: "☑",
}
_PRIVATE = range(0xF020, 0xF100)
"""Word stores codes of symbol fonts here, in Unicode's private use area."""


def is_symbol_font(font: str) -> bool:
    """Is it a font whose codes are signs?

    >>> is_symbol_font("Symbol"), is_symbol_font("Wingdings"), is_symbol_font("Segoe UI Symbol")
    (True, True, False)
    """
    return font.strip().lower().startswith(("symbol", "wingdings"))


def symbol(code: int, font: str) -> str:
    """Return the sign that a code stands for in a font; U+FFFD where nobody knows it.

    >>> symbol(0xF0B1, "Symbol"), symbol(0x6D, "Symbol"), symbol(0xFC, "Wingdings")
    ('±', 'μ', '✓')
    """
    low = code - 0xF000 if code in _PRIVATE else code
    if font.strip().lower().startswith("wingdings"):
        return _WINGDINGS.get(low, "\N{REPLACEMENT CHARACTER}")
    if font.strip().lower().startswith("symbol") or code in _PRIVATE:
        if 0x20 <= low <= 0x7E:
            return _SYMBOL_LOW[low - 0x20]
        if 0xA0 <= low <= 0xFE:
            return _SYMBOL_HIGH[low - 0xA0]
        return "\N{REPLACEMENT CHARACTER}"
    return chr(code) if 0x20 <= code < 0xD800 else "\N{REPLACEMENT CHARACTER}"


def with_signs(text: str, font: str) -> str:
    """Return a text with the codes of a symbol font as signs; other fonts' texts stay.

    >>> with_signs("\\uf0b1 5 mm", "Symbol"), with_signs("5 mm", "Symbol")
    ('± 5 mm', '5 mm')
    """
    if not is_symbol_font(font):
        return text
    return "".join(symbol(ord(one), font) if ord(one) in _PRIVATE else one for one in text)
