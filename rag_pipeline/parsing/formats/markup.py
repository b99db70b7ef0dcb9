"""HTML trees → elements: headings, nested lists, tables with spans, code, links.

EPUB chapters, e-mails and web pages come through here as well.
"""

from __future__ import annotations

import re

from lxml import etree, html

from rag_pipeline.errors import ParseError
from rag_pipeline.parsing.formats.decoding import Decoded, decode
from rag_pipeline.parsing.formats.elements import Element, list_item, table
from rag_pipeline.parsing.formats.inline.formulas import formula_text
from rag_pipeline.parsing.formats.markup_nodes import (
    BREAK,
    SKIPPED,
    heading_level,
    integer,
    is_hidden,
    is_layout,
    raw_text,
    rows,
    span,
    tag_of,
    visible_text,
)
from rag_pipeline.parsing.table_grid import covered_grid
from rag_pipeline.text import one_line

_BLOCKS = frozenset(
    "address article aside blockquote body center dd details dialog div dl dt fieldset figcaption "
    "figure footer form h1 h2 h3 h4 h5 h6 header hgroup hr html legend li main menu nav ol p pre "
    "section summary table ul caption tr td th tbody thead tfoot".split()
)
_FORM_PARTS = frozenset({"input", "select", "textarea", "button"})
_BOLD = frozenset({"b", "strong"})
_ADDRESS = re.compile(r"^(?:https?|ftp|mailto|tel):", re.IGNORECASE)
_CHARSET = re.compile(rb"""<meta[^>]+charset\s*=\s*["']?\s*([\w.:-]+)""", re.IGNORECASE)
_XML_ENCODING = re.compile(rb"""<\?xml[^>]+encoding\s*=\s*["']([\w.:-]+)""", re.IGNORECASE)
_CODE_CLASS = re.compile(r"(?:^|\s)(?:language|lang|highlight|brush|sourceCode)[-: ]+([\w+#]+)")
DECLARATION_WINDOW = 4096
MAX_NESTING = 150
"""Elements within each other; what lies deeper is read as plain text."""
_COMMENT = re.compile(r"<!--.*?-->", re.DOTALL)
_TAG = re.compile(r"<[^<>]*>")
_CONTROLS = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f]")


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
        if not _COMMENT.sub("", text).strip():
            raise ParseError("the page has no content", document=document) from error
        root = html.fragment_fromstring("<div></div>")
        root.text = _TAG.sub(" ", _COMMENT.sub("", text))
        return root, ["the page's tags are faulty; it was read as plain text"]
    fatal = parser.error_log.filter_from_fatals()
    return root, [f"parts of the page may be missing: {fatal[0].message}"] if fatal else []


def page_title(root: etree._Element) -> str | None:
    """What `<title>` says."""
    found = root.find(".//title")
    return one_line("".join(found.itertext())) or None if found is not None else None


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
        if not tag or tag in SKIPPED or is_hidden(node):
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
        elif tag == "math":
            self.text(formula_text(node))
        elif tag == "svg":
            self.drawing(node)
        elif tag in _FORM_PARTS:
            self.control(tag, node)
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
        level = heading_level(tag, node)
        if level is not None:
            self.heading(node, level)
        elif tag in ("ul", "ol", "menu"):
            self.list(node, ordered=tag == "ol")
        elif tag == "pre":
            self.code(node)
        elif tag == "table" and not is_layout(node):
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
        self.text("".join(visible_text(node)))
        self.flush(level)

    def list(self, node: etree._Element, *, ordered: bool) -> None:
        self.depth += 1
        self.lists += 1
        number = integer(node.get("start"), 1)
        for child in node:
            tag = tag_of(child)
            if tag == "li" and not is_hidden(child):
                number = integer(child.get("value"), number)
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
        text = "".join("\n" if part is BREAK else part for part in raw_text(node))
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
                (_cell_text(cell), span(cell, "colspan"), span(cell, "rowspan"))
                for cell in row
                if tag_of(cell) in ("td", "th")
            ]
            for row in rows(node)
        )
        if element := table(cells, spans, depth=self.depth):
            self.add(element)

    def drawing(self, node: etree._Element) -> None:
        """The words in a drawing, each text a line of its own."""
        for one in node.iter("{*}text", "{*}title", "{*}desc"):
            self.flush()
            self.text("".join(one.itertext(with_tail=False)))
            self.flush()

    def control(self, tag: str, node: etree._Element) -> None:
        """What a reader sees in a form: values, choices; labels of buttons within a sentence."""
        if tag == "input":
            if (node.get("type") or "text").lower() in ("text", "number", "date", "tel", "email"):
                self.text(f" {node.get('value') or ''} ")
        elif tag == "select":
            options = list(node.iter("{*}option"))
            chosen = [one for one in options if one.get("selected") is not None] or options[:1]
            self.text(" ".join("".join(one.itertext()) for one in chosen))
        elif tag == "textarea" or "".join(self.parts).strip() or (node.tail or "").strip():
            self.text("".join(node.itertext(with_tail=False)))

    def image(self, node: etree._Element) -> None:
        """What an image shows, where its author says so; small ones in a line stay in it."""
        alternative = one_line(node.get("alt") or "")
        if alternative and "".join(self.parts).strip():
            self.text(alternative)
        elif alternative:
            self.add(Element(alternative, kind="figure", depth=self.depth))


def _cell_text(node: etree._Element) -> str:
    """A cell's text: its blocks as lines, list items with bullets."""
    reader = _Reader(1)
    reader.block(node)
    reader.flush()
    return "\n".join(element.text for element in reader.elements)
