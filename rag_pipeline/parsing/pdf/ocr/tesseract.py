"""Pages that are pictures of text, read by the program Tesseract where it is installed.

The page is drawn as it is seen and given to Tesseract; its words come back as those of any other
page, so that lines, blocks, tables and headings are found by the same rules.
"""

from __future__ import annotations

import math
import os
import shutil
import subprocess
from collections.abc import Callable
from itertools import chain
from statistics import fmean
from typing import Literal

import numpy as np
import pypdfium2 as pdfium

from rag_pipeline.parsing.pdf.layout.geometry import Box, PageContent, PageWord, Ruling, contains
from rag_pipeline.parsing.pdf.ocr.recognized import PageWords, Recognized, words_of_output
from rag_pipeline.text import detect_language

PROGRAM = "tesseract"
INSTALL = (
    "install Tesseract with the documents' languages (Debian: tesseract-ocr, tesseract-ocr-kor)"
    " and try again, or run an OCR program over the file first"
)
DPI = 300
"""Tesseract is trained on letters of about 30 pixels: 10 points at 300 dpi."""
MAX_PIXELS = 40_000_000
"""Larger sheets are drawn at fewer dots per inch."""
TIMEOUT = 120.0
"""Seconds for one page."""
INK_DPI = 36
INK_CONTRAST = 48
"""Levels of grey (of 255) between ink and paper."""
INK_SHARE = 0.0005
"""Share of the page that ink covers at least: less is a speck of dust."""
STAMP_CHARACTERS = 100
"""A scan with no more text than this carries a stamp or a page number, not its text."""
SCAN_SHARE = 0.5
"""Share of the page that its images cover where the page is a scan."""
LANGUAGES = {
    "en": "eng",
    "ko": "kor",
    "ja": "jpn",
    "zh": "chi_sim",
    "de": "deu",
    "fr": "fra",
    "es": "spa",
    "it": "ita",
    "pt": "por",
    "nl": "nld",
    "ru": "rus",
}
"""ISO 639-1 → Tesseract's names, in the order in which they are tried."""
MAX_LANGUAGES = 4
"""Each language more makes a page slower."""


class PageOcr:
    """Reads single pages of one document; asks for the program at the first need."""

    def __init__(self, mode: Literal["auto", "off"]) -> None:
        self.is_on = mode == "auto"
        self.pages_read: list[int] = []
        self.pages_failed: dict[int, str] = {}
        self.used: set[str] = set()
        self._program: str | None = None
        self._asked = False
        self._version = ""
        self._installed: list[str] = []
        self._placed = PageWords()

    def program(self) -> str | None:
        """Path of the program, or None where it is not installed or has no language."""
        if not self._asked and self.is_on:
            self._asked = True
            self._program = shutil.which(PROGRAM)
            if self._program:
                self._version = installed_version(self._program)
                self._installed = installed_languages(self._program)
                self._program = self._program if self._installed else None
        return self._program

    def mend(
        self, pdf: pdfium.PdfDocument, content: PageContent, text_so_far: Callable[[], str]
    ) -> None:
        """Give a page that is a picture of text its words.

        `text_so_far` gives the document's text up to here: it says which language to expect.
        """
        if not self.is_on or not is_picture(content) or not (program := self.program()):
            return
        scale = _scale(DPI, content.width, content.height)
        try:
            image = _inked_page(pdf, content.number - 1, scale)
            if image is None:
                return
            languages = fitting_languages(self._installed, detect_language(text_so_far()))
            found = recognize(program, image, languages, round(72 * scale))
        except (OSError, subprocess.SubprocessError, pdfium.PdfiumError) as error:
            self.pages_failed[content.number] = _reason(error)
            return
        words = self._placed.place(found, scale)
        if words:
            _turn_as_seen(content)
            _add_words(content, words)
            self.pages_read.append(content.number)
            self.used.update(languages)

    def warnings(self) -> list[str]:
        """What was read and by which version, or could not be, in words."""
        found = []
        if self.pages_read:
            languages = "+".join(sorted(self.used))
            pages = ", ".join(map(str, self.pages_read[:10]))
            more = " …" if len(self.pages_read) > 10 else ""
            found.append(f"ocr: tesseract {self._version} ({languages}) read page {pages}{more}")
        for page, reason in self.pages_failed.items():
            found.append(f"ocr: page {page} failed ({reason})")
        return found

    def hint(self) -> str:
        """The next step where a document has no text."""
        if not self.is_on:
            return 'set parsing.ocr = "auto", or run an OCR program over the file first'
        if self.program() is None:
            return INSTALL
        return "the pages show no text that Tesseract can read; a better scan may help"


def is_picture(content: PageContent) -> bool:
    """Has the page no text, or no more than a stamp upon a scan?"""
    characters = 0
    for word in chain(content.words, content.turned_words):
        characters += len(word.text)
        if characters > STAMP_CHARACTERS:
            return False
    if not characters:
        return True
    if content.turned_words or content.quarter_turns:
        return False
    area = content.width * content.height
    covered = sum((x1 - x0) * (y1 - y0) for x0, y0, x1, y1 in content.images)
    return covered > SCAN_SHARE * area


def _inked_page(pdf: pdfium.PdfDocument, index: int, scale: float) -> np.ndarray | None:
    """The page as grey pixels, or None where it is blank."""
    page = pdf[index]
    try:
        return _grey_pixels(page, scale) if has_ink(page) else None
    finally:
        page.close()


