"""The text of a page → its words, each with its box and with the style of its text object.

A call into PDFium costs a fraction of a microsecond, and a page has thousands of characters. So the
text of a page comes in one call, words are found in it as a whole, and of each word only the first
and the last character are located. Style and baseline are asked once a text object.

All boxes are in user space (origin at the bottom left): left, bottom, right, top.
"""

from __future__ import annotations

import re
import struct
from collections import deque
from dataclasses import dataclass, field
from itertools import groupby, repeat
from typing import Any

import numpy as np
import numpy.typing as npt
import pypdfium2.raw as c

from rag_pipeline.parsing.pdf.layout.geometry import OVERPRINT, Style
from rag_pipeline.parsing.pdf.native import pdfium_calls as calls
from rag_pipeline.parsing.pdf.native.letter_order import (
    logical_text,
    whole_letters,
    words_of_lines,
)
from rag_pipeline.parsing.pdf.native.pdfium_calls import Address, Pointer, Slots
from rag_pipeline.parsing.pdf.native.text_runs import PageRuns, Run, RunReader
from rag_pipeline.parsing.pdf.native.vertical_writing import TURNS, vertical_words
from rag_pipeline.parsing.pdf.native.word_spans import BROKEN_HYPHEN, word_spans

SAMPLE_FROM = 4
"""Text objects from which three of a word tell its style: it is drawn character by character."""
_SURROGATE = re.compile("[\ud800-\udfff]")


@dataclass(slots=True)
class RawWords:
    """The words of a page in the order of the content stream, a column each."""

    texts: list[str] = field(default_factory=list)
    runs: list[Run] = field(default_factory=list)
    positions: list[int] = field(default_factory=list)
    """Index of the first character."""
    lasts: list[int] = field(default_factory=list)
    """Index of the last character."""
    glued: list[bool] = field(default_factory=list)
    """No white space stands between the word and the one before."""
    broken: list[bool] = field(default_factory=list)
    """The word ends with a hyphen at which the line was broken."""
    nameless: int = 0
    """Characters that the font gives no Unicode value: they are in no word."""
    boxes: npt.NDArray[np.float64] = field(default_factory=lambda: np.empty((0, 4)))
    """Left, bottom, right, top; a row a word."""
    distinct_runs: list[Run] = field(default_factory=list)
    text_objects: set[Address] = field(default_factory=set)
    """Addresses of the text objects that were read."""
    fonts: set[Address] = field(default_factory=set)
    """Addresses of their fonts."""


