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
from typing import Literal

import numpy as np
import pypdfium2 as pdfium

from rag_pipeline.parsing.pdf.layout.geometry import PageContent
from rag_pipeline.parsing.pdf.ocr.picture_pages import (
    add_words,
    drop_unreadable,
    is_picture,
    is_unreadable,
    turn_as_seen,
)
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
        self.pages_left: list[int] = []
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
        unreadable = is_unreadable(content)
        if not (unreadable or is_picture(content)):
            return
        if not self.is_on or not (program := self.program()):
            self._leave(content)
            return
        scale = _scale(DPI, content.width, content.height)
        try:
            image = _inked_page(pdf, content.number - 1, scale)
            if image is None:
                return
            languages = fitting_languages(self._installed, detect_language(text_so_far()))
            found = recognize(program, image, languages, round(72 * scale))
            words = self._placed.place(found, scale)
        except Exception as error:  # whatever a damaged page provokes, the others are read
            self.pages_failed[content.number] = _reason(error)
            return
        if words:
            if unreadable:
                drop_unreadable(content)
            turn_as_seen(content)
            add_words(content, words)
            self.pages_read.append(content.number)
            self.used.update(languages)

    def _leave(self, content: PageContent) -> None:
        """Note a page with a few words beside its picture; one without any is noted elsewhere."""
        if content.words and not is_unreadable(content):
            self.pages_left.append(content.number)

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
        if self.pages_left:
            pages = ", ".join(map(str, self.pages_left[:10]))
            more = " …" if len(self.pages_left) > 10 else ""
            found.append(f"page {pages}{more}: mostly a picture, whose text was not read")
        return found

    def hint(self) -> str:
        """The next step where a document has no text."""
        if not self.is_on:
            return 'set parsing.ocr = "auto", or run an OCR program over the file first'
        if self.program() is None:
            return INSTALL
        return "the pages show no text that Tesseract can read; a better scan may help"


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
