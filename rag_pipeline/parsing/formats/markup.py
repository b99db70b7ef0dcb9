"""HTML trees → elements: headings, nested lists, tables with spans, code, links.

EPUB chapters, e-mails and web pages come through here as well.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from lxml import etree, html

from rag_pipeline.errors import ParseError
from rag_pipeline.parsing.formats.decoding import Decoded, decode
from rag_pipeline.parsing.formats.elements import Element, list_item, table
from rag_pipeline.parsing.table_grid import covered_grid
from rag_pipeline.text import one_line

_SKIPPED = frozenset(
    "script style template head noscript svg math button input select textarea iframe object embed "
    "canvas audio video rp rt datalist dialog".split()
)
_BLOCKS = frozenset(
    "address article aside blockquote body center dd details dialog div dl dt fieldset figcaption "
    "figure footer form h1 h2 h3 h4 h5 h6 header hgroup hr html legend li main menu nav ol p pre "
    "section summary table ul caption tr td th tbody thead tfoot".split()
)
_HEADING = re.compile(r"^h([1-6])$")
_BOLD = frozenset({"b", "strong"})
_ADDRESS = re.compile(r"^(?:https?|ftp|mailto|tel):", re.IGNORECASE)
_CHARSET = re.compile(rb"""<meta[^>]+charset\s*=\s*["']?\s*([\w.:-]+)""", re.IGNORECASE)
_XML_ENCODING = re.compile(rb"""<\?xml[^>]+encoding\s*=\s*["']([\w.:-]+)""", re.IGNORECASE)
_CODE_CLASS = re.compile(r"(?:^|\s)(?:language|lang|highlight|brush|sourceCode)[-: ]+([\w+#]+)")
_HIDDEN_STYLE = re.compile(r"display\s*:\s*none|visibility\s*:\s*hidden", re.IGNORECASE)
DECLARATION_WINDOW = 4096
MAX_NESTING = 150
"""Elements within each other; what lies deeper is read as plain text."""
MAX_SPAN = 1000
"""As the HTML standard limits columns (section 4.9.11)."""
_CONTROLS = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f]")
BREAK = "\x1e"
"""Stands for `<br>` until white space is collapsed."""


def decode_html(data: bytes) -> Decoded:
    """Text of an HTML file, by byte order mark, content and declaration."""
    head = data[:DECLARATION_WINDOW]
    match = _CHARSET.search(head) or _XML_ENCODING.search(head)
    return decode(data, match[1].decode("ascii", "replace") if match else None)


def parse_html(text: str, document: str) -> tuple[etree._Element, list[str]]:
    """The tree of a page, however careless its markup, and what of it is missing.

    Raises `ParseError` where there is nothing. Sizes need no limit of the parser's own: HTML has no
    entities that grow, so the tree is as large as the file.
    """
    parser = html.HTMLParser(
        encoding="utf-8", no_network=True, remove_comments=True, huge_tree=True
    )
    data = _CONTROLS.sub("", text).encode("utf-8", "replace")
    try:
        root = html.document_fromstring(data, parser=parser)
    except etree.LxmlError as error:
        raise ParseError("the page has no content", document=document) from error
    fatal = parser.error_log.filter_from_fatals()
    return root, [f"parts of the page may be missing: {fatal[0].message}"] if fatal else []


def page_title(root: etree._Element) -> str | None:
    """What `<title>` says."""
    found = root.find(".//title")
    return one_line("".join(found.itertext())) or None if found is not None else None


def tag_of(node: etree._Element) -> str:
    """Name of an element in lower case without namespace; nothing for comments."""
    return node.tag.rpartition("}")[2].lower() if isinstance(node.tag, str) else ""


def add_link(text: str, address: str | None) -> str:
    """A link's text with where it leads, unless the text says it already.

    >>> add_link("the log", "https://a.example/log"), add_link("above", "#top")
    ('the log (https://a.example/log)', 'above')
    """
    address = (address or "").strip()
    plain = re.sub(r"^(?:mailto|tel):", "", address)
    if not text.strip() or not _ADDRESS.match(address) or plain.rstrip("/") in text:
        return text
    return f"{text.rstrip()} ({plain})"


