"""Markdown by markdown-it-py: CommonMark with tables, front matter and raw HTML."""

from __future__ import annotations

import re

from markdown_it import MarkdownIt
from markdown_it.token import Token

from rag_pipeline.parsing.formats.decoding import decode
from rag_pipeline.parsing.formats.elements import Element, Reading, list_item, table
from rag_pipeline.parsing.formats.markup import add_link, parse_html, read_markup
from rag_pipeline.text import one_line

_FRONT_MATTER = re.compile(r"\A---[ \t]*\n(.*?)\n(?:---|\.\.\.)[ \t]*(?:\n|\Z)", re.DOTALL)
_TITLE = re.compile(r"""^title:[ \t]*(["']?)(.+?)\1[ \t]*$""", re.MULTILINE)
_TAG = re.compile(r"<[^>]*>")
_COMMENT = re.compile(r"<!--.*?-->", re.DOTALL)
_ALTERNATIVE = re.compile(r"""<img\b[^>]*?\balt\s*=\s*(?:"([^"]*)"|'([^']*)')""", re.IGNORECASE)
MAX_NESTING = 100
"""Lists and quotations within each other; what lies deeper is left out."""


def read_markdown(data: bytes, document: str) -> Reading:
    """Elements of a Markdown file; its title is that of the front matter, if there is one."""
    decoded = decode(data)
    text = decoded.text.replace("\r\n", "\n").replace("\r", "\n")
    title, front_matter = None, ""
    if match := _FRONT_MATTER.match(text):
        found = _TITLE.search(match[1])
        title = found[2] if found else None
        front_matter = match[1]
        text = text[match.end() :]
    parser = MarkdownIt("commonmark", {"maxNesting": MAX_NESTING}).enable(
        ["table", "strikethrough"]
    )
    reader = _Reader(document)
    reader.read(parser.parse(text))
    comments = _COMMENT.findall(text)
    return Reading(
        reader.elements,
        title=title,
        warnings=decoded.warnings,
        furniture=[front_matter, *comments],
    )


class _Reader:
    """Turns markdown-it's flat stream of tokens into elements."""

    def __init__(self, document: str) -> None:
        self.document = document
        self.elements: list[Element] = []
        self.depth = 0
        self.counters: list[int | None] = []
        """The next number of each open list; None for bullets."""
        self.marker: int | str | None = ""
        """Number or None for the item whose text comes next; "" where there is none."""
        self.level: int | None = None
        self.rows: list[list[str]] = []

    def read(self, tokens: list[Token]) -> None:
        for token in tokens:
            kind = token.type
            if kind in ("fence", "code_block"):
                self.marker = ""
                self._add(
                    Element(
                        token.content.removesuffix("\n"),
                        kind="code",
                        code_language=token.info.split()[0] if token.info.strip() else "",
                    )
                )
            elif kind == "html_block":
                self._html(token.content)
            elif kind == "inline":
                self._inline(token)
            else:
                self._open_or_close(kind, token)

    def _open_or_close(self, kind: str, token: Token) -> None:
        if kind in ("bullet_list_open", "ordered_list_open"):
            self.depth += 1
            ordered = kind.startswith("ordered")
            self.counters.append(int(token.attrGet("start") or 1) if ordered else None)
            if ordered and token.attrGet("start") == 0:
                self.counters[-1] = 0
        elif kind in ("bullet_list_close", "ordered_list_close"):
            self.depth -= 1
            self.counters.pop()
        elif kind == "list_item_open":
            self.marker = self.counters[-1]
            if self.counters[-1] is not None:
                self.counters[-1] += 1
        elif kind == "list_item_close":
            self.marker = ""
        elif kind in ("blockquote_open", "blockquote_close"):
            self.depth += 1 if token.nesting > 0 else -1
        elif kind == "heading_open":
            self.level = int(token.tag[1:])
        elif kind == "heading_close":
            self.level = None
        elif kind == "tr_open":
            self.rows.append([])
        elif kind == "table_close":
            if element := table(self.rows):
                self._add(element)
            self.rows = []

    def _inline(self, token: Token) -> None:
        children = token.children or []
        text = _inline_text(children)
        if self.rows:
            self.rows[-1].append(one_line(text))
        elif self.level is not None:
            self.elements.append(Element(one_line(text), level=self.level))
            self.marker = ""
        elif not text.strip():
            self._images(children)
        elif self.marker == "":
            self._add(Element(text, bold=_is_bold(children)))
        else:
            number = self.marker if isinstance(self.marker, int) else None
            self.marker = ""
            self.elements.append(list_item(text, self.depth, number))

    def _images(self, children: list[Token]) -> None:
        for child in children:
            if child.type == "image" and child.content.strip():
                self._add(Element(child.content, kind="figure"))

    def _html(self, source: str) -> None:
        """Raw HTML is read as such: tables with merged cells are written so."""
        source = _COMMENT.sub("", source)
        if one_line(_TAG.sub("", source)) or "<img" in source:
            root, _ = parse_html(source, self.document)
            for element in read_markup(root):
                element.depth += self.depth
                self.elements.append(element)

    def _add(self, element: Element) -> None:
        element.depth = self.depth
        element.hanging = bool(self.counters)
        self.elements.append(element)


def _inline_text(children: list[Token]) -> str:
    """Text of a paragraph: hard breaks are newlines, links carry where they lead."""
    parts: list[str] = []
    opened: list[tuple[int, str]] = []
    images = [child for child in children if child.type == "image"]
    alone = len(images) == sum(child.type not in ("softbreak", "text") for child in children) and (
        not any(child.type == "text" and child.content.strip() for child in children)
    )
    for child in children:
        if child.type in ("text", "code_inline", "text_special"):
            parts.append(child.content)
        elif child.type == "softbreak":
            parts.append(" ")
        elif child.type == "hardbreak":
            parts.append("\n")
        elif child.type == "html_inline":
            parts.append("\n" if child.content.lower().startswith("<br") else "")
            parts.extend(first or second for first, second in _ALTERNATIVE.findall(child.content))
        elif child.type == "image" and not alone:
            parts.append(child.content)
        elif child.type == "link_open":
            opened.append((len(parts), str(child.attrGet("href") or "")))
        elif child.type == "link_close" and opened:
            start, address = opened.pop()
            parts[start:] = [add_link("".join(parts[start:]), address)]
    return "".join(parts)


def _is_bold(children: list[Token]) -> bool:
    """Does all of the text stand in `**bold**`?"""
    return any(child.content.strip() for child in children) and not _has_plain_text(children)


def _has_plain_text(children: list[Token]) -> bool:
    depth = 0
    for child in children:
        depth += (child.type == "strong_open") - (child.type == "strong_close")
        if child.type in ("text", "code_inline") and child.content.strip() and not depth:
            return True
    return False
