"""Writes HWPX files: the least XML that Hangul's own files have of each thing."""

from __future__ import annotations

import zipfile
from pathlib import Path
from xml.sax.saxutils import escape, quoteattr

from tests.formats.hangul_content import (
    FORM_NAMES,
    NUMBERINGS,
    SHAPES,
    Grid,
    Image,
    Item,
    Link,
    P,
    Script,
)

_NS = (
    'xmlns:hp="http://www.hancom.co.kr/hwpml/2011/paragraph" '
    'xmlns:hs="http://www.hancom.co.kr/hwpml/2011/section" '
    'xmlns:hh="http://www.hancom.co.kr/hwpml/2011/head"'
)
_INNER = {"fn": "footNote", "en": "endNote", "head": "header", "foot": "footer"}


def write_hwpx(
    path: Path, sections: list[list[P]], *, title: str = "", manifest: str = "<manifest/>"
) -> Path:
    """Write a document of sections."""
    names = [f"section{number}" for number in range(len(sections))]
    items = "".join(f'<opf:item id="{name}" href="Contents/{name}.xml"/>' for name in names)
    spine = "".join(f'<opf:itemref idref="{name}"/>' for name in ["header", *names])
    package = (
        '<opf:package xmlns:opf="http://www.idpf.org/2007/opf/"><opf:metadata>'
        f"<opf:title>{escape(title)}</opf:title></opf:metadata><opf:manifest>"
        f'<opf:item id="header" href="Contents/header.xml"/>{items}</opf:manifest>'
        f"<opf:spine>{spine}</opf:spine></opf:package>"
    )
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as container:
        container.writestr("mimetype", "application/hwp+zip", zipfile.ZIP_STORED)
        container.writestr("META-INF/manifest.xml", manifest)
        container.writestr("Contents/content.hpf", package)
        container.writestr("Contents/header.xml", _header())
        for name, paragraphs in zip(names, sections, strict=True):
            body = '<hp:secPr outlineShapeIDRef="1"/>'
            first = f'<hp:p paraPrIDRef="0"><hp:run charPrIDRef="0">{body}</hp:run></hp:p>'
            xml = first + "".join(map(_paragraph, paragraphs))
            container.writestr(f"Contents/{name}.xml", f"<hs:sec {_NS}>{xml}</hs:sec>")
    return path


def _header() -> str:
    shapes = ""
    for number, shape in enumerate(SHAPES):
        kind, level = shape or ("none", 0)
        reference = {"number": 2, "bullet": 1}.get(kind, 0)
        shapes += (
            f'<hh:paraPr id="{number}"><hh:heading type="{kind.upper()}" idRef="{reference}" '
            f'level="{level}"/></hh:paraPr>'
        )
    numberings = ""
    for number, levels in enumerate(NUMBERINGS, start=1):
        heads = "".join(
            f'<hh:paraHead start="1" level="{at}" numFormat="{FORM_NAMES[form]}">{text}'
            "</hh:paraHead>"
            for at, (text, form) in enumerate(levels, start=1)
        )
        numberings += f'<hh:numbering id="{number}" start="0">{heads}</hh:numbering>'
    return (
        f'<hh:head {_NS}><hh:refList><hh:charPr id="0"/><hh:charPr id="1"><hh:bold/></hh:charPr>'
        f"{numberings}{shapes}</hh:refList></hh:head>"
    )


def _paragraph(paragraph: P) -> str:
    inner = "".join(map(_item, paragraph.items))
    lines = ""
    if paragraph.top is not None:
        lines = f'<hp:linesegarray><hp:lineseg vertpos="{paragraph.top}"/></hp:linesegarray>'
    return (
        f'<hp:p paraPrIDRef="{SHAPES.index(paragraph.head)}" pageBreak="{int(paragraph.new_page)}">'
        f'<hp:run charPrIDRef="{int(paragraph.bold)}">{inner}</hp:run>{lines}</hp:p>'
    )


def _listed(content: list[P]) -> str:
    return f"<hp:subList>{''.join(map(_paragraph, content))}</hp:subList>"


def _item(item: Item) -> str:
    if isinstance(item, str):
        text = escape(item).replace("\t", "<hp:tab/>").replace("\n", "<hp:lineBreak/>")
        return f"<hp:t>{text}</hp:t>"
    if isinstance(item, Grid):
        return _grid(item)
    if isinstance(item, Script):
        return f"<hp:equation><hp:script>{escape(item.text)}</hp:script></hp:equation>"
    if isinstance(item, Image):
        comment = escape(item.description)
        return f"<hp:pic><hp:shapeComment>{comment}</hp:shapeComment></hp:pic>"
    if isinstance(item, Link):
        command = escape(item.address.replace(":", "\\:") + ";1;0;0;")
        return (
            '<hp:ctrl><hp:fieldBegin type="HYPERLINK"><hp:parameters>'
            f'<hp:stringParam name="Command">{command}</hp:stringParam></hp:parameters>'
            f"</hp:fieldBegin></hp:ctrl><hp:t>{escape(item.text)}</hp:t>"
            "<hp:ctrl><hp:fieldEnd/></hp:ctrl>"
        )
    if item.kind == "box":
        return f"<hp:rect><hp:drawText>{_listed(item.content)}</hp:drawText></hp:rect>"
    name = _INNER.get(item.kind, "hiddenComment")
    return f"<hp:ctrl><hp:{name}>{_listed(item.content)}</hp:{name}></hp:ctrl>"


def _grid(grid: Grid) -> str:
    caption = ""
    if grid.caption:
        caption = f'<hp:caption side="TOP">{_listed([P([grid.caption])])}</hp:caption>'
    rows = [""] * len(grid.rows)
    for row, column, cell in grid.placed():
        rows[row] += (
            f"<hp:tc>{_listed(cell.content)}<hp:cellAddr colAddr={quoteattr(str(column))} "
            f'rowAddr="{row}"/><hp:cellSpan colSpan="{cell.wide}" rowSpan="{cell.high}"/></hp:tc>'
        )
    return f"<hp:tbl>{caption}{''.join(f'<hp:tr>{row}</hp:tr>' for row in rows)}</hp:tbl>"
