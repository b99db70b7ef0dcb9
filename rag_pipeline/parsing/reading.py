"""One page of a PDF → words, rulings, fills and images, by few calls into PDFium.

A call through ctypes costs about a microsecond, so nothing is asked per character: the text of the
page comes in one buffer, and only the first and last character of each word are located. Style
and baseline are asked once per text object.
"""

from __future__ import annotations

import ctypes
import math
import re
from collections import Counter
from collections.abc import Iterator
from typing import Any, NamedTuple

import pypdfium2 as pdfium
import pypdfium2.raw as c

from rag_pipeline.parsing import calls
from rag_pipeline.parsing.fonts import (
    is_bold_font,
    is_italic_font,
    is_monospace_font,
    plain_font_name,
)
from rag_pipeline.parsing.geometry import Box, PageContent, Ruling, Style, Word, contains
from rag_pipeline.parsing.graphics import Graphics, read_graphics
from rag_pipeline.parsing.outline import Entry
from rag_pipeline.parsing.tags import tagged_headings
from rag_pipeline.text import clean_text

BROKEN_HYPHEN = "\ufffe"
"""PDFium puts it for a hyphen at the end of a line whose word goes on in the next."""
_WORD = re.compile(r"[^\s\x00\ufffe]+\ufffe?|\ufffe")
_ASIAN = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7a3]")
_UNREADABLE = re.compile(r"[\ufffd\ue000-\uf8ff]")
_SYMBOL_BULLETS = str.maketrans(
    {"\uf0b7": "•", "\uf0a7": "▪", "\uf0d8": "➢", "\uf0fc": "✓", "\uf0a8": "▪", "\uf076": "❖"}
)
MIN_FONT_SIZE = 1.0
"""Text below one point is not meant to be read."""
FILL_AND_STROKE = c.FPDF_TEXTRENDERMODE_FILL_STROKE
CLIP_ONLY = c.FPDF_TEXTRENDERMODE_CLIP
INVISIBLE = c.FPDF_TEXTRENDERMODE_INVISIBLE
STRIP = 20.0
"""Points; height of the strips of a page in which doubled text is looked for."""
NEARLY_WHITE = 0xF8
SCAN_COVERAGE = 0.5
"""Share of the page that images cover where invisible text is taken for an OCR layer."""


class _Run(NamedTuple):
    """What the words of one text object share."""

    style: Style
    turns: int  # quarter turns of the text's direction, in user space
    upright: bool  # close to an axis
    hidden: bool
    invisible: bool  # render mode 3: an OCR layer, or hidden
    origin: tuple[float, float]  # a point on the baseline
    unmapped: bool  # the font does not say which characters it draws


class _FontFacts(NamedTuple):
    name: str
    bold: bool
    italic: bool
    monospace: bool


_RawWord = tuple[float, float, float, float, str, "_Run", int, bool, bool]
"""left, bottom, right, top (user space), text, run, position, breaks its word, glued."""


