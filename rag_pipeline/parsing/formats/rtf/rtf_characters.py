"""Bytes of RTF → characters, by code page, font and what stands for characters beyond these."""

from __future__ import annotations

import re
import sys
import unicodedata
from dataclasses import dataclass, replace

from rag_pipeline.parsing.formats.inline.symbol_fonts import is_symbol_font, symbol
from rag_pipeline.parsing.formats.rtf.rtf_blocks import RtfBlocks

_MONOSPACE = re.compile(r"courier|mono|consolas|menlo|typewriter", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class RtfState:
    """What holds within a group."""

    destination: str = ""
    font: int = -1
    bold: bool = False
    unicode_skip: int = 1
    style: int = 0
    outline: int | None = None
    level: int = 0
    indent: int = 0
    in_table: bool = False
    hidden: bool = False
    deleted: bool = False


@dataclass(frozen=True, slots=True)
class _Flow:
    """A paragraph that waits until a text box or note within it has ended."""

    depth: int
    parts: list[str]
    plain: bool
    label: str
    cell_lines: list[str]


class RtfCharacters:
    """Gathers the characters of a file by the destination that they are for."""

    def __init__(self) -> None:
        self.state = RtfState()
        self.blocks = RtfBlocks()
        self.stack: list[RtfState] = []
        self.flows: list[_Flow] = []
        self.cell_lines: list[str] = []
        self.fields: list[tuple[int, str, int]] = []
        """(depth of the stack, address, place in `parts`) of open links."""
        self.skip = 0
        self.may_be_digit = False
        """May a digit be the substitute of the character before it, as 2 of ²?"""
        self.furniture: list[str] = []
        self.encoding = "cp1252"
        self.pending = bytearray()
        self.parts: list[str] = []
        self.plain = False
        self.monospace = True
        self.label = ""
        self.fonts: dict[int, tuple[str, str]] = {}
        self.font_name = ""
        self.style_name = ""
        self.instruction = ""
        self.title = ""

    def _raw(self, data: bytes) -> None:
        if self.skip:
            # Programs that write no substitute at all must not lose a digit of a number.
            taken = 0 if data[:1].isdigit() and not self.may_be_digit else min(self.skip, len(data))
            self.skip = 0 if taken == 0 else self.skip - taken
            data = data[taken:]
        self.pending.extend(data)

    def _byte(self, value: int) -> None:
        if self.skip:
            self.skip -= 1
        else:
            self.pending.append(value)

    def _flush_bytes(self) -> None:
        if self.pending:
            font, encoding = self.fonts.get(self.state.font, ("", ""))
            if is_symbol_font(font) and self.state.destination in ("", "listtext"):
                text = "".join(symbol(byte, font) for byte in self.pending)
            else:
                text = bytes(self.pending).decode(encoding or self.encoding, "replace")
            self.pending.clear()
            self._text(text)

    def _text(self, text: str) -> None:
        destination = self.state.destination
        if not text:
            return
        if self.state.hidden or self.state.deleted:
            self.furniture.append(text)
            return
        if not destination:
            self.parts.append(text)
            if text.strip():
                self.plain |= not self.state.bold
                font = self.fonts.get(self.state.font, ("", ""))[0]
                self.monospace &= bool(_MONOSPACE.search(font))
        elif destination == "listtext":
            self.label += text
        elif destination == "fonttbl":
            self.font_name += text
        elif destination == "stylesheet":
            self.style_name += text
        elif destination == "fldinst":
            self.instruction += text
        elif destination == "title":
            self.title += text

    def _unicode(self, number: int) -> None:
        code = number + 65536 if number < 0 else number
        if 0xF020 <= code <= 0xF0FF:
            code = ord(symbol(code, self.fonts.get(self.state.font, ("", ""))[0]))
        if not 0 <= code <= sys.maxunicode:
            code = ord("\N{REPLACEMENT CHARACTER}")
        # A surrogate pair comes as two words; they are joined when the text is whole.
        self._text(chr(code))
        self.skip = self.state.unicode_skip
        self.may_be_digit = any(one.isdigit() for one in unicodedata.normalize("NFKD", chr(code)))

    # Text boxes and notes

    def _in_copy(self) -> bool:
        """Is it within a picture of a shape for older programs?"""
        return self.state.destination == "copy" or any(
            state.destination == "copy" for state in self.stack
        )

    def _begin_flow(self) -> None:
        """Set the paragraph aside until the box ends; its text goes before that paragraph."""
        flow = _Flow(len(self.stack) - 1, self.parts, self.plain, self.label, self.cell_lines)
        self.flows.append(flow)
        self.parts, self.plain, self.label, self.cell_lines = [], False, "", []
        self.state = replace(self.state, in_table=False, style=0, outline=None, level=0)

    def _end_flow(self) -> None:
        flow = self.flows.pop()
        text = self._take_text()
        if text.strip():
            self.blocks.add_text(self._labelled(text), bold=False)
        self.parts, self.plain, self.label = flow.parts, flow.plain, flow.label
        self.cell_lines = flow.cell_lines

    def _take_text(self) -> str:
        self._flush_bytes()
        text = "".join(self.parts).encode("utf-16", "surrogatepass").decode("utf-16", "replace")
        self.parts = []
        self.fields = [(depth, address, 0) for depth, address, _ in self.fields]
        return text

    def _labelled(self, text: str) -> str:
        label, self.label = self.label.strip(), ""
        return f"{label} {text.strip()}" if label else text