class TextReader:
    """Reads the words of the pages of one document; holds the memory that calls write to."""

    def __init__(self) -> None:
        self.codes = np.empty(8192, dtype=np.uint16)
        self.boxes = Slots(struct.calcsize("4f"), 1024)
        self.run_reader = RunReader()

    def read(self, text_page: Any) -> RawWords:
        """The words of a page."""
        codes, text = self._text_of(text_page)
        page = PageRuns(text_page, text)
        self.run_reader.clear()
        words = RawWords()
        if text:
            self._split(page, words, codes, text)
        words.nameless = text.count("\0")
        words.distinct_runs = list(page.runs.values())
        words.text_objects = page.seen.union(page.runs)
        words.fonts = {font for font, _, _ in page.looks}
        return words

    def _text_of(self, text_page: Any) -> tuple[npt.NDArray[Any], str]:
        """All characters of the page, one an index: their codes, and as a string."""
        pointer = calls.pointer_to(text_page)
        count = calls.text_length(pointer)
        if count <= 0:
            return self.codes[:0], ""
        if count >= len(self.codes):
            self.codes = np.empty(2 * count, dtype=np.uint16)
        written = calls.text_of(pointer, 0, count, Pointer(self.codes.ctypes.data)) - 1
        if written == count:
            codes = self.codes[:count]
            text = codes.tobytes().decode("utf-16-le", "surrogatepass")
            if len(text) == count:
                return codes, text
        # Characters without a Unicode value, or beyond the basic plane, shift the indices.
        get = c.FPDFText_GetUnicode
        values = [get(text_page, index) for index in range(count)]
        return np.array(values), "".join(map(chr, values))

    def _split(self, page: PageRuns, words: RawWords, codes: npt.NDArray[Any], text: str) -> None:
        """Split the text at white space, and where the style changes within a word."""
        starts, lasts = word_spans(codes)
        words.positions, words.lasts = starts, lasts
        words.texts = [text[start : last + 1] for start, last in zip(starts, lasts, strict=True)]
        pieces = self._assign_runs(page, words)
        words.glued = [False] * len(words.texts)
        by_corners = _splice(words, pieces) if pieces else []
        if not text.isascii() and _SURROGATE.search(text):
            words.texts = list(map(whole_letters, words.texts))
        words.broken = [False] * len(words.texts)
        if BROKEN_HYPHEN in text:
            for at in np.flatnonzero(codes[words.lasts] == ord(BROKEN_HYPHEN)).tolist():
                words.texts[at] = words.texts[at][:-1] + "-"
                words.broken[at] = True
                by_corners.append(at)
        if any(run.turns or not run.upright for run in page.runs.values()):
            by_corners += [at for at, run in enumerate(words.runs) if run.turns or not run.upright]
        words.boxes = self._boxes(page, words, by_corners)
        if page.right_to_left:
            self._put_in_order(page, words)
        if page.asian:
            self._turn_columns(page, words)

    def _put_in_order(self, page: PageRuns, words: RawWords) -> None:
        """Put the characters of words in order whose lines run from right to left."""
        characters = self._character_boxes(page, list(range(len(page.text))))
        spans = list(zip(words.positions, words.lasts, strict=True))
        for at, (start, last) in enumerate(spans):
            words.boxes[at, :2] = characters[start : last + 1, :2].min(axis=0)
            words.boxes[at, 2:] = characters[start : last + 1, 2:].max(axis=0)
        for at in words_of_lines(words.texts, words.boxes):
            start, last = spans[at]
            if last + 1 - start == len(words.texts[at]):
                lefts = characters[start : last + 1, 0].tolist()
                words.texts[at] = logical_text(words.texts[at], lefts)

    def _turn_columns(self, page: PageRuns, words: RawWords) -> None:
        """Let words that run downwards be words of a turned text."""
        firsts = self._character_boxes(page, words.positions)
        lasts = self._character_boxes(page, words.lasts)
        for at, goes_on in vertical_words(words.texts, firsts, lasts).items():
            words.runs[at] = words.runs[at]._replace(turns=TURNS)
            words.boxes[at, :2] = np.minimum(firsts[at, :2], lasts[at, :2])
            words.boxes[at, 2:] = np.maximum(firsts[at, 2:], lasts[at, 2:])
            page.runs[words.runs[at].address] = words.runs[at]
            if goes_on:
                words.glued[at] = True
                words.boxes[at - 1, 1] = min(words.boxes[at - 1, 1], firsts[at, 3])

    def _assign_runs(self, page: PageRuns, words: RawWords) -> dict[int, list[_Piece]]:
        """Give each word its run; return those of several text objects, in pieces."""
        starts, lasts, runs = words.positions, words.lasts, page.runs
        pieces: dict[int, list[_Piece]] = {}
        at = 0
        for first, group in groupby(map(calls.text_object_at, repeat(page.pointer), starts)):
            end = at + len(list(group))
            if not first:  # characters that PDFium made up
                for number in range(at, end):
                    pieces[number] = self._pieces(page, starts[number], lasts[number])
                words.runs += [_NO_RUN] * (end - at)
            else:
                # The characters of an object are neighbours: only the last word may be another's.
                last = calls.text_object_at(page.pointer, lasts[end - 1])
                if last == first or end - at > 1:
                    run = runs.get(first) or self.run_reader.run(page, first, starts[at])
                    words.runs += [run] * (end - at)
                else:
                    words.runs.append(_NO_RUN)
                if last != first:
                    pieces[end - 1] = self._pieces(page, starts[end - 1], lasts[end - 1])
            at = end
        return pieces

    def _pieces(self, page: PageRuns, start: int, last: int) -> list[_Piece]:
        """A word drawn by several objects: one piece a style; lines put them together again."""
        runs = page.runs
        indices = range(start, last + 1)
        addresses = list(map(calls.text_object_at, repeat(page.pointer), indices))
        page.seen.update(addresses)
        by_character = len(set(addresses)) == len(addresses)
        if len(addresses) >= SAMPLE_FROM and by_character and addresses[0] and addresses[-1]:
            # Some producers draw every character by itself: three of a word tell its style.
            middle = len(addresses) // 2
            sample = [
                runs.get(addresses[at]) or self.run_reader.run(page, addresses[at], start + at)
                for at in (0, middle if addresses[middle] else 0, len(addresses) - 1)
            ]
            if all(one is sample[0] or self._same_line(page, sample[0], one) for one in sample):
                return [(sample[0], start, last)]
        pieces: list[_Piece] = []
        previous = 0
        for index, address in zip(indices, addresses, strict=True):
            if address in (previous, 0):
                if pieces:
                    pieces[-1] = (*pieces[-1][:2], index)
                continue
            previous = address
            run = runs.get(address) or self.run_reader.run(page, address, index)
            if (
                pieces
                and self._same_line(page, pieces[-1][0], run)
                and not self._is_overprint(page, index, run.style.size)
            ):
                pieces[-1] = (*pieces[-1][:2], index)
            else:
                pieces.append((run, index, index))
        return pieces

    def _same_line(self, page: PageRuns, a: Run, b: Run) -> bool:
        """Do two text objects go on in one line, in the order of the page's script?"""
        return (
            a.style is b.style
            and a.turns == b.turns == 0
            and abs(a.origin[1] - b.origin[1]) < 0.1
            and (b.origin[0] > a.origin[0] or page.right_to_left)
            and a[3:5] == b[3:5]
        )

    def _is_overprint(self, page: PageRuns, index: int, size: float) -> bool:
        """Does a digit begin well before the one before it ends? Letters are kerned, digits not."""
        if not (page.text[index - 1].isdigit() and page.text[index].isdigit()):
            return False
        before, this = self._character_boxes(page, [index - 1, index])
        return bool(this[0] < before[2] - OVERPRINT * size)

    def _boxes(
        self, page: PageRuns, words: RawWords, by_corners: list[int]
    ) -> npt.NDArray[np.float64]:
        """Boxes of words from those of their first and last characters.

        Words in `by_corners` (turned, askew) reach over both; in all others the first character
        gives the height.
        """
        first = self._character_boxes(page, words.positions)
        several = [
            at
            for at, (start, last) in enumerate(zip(words.positions, words.lasts, strict=True))
            if start != last
        ]
        last = first.copy()
        last[several] = self._character_boxes(page, [words.lasts[at] for at in several])
        boxes = first.copy()
        from_left = last[:, 2] >= first[:, 2]
        boxes[:, 2] = np.maximum(first[:, 2], last[:, 2])
        boxes[:, 0] = np.where(from_left, first[:, 0], np.minimum(first[:, 0], last[:, 0]))
        if by_corners:
            boxes[by_corners, :2] = np.minimum(first[by_corners, :2], last[by_corners, :2])
            boxes[by_corners, 2:] = np.maximum(first[by_corners, 2:], last[by_corners, 2:])
        return boxes

    def _character_boxes(self, page: PageRuns, indices: list[int]) -> npt.NDArray[np.float64]:
        """Left, bottom, right, top of characters; a row each."""
        if len(indices) > len(self.boxes):
            self.boxes = Slots(self.boxes.size, 2 * len(indices))
        asked = map(calls.loose_char_box, repeat(page.pointer), indices, self.boxes.pointers)
        deque(asked, maxlen=0)  # runs through them
        found = np.frombuffer(self.boxes.memory, dtype=np.float32, count=4 * len(indices))
        left, top, right, bottom = found.reshape(-1, 4).T  # as PDFium writes them
        return np.stack([left, bottom, right, top], axis=1).astype(np.float64)


