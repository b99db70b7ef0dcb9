"""Word's XML without wrappers: what a reader sees, as plain paragraphs, runs and tables.

python-docx and unstructured see only runs that lie directly in paragraphs that lie directly in the
body or a cell. All else (ECMA-376 part 1, section 17) is brought into this form beforehand.
"""

from __future__ import annotations

from collections.abc import Callable

from lxml import etree

from rag_pipeline.parsing.formats.inline.symbol_fonts import symbol, with_signs
from rag_pipeline.parsing.formats.office.package.alternatives import (
    choose_alternatives,
    unwrap,
    write_formulas,
)
from rag_pipeline.text import one_line

W = "{http://schemas.openxmlformats.org/wordprocessingml/2006/main}"
_W14 = "{http://schemas.microsoft.com/office/word/2010/wordml}"
_SPACE = "{http://www.w3.org/XML/1998/namespace}space"
FIGURE = "{urn:rag-pipeline}figure"
"""Attribute of paragraphs made here that hold what a picture shows."""
_WRAPPERS = tuple(
    f"{W}{name}" for name in "ins moveTo smartTag customXml fldSimple dir bdo".split()
)
_DELETED = tuple(f"{W}{name}" for name in "del moveFrom".split())
_OFF = frozenset({"0", "false", "off"})
Notes = Callable[[etree._Element], list[etree._Element]]
Diagrams = Callable[[str], list[str]]


def plain_word(root: etree._Element, notes: Notes | None, diagrams: Diagrams) -> list[str]:
    """Change a part in place, and say what was left out.

    `notes` gives the paragraphs of a foot- or endnote by its reference, `diagrams` the texts of the
    diagram or chart behind a relationship.
    """
    choose_alternatives(root)
    _drop_deleted(root)
    write_formulas(root)
    _write_runs(root)
    for node in reversed(list(root.iter(f"{W}sdt"))):
        content = node.find(f"{W}sdtContent")
        unwrap(node, content if content is not None else etree.Element("none"))
    for node in reversed(list(root.iter(*_WRAPPERS))):
        for properties in node.findall(f"{W}customXmlPr") + node.findall(f"{W}smartTagPr"):
            node.remove(properties)
        if len(node):
            unwrap(node)
    warnings = _drop_hidden(root)
    _write_pictures(root, diagrams)
    _lift_boxes(root)
    if notes is not None:
        _write_notes(root, notes)
    return warnings + _unread(root)


def _drop_deleted(root: etree._Element) -> None:
    """Take away what tracked changes delete: runs, rows, and the ends of paragraphs."""
    for row in list(root.iter(f"{W}tr")):
        if row.find(f"{W}trPr/{W}del") is not None:
            row.getparent().remove(row)
    for paragraph in list(root.iter(f"{W}p")):
        after = paragraph.getnext()
        mark = paragraph.find(f"{W}pPr/{W}rPr/{W}del")
        if mark is not None and after is not None and after.tag == paragraph.tag:
            at = 1 if after.find(f"{W}pPr") is not None else 0
            for child in reversed(list(paragraph)):
                if child.tag != f"{W}pPr":
                    after.insert(at, child)
            paragraph.getparent().remove(paragraph)
    for node in list(root.iter(*_DELETED)):
        if node.getparent() is not None and len(node):
            node.getparent().remove(node)


def _text_node(text: str) -> etree._Element:
    node = etree.Element(f"{W}t")
    node.text = text
    node.set(_SPACE, "preserve")
    return node


def _write_runs(root: etree._Element) -> None:
    """Write symbols, ruby bases and the values of form fields as text of their runs."""
    for node in list(root.iter(f"{W}sym")):
        code = node.get(f"{W}char") or ""
        try:
            sign = symbol(int(code, 16), node.get(f"{W}font") or "")
        except (ValueError, OverflowError):
            sign = "\N{REPLACEMENT CHARACTER}"
        node.getparent().replace(node, _text_node(sign))
    for node in list(root.iter(f"{W}ruby")):
        base = node.find(f"{W}rubyBase")
        text = "".join(base.itertext(f"{W}t")) if base is not None else ""
        node.getparent().replace(node, _text_node(text))
    for run in root.iter(f"{W}r"):
        fonts = run.find(f"{W}rPr/{W}rFonts")
        font = fonts.get(f"{W}ascii") or fonts.get(f"{W}hAnsi") or "" if fonts is not None else ""
        for node in run.iterchildren(f"{W}t"):
            node.text = with_signs(node.text or "", font)
        if (value := _field_value(run)) is not None:
            run.append(_text_node(value))