class _PageReader:
    """Reads the text of one page; holds the buffers that the calls write to."""

    def __init__(self, text_page: Any) -> None:
        self.text_page = text_page
        self.address = calls.address_of(text_page)
        self.rect = c.FS_RECTF()
        self.rect_at = ctypes.addressof(self.rect)
        (self.size_out,), (self.size_at,) = calls.buffers(ctypes.c_float, 1)
        self.matrix = c.FS_MATRIX()
        self.matrix_at = ctypes.addressof(self.matrix)
        self.colors, self.colors_at = calls.buffers(ctypes.c_uint, 4)
        self.name_buffer = ctypes.create_string_buffer(256)
        self.fonts: dict[int, _FontFacts] = {}
        self.runs: dict[int, _Run] = {}
        self.seen: set[int] = set()
        """Text objects whose characters were read, beyond those in `runs`."""
        self.styles: dict[tuple[Any, ...], Style] = {}
        self.asian = False
        """The page has Chinese, Japanese or Korean text."""

    def page_text(self) -> str:
        """All characters of the page, one code unit an index."""
        count = c.FPDFText_CountChars(self.text_page)
        if count <= 0:
            return ""
        buffer = (ctypes.c_ushort * (count + 1))()
        written = c.FPDFText_GetText(self.text_page, 0, count, buffer) - 1
        if written == count:
            text = bytes(buffer)[: 2 * count].decode("utf-16-le", "surrogatepass")
            if len(text) == count:
                return text
        # Characters without a Unicode value, or beyond the basic plane, shift the indices.
        get = c.FPDFText_GetUnicode
        return "".join(chr(get(self.text_page, index)) for index in range(count))

    def object_at(self, index: int) -> int:
        """Address of the text object that a character belongs to; 0 for a generated one."""
        return calls.text_object_at(self.address, index) or 0

    def font_facts(self, object_address: int) -> _FontFacts:
        """Name and style of a text object's font, asked once a page."""
        address = calls.font_of(object_address) or 0
        if facts := self.fonts.get(address):
            return facts
        font = ctypes.cast(address, c.FPDF_FONT)
        length = c.FPDFFont_GetBaseFontName(font, self.name_buffer, 256)
        raw = self.name_buffer.raw[: max(0, min(length, 256) - 1)]
        name = plain_font_name(raw.decode("utf-8", "replace"))
        flags = max(0, c.FPDFFont_GetFlags(font))
        weight = c.FPDFFont_GetWeight(font)
        facts = _FontFacts(
            name,
            is_bold_font(name, weight, flags),
            is_italic_font(name, flags),
            is_monospace_font(name, flags, asian=self.asian),
        )
        self.fonts[address] = facts
        return facts

    def run_of(self, address: int, index: int) -> _Run:
        """Style and direction of a text object, asked once."""
        if run := self.runs.get(address):
            return run
        facts = self.font_facts(address)
        calls.font_size(address, self.size_at)
        calls.char_matrix(self.address, index, self.matrix_at)
        m = self.matrix
        a, b, shear, height = m.a, m.b, m.c, m.d
        upright_scale = b == 0.0 and shear == 0.0
        size = abs(self.size_out.value * (height if upright_scale else math.hypot(shear, height)))
        mode = calls.render_mode(address)
        calls.fill_color(address, *self.colors_at)
        red, green, blue, alpha = self.colors
        turns, upright = (0, True) if b == 0.0 and a > 0 else _direction(a, b)
        slanted = abs(shear) > 0.15 * abs(height) > 0 and turns in (0, 2)
        style = self.style(
            round(size, 1),
            facts.bold or mode == FILL_AND_STROKE,
            facts.italic or (slanted and upright),
            facts.monospace,
            red.value << 16 | green.value << 8 | blue.value,
            facts.name,
        )
        hidden = size < MIN_FONT_SIZE or mode == CLIP_ONLY or alpha.value == 0
        unmapped = calls.has_map_error(self.address, index) == 1
        run = _Run(style, turns, upright, hidden, mode == INVISIBLE, (m.e, m.f), unmapped)
        self.runs[address] = run
        return run

    def style(self, *values: Any) -> Style:
        """One object for equal styles, so that comparing them is fast."""
        style = self.styles.get(values)
        if style is None:
            style = self.styles[values] = Style(*values)
        return style


def _direction(a: float, b: float) -> tuple[int, bool]:
    """Quarter turns of a text direction, and whether it is close to an axis.

    >>> _direction(1, 0), _direction(0, 1), _direction(-1, 0), _direction(0.7, 0.7)
    ((0, True), (1, True), (2, True), (0, False))
    """
    turns = round(math.atan2(b, a) / (math.pi / 2)) % 4
    straight = max(abs(a), abs(b)) > 12 * min(abs(a), abs(b))
    return turns, straight


