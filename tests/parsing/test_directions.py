"""Scripts that run from right to left, and writing from top to bottom."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate
from pathlib import Path

import pytest
import reportlab

from tests.parsing.pages import blocks_of

SIZE = 10
HEBREW = {chr(ord("A") + at): chr(0x5D0 + at) for at in range(26)}
"""What the font draws as A to Z is meant as the letters from alef on."""


def width(code: str) -> float:
    """Width of a character of the font, in points at `SIZE`."""
    return 7 if code.isupper() else 5


def mapped_pdf(
    path: Path, texts: Sequence[tuple[float, float, str]], *, down: bool = False
) -> Path:
    """Write a PDF that draws texts (x, y, codes) in a font with a map to Unicode.

    Codes A to Z are Hebrew letters; with `down` they are kana, set from top to bottom.
    """
    first = 0x3042 if down else 0x5D0
    pairs = [f"<{ord('A') + at:02X}> <{first + at:04X}>" for at in range(26)]
    pairs += [f"<{code:02X}> <{code:04X}>" for code in (*range(0x20, 0x41), *range(0x61, 0x7B))]
    pairs = [pair.replace("<", "<00", 1) for pair in pairs] if down else pairs
    space = "<0000> <FFFF>" if down else "<00> <FF>"
    cmap = (
        "/CIDInit /ProcSet findresource begin 12 dict begin begincmap /CMapName /T def\n"
        f"1 begincodespacerange {space} endcodespacerange\n"
        f"{len(pairs)} beginbfchar\n" + "\n".join(pairs) + "\nendbfchar endcmap end end"
    )
    encoding = "utf-16-be" if down else "ascii"
    content = "\n".join(
        f"BT /F 10 Tf 1 0 0 1 {x} {y} Tm <{text.encode(encoding).hex()}> Tj ET"
        for x, y, text in texts
    )
    widths = " ".join(str(round(1000 * width(chr(code)) / SIZE)) for code in range(32, 127))
    simple = (
        f"<</Type/Font/Subtype/TrueType/BaseFont/Arial/FirstChar 32/LastChar 126/Widths[{widths}]"
        "/FontDescriptor 6 0 R/Encoding/WinAnsiEncoding/ToUnicode 5 0 R>>"
    )
    composite = (
        "<</Type/Font/Subtype/Type0/BaseFont/Gothic/Encoding/Identity-V/ToUnicode 5 0 R"
        "/DescendantFonts[<</Type/Font/Subtype/CIDFontType2/BaseFont/Gothic/FontDescriptor 6 0 R"
        "/CIDSystemInfo<</Registry(Adobe)/Ordering(Identity)/Supplement 0>>"
        "/CIDToGIDMap/Identity>>]>>"
    )
    # Without one of its own PDFium has no letters to measure for kana.
    font = Path(reportlab.__file__).with_name("fonts").joinpath("Vera.ttf").read_bytes()
    font = font.decode("latin-1")
    objects = [
        "<</Type/Catalog/Pages 2 0 R>>",
        "<</Type/Pages/Kids[3 0 R]/Count 1>>",
        "<</Type/Page/Parent 2 0 R/MediaBox[0 0 595 842]/Contents 4 0 R"
        f"/Resources<</Font<</F {composite if down else simple}>>>>>>",
        f"<</Length {len(content)}>>stream\n{content}\nendstream",
        f"<</Length {len(cmap)}>>stream\n{cmap}\nendstream",
        "<</Type/FontDescriptor/FontName/Gothic/Flags 32/FontBBox[0 -200 1000 800]/ItalicAngle 0"
        f"/Ascent 800/Descent -200/CapHeight 700/StemV 80{'/FontFile2 7 0 R' if down else ''}>>",
        f"<</Length {len(font)}>>stream\n{font}\nendstream",
    ]
    data = b"%PDF-1.7\n"
    places = []
    for number, body in enumerate(objects, start=1):
        places.append(len(data))
        data += f"{number} 0 obj\n{body}\nendobj\n".encode("latin-1")
    table = "".join(f"{place:010} 00000 n \n" for place in places)
    start = len(data)
    data += f"xref\n0 8\n0000000000 65535 f \n{table}trailer<</Size 8/Root 1 0 R>>\n".encode()
    path.write_bytes(data + f"startxref\n{start}\n%%EOF".encode())
    return path


def meant(codes: str) -> str:
    """A text in the order of reading, with the letters that its codes stand for."""
    return "".join(HEBREW.get(code, code) for code in codes)


def from_right(
    right: float, y: float, text: str, *, by_letter: bool
) -> list[tuple[float, float, str]]:
    """A line that ends at `right`, where its first word stands.

    Numbers and words in lower case run the other way, as in any text in Hebrew; a stop after them
    stands on their left.
    """
    drawn, edge = [], right
    for word in text.split():
        core = word.rstrip(".,")
        keeps = core[0].isdigit() or core[0].islower()
        seen = word[len(core) :] + core if keeps else word[::-1]
        left = edge - sum(map(width, word))
        if by_letter:
            places = accumulate(map(width, seen), initial=left)
            drawn += [(x, y, letter) for x, letter in zip(places, seen, strict=False)][::-1]
        else:
            drawn.append((left, y, seen))
        edge = left - 3
    return drawn


@pytest.mark.parametrize("by_letter", [False, True])
def test_a_line_from_right_to_left_is_read_in_order(tmp_path: Path, by_letter: bool) -> None:
    lines = ["ABC DEFG 16 bar, HIJ EKLM NOPQ", "KLM NOPQ RST UV ABCD EFG 2.5", "HIJK m8-20."]
    drawn = [
        one
        for at, line in enumerate(lines)
        for one in from_right(500, 700 - 13 * at, line, by_letter=by_letter)
    ]
    blocks = blocks_of(mapped_pdf(tmp_path / "a.pdf", drawn))
    assert list(blocks["text"]) == [meant("\n".join(lines))]


def test_steps_from_right_to_left_stay_apart(tmp_path: Path) -> None:
    lines = ["1. ABC DEFG HIJ", "2. KLM NOPQ", "3. ABC UV"]
    drawn = [
        one
        for at, line in enumerate(lines)
        for one in from_right(500, 700 - 13 * at, line, by_letter=True)
    ]
    assert list(blocks_of(mapped_pdf(tmp_path / "a.pdf", drawn))["text"]) == list(map(meant, lines))


@pytest.mark.parametrize("by_letter", [False, True])
def test_columns_from_top_to_bottom_are_lines_from_the_right(
    tmp_path: Path, by_letter: bool
) -> None:
    columns = ["ABCDEFGHIJ", "KLMNOPQRST", "UVWXYZ"]
    drawn = [
        one
        for at, column in enumerate(columns)
        for one in (
            [(500 - 16 * at, 700 - 10 * k, letter) for k, letter in enumerate(column)]
            if by_letter
            else [(500 - 16 * at, 700, column)]
        )
    ]
    texts = list(blocks_of(mapped_pdf(tmp_path / "a.pdf", drawn, down=True))["text"])
    kana = "".join(chr(0x3042 + ord(letter) - ord("A")) for letter in "".join(columns))
    assert texts[0].replace("\n", "") == kana