def read_markup(root: etree._Element, page: int = 1) -> list[Element]:
    """All elements below `root`, in order."""
    reader = _Reader(page)
    reader.block(root)
    reader.flush()
    return reader.elements


class _Reader:
    """Walks a tree; text gathers until a block begins or ends."""

    def __init__(self, page: int) -> None:
        self.elements: list[Element] = []
        self.page = page
        self.depth = 0
        self.lists = 0
        self.nesting = 0
        self.parts: list[str] = []
        self.bold = 0
        self.plain_characters = 0
        self.marker: tuple[int, int | None] | None = None
        """Depth and number of a list item whose text has not begun."""

    def text(self, text: str | None) -> None:
        if text:
            self.parts.append(text)
            self.plain_characters += 0 if self.bold else len(text.strip())

    def flush(self, level: int | None = None) -> None:
        """End the block that has gathered."""
        lines = "".join(self.parts).split(BREAK)
        text = "\n".join(one_line(line) for line in lines).strip()
        bold = self.plain_characters == 0
        self.parts, self.plain_characters = [], 0
        if not text:
            return
        if level is not None:
            self.add(Element(one_line(text), level=level))
        elif self.marker is not None:
            depth, number = self.marker
            self.marker = None
            self.add(list_item(text, depth, number), is_item=True)
        else:
            self.add(Element(text, depth=self.depth, bold=bold))

    def add(self, element: Element, *, is_item: bool = False) -> None:
        element.page = self.page
        element.hanging = self.lists > 0 and not is_item
        self.elements.append(element)

    def block(self, node: etree._Element) -> None:
        """Read a block's own text and children."""
        self.text(node.text)
        for child in node:
            self.child(child)
            self.text(child.tail)

    def child(self, node: etree._Element) -> None:
        tag = tag_of(node)
        if not tag or tag in _SKIPPED or _is_hidden(node):
            return
        if self.nesting >= MAX_NESTING:
            self.text(f" {' '.join(node.itertext(with_tail=False))} ")
            return
        self.nesting += 1
        self.child_by_tag(tag, node)
        self.nesting -= 1

    def child_by_tag(self, tag: str, node: etree._Element) -> None:
        if tag == "br":
            self.parts.append(BREAK)
        elif tag == "img":
            self.image(node)
        elif tag in _BLOCKS:
            self.flush()
            self.block_by_tag(tag, node)
            self.flush()
        else:
            self.inline(tag, node)

    def inline(self, tag: str, node: etree._Element) -> None:
        start = len(self.parts)
        elements = len(self.elements)
        self.bold += tag in _BOLD
        self.block(node)
        self.bold -= tag in _BOLD
        if tag == "a" and len(self.elements) == elements:
            text = "".join(self.parts[start:])
            self.parts[start:] = [add_link(text, node.get("href"))]

    def block_by_tag(self, tag: str, node: etree._Element) -> None:
        level = _heading_level(tag, node)
        if level is not None:
            self.heading(node, level)
        elif tag in ("ul", "ol", "menu"):
            self.list(node, ordered=tag == "ol")
        elif tag == "pre":
            self.code(node)
        elif tag == "table" and not _is_layout(node):
            self.table(node)
        elif tag in ("blockquote", "dd"):
            self.depth += 1
            self.block(node)
            self.flush()
            self.depth -= 1
        else:
            self.block(node)

    def heading(self, node: etree._Element, level: int) -> None:
        self.marker = None
        self.text("".join(_visible_text(node)))
        self.flush(level)

    def list(self, node: etree._Element, *, ordered: bool) -> None:
        self.depth += 1
        self.lists += 1
        number = _integer(node.get("start"), 1)
        for child in node:
            tag = tag_of(child)
            if tag == "li" and not _is_hidden(child):
                number = _integer(child.get("value"), number)
                self.marker = (self.depth, number if ordered else None)
                self.block(child)
                self.flush()
                self.marker = None
                number += 1
            elif tag:
                self.child(child)
        self.depth -= 1
        self.lists -= 1

    def code(self, node: etree._Element) -> None:
        text = "".join("\n" if part is BREAK else part for part in _raw_text(node))
        classes = " ".join([node.get("class") or "", *(one.get("class") or "" for one in node)])
        match = _CODE_CLASS.search(classes)
        if self.marker is not None:
            self.marker = None
        language = match[1].lower() if match else ""
        # The standard drops a newline right after the tag; so does this.
        text = text.removeprefix("\n")
        self.add(Element(text, kind="code", depth=self.depth, code_language=language))

    def table(self, node: etree._Element) -> None:
        self.marker = None
        caption = node.find("{*}caption")
        if caption is not None:
            self.text(_cell_text(caption))
            self.flush()
        cells, spans = covered_grid(
            [
                (_cell_text(cell), _span(cell, "colspan"), _span(cell, "rowspan"))
                for cell in row
                if tag_of(cell) in ("td", "th")
            ]
            for row in _rows(node)
        )
        if element := table(cells, spans, depth=self.depth):
            self.add(element)

    def image(self, node: etree._Element) -> None:
        """What an image shows, where its author says so; small ones in a line stay in it."""
        alternative = one_line(node.get("alt") or "")
        if alternative and "".join(self.parts).strip():
            self.text(alternative)
        elif alternative:
            self.add(Element(alternative, kind="figure", depth=self.depth))


