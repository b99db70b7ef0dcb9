"""Words that Tesseract found on a picture of a page → words in points, as high as their font.

Boxes of recognized words are narrow around the ink, so the font size is inferred from them and from
the letters they hold; a scan that lies askew is set straight.
"""

from __future__ import annotations

import math
from collections import defaultdict
from dataclasses import dataclass, replace
from statistics import median

from rag_pipeline.parsing.pdf.layout.geometry import PageWord, Style
from rag_pipeline.text import clean_text

MIN_WORD_CONFIDENCE = 0.3
MIN_PAGE_CONFIDENCE = 0.5
"""Below it the words are what Tesseract sees in a photograph."""
SIZE_STEP = 1.2
"""Sizes are known to about a tenth: a line's is the body's times a power of this."""
LEVEL_WIDTH = 15.0
"""Font sizes; lines at least this long tell how far a scan lies askew."""
MAX_SLOPE = 0.05
"""About three degrees; Tesseract finds no lines on much steeper pages."""
_TALL = frozenset("bdfhklt0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZÄÖÜß()[]{}/|!?&%$#@\"'")
_DEEP = frozenset("gjpqy,;()[]{}/|@")
_NO_LETTERS = frozenset("|_~—–-=.·'`‘’")


@dataclass(frozen=True, slots=True)
class Recognized:
    """One word that Tesseract found; pixels from the top left."""

    line: tuple[int, int, int]
    left: int
    top: int
    width: int
    height: int
    confidence: float
    """0..1."""
    text: str


def words_of_output(output: str) -> list[Recognized]:
    """Words of Tesseract's table and text, in its reading order.

    The table (columns: level, page, block, paragraph, line, word, left, top, width, height,
    confidence 0..100, text; level 5 is a word) comes first and tells where each word stands. The
    text after it tells where spaces are: the table parts Korean, Chinese and Japanese words into
    single syllables.

    >>> row = "5\\t1\\t2\\t1\\t3\\t{}\\t{}\\t20\\t30\\t8\\t{}\\t{}\\n"
    >>> table = row.format(1, 10, 90, "밸") + row.format(2, 45, 80, "브")
    >>> words_of_output(table + "밸브\\n")
    [Recognized(line=(2, 1, 3), left=10, top=20, width=65, height=8, confidence=0.85, text='밸브')]
    """
    words: list[Recognized] = []
    texts: list[str] = []
    for row in output.splitlines():
        fields = row.split("\t")
        if len(fields) != 12:
            texts.append(row)
        elif fields[0] == "5" and (text := fields[11].strip()):
            line = int(fields[2]), int(fields[3]), int(fields[4])
            left, top, width, height = map(int, fields[6:10])
            confidence = min(1.0, max(0.0, float(fields[10]) / 100))
            words.append(Recognized(line, left, top, width, height, confidence, text))
    return [replace(word, text=clean_text(word.text)) for word in _joined(words, "\n".join(texts))]


def _joined(words: list[Recognized], text: str) -> list[Recognized]:
    """Join words of a line between which the text has no space; as they are where texts differ."""
    found: list[Recognized] = []
    at = 0
    for word in words:
        start = at
        while at < len(text) and text[at].isspace():
            at += 1
        if not text.startswith(word.text, at):
            return words
        if found and at == start and found[-1].line == word.line:
            found[-1] = _union(found[-1], word)
        else:
            found.append(word)
        at += len(word.text)
    return found


def _union(a: Recognized, b: Recognized) -> Recognized:
    left, top = min(a.left, b.left), min(a.top, b.top)
    right = max(a.left + a.width, b.left + b.width)
    bottom = max(a.top + a.height, b.top + b.height)
    both = len(a.text) + len(b.text)
    mean = (a.confidence * len(a.text) + b.confidence * len(b.text)) / both
    return Recognized(
        a.line, left, top, right - left, bottom - top, round(mean, 4), a.text + b.text
    )