def _to_layout(box: Box, page: Box, turns: int) -> Box:
    """User space (origin at the bottom left) → a top-left space after clockwise quarter turns."""
    left, bottom, right, top = page
    x0, y0, x1, y1 = box
    if turns == 0:
        return x0 - left, top - y1, x1 - left, top - y0
    if turns == 1:
        return y0 - bottom, x0 - left, y1 - bottom, x1 - left
    if turns == 2:
        return right - x1, y0 - bottom, right - x0, y1 - bottom
    return top - y1, right - x1, top - y0, right - x0


def _raw_words(reader: _PageReader) -> list[_RawWord]:
    """Split the page's text at white space and locate each word."""
    words: list[_RawWord] = []
    append = words.append
    text_object_at, box_of = calls.text_object_at, calls.loose_char_box
    address, runs, rect, rect_at = reader.address, reader.runs, reader.rect, reader.rect_at
    text = reader.page_text()
    reader.asian = bool(_ASIAN.search(text))
    previous = -1
    for match in _WORD.finditer(text):
        start, end = match.span()
        last = text_object_at(address, end - 1)
        # The characters of an object are neighbours: the word between two of one is its own.
        first = last if last == previous else text_object_at(address, start)
        previous = last
        token = match.group()
        if first != last or not first:
            words.extend(_split_by_object(reader, start, end, token))
            continue
        run = runs.get(first) or reader.run_of(first, start)
        if token[-1] == BROKEN_HYPHEN or not run.upright or run.turns:
            append(_locate(reader, run, start, end, token))
            continue
        # The same as `_locate`, for words that run from left to right.
        box_of(address, start, rect_at)
        left, bottom, right, top = rect.left, rect.bottom, rect.right, rect.top
        if end - start > 1:
            box_of(address, end - 1, rect_at)
            if rect.right >= right:
                right = rect.right
            else:  # from right to left
                left = min(left, rect.left)
        append((left, bottom, right, top, token, run, start, False, False))
    return words


def _locate(
    reader: _PageReader, run: _Run, start: int, end: int, token: str, glued: bool = False
) -> _RawWord:
    rect = reader.rect
    calls.loose_char_box(reader.address, start, reader.rect_at)
    left, bottom, right, top = rect.left, rect.bottom, rect.right, rect.top
    if end - start > 1:
        calls.loose_char_box(reader.address, end - 1, reader.rect_at)
        left, right = min(left, rect.left), max(right, rect.right)
        bottom, top = min(bottom, rect.bottom), max(top, rect.top)
    breaks = token[-1] == BROKEN_HYPHEN
    if breaks:
        token = token[:-1] + "-"
    return left, bottom, right, top, token, run, start, breaks, glued


def _split_by_object(reader: _PageReader, start: int, end: int, token: str) -> list[_RawWord]:
    """A word drawn by several text objects: one piece a style; lines put them together again."""
    runs = reader.runs
    addresses = [reader.object_at(index) for index in range(start, end)]
    reader.seen.update(addresses)
    if len(addresses) > 3 and addresses[0] and addresses[-1]:
        # Some producers draw every character by itself: three of a word tell its style.
        middle = len(addresses) // 2
        sample = [
            runs.get(addresses[at]) or reader.run_of(addresses[at], start + at)
            for at in (0, middle if addresses[middle] else 0, len(addresses) - 1)
        ]
        if all(one is sample[0] or _same_line(sample[0], one) for one in sample):
            return [_locate(reader, sample[0], start, end, token)]
    pieces: list[tuple[_Run, int, int]] = []
    previous = 0
    for index, address in enumerate(addresses, start):
        if address in (previous, 0):
            if pieces:
                pieces[-1] = (*pieces[-1][:2], index + 1)
            continue
        previous = address
        run = runs.get(address) or reader.run_of(address, index)
        if pieces and _same_line(pieces[-1][0], run):
            pieces[-1] = (*pieces[-1][:2], index + 1)
        else:
            pieces.append((run, index, index + 1))
    return [
        _locate(reader, run, first, last, token[first - start : last - start], glued=number > 0)
        for number, (run, first, last) in enumerate(pieces)
    ]