def _field_value(run: etree._Element) -> str | None:
    """The value of an old form field, which stands in its properties: a list or a check box."""
    data = run.find(f"{W}fldChar/{W}ffData")
    if data is None:
        return None
    if (choices := data.find(f"{W}ddList")) is not None:
        entries = [one.get(f"{W}val") or "" for one in choices.findall(f"{W}listEntry")]
        chosen = choices.find(f"{W}result")
        at = chosen.get(f"{W}val") or "0" if chosen is not None else "0"
        return entries[int(at)] if at.isdigit() and int(at) < len(entries) else None
    if (box := data.find(f"{W}checkBox")) is not None:
        state = box.find(f"{W}checked")
        if state is None:
            state = box.find(f"{W}default")
        return "☒" if state is not None and state.get(f"{W}val") not in _OFF else "☐"
    return None


def _drop_hidden(root: etree._Element) -> list[str]:
    """Take away runs that their author hid, and say what they hold."""
    hidden = []
    for mark in list(root.iter(f"{W}vanish")):
        run = mark.getparent().getparent()
        if mark.get(f"{W}val") in _OFF or run is None or run.tag != f"{W}r":
            continue
        if text := "".join(run.itertext(f"{W}t")):
            hidden.append(text)
        run.getparent().remove(run)
    text = one_line(" ".join(hidden))
    return [f"hidden text was left out: {text}"] if text else []


def _paragraph(text: str) -> etree._Element:
    paragraph = etree.Element(f"{W}p")
    etree.SubElement(paragraph, f"{W}r").append(_text_node(text))
    return paragraph


def _write_pictures(root: etree._Element, diagrams: Diagrams) -> None:
    """Write what pictures show by their description, and diagrams' texts, below their paragraph."""
    for node in reversed(list(root.iter("{*}docPr", "{*}relIds", "{*}chart"))):
        holder = next(node.iterancestors(f"{W}p"), None)
        if holder is None:
            continue
        texts = []
        if etree.QName(node).localname == "docPr":
            description = one_line(node.get("descr") or "")
            texts = [description] if " " in description else []
        else:
            for key, value in node.attrib.items():
                if etree.QName(key).localname in ("dm", "id"):
                    texts.extend(diagrams(str(value)))
        for text in reversed(texts):
            made = _paragraph(text)
            made.set(FIGURE, "1")
            holder.addnext(made)


def _lift_boxes(root: etree._Element) -> None:
    """Put the paragraphs of each text box behind the paragraph that it is anchored to."""
    for box in reversed(list(root.iter(f"{W}txbxContent"))):
        holder = next(box.iterancestors(f"{W}p"), None)
        if holder is None:
            continue
        box.getparent().remove(box)
        for child in reversed(list(box)):
            holder.addnext(child)


def _write_notes(root: etree._Element, notes: Notes) -> None:
    """Put each foot- and endnote behind the paragraph or table that refers to it."""
    number = 0
    placed: list[tuple[etree._Element, list[etree._Element]]] = []
    for reference in root.iter(f"{W}footnoteReference", f"{W}endnoteReference"):
        holder = next(reference.iterancestors(f"{W}p"), None)
        found = notes(reference)
        if holder is None or not found:
            continue
        number += 1
        for table in holder.iterancestors(f"{W}tbl"):
            holder = table
        run = etree.Element(f"{W}r")
        run.append(_text_node(f"Note {number}: "))
        found[0].insert(1 if found[0].find(f"{W}pPr") is not None else 0, run)
        placed.append((holder, found))
    for holder, found in reversed(placed):
        for paragraph in reversed(found):
            holder.addnext(paragraph)


def _unread(root: etree._Element) -> list[str]:
    """Say which files within the document are not read."""
    count = sum(1 for _ in root.iter(f"{W}altChunk", "{*}OLEObject"))
    if not count:
        return []
    return [f"{count} embedded file{'s were' if count > 1 else ' was'} not read"]