class PageWords:
    """Turns recognized words into points; holds the body sizes of the pages before."""

    def __init__(self) -> None:
        self._body_sizes: list[float] = []

    def place(self, found: list[Recognized], scale: float) -> list[PageWord]:
        """Words in points at `scale` pixels a point; none where the page is no text."""
        found = [word for word in found if _is_likely(word)]
        letters = sum(len(word.text) for word in found)
        if not letters:
            return []
        mean = sum(word.confidence * len(word.text) for word in found) / letters
        if mean < MIN_PAGE_CONFIDENCE:
            return []
        lines: dict[tuple[int, int, int], list[Recognized]] = defaultdict(list)
        for word in found:
            lines[word.line].append(word)
        sizes = {key: _size_of(line) for key, line in lines.items()}
        weights = {key: sum(len(word.text) for word in line) for key, line in lines.items()}
        usual = _weighted_median([(sizes[key], weights[key]) for key in lines])
        slope = page_slope(list(lines.values()), usual)
        body = self._body(usual / scale)
        words: list[PageWord] = []
        for key, line in lines.items():
            size = snapped_size(sizes[key] / scale, body)
            words.extend(_line_words(_straightened(line, slope), size, scale, len(words)))
        return words

    def _body(self, size: float) -> float:
        """One body size for all pages whose sizes are about the same."""
        for known in self._body_sizes:
            if 1 / SIZE_STEP**0.5 < size / known < SIZE_STEP**0.5:
                return known
        self._body_sizes.append(round(size, 1) or 0.1)
        return self._body_sizes[-1]


def page_slope(lines: list[list[Recognized]], size: float) -> float:
    """How far lines fall on their way to the right: the median of the long ones; 0 with none.

    >>> a = Recognized((1, 1, 1), 0, 100, 60, 36, 0.9, "Oil")
    >>> b = Recognized((1, 1, 1), 1000, 110, 60, 36, 0.9, "Oil")
    >>> page_slope([[a, b]], 50.0)
    0.01
    """
    slopes = []
    for line in lines:
        first, last = line[0], line[-1]
        across = last.left - first.left
        if across > LEVEL_WIDTH * size:
            slopes.append((_baseline(last) - _baseline(first)) / across)
    slope = median(slopes) if slopes else 0.0
    return slope if abs(slope) < MAX_SLOPE else 0.0


def _straightened(line: list[Recognized], slope: float) -> list[Recognized]:
    """The words turned about the page's top left corner so that lines run level."""
    if abs(slope) < 0.0005:
        return line
    return [
        replace(
            word,
            left=round(word.left + slope * word.top),
            top=round(word.top - slope * (word.left + word.width / 2)),
        )
        for word in line
    ]


def _baseline(word: Recognized) -> float:
    return word.top + word.height - em_and_descent(word)[1]


def _is_likely(word: Recognized) -> bool:
    if word.confidence < MIN_WORD_CONFIDENCE or not word.height:
        return False
    return not (set(word.text) <= _NO_LETTERS and word.confidence < 0.8)


def em_and_descent(word: Recognized) -> tuple[float, float]:
    """Font size and depth below the baseline, in pixels, by the letters that a word holds.

    Capitals and ascenders rise about .72 em, small letters .5 em, descenders reach .21 em below.
    Hangul and Chinese characters fill .9 em, .1 em of it below.

    >>> word = Recognized((1, 1, 1), 0, 0, 60, 36, 0.9, "Oil")
    >>> em_and_descent(word)
    (50.0, 0.0)
    """
    if any(character > "\u2e80" for character in word.text):
        em = word.height / 0.9
        return em, 0.1 * em
    rise = 0.72 if _TALL.intersection(word.text) else 0.5
    depth = 0.21 if _DEEP.intersection(word.text) else 0.0
    em = word.height / (rise + depth)
    return em, depth * em


def _size_of(line: list[Recognized]) -> float:
    words = [word for word in line if any(map(str.isalnum, word.text))] or line
    return _weighted_median([(em_and_descent(word)[0], len(word.text)) for word in words])


def _weighted_median(values: list[tuple[float, int]]) -> float:
    half = sum(weight for _, weight in values) / 2
    for value, weight in sorted(values):
        half -= weight
        if half <= 0:
            return value
    return values[-1][0]


def snapped_size(size: float, body: float) -> float:
    """The body size times a power of `SIZE_STEP`, to a tenth of a point.

    >>> snapped_size(10.6, 10.0), snapped_size(13.9, 10.0)
    (10.0, 14.4)
    """
    steps = round(math.log(max(size, 0.1) / body, SIZE_STEP))
    return float(round(body * SIZE_STEP**steps, 1))


def _line_words(line: list[Recognized], size: float, scale: float, position: int) -> list[PageWord]:
    """Words of one line in points, as high as the font and not as their ink."""
    style = Style(size, False, False, False, 0, "")
    bottoms = [(word.top + word.height - em_and_descent(word)[1], len(word.text)) for word in line]
    baseline = _weighted_median(bottoms) / scale
    top, bottom = baseline - 0.8 * size, baseline + 0.2 * size
    words: list[PageWord] = []
    for number, word in enumerate(line):
        left, right = word.left / scale, (word.left + word.width) / scale
        words.append(
            PageWord(
                left,
                top,
                right,
                bottom,
                baseline,
                word.text,
                style,
                position + number,
                confidence=word.confidence,
            )
        )
    return words
