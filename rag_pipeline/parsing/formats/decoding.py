"""Bytes of a text file → text: which encoding, and how many bytes did not fit it."""

from __future__ import annotations

import codecs
from dataclasses import dataclass

_MARKS = (
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
SAMPLE = 200_000
"""Bytes that an encoding is guessed from."""
MAX_FAULTS = 0.02
"""Share of bytes that may be no UTF-8 in a file that is UTF-8 but for a few damaged places."""
MIN_EVIDENCE = 8
"""Bytes beyond ASCII from which statistics tell anything."""
HANGUL_SHARE = 0.5
"""Share of Hangul syllables among letters beyond ASCII from which a file is Korean."""


@dataclass(frozen=True)
class Decoded:
    """A file's text. `faults` places held bytes that mean nothing in the encoding."""

    text: str
    encoding: str
    faults: int = 0

    @property
    def warnings(self) -> list[str]:
        """What the reader should know."""
        if not self.faults:
            return []
        places = "1 place" if self.faults == 1 else f"{self.faults} places"
        return [f"{places} could not be decoded as {self.encoding}"]


def decode(data: bytes, declared: str | None = None) -> Decoded:
    """Decode by byte order mark, then UTF-8, then what the file declares, then by its bytes.

    UTF-8 goes before a declaration, since text in another encoding is hardly ever valid UTF-8,
    and files that were converted often keep their old declaration.
    """
    for mark, encoding in _MARKS:
        if data.startswith(mark):
            return _decoded(data, encoding)
    if wide := _wide_encoding(data):
        return _decoded(data, wide)
    try:
        return Decoded(data.decode("utf-8"), "utf-8")
    except UnicodeDecodeError:
        pass
    mostly = _mostly_utf8(data)
    if mostly is not None:
        return mostly
    if declared and (known := _known(declared)) and known != "utf-8":
        return _decoded(data, known)
    return _decoded(data, _guess(data))


def _decoded(data: bytes, encoding: str) -> Decoded:
    text = data.decode(encoding, errors="replace")
    own = text.count("\N{REPLACEMENT CHARACTER}")
    return Decoded(text, "utf-8" if encoding == "utf-8-sig" else encoding, own)


def _known(name: str) -> str | None:
    """Python's name of an encoding; the wider relatives that files labelled so really use."""
    try:
        found = codecs.lookup(name.strip()).name
    except (LookupError, ValueError):
        return None
    # As browsers do: https://encoding.spec.whatwg.org/#names-and-labels
    wider = {"euc_kr": "cp949", "iso8859-1": "cp1252", "ascii": "cp1252", "gb2312": "gb18030"}
    return wider.get(found, {"shift_jis": "cp932"}.get(found, found))


def _wide_encoding(data: bytes) -> str | None:
    """UTF-16 without a mark: every other byte of Latin text is NUL."""
    sample = data[:4096]
    if len(sample) < 4 or b"\x00" not in sample:
        return None
    even, odd = sample[::2].count(0), sample[1::2].count(0)
    half = len(sample) // 2
    if odd > 0.2 * half and even < 0.02 * half:
        return "utf-16-le"
    return "utf-16-be" if even > 0.2 * half and odd < 0.02 * half else None


def _mostly_utf8(data: bytes) -> Decoded | None:
    """UTF-8 with a few damaged places: sequences of several bytes are valid far more often."""
    text = data.decode("utf-8", errors="replace")
    faults = text.count("\N{REPLACEMENT CHARACTER}")
    valid = sum(character > "\x7f" for character in text) - faults
    if faults <= MAX_FAULTS * len(data) and valid > 4 * faults:
        return Decoded(text, "utf-8", faults)
    return None


def _guess(data: bytes) -> str:
    """Korean by its syllables, Western Europe by its letters, anything else by statistics."""
    sample = data[:SAMPLE]
    korean = sample.decode("cp949", errors="ignore")
    beyond = [character for character in korean if character > "\x7f"]
    hangul = sum("가" <= character <= "힣" for character in beyond)
    fits = len(korean.encode("cp949")) > 0.995 * len(sample)
    if beyond and fits and hangul > HANGUL_SHARE * len(beyond):
        return "cp949"
    from charset_normalizer import from_bytes

    best = from_bytes(sample).best()
    high = sum(byte > 0x7F for byte in sample)
    if best is None or high < MIN_EVIDENCE or best.encoding.startswith("utf"):
        return "cp1252"
    single = best.encoding.startswith(
        ("cp125", "latin", "iso8859", "mac", "cp8", "cp4", "hp", "ptcp")
    )
    if single and not _is_cyrillic_or_greek(str(best)):
        return "cp1252"
    return best.encoding


def _is_cyrillic_or_greek(text: str) -> bool:
    """Text of another alphabet, which a guess among single-byte encodings is good for."""
    letters = [character for character in text if character.isalpha() and character > "\x7f"]
    other = sum("\u0370" <= character <= "\u06ff" for character in letters)
    return other > 0.6 * len(letters) if letters else False