def _same_line(a: _Run, b: _Run) -> bool:
    return (
        a.style is b.style
        and a.turns == b.turns == 0
        and abs(a.origin[1] - b.origin[1]) < 0.1
        and b.origin[0] > a.origin[0]
        and a[3:5] == b[3:5]
    )


def read_pages(
    pdf: pdfium.PdfDocument, *, tagged: list[Entry] | None = None
) -> Iterator[PageContent | pdfium.PdfiumError]:
    """Yield the content of each page, or the error where a page cannot be loaded.

    Where a list is given for them, the headings that the tags of a page name are added to it.

    A page stays open until the next is loaded: PDFium drops fonts that no open page uses, and
    loading a large Asian font anew for each page takes longer than all else.
    """
    previous = None
    try:
        for index in range(len(pdf)):
            page = c.FPDF_LoadPage(pdf.raw, index)
            if previous:
                c.FPDF_ClosePage(previous)
            previous = page
            yield (
                _read(page, index, tagged)
                if page
                else pdfium.PdfiumError("the page cannot be loaded")
            )
    finally:
        if previous:
            c.FPDF_ClosePage(previous)


def _read(page: Any, index: int, tagged: list[Entry] | None) -> PageContent:
    text_page = c.FPDFText_LoadPage(page)
    try:
        reader = _PageReader(text_page)
        words = _raw_words(reader)
        graphics = read_graphics(page, reader.seen.union(reader.runs))
        if tagged is not None:
            tagged.extend(tagged_headings(page, text_page, index + 1))
    finally:
        c.FPDFText_ClosePage(text_page)
    return _page_content(page, index, words, graphics, list(reader.runs.values()))


def _page_content(
    page: Any, index: int, raw_words: list[_RawWord], graphics: Graphics, runs: list[_Run]
) -> PageContent:
    """Turn all into layout space, and leave hidden text out."""
    rect = c.FS_RECTF()
    c.FPDF_GetPageBoundingBox(page, ctypes.byref(rect))
    box = (rect.left, rect.bottom, rect.right, rect.top)
    turns = _main_direction(raw_words) if any(run.turns for run in runs) else 0
    width, height = box[2] - box[0], box[3] - box[1]
    if turns % 2:
        width, height = height, width
    content = PageContent(index + 1, width, height, (c.FPDFPage_GetRotation(page) - turns) % 4)
    content.rulings = [Ruling(*_to_layout(ruling, box, turns)) for ruling in graphics.rulings]
    content.fills = [_to_layout(fill, box, turns) for fill, _ in graphics.fills]
    content.images = [_to_layout(image, box, turns) for image in graphics.images]
    if turns == 0 and not graphics.repeated_text and _all_plain(raw_words, runs, box):
        left, top = box[0], box[3]
        content.words = [
            Word(
                x0 - left,
                top - y1,
                x1 - left,
                top - y0,
                top - run.origin[1],
                text,
                run.style,
                position,
                breaks,
                glued,
            )
            for x0, y0, x1, y1, text, run, position, breaks, glued in raw_words
        ]
    else:
        _place_words(content, raw_words, graphics, box, turns)
    _clean_texts(content)
    if any(run.unmapped for run in runs):
        content.unmapped_characters = sum(len(raw[4]) for raw in raw_words if raw[5].unmapped)
    return content


def _all_plain(raw_words: list[_RawWord], runs: list[_Run], page: Box) -> bool:
    """Is all text upright, visible, dark, and on the page?"""
    if not raw_words:
        return True
    for run in runs:
        if run.hidden or run.invisible or not run.upright or run.turns:
            return False
        if run.style.color >= NEARLY_WHITE << 16:
            return False
    left, bottom, right, top = page
    return (
        min([raw[0] for raw in raw_words]) >= left
        and min([raw[1] for raw in raw_words]) >= bottom
        and max([raw[2] for raw in raw_words]) <= right
        and max([raw[3] for raw in raw_words]) <= top
    )