def _heading_level(tag: str, node: etree._Element) -> int | None:
    if match := _HEADING.match(tag):
        return int(match[1])
    return _integer(node.get("aria-level"), 2) if node.get("role") == "heading" else None


def _is_hidden(node: etree._Element) -> bool:
    return node.get("hidden") is not None or bool(_HIDDEN_STYLE.search(node.get("style") or ""))


def _integer(text: str | None, default: int) -> int:
    try:
        return int(text) if text else default
    except ValueError:
        return default


def _span(cell: etree._Element, name: str) -> int:
    return max(1, min(_integer(cell.get(name), 1), MAX_SPAN))


def _rows(node: etree._Element) -> Iterator[etree._Element]:
    """Rows of a table itself, not of tables in its cells."""
    for child in node:
        tag = tag_of(child)
        if tag == "tr":
            yield child
        elif tag in ("thead", "tbody", "tfoot"):
            yield from _rows(child)


def _is_layout(node: etree._Element) -> bool:
    """A table that only places things: said so, one cell, or tables and headings within it."""
    if node.get("role") in ("presentation", "none"):
        return True
    if any(tag_of(one) in ("table", "h1", "h2", "h3", "h4") for one in node.iterdescendants()):
        return True
    cells = [cell for row in _rows(node) for cell in row if tag_of(cell) in ("td", "th")]
    return len(cells) <= 1


def _visible_text(node: etree._Element) -> Iterator[str]:
    """Text of a heading: without marks that link to it."""
    yield node.text or ""
    for child in node:
        tag = tag_of(child)
        mark = one_line("".join(child.itertext())) if tag == "a" else ""
        if tag == "br":
            yield " "
        elif tag and tag not in _SKIPPED and not _is_hidden(child) and mark not in ("#", "¶", "§"):
            yield from _visible_text(child)
        yield child.tail or ""


def _cell_text(node: etree._Element) -> str:
    """A cell's text: its blocks as lines, list items with bullets."""
    reader = _Reader(1)
    reader.block(node)
    reader.flush()
    return "\n".join(element.text for element in reader.elements)


def _raw_text(node: etree._Element) -> Iterator[str]:
    """Text of a listing as it stands."""
    yield node.text or ""
    for child in node:
        tag = tag_of(child)
        if tag == "br":
            yield BREAK
        elif tag and tag not in _SKIPPED:
            yield from _raw_text(child)
        yield child.tail or ""
