"""All text there is in a file, without regard to structure: one text for each paragraph.

Nothing here uses the readers of `formats`: what one side overlooks, the other must not.
"""

from __future__ import annotations

import email
import email.policy
import html
import io
import json
import posixpath
import re
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from lxml import etree

from rag_pipeline.parsing.formats.decoding import decode
from rag_pipeline.parsing.witness.raw_hangul import raw_hwp, raw_hwpx
from rag_pipeline.parsing.witness.raw_rtf import raw_rtf

_SCRIPTS = re.compile(
    r"<(script|style|head|template|noscript|rp|rt|datalist|button|select)\b[^>]*>.*?</\1\s*>"
    r"|<!--.*?-->|<(?:!|\?)[^>]*>",
    re.DOTALL | re.IGNORECASE,
)
_INLINE = re.compile(
    r"</?(?:a|abbr|b|bdi|bdo|big|cite|code|del|dfn|em|font|i|ins|kbd|mark|q|s|samp|small|span"
    r"|strike|strong|sub|sup|time|tt|u|var|wbr|m[a-z]{1,10})\b[^>]*>",
    re.IGNORECASE,
)
_JSON_KEY = re.compile(r'"((?:[^"\\]|\\.)*)"\s*:')
_TAG = re.compile(r"""<(?:[^<>"']|"[^"]*"|'[^']*')*>""")
_OFFICE_PARTS = re.compile(
    r"word/(?:document|footnotes|endnotes)\.xml|ppt/slides/[^/]+\.xml|word/document\d*\.xml"
    r"|(?:word|ppt)/diagrams/data\d*\.xml"
)
_MC = "{http://schemas.openxmlformats.org/markup-compatibility/2006}"


def raw_texts(path: Path, kind: str) -> Iterator[str]:
    """Yield all texts of a file of a format (see `file_type`); nothing for formats without."""
    reader = _READERS.get(kind)
    if reader is not None:
        yield from reader(path)


def _office(path: Path) -> Iterator[str]:
    """Every text node of Word and PowerPoint: `w:t`, `a:t`, `m:t`, each paragraph joined."""
    with zipfile.ZipFile(path) as container:
        for name in container.namelist():
            if not _OFFICE_PARTS.fullmatch(name):
                continue
            root = _xml(container.read(name))
            if root is None:
                continue
            for node in list(root.iter(f"{_MC}Fallback")):
                if "".join(node.getparent().itertext()).strip() and _has_choice_text(node):
                    node.getparent().remove(node)
            left_out = _left_out_of_office(root)
            for paragraph in root.iter("{*}p"):
                yield "".join(_paragraph_parts(paragraph, left_out))


def _has_choice_text(fallback: etree._Element) -> bool:
    choices = fallback.getparent().iterchildren(f"{_MC}Choice")
    return any("".join(choice.itertext()).strip() for choice in choices)


def _left_out_of_office(root: etree._Element) -> set[etree._Element]:
    """Deleted and moved text, and readings of ruby: no reader sees the first two."""
    found: set[etree._Element] = set()
    for node in root.iter("{*}del", "{*}moveFrom", "{*}rt"):
        found.update(node.iter())
    for row in root.iter("{*}tr"):
        if row.find("{*}trPr/{*}del") is not None:
            found.update(row.iter())
    return found


def _paragraph_parts(paragraph: etree._Element, left_out: set[etree._Element]) -> Iterator[str]:
    for node in paragraph.iter():
        if not isinstance(node.tag, str) or node in left_out:
            continue
        name = etree.QName(node).localname
        if name not in ("t", "tab", "br", "cr", "noBreakHyphen", "sym"):
            continue
        if next(node.iterancestors("{*}p"), None) is paragraph:
            hidden = name == "t" and node.getparent().find("{*}rPr/{*}vanish") is not None
            text = (node.text or "") if name == "t" else " "
            yield f" {text} " if hidden else text


def _workbook(path: Path) -> Iterator[str]:
    """Every shared or inline string and every text result of a visible sheet."""
    with zipfile.ZipFile(path) as container:
        names = container.namelist()
        hidden = _hidden_sheets(container) if "xl/workbook.xml" in names else set()
        shared: list[str] = []
        if "xl/sharedStrings.xml" in names:
            root = _xml(container.read("xl/sharedStrings.xml"))
            for one in root if root is not None else ():
                for ruby in list(one.iter("{*}rPh")):
                    ruby.getparent().remove(ruby)
                shared.append("".join(one.itertext("{*}t")))
        for name in names:
            if not name.startswith("xl/worksheets/sheet") or name in hidden:
                continue
            root = _xml(container.read(name))
            for cell in root.iter("{*}c") if root is not None else ():
                value = "".join(cell.itertext("{*}v", "{*}t"))
                if cell.get("t") == "s" and value.isdigit() and int(value) < len(shared):
                    yield shared[int(value)]
                elif cell.get("t") in ("str", "inlineStr"):
                    yield value


def _hidden_sheets(container: zipfile.ZipFile) -> set[str]:
    book, links = container.read("xl/workbook.xml"), "xl/_rels/workbook.xml.rels"
    root = _xml(book)
    relations = _xml(container.read(links)) if links in container.namelist() else None
    if root is None or relations is None:
        return set()
    targets = {one.get("Id"): (one.get("Target") or "").lstrip("/") for one in relations}
    found = set()
    for sheet in root.iter("{*}sheet"):
        if sheet.get("state") in ("hidden", "veryHidden"):
            key = next((v for k, v in sheet.attrib.items() if str(k).endswith("}id")), "")
            place = targets.get(key) or ""
            found.add(place if place.startswith("xl/") else posixpath.join("xl", place))
    return found


