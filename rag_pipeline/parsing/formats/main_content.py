"""The main content of a web page: without menus, banners, side bars and footers."""

from __future__ import annotations

import re

from lxml import etree

from rag_pipeline.parsing.formats.decoding import Decoded
from rag_pipeline.parsing.formats.elements import Reading
from rag_pipeline.parsing.formats.markup import (
    decode_html,
    page_title,
    parse_html,
    read_markup,
    tag_of,
)
from rag_pipeline.settings import ParsingSettings

MAIN_SHARE = 0.4
"""Share of the page's running text that a marked main part has, to be believed."""
LINK_SHARE = 0.6
"""Share of link text from which a block that is named like a menu is one."""
_OUTSIDE = frozenset({"nav", "aside", "footer"})
_OUTSIDE_ROLES = frozenset(
    "navigation banner contentinfo complementary search menu menubar dialog alert".split()
)
_NAMED_OUTSIDE = re.compile(
    r"(?:^|[\s_-])(?:nav(?:bar|igation)?|menu|side-?bar|footer|breadcrumbs?|cookies?|consent|banner"
    r"|share|social|related|advert\w*|ads?|promo|newsletter|pagination|pager|toc|skip|comments?"
    r"|print-?only|noprint|headerlink|edit-?(?:link|section|page))(?:$|[\s_-])",
    re.IGNORECASE,
)
_MAIN = (
    ".//*[local-name()='main' or @role='main']",
    ".//*[local-name()='article' or @role='article']",
    ".//*[@id='content' or @id='main' or @id='main-content' or @id='bodyContent']",
)


def read_html(data: bytes, settings: ParsingSettings, document: str) -> Reading:
    """Elements of an HTML file. Its title is what `<title>` says."""
    decoded: Decoded = decode_html(data)
    root, missing = parse_html(decoded.text, document)
    title = page_title(root)
    content = main_content(root) if settings.main_content else root
    return Reading(read_markup(content), title=title, warnings=[*decoded.warnings, *missing])


def main_content(root: etree._Element) -> etree._Element:
    """The part of a page that is its own, cut out of the tree in place.

    Pages mark it: by `<main>`, `<article>` or a known id, which counts if it holds most of the
    text that is no link. What is left of menus and the like is taken out by tag, role or name.
    Nothing is dropped for being short or odd, as readers made for news articles do: manuals are
    full of short lines, tables and listings.
    """
    body = root.find(".//body")
    page = body if body is not None else root
    _drop(page, [node for node in page.iter() if _is_outside(node)])
    whole = _running_length(page)
    for expression in _MAIN:
        marked = [node for node in page.xpath(expression) if not _is_within(node, page, expression)]
        if marked and sum(map(_running_length, marked)) >= MAIN_SHARE * whole:
            if len(marked) == 1:
                return marked[0]
            holder = etree.Element("div")
            holder.extend(marked)
            return holder
    return page


def _is_within(node: etree._Element, page: etree._Element, expression: str) -> bool:
    """Does another marked part hold it?"""
    holders = set(page.xpath(expression))
    return any(parent in holders for parent in node.iterancestors())


def _is_outside(node: etree._Element) -> bool:
    tag = tag_of(node)
    if tag in _OUTSIDE or node.get("role") in _OUTSIDE_ROLES:
        return True
    if tag == "header":
        # An article's header holds its title, the page's header logo and menu.
        return not any(tag_of(one) in ("article", "main") for one in node.iterancestors()) and (
            node.find(".//{*}h1") is None
        )
    if tag not in ("div", "section", "ul", "ol", "table", "p", "form"):
        return False
    names = f"{node.get('class') or ''} {node.get('id') or ''}"
    return bool(_NAMED_OUTSIDE.search(names)) and _link_share(node) >= LINK_SHARE


def _link_share(node: etree._Element) -> float:
    every = _length(node)
    return sum(map(_length, node.iterfind(".//a"))) / every if every else 1.0


def _running_length(node: etree._Element) -> int:
    return _length(node) - sum(map(_length, node.iterfind(".//a")))


def _length(node: etree._Element) -> int:
    return sum(len(text.strip()) for text in node.itertext(with_tail=False) if not text.isspace())


def _drop(page: etree._Element, nodes: list[etree._Element]) -> None:
    """Take nodes out of their parents; the text after each stays."""
    for node in nodes:
        parent = node.getparent()
        if parent is None or node is page:
            continue
        before = node.getprevious()
        if node.tail:
            if before is not None:
                before.tail = (before.tail or "") + node.tail
            else:
                parent.text = (parent.text or "") + node.tail
        parent.remove(node)
