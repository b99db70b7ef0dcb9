"""The main content of a web page: without menus, banners, side bars and footers."""

from __future__ import annotations

import re

from lxml import etree

from rag_pipeline.parsing.formats.decoding import Decoded
from rag_pipeline.parsing.formats.elements import Reading
from rag_pipeline.parsing.formats.markup import decode_html, page_title, parse_html, read_markup
from rag_pipeline.parsing.formats.markup_nodes import hidden_texts, tag_of
from rag_pipeline.settings import ParsingSettings

MAIN_SHARE = 0.4
"""Share of the page's running text that a marked main part has, to be believed."""
LINK_SHARE = 0.6
"""Share of link text from which a block that is named like a menu is one."""
_OUTSIDE = frozenset({"nav", "aside", "footer"})
_OUTSIDE_ROLES = frozenset(
    "navigation banner contentinfo complementary search menu menubar".split()
)
_NAMED_OUTSIDE = re.compile(
    r"(?:^|[\s_-])(?:nav(?:bar|igation)?|menu|side-?bar|footer|breadcrumbs?|cookies?|consent|banner"
    r"|share|social|related|advert\w*|ads?|promo|newsletter|pagination|pager|toc|skip|comments?"
    r"|print-?only|noprint|headerlink|edit-?(?:link|section|page))(?:$|[\s_-])",
    re.IGNORECASE,
)
_SAFETY_ROLES = frozenset({"alert", "alertdialog", "note", "status"})
_SAFETY_NAMES = re.compile(
    r"(?:^|[\s_-])(?:alert|admonition|warning|caution|danger|attention|important|notice|note|hint"
    r"|callout|hazard)(?:$|[\s_-])",
    re.IGNORECASE,
)
_SAFETY_TEXT = re.compile(
    r"\s*(?:warning|caution|danger|attention|important|notice|warnung|vorsicht|gefahr|achtung"
    r"|avertissement|attention|danger|advertencia|peligro|경고|주의|위험|警告|注意|危険|危险)\b",
    re.IGNORECASE,
)
_PARTS = frozenset({"article", "main", "section", "td", "blockquote", "figure", "li", "dd"})
"""Elements that have footers and asides of their own, which belong to the text."""
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
    furniture = hidden_texts(root)
    content = main_content(root, furniture) if settings.main_content else root
    return Reading(
        read_markup(content),
        title=title,
        warnings=[*decoded.warnings, *missing],
        furniture=furniture,
    )


def main_content(root: etree._Element, furniture: list[str] | None = None) -> etree._Element:
    """The part of a page that is its own, cut out of the tree in place.

    Pages mark it: by `<main>`, `<article>` or a known id, which counts if it holds most of the
    text that is no link. What is left of menus and the like is taken out by tag, role or name.
    Nothing is dropped for being short or odd, as readers made for news articles do: manuals are
    full of short lines, tables and listings. Warnings stay wherever they stand. The text of menus
    and the like is added to `furniture`.
    """
    body = root.find(".//body")
    page = body if body is not None else root
    outside = [node for node in page.iter() if _is_outside(node)]
    if furniture is not None:
        furniture.extend(" ".join(node.itertext(with_tail=False)) for node in outside)
    _drop(page, outside)
    whole = _running_length(page)
    for expression in _MAIN:
        marked = [node for node in page.xpath(expression) if not _is_within(node, page, expression)]
        if marked and sum(map(_running_length, marked)) >= MAIN_SHARE * whole:
            safety = [
                node
                for node in page.iter()
                if _is_safety(node) and not _touches(node, marked) and not _within_safety(node)
            ]
            if len(marked) == 1 and not safety:
                return marked[0]
            order = {node: at for at, node in enumerate(page.iter())}
            holder = etree.Element("div")
            holder.extend(sorted([*marked, *safety], key=lambda node: order[node]))
            return holder
    return page


def _is_within(node: etree._Element, page: etree._Element, expression: str) -> bool:
    """Does another marked part hold it?"""
    holders = set(page.xpath(expression))
    return any(parent in holders for parent in node.iterancestors())


def _touches(node: etree._Element, marked: list[etree._Element]) -> bool:
    """Does a node hold a marked part, or lie in one?"""
    return any(one in marked for one in (node, *node.iterancestors())) or any(
        one in marked for one in node.iterdescendants()
    )


def _within_safety(node: etree._Element) -> bool:
    return any(_is_safety(holder) for holder in node.iterancestors())


def _is_safety(node: etree._Element) -> bool:
    """Is it a warning or a note, by its role, its name or its first word?"""
    tag = tag_of(node)
    if not tag or tag in ("html", "body", "nav"):
        return False
    if (node.get("role") or "") in _SAFETY_ROLES:
        return True
    if tag not in ("div", "section", "aside", "p", "table", "dialog", "blockquote", "footer"):
        return False
    text = "".join(node.itertext(with_tail=False))
    if not text.strip() or _link_share(node) >= LINK_SHARE:
        return False
    names = f"{node.get('class') or ''} {node.get('id') or ''}"
    return bool(_SAFETY_NAMES.search(names) or _SAFETY_TEXT.match(text))


def _is_part(node: etree._Element) -> bool:
    """Is it a footer or aside of an article or section, with text of its own, or a warning?"""
    if _is_safety(node):
        return True
    own = any(tag_of(one) in _PARTS for one in node.iterancestors())
    names = f"{node.get('class') or ''} {node.get('id') or ''}"
    return own and not _NAMED_OUTSIDE.search(names) and _link_share(node) < LINK_SHARE


def _is_outside(node: etree._Element) -> bool:
    tag = tag_of(node)
    if tag in ("aside", "footer") or node.get("role") in ("complementary", "contentinfo"):
        return not _is_part(node) and not any(_is_safety(one) for one in node.iterdescendants())
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