def has_ink(page: pdfium.PdfPage) -> bool:
    """Does the page show more than a plain field? Drawn small: a blank page costs little."""
    width, height = page.get_size()
    pixels = _grey_pixels(page, _scale(INK_DPI, width, height))
    paper = int(np.median(pixels))
    marked = np.abs(pixels.astype(np.int16) - paper) > INK_CONTRAST
    return bool(marked.mean() > INK_SHARE)


def _scale(dpi: float, width: float, height: float) -> float:
    """Pixels a point, fewer where the page (in points) would have more than `MAX_PIXELS`."""
    return min(dpi / 72, math.sqrt(MAX_PIXELS / max(1.0, width * height)))


def _grey_pixels(page: pdfium.PdfPage, scale: float) -> np.ndarray:
    """The page as seen: rows of grey levels."""
    bitmap = page.render(scale=scale, grayscale=True)
    try:
        pixels = np.array(bitmap.to_numpy())
    finally:
        bitmap.close()
    return pixels.reshape(pixels.shape[0], pixels.shape[1])


def recognize(program: str, image: np.ndarray, languages: list[str], dpi: int) -> list[Recognized]:
    """Run Tesseract over grey pixels.

    Raises `OSError` or `subprocess.SubprocessError` where it fails or takes over `TIMEOUT` seconds.
    """
    height, width = image.shape
    picture = b"P5 %d %d 255\n" % (width, height) + np.ascontiguousarray(image).tobytes()
    command = [program, "stdin", "stdout", "-l", "+".join(languages), "--dpi", str(dpi)]
    # Without the option the text has a space between any two syllables of Korean.
    outputs = ["-c", "preserve_interword_spaces=1", "tsv", "txt"]
    return words_of_output(_run([*command, *outputs], picture))


def _run(command: list[str], given: bytes = b"") -> str:
    # One page at a time on one core: the pipeline's own workers share the others.
    process = subprocess.run(
        command,
        input=given,
        capture_output=True,
        check=True,
        timeout=TIMEOUT,
        env={**os.environ, "OMP_THREAD_LIMIT": "1"},
    )
    return process.stdout.decode("utf-8", "replace")


def installed_version(program: str) -> str:
    """Version number, `unknown` where the program does not say it."""
    try:
        words = _run([program, "--version"]).split()
    except (OSError, subprocess.SubprocessError):
        return "unknown"
    return words[1] if len(words) > 1 else "unknown"


def installed_languages(program: str) -> list[str]:
    """Names of the language data that the program has."""
    try:
        rows = _run([program, "--list-langs"]).splitlines()
    except (OSError, subprocess.SubprocessError):
        return []
    return [row.strip() for row in rows[1:] if row.strip() and row.strip() != "osd"]


def fitting_languages(installed: list[str], language: str) -> list[str]:
    """The document's language and English; the usual ones where it is not known.

    >>> fitting_languages(["deu", "eng", "kor"], "ko")
    ['kor', 'eng']
    >>> fitting_languages(["deu", "eng", "kor"], "und")
    ['eng', 'kor', 'deu']
    """
    known = [name for name in LANGUAGES.values() if name in installed]
    own = LANGUAGES.get(language)
    if own in known:
        return [name for name in dict.fromkeys((own, "eng")) if name in known]
    return known[:MAX_LANGUAGES] or installed[:1]


def _reason(error: Exception) -> str:
    """Why a page could not be read, in few words."""
    if isinstance(error, subprocess.TimeoutExpired):
        return f"no answer within {TIMEOUT:.0f} seconds"
    if isinstance(error, subprocess.CalledProcessError):
        said = error.stderr.decode("utf-8", "replace").strip().splitlines()
        return said[-1][:200] if said else f"exit status {error.returncode}"
    return str(error)


def _turn_as_seen(content: PageContent) -> None:
    """Make layout space the page as seen, in which the words were found."""

    def turned(box: Box) -> Box:
        x0, y0, x1, y1 = content.seen_box(box)
        return x0 * width, y0 * height, x1 * width, y1 * height

    width, height = content.width, content.height
    if content.quarter_turns % 2:
        width, height = height, width
    content.images = [turned(box) for box in content.images]
    content.fills = [turned(box) for box in content.fills]
    content.rulings = [
        Ruling(*turned((ruling.x0, ruling.y0, ruling.x1, ruling.y1))) for ruling in content.rulings
    ]
    for word in content.words:
        word.x0, word.y0, word.x1, word.y1 = turned((word.x0, word.y0, word.x1, word.y1))
    content.width, content.height, content.quarter_turns = width, height, 0


def _add_words(content: PageContent, words: list[PageWord]) -> None:
    """Add the words where the page has no text of its own."""
    own = [(word.x0, word.y0, word.x1, word.y1) for word in content.words]
    after = len(words)
    for word in content.words:
        word.position += after
    content.words = [
        word
        for word in words
        if not any(
            contains(box, (word.x0 + word.x1) / 2, (word.y0 + word.y1) / 2, slack=1) for box in own
        )
    ] + content.words
    content.is_recognized = True


def confidence_in(content: PageContent, box: Box) -> float:
    """Mean confidence (0..1) of the words in a box; 1 where none was recognized."""
    if not content.is_recognized:
        return 1.0
    inside = [
        word.confidence
        for word in content.words
        if contains(box, (word.x0 + word.x1) / 2, (word.y0 + word.y1) / 2)
    ]
    return round(fmean(inside), 3) if inside else 1.0