_Piece = tuple[Run, int, int]
"""A run, and the indices of the first and last character that it draws of a word."""
_NO_RUN = Run(Style(0.0, False, False, False, 0, ""), 0, True, True, False, (0.0, 0.0), False, 0)
"""Holds the place of a run until the pieces of a word are known."""


def _splice(words: RawWords, pieces: dict[int, list[_Piece]]) -> list[int]:
    """Put the pieces of words, by ascending number, in the place of each.

    Returns the numbers of the pieces.
    """
    texts, runs, positions, lasts = words.texts, words.runs, words.positions, words.lasts
    words.texts, words.runs, words.positions, words.lasts, words.glued = [], [], [], [], []
    numbers: list[int] = []

    def keep(done: int, end: int) -> None:
        words.texts += texts[done:end]
        words.runs += runs[done:end]
        words.positions += positions[done:end]
        words.lasts += lasts[done:end]
        words.glued += [False] * (end - done)

    done = 0
    for at, found in pieces.items():
        keep(done, at)
        done, start = at + 1, positions[at]
        for number, (run, first, last) in enumerate(found):
            numbers.append(len(words.texts))
            words.texts.append(texts[at][first - start : last + 1 - start])
            words.runs.append(run)
            words.positions.append(first)
            words.lasts.append(last)
            words.glued.append(number > 0)
    keep(done, len(texts))
    return numbers
