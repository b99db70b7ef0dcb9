"""Rich Text Format, by its specification 1.9.1: paragraphs, headings, lists, tables, links.

Two steps: `tokens` cuts the bytes into control words and text; `_Reader` follows groups and
properties, and hands on a paragraph at each `\\par`, `\\cell` or `\\row`.
"""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Any

from rag_pipeline.errors import DamagedFileError
from rag_pipeline.parsing.formats.elements import Element, Reading
from rag_pipeline.parsing.formats.inline.symbol_fonts import symbol
from rag_pipeline.parsing.formats.markup import add_link
from rag_pipeline.parsing.formats.rtf.rtf_blocks import (
    has_typed_marker,
    heading_level,
    is_code_style,
)
from rag_pipeline.parsing.formats.rtf.rtf_characters import RtfCharacters
from rag_pipeline.parsing.formats.rtf.rtf_tables import RtfRow
from rag_pipeline.parsing.formats.rtf.rtf_words import (
    BOXES,
    CHARACTERS,
    CHARSETS,
    DESTINATIONS,
    MATH_BEFORE,
    NUMBERS,
    READ_THOUGH_STARRED,
    RESETS,
    SKIPPED,
    SWITCHES,
    SYMBOLS,
    is_codec,
    tokens,
)
from rag_pipeline.text import one_line

_HYPERLINK = re.compile(r'HYPERLINK\s+"?([^"\s]+)"?', re.IGNORECASE)
_SYMBOL_FIELD = re.compile(
    r'\s*SYMBOL\s+(0x[0-9a-f]+|\d+)(?:.*?\\\\?f\s+"?([^"\\]+)"?)?', re.IGNORECASE | re.DOTALL
)
MAX_DEPTH = 1000


def read_rtf(data: bytes, document: str) -> Reading:
    """Elements of an RTF file. Raises `DamagedFileError` where its groups do not close."""
    reader = _Reader(document)
    for token in tokens(data):
        reader.take(token)
    reader.finish()
    warnings = []
    if reader.open_groups:
        if not reader.blocks.elements:
            raise DamagedFileError(
                "the RTF file is truncated", document=document, hint="copy or download it again"
            )
        warnings.append("the file's end is missing; the text may be incomplete")
    blocks = reader.blocks
    return Reading(
        blocks.elements,
        title=reader.title or None,
        page_count=blocks.page,
        warnings=warnings,
        furniture=reader.furniture,
    )


