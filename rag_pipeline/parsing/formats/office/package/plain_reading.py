"""Paragraphs of Office XML without any structure: what is left where a library gives up."""

from __future__ import annotations

from lxml import etree

from rag_pipeline.errors import DamagedFileError


def paragraph_texts(root: etree._Element) -> list[str]:
    """Return the text of each paragraph of Word's or DrawingML's XML that has any, in order."""
    texts = []
    for paragraph in root.iter("{*}p"):
        parts = [
            node.text or "" if etree.QName(node).localname == "t" else " "
            for node in paragraph.iter("{*}t", "{*}tab", "{*}br")
            if next(node.iterancestors("{*}p")) is paragraph
        ]
        if text := "".join(parts).strip():
            texts.append(text)
    return texts


def unstructured(error: DamagedFileError) -> str:
    """Return the warning of a document that was read as plain paragraphs."""
    reason = str(error).split("(", 1)[-1].split("\n")[0]
    return f"read as plain paragraphs, without headings and tables, since it is faulty ({reason}"
