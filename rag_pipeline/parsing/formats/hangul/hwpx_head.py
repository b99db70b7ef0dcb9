"""What `Contents/header.xml` of an HWPX file says of paragraphs, characters and numberings."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

from lxml import etree

from rag_pipeline.parsing.formats.hangul.hangul_content import Head
from rag_pipeline.parsing.formats.hangul.hangul_numbers import LevelForm, Numberings
from rag_pipeline.parsing.formats.markup_nodes import integer

_HEADS: dict[str, Literal["outline", "number", "bullet"]] = {
    "OUTLINE": "outline",
    "NUMBER": "number",
    "BULLET": "bullet",
}
MAX_LEVEL = 10


@dataclass
class HwpxHead:
    """Shapes by their ids."""

    heads: dict[str, Head] = field(default_factory=dict)
    breaks: set[str] = field(default_factory=set)
    """Paragraph shapes that begin a page."""
    bold: set[str] = field(default_factory=set)
    numberings: Numberings = field(default_factory=Numberings)

    @classmethod
    def of(cls, root: etree._Element) -> HwpxHead:
        """Read the part's root element."""
        head = cls()
        for shape in root.iter("{*}paraPr"):
            key = shape.get("id") or ""
            found = next(shape.iter("{*}heading"), None)
            if found is not None and (kind := _HEADS.get(found.get("type") or "")):
                level = min(max(0, integer(found.get("level"), 0)), MAX_LEVEL - 1)
                head.heads[key] = Head(kind, integer(found.get("idRef"), 0), level)
            for setting in shape.iter("{*}breakSetting"):
                if setting.get("pageBreakBefore") == "1":
                    head.breaks.add(key)
        for characters in root.iter("{*}charPr"):
            if characters.find("{*}bold") is not None:
                head.bold.add(characters.get("id") or "")
        for numbering in root.iter("{*}numbering"):
            key_number = integer(numbering.get("id"), 0)
            head.numberings.levels[key_number] = [
                LevelForm(
                    one.text or "",
                    one.get("numFormat") or "DIGIT",
                    integer(one.get("start"), 1),
                )
                for one in numbering.iterchildren("{*}paraHead")
            ]
        return head