class _Reader(RtfCharacters):
    """Follows the tokens and gathers paragraphs."""

    def __init__(self, document: str) -> None:
        super().__init__()
        self.document = document
        self.starred = False
        self.after_brace = False
        self.charset = 0
        self.styles: dict[int, tuple[str, int | None]] = {}
        self.row = RtfRow()

    @property
    def open_groups(self) -> int:
        """Groups that are not closed."""
        return len(self.stack)

    def take(self, token: re.Match[bytes]) -> None:
        """Take the next token."""
        self._take(token)
        self.after_brace = token["group"] == b"{"

    def _take(self, token: re.Match[bytes]) -> None:
        if token["hex"] is not None:
            self._byte(int(token["hex"], 16))
            return
        if token["text"] is not None:
            self._raw(token["text"])
            return
        self._flush_bytes()
        if token["group"] is not None:
            self.skip = 0  # what stands for a character beyond the code page ends with its group
        if token["group"] == b"{":
            if len(self.stack) >= MAX_DEPTH:
                raise DamagedFileError("its groups are nested too deep", document=self.document)
            self.stack.append(self.state)
            self.starred = False
        elif token["group"] == b"}":
            self._close()
        elif token["symbol"] is not None:
            if token["symbol"] == b"*":
                # It means something right after a brace alone.
                self.starred = self.after_brace
            elif self.skip and token["symbol"] in SYMBOLS:
                self.skip -= 1
            elif token["symbol"] in (b"\n", b"\r"):
                self._paragraph()
            else:
                self._text(SYMBOLS.get(token["symbol"], ""))
        elif token["word"] is not None:
            number = int(token["number"]) if token["number"] is not None else None
            self._word(token["word"].decode("ascii"), number)

    # Groups and control words

    def _close(self) -> None:
        if not self.stack:
            return
        closing = self.state.destination
        ended = self.state
        self.state = self.stack.pop()
        if closing == "fonttbl" and self.font_name:
            self.fonts[ended.font] = (
                self.font_name.rstrip(";"),
                CHARSETS.get(self.charset, "") if self.charset != 2 else "",
            )
            self.font_name, self.charset = "", 0
        elif self.flows and len(self.stack) == self.flows[-1].depth:
            self._end_flow()
        elif closing == "stylesheet" and self.style_name:
            self.styles[ended.style] = (self.style_name.strip().rstrip(";"), ended.outline)
            self.style_name = ""
        elif closing == "fldinst" and self.state.destination != "fldinst":
            if sign := _SYMBOL_FIELD.match(self.instruction):
                self._text(symbol(int(sign[1], 0), sign[2] or "Symbol"))
            match = _HYPERLINK.search(self.instruction)
            address = match[1] if match else ""
            self.fields.append((len(self.stack), address, len(self.parts)))
            self.instruction = ""
        while self.fields and len(self.stack) < self.fields[-1][0]:
            _, address, start = self.fields.pop()
            if address and start <= len(self.parts):
                self.parts[start:] = [add_link("".join(self.parts[start:]), address)]

    def _word(self, word: str, number: int | None) -> None:
        state = self.state
        if state.destination == "skipped" and word in BOXES and not self._in_copy():
            self.state = replace(state, destination="")
            self._begin_flow()
            return
        if self.starred and word not in READ_THOUGH_STARRED:
            self.state = replace(state, destination="skipped")
            self.starred = False
            return
        self.starred = False
        if state.destination == "skipped":
            return
        if state.destination == "copy":
            return
        if not self._destination(word):
            self._character_word(word, number)

    def _destination(self, word: str) -> bool:
        """Take a word that says what its group holds; False for other words."""
        if word in BOXES:
            self.state = replace(self.state, destination="")
            self._begin_flow()
        elif word in DESTINATIONS:
            if word in ("listtext", "pntext"):
                self.label = ""
            self.state = replace(self.state, destination=DESTINATIONS[word])
        elif word in SKIPPED or self.state.destination == "info":
            self.state = replace(self.state, destination="skipped")
        else:
            return False
        return True

    def _character_word(self, word: str, number: int | None) -> None:
        """Take a word for characters and their code page, or hand it on."""
        if word in MATH_BEFORE:
            self._text(MATH_BEFORE[word])
        elif word == "u" and number is not None:
            self._unicode(number)
        elif word == "uc":
            self.state = replace(self.state, unicode_skip=max(0, number or 0))
        elif word in CHARACTERS:
            if self.skip:
                self.skip -= 1
            else:
                self._text(CHARACTERS[word])
        elif word == "ansicpg" and number:
            self.encoding = f"cp{number}" if is_codec(f"cp{number}") else "cp1252"
        elif word == "fcharset":
            self.charset = number or 0
        else:
            self._format(word, number, number != 0)

    def _format(self, word: str, number: int | None, on: bool) -> None:
        changes: dict[str, Any] = dict(RESETS.get(word, {}))
        if word in NUMBERS:
            name, default = NUMBERS[word]
            changes[name] = default if number is None else number
        elif word in SWITCHES:
            changes[SWITCHES[word]] = on
        if changes:
            self.state = replace(self.state, **changes)
        elif word in ("par", "sect"):
            self._paragraph()
        elif word in ("page", "softpage"):
            self._paragraph()
            self.blocks.page += 1
        elif word in ("cell", "nestcell"):
            self._cell()
        else:
            self._table_word(word, number)

    # Tables

    def _table_word(self, word: str, number: int | None) -> None:
        if word not in ("row", "nestrow"):
            self.row.define(word, number)
            return
        if self.row.cells:
            self.blocks.rows.append(self.row)
        self.row = RtfRow()
        self.cell_lines, self.parts = [], []

    def _cell(self) -> None:
        text = self._take_text()
        if text.strip():
            self.cell_lines.append(self._labelled(text))
        self.row.cells.append("\n".join(self.cell_lines))
        self.cell_lines = []

    # Paragraphs

    def _paragraph(self) -> None:
        bold, monospace = not self.plain, self.monospace
        text = self._take_text()
        self.plain, self.monospace = False, True
        if self.state.in_table:
            if text.strip():
                self.cell_lines.append(self._labelled(text))
            return
        if self.flows:
            if text.strip():
                self.blocks.add_text(self._labelled(text), bold)
            return
        self.blocks.end_table()
        label, self.label = self.label.strip(), ""
        if not text.strip():
            return
        name, outline = self.styles.get(self.state.style, ("", None))
        if self.state.outline is not None:
            outline = self.state.outline
        level = heading_level(name, outline)
        if level is not None:
            self.blocks.add(Element(one_line(f"{label} {text}"), level=level))
        elif label or has_typed_marker(text):
            self.blocks.add_item(label, text, self.state.level, self.state.indent)
        elif monospace or is_code_style(name):
            self.blocks.add_code(text)
        else:
            self.blocks.add_text(text, bold)

    def finish(self) -> None:
        """End the last paragraph and table."""
        self.state = replace(self.state, in_table=False)
        self._paragraph()
        self.blocks.end_table()
        self.title = one_line(self.title)
