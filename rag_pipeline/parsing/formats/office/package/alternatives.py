"""Wrappers that all Office files share: alternative contents, and formulas among text."""

from __future__ import annotations

from lxml import etree

from rag_pipeline.parsing.formats.inline.formulas import formula_text

_MC = "{http://schemas.openxmlformats.org/markup-compatibility/2006}"
_M = "{http://schemas.openxmlformats.org/officeDocument/2006/math}"
_A = "{http://schemas.openxmlformats.org/drawingml/2006/main}"
_W = "{http://schemas.openxmlformats.org/wordprocessingml/2006/main}"
_SPACE = "{http://www.w3.org/XML/1998/namespace}space"


def choose_alternatives(root: etree._Element) -> None:
    """Put one of the forms of each `mc:AlternateContent` in its place: the first with text."""
    for node in reversed(list(root.iter(f"{_MC}AlternateContent"))):
        forms = [form for form in node if form.tag in (f"{_MC}Choice", f"{_MC}Fallback")]
        with_text = [form for form in forms if "".join(form.itertext()).strip()]
        unwrap(node, (with_text or forms or [node])[0])


def unwrap(node: etree._Element, holder: etree._Element | None = None) -> None:
    """Put the children of `holder`, by default of the element itself, into its place."""
    parent = node.getparent()
    if parent is None:
        return
    at = parent.index(node)
    parent.remove(node)
    for child in reversed(list(node if holder is None else holder)):
        parent.insert(at, child)


def write_formulas(root: etree._Element) -> None:
    """Put each formula in its place as a run of text."""
    for node in reversed(list(root.iter(f"{_M}oMath"))):
        parent = node.getparent()
        if parent is None:
            continue
        namespace = _A if _within_drawing_text(node) else _W
        run = etree.Element(f"{namespace}r")
        text = etree.SubElement(run, f"{namespace}t")
        text.text = formula_text(node)
        if namespace == _W:
            text.set(_SPACE, "preserve")
        parent.replace(node, run)
    for tag in (f"{_M}oMathPara", "{http://schemas.microsoft.com/office/drawing/2010/main}m"):
        for node in reversed(list(root.iter(tag))):
            unwrap(node)


def _within_drawing_text(node: etree._Element) -> bool:
    """Is the nearest paragraph one of DrawingML?"""
    for holder in node.iterancestors():
        if holder.tag in (f"{_A}p", f"{_W}p"):
            return bool(holder.tag == f"{_A}p")
    return False