def _odt(path: Path) -> Iterator[str]:
    with zipfile.ZipFile(path) as container:
        root = _xml(container.read("content.xml"))
    if root is None:
        return
    for node in list(root.iter("{*}ruby-text", "{*}note-citation", "{*}sequence-decls")):
        for child in node.iter():
            child.text = None
    for paragraph in root.iter("{*}p", "{*}h"):
        parts = []
        for node in paragraph.iter():
            name = etree.QName(node).localname if isinstance(node.tag, str) else ""
            owner = next((one for one in _upwards(node) if _is_odt_paragraph(one)), None)
            if name in ("s", "tab", "line-break"):
                parts.append(" ")
            if owner is paragraph:
                parts.append(node.text or "")
            above = node.getparent()
            if node is not paragraph and above is not None:
                owner = next((one for one in _upwards(above) if _is_odt_paragraph(one)), None)
                if owner is paragraph:
                    parts.append(f"{' ' if name == 'note' else ''}{node.tail or ''}")
        yield "".join(parts)


def _upwards(node: etree._Element) -> Iterator[etree._Element]:
    yield node
    yield from node.iterancestors()


def _is_odt_paragraph(node: etree._Element) -> bool:
    return isinstance(node.tag, str) and etree.QName(node).localname in ("p", "h")


def _epub(path: Path) -> Iterator[str]:
    with zipfile.ZipFile(path) as container:
        navigation = _navigation(container)
        for name in container.namelist():
            if name.lower().endswith((".xhtml", ".html", ".htm")) and name not in navigation:
                yield from _page(decode(container.read(name)).text)


def _navigation(container: zipfile.ZipFile) -> set[str]:
    found = set()
    for name in container.namelist():
        if name.lower().endswith(".opf") and (root := _xml(container.read(name))) is not None:
            for item in root.iter("{*}item"):
                if "nav" in (item.get("properties") or "").split():
                    place = posixpath.join(posixpath.dirname(name), item.get("href") or "")
                    found.add(posixpath.normpath(place))
    return found


def _html_file(path: Path) -> Iterator[str]:
    yield from _page(decode(path.read_bytes()).text)


def _page(text: str) -> Iterator[str]:
    """Text between tags; tags within a line join what stands around them."""
    without = _INLINE.sub("", _SCRIPTS.sub(" ", text))
    for piece in _TAG.split(without):
        yield html.unescape(piece)


def _mail(path: Path) -> Iterator[str]:
    """The subject, and every text part that is no attachment."""
    message: Any = email.message_from_bytes(path.read_bytes(), policy=email.policy.compat32)
    alternatives = {
        id(child)
        for part in message.walk()
        if part.get_content_type() == "multipart/alternative"
        for child in part.walk()
    }
    for part in message.walk():
        if part.get_content_maintype() != "text" or part.get_filename():
            continue
        if "attachment" in str(part.get("Content-Disposition") or ""):
            continue
        data = part.get_payload(decode=True) or b""
        text = decode(data, part.get_content_charset()).text
        if part.get_content_type() == "text/html":
            yield from _page(text)
        elif id(part) not in alternatives:
            yield text


def _markdown(path: Path) -> Iterator[str]:
    text = re.sub(r"<!--.*?-->", " ", decode(path.read_bytes()).text, flags=re.DOTALL)
    text = re.sub(r"\]\([^()\s]*(?:\([^()]*\)[^()\s]*)*(?:\s+\"[^\"]*\")?\)", "]", text)
    text = re.sub(r"\]\[[^\]]*\]", "]", text)
    text = re.sub(r"^ {0,3}\[[^\]^]+\]:\s*\S+.*$", " ", text, flags=re.MULTILINE)
    text = re.sub(r"^[ >]*(?:```+|~~~+).*$", " ", text, flags=re.MULTILINE)
    text = re.sub(r"<(script|style)\b.*?</\1>", " ", text, flags=re.DOTALL | re.IGNORECASE)
    yield html.unescape(re.sub(r"</?[a-zA-Z][^<>]*>", " ", text))


def _plain(path: Path) -> Iterator[str]:
    yield decode(path.read_bytes()).text


def _json(path: Path) -> Iterator[str]:
    """All values, and each key once: the records of a table repeat them."""
    text = decode(path.read_bytes()).text
    yield _JSON_KEY.sub(" ", text)
    yield from dict.fromkeys(_JSON_KEY.findall(text))


def _notebook(path: Path) -> Iterator[str]:
    try:
        notebook = json.loads(decode(path.read_bytes()).text)
        cells = notebook["cells"]
    except (ValueError, KeyError, TypeError):
        return
    for cell in cells:
        source = cell.get("source", "")
        yield "".join(source) if isinstance(source, list) else str(source)


def _xml_file(path: Path) -> Iterator[str]:
    root = _xml(path.read_bytes())
    if root is not None:
        for node in root.iter(etree.Element):
            yield from (text for text in (node.text, node.tail) if text)


def _xml(data: bytes) -> etree._Element | None:
    parser = etree.XMLParser(recover=True, resolve_entities=False, no_network=True, huge_tree=True)
    try:
        return etree.parse(io.BytesIO(data), parser).getroot()
    except etree.LxmlError:
        return None


_READERS: dict[str, Callable[[Path], Iterator[str]]] = {
    "docx": _office,
    "pptx": _office,
    "xlsx": _workbook,
    "odt": _odt,
    "hwpx": raw_hwpx,
    "hwp": raw_hwp,
    "epub": _epub,
    "html": _html_file,
    "email": _mail,
    "rtf": raw_rtf,
    "markdown": _markdown,
    "csv": _plain,
    "text": _plain,
    "code": _plain,
    "json": _json,
    "xml": _xml_file,
    "notebook": _notebook,
}
