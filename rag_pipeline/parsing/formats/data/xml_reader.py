"""XML of any vocabulary as text with structure: titles, paragraphs, tables, records."""

from __future__ import annotations

from lxml import etree

from rag_pipeline.errors import DamagedFileError
from rag_pipeline.parsing.formats.containers import PROLOG, refuse_entities
from rag_pipeline.parsing.formats.elements import Element, Reading, list_item, table
from rag_pipeline.text import one_line

_TITLES = frozenset({"title", "heading", "head", "h1", "h2", "h3", "h4"})
_ROWS = frozenset({"row", "tr", "strow", "sthead"})
_ITEMS = frozenset({"li", "listitem", "item", "step", "bullet"})
_CODE = frozenset({"codeblock", "programlisting", "screen", "pre", "literallayout"})
_REFERENCES = frozenset(
    "id idref href ref src class lang xmlns version schemaLocation type style space".split()
)
MAX_LEVEL = 6


def read_xml(data: bytes, document: str) -> Reading:
    """Elements of an XML file: DocBook, DITA and the like by their titles, else by its tree.

    A leaf among leaves of other names is a field, `name: text`. XML with faults is read as far as
    it goes, with a warning. Raises `DamagedFileError` where there is no XML in it, and
    `UnsafeFileError` where it declares entities.
    """
    refuse_entities(data[:PROLOG], document)
    parser = etree.XMLParser(
        recover=True, resolve_entities=False, no_network=True, huge_tree=True, remove_comments=True
    )
    try:
        root = etree.fromstring(data.lstrip(), parser)
    except etree.LxmlError as error:
        raise DamagedFileError(f"it is no XML ({error})", document=document) from error
    if root is None:
        raise DamagedFileError("it is no XML", document=document)
    warnings = []
    if faults := parser.error_log:
        warnings.append(f"its XML is faulty, words may be missing: {faults[0].message}")
    elements: list[Element] = []
    _add(elements, root, 1)
    title = next((element.text for element in elements if element.level == 1), None)
    return Reading(elements, title=title, warnings=warnings)


def _add(elements: list[Element], node: etree._Element, level: int) -> None:
    """Add what an element holds."""
    children = [child for child in node if isinstance(child.tag, str)]
    name = _name(node)
    attributes = [
        f"{etree.QName(key).localname}: {value}"
        for key, value in node.attrib.items()
        if etree.QName(key).localname not in _REFERENCES and value.strip()
    ]
    if not children or _is_mixed(node):
        text = "".join(node.itertext())
        if name in _CODE:
            elements.append(Element(text, kind="code"))
        elif name in _TITLES and node.getparent() is not None:
            elements.append(Element(one_line(text), level=min(level - 1, MAX_LEVEL) or 1))
        elif name in _ITEMS and text.strip():
            elements.append(list_item(one_line(text), 1))
        elif text.strip() or attributes:
            label = f"{name}: " if _is_field(node) else ""
            elements.append(Element("\n".join(filter(None, [label + one_line(text), *attributes]))))
        return
    if attributes:
        elements.append(Element("\n".join([name, *attributes])))
    rows = [row for row in node.iter() if _name(row) in _ROWS]
    if rows and name in ("table", "informaltable", "tgroup", "simpletable"):
        for title in node.iterchildren("{*}title", "{*}caption"):
            elements.append(Element(one_line("".join(title.itertext()))))
        if element := table([[one_line("".join(cell.itertext())) for cell in row] for row in rows]):
            elements.append(element)
        return
    if (records := _records(children)) is not None:
        elements.append(records)
        return
    for child in children:
        _add(elements, child, level + 1)


def _records(children: list[etree._Element]) -> Element | None:
    """A table of elements with one name that all hold plain fields; None for anything else."""
    if len(children) < 2 or len({child.tag for child in children}) > 1:
        return None
    if any(child.attrib or not len(child) for child in children):
        return None
    fields = [{_name(one): one for one in child} for child in children]
    if any(len(row) < len(child) for row, child in zip(fields, children, strict=True)):
        return None
    leaves = [one for row in fields for one in row.values()]
    if any(len(one) or one.attrib or _name(one) in _TITLES for one in leaves):
        return None
    columns = list(dict.fromkeys(key for row in fields for key in row))
    if len(columns) < 2 or len(leaves) < 0.5 * len(columns) * len(fields):
        return None
    rows = [
        [one_line(row[key].text or "") if key in row else "" for key in columns] for row in fields
    ]
    return table([columns, *rows])


def _is_mixed(node: etree._Element) -> bool:
    """Does text stand between the children, as in a paragraph?"""
    return bool((node.text or "").strip()) or any((child.tail or "").strip() for child in node)


def _is_field(node: etree._Element) -> bool:
    """Is it one of several leaves of different names?"""
    parent = node.getparent()
    if parent is None or _is_mixed(parent):
        return False
    leaves = {child.tag for child in parent if isinstance(child.tag, str) and not len(child)}
    return len(leaves) > 1 and _name(node) not in ("p", "para", "simpara")


def _name(node: etree._Element) -> str:
    return etree.QName(node).localname if isinstance(node.tag, str) else ""