def _clean_texts(content: PageContent) -> None:
    """Clean what is not plain ASCII, and count characters without a Unicode value."""
    for words in (content.words, content.turned_words):
        for word in words:
            text = word.text
            if not text.isascii() or not text.isprintable():
                word.text = clean_text(text.translate(_SYMBOL_BULLETS))
                content.unreadable_characters += len(_UNREADABLE.findall(word.text))


def _place_words(
    content: PageContent, raw_words: list[_RawWord], graphics: Graphics, page: Box, turns: int
) -> None:
    """Turn words into layout space, leave hidden ones out, put those of other directions apart."""
    is_scan = _is_scan(raw_words, graphics, page)
    doubles = _by_height(graphics.repeated_text)
    for raw in raw_words:
        x0, y0, x1, y1, text, run, position, breaks, glued = raw
        if _is_hidden(raw, graphics, page, is_scan):
            content.hidden_characters += len(text)
            continue
        style = run.style
        if doubles and not style.bold:
            style = _printed_style(raw, doubles)
        x0, y0, x1, y1 = _to_layout((x0, y0, x1, y1), page, turns)
        baseline = _to_layout((*run.origin, *run.origin), page, turns)[1]
        straight = run.upright and run.turns == turns
        (content.words if straight else content.turned_words).append(
            Word(x0, y0, x1, y1, baseline, text, style, position, breaks, glued)
        )


def _main_direction(raw_words: list[_RawWord]) -> int:
    """Quarter turns of the direction that most characters run in."""
    characters: Counter[int] = Counter()
    for raw in raw_words:
        if raw[5].upright:
            characters[raw[5].turns] += len(raw[4])
    return characters.most_common(1)[0][0] if characters else 0


def _is_scan(raw_words: list[_RawWord], graphics: Graphics, page: Box) -> bool:
    """Invisible text is an OCR layer where an image fills the page and most text is invisible."""
    invisible = sum(raw[5].invisible for raw in raw_words)
    if not invisible:
        return False
    area = (page[2] - page[0]) * (page[3] - page[1])
    covered = sum((image[2] - image[0]) * (image[3] - image[1]) for image in graphics.images)
    return covered > SCAN_COVERAGE * area and invisible > 0.5 * len(raw_words)


def _is_hidden(raw: _RawWord, graphics: Graphics, page: Box, is_scan: bool) -> bool:
    """Text that a reader cannot see: invisible, tiny, off the page, or white on white."""
    run = raw[5]
    if run.hidden or (run.invisible and not is_scan):
        return True
    x, y = (raw[0] + raw[2]) / 2, (raw[1] + raw[3]) / 2
    if not (page[0] <= x <= page[2] and page[1] <= y <= page[3]):
        return True
    if run.style.color < NEARLY_WHITE << 16 or run.invisible or not _is_white(run.style.color):
        return False
    if any(contains(image, x, y) for image in graphics.images):
        return False
    under = [color for fill, color in graphics.fills if contains(fill, x, y, slack=1)]
    return _is_white(under[-1]) if under else True


def _by_height(boxes: list[Box]) -> dict[int, list[Box]]:
    """Boxes by the strip of the page that their middle lies in."""
    strips: dict[int, list[Box]] = {}
    for box in boxes:
        strips.setdefault(int((box[1] + box[3]) / 2 // STRIP), []).append(box)
    return strips


def _printed_style(raw: _RawWord, doubles: dict[int, list[Box]]) -> Style:
    """The run's style; bold where the text was printed twice."""
    style = raw[5].style
    x, y = (raw[0] + raw[2]) / 2, (raw[1] + raw[3]) / 2
    strip = int(y // STRIP)
    near = (box for at in (strip - 1, strip, strip + 1) for box in doubles.get(at, ()))
    if any(contains(box, x, y, slack=1) for box in near):
        return style._replace(bold=True)
    return style


def _is_white(color: int) -> bool:
    return min(color >> 16, color >> 8 & 255, color & 255) >= NEARLY_WHITE
