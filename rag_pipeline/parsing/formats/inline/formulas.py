"""Formulas of Office (OMML) and MathML as one line of text."""

from __future__ import annotations

from collections.abc import Callable

from lxml import etree

_PROPERTIES = frozenset({"rPr", "ctrlPr", "annotation", "annotation-xml", "mphantom"})
_SIMPLE = 2
"""Characters up to which an operand needs no brackets."""


def formula_text(node: etree._Element) -> str:
    """Return a formula as people type it: fractions with a slash, powers with `^`, roots with √.

    Every letter and sign of the formula is kept; layouts that have no typed form are their parts
    in order. Reads both languages, since their elements have distinct names.
    """
    return "".join(_text(node).split("\n")).strip()


def _text(node: etree._Element) -> str:
    name = _name(node)
    if not name or name in _PROPERTIES or name.endswith("Pr"):
        return ""
    parts = [one for one in node if _name(one) and not _name(one).endswith("Pr")]
    if (shape := _SHAPES.get(name)) is not None and len(parts) >= shape[0]:
        return shape[1]([_text(one) for one in parts])
    if name == "d":
        begin, end = _character(node, "begChr", "("), _character(node, "endChr", ")")
        return f"{begin}{', '.join(_text(one) for one in parts)}{end}"
    if name == "nary":
        return _text_of_nary(node, parts)
    inner = [node.text or ""]
    for child in node:
        inner.append(_text(child))
        inner.append(child.tail or "")
    # White space between elements is the file's, in `m:t` it is the author's.
    text = "".join(inner) if name in ("t", "mtext", "ms") else "".join(map(_trimmed, inner))
    return f"{text}; " if name in ("mtr", "mr") else text


def _trimmed(text: str) -> str:
    return text if text.strip() else ""


def _text_of_nary(node: etree._Element, parts: list[etree._Element]) -> str:
    """A sum or integral with its limits."""
    sign = _character(node, "chr", "∫")
    found = {_name(one): _text(one) for one in parts}
    below, above = found.get("sub", ""), found.get("sup", "")
    limits = f"_{_operand(below)}" * bool(below) + f"^{_operand(above)}" * bool(above)
    return f"{sign}{limits} {found.get('e', '')}"


def _character(node: etree._Element, name: str, default: str) -> str:
    """A sign that OMML states as a property."""
    for child in node:
        if _name(child).endswith("Pr"):
            for one in child:
                if _name(one) == name:
                    return next(iter(one.attrib.values()), "")
    return default


def _operand(text: str) -> str:
    plain = text.strip()
    return plain if len(plain) <= _SIMPLE or plain.isalnum() else f"({plain})"


def _name(node: etree._Element) -> str:
    return str(node.tag).rpartition("}")[2] if isinstance(node.tag, str) else ""


Parts = list[str]
_SHAPES: dict[str, tuple[int, Callable[[Parts], str]]] = {
    "f": (2, lambda parts: f"{_operand(parts[0])}/{_operand(parts[1])}"),
    "mfrac": (2, lambda parts: f"{_operand(parts[0])}/{_operand(parts[1])}"),
    "sSup": (2, lambda parts: f"{parts[0]}^{_operand(parts[1])}"),
    "msup": (2, lambda parts: f"{parts[0]}^{_operand(parts[1])}"),
    "sSub": (2, lambda parts: f"{parts[0]}_{_operand(parts[1])}"),
    "msub": (2, lambda parts: f"{parts[0]}_{_operand(parts[1])}"),
    "sSubSup": (3, lambda parts: f"{parts[0]}_{_operand(parts[1])}^{_operand(parts[2])}"),
    "msubsup": (3, lambda parts: f"{parts[0]}_{_operand(parts[1])}^{_operand(parts[2])}"),
    "munder": (2, lambda parts: f"{parts[0]}_{_operand(parts[1])}"),
    "mover": (2, lambda parts: f"{parts[0]}^{_operand(parts[1])}"),
    "munderover": (3, lambda parts: f"{parts[0]}_{_operand(parts[1])}^{_operand(parts[2])} "),
    "rad": (
        2,
        lambda parts: f"{parts[0]}√{_operand(parts[1])}" if parts[0] else f"√{_operand(parts[1])}",
    ),
    "mroot": (2, lambda parts: f"{parts[1]}√{_operand(parts[0])}"),
    "msqrt": (1, lambda parts: f"√{_operand(''.join(parts))}"),
}
"""Elements with a typed form: how many parts they need, and the form."""
