"""Office packages, mended before a library opens them: one bad part must not cost the document."""

from __future__ import annotations

import io
import posixpath
import re
import zipfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from urllib.parse import unquote

from lxml import etree

from rag_pipeline.errors import DamagedFileError
from rag_pipeline.parsing.formats.containers import READ_ERRORS, parse_xml
from rag_pipeline.text import one_line

_STRICT = re.compile(
    rb"http://purl\.oclc\.org/ooxml/"
    rb"(officeDocument|wordprocessingml|spreadsheetml|presentationml|drawingml|schemaLibrary)/"
)
_TRANSITIONAL = rb"http://schemas.openxmlformats.org/\1/2006/"
_RELATION = "{http://schemas.openxmlformats.org/officeDocument/2006/relationships}"
_MAIN = frozenset({"word/document.xml", "ppt/presentation.xml", "xl/workbook.xml"})
_REFERENCE = re.compile(rb"""\s\w+:(?:id|embed|link|pict|href|dm|lo|qs|cs)=["']([^"']*)["']""")
_UNLINKED = frozenset({"hlinkClick", "hlinkHover", "hlinkMouseOver"})
_WORDS = {"hyperlink": "link", "hlinkClick": "link", "hlinkHover": "link", "blip": "picture"}
MAX_WARNINGS = 10

Relations = dict[str, str]
"""Target of each relationship by its id; the address itself where it leads out of the file."""
Change = Callable[[etree._Element, Relations], list[str]]


@dataclass
class OfficePackage:
    """The parts of a package as they will be written again, and what was wrong with them."""

    parts: dict[str, bytes] = field(default_factory=dict)
    relations: dict[str, Relations] = field(default_factory=dict)
    """Relationships of each part, by its name."""
    warnings: list[str] = field(default_factory=list)

    def root(self, name: str) -> etree._Element | None:
        """Return a part's XML; None where there is no such part or it is no XML."""
        data = self.parts.get(name)
        return _recovered(data) if data is not None else None

    def file(self) -> io.BytesIO:
        """Return the package as a file."""
        packed = io.BytesIO()
        with zipfile.ZipFile(packed, "w", zipfile.ZIP_STORED) as target:
            for name, data in self.parts.items():
                target.writestr(name, data)
        packed.seek(0)
        return packed


def read_package(
    container: zipfile.ZipFile, document: str, *, thorough: bool = True
) -> OfficePackage:
    """Read all parts of a package: Strict Open XML as Transitional, without dead references.

    Relationships to parts that are missing are dropped, and so are references to relationships that
    are missing; each is a warning that names the element. XML with faults is read as far as it
    goes. Without `thorough`, parts are parsed only where a reference in them is dead. Raises
    `DamagedFileError` where the main part cannot be read.
    """
    package = OfficePackage()
    for member in container.infolist():
        if member.is_dir():
            continue
        try:
            package.parts[member.filename] = container.read(member)
        except READ_ERRORS as error:
            if member.filename in _MAIN:
                raise
            package.warnings.append(f"the part {member.filename} cannot be read ({error})")
    xml = [name for name in package.parts if name.lower().endswith((".xml", ".rels"))]
    for name in xml:
        package.parts[name] = _STRICT.sub(_TRANSITIONAL, package.parts[name])
    if thorough:
        for name in xml:
            _check(package, name, document)
    for name in [name for name in xml if name.endswith(".rels") and name in package.parts]:
        _mend_relations(package, name)
    for name in xml:
        if name in package.parts and not name.endswith(".rels"):
            _mend_references(package, name)
    del package.warnings[MAX_WARNINGS:]
    return package


def change_part(package: OfficePackage, name: str, change: Change) -> None:
    """Let a function change a part's XML in place; its warnings become the package's."""
    root = package.root(name)
    if root is not None:
        package.warnings.extend(change(root, package.relations.get(name, {})))
        package.parts[name] = etree.tostring(root, encoding="UTF-8", standalone=True)


def _recovered(data: bytes) -> etree._Element | None:
    parser = etree.XMLParser(recover=True, resolve_entities=False, no_network=True, huge_tree=True)
    try:
        return etree.fromstring(data, parser)
    except etree.LxmlError:
        return None


def _check(package: OfficePackage, name: str, document: str) -> None:
    """Replace XML with faults by what can be read of it, or leave the part out."""
    data = package.parts[name]
    try:
        parse_xml(data, document)
    except DamagedFileError as error:
        root = _recovered(data)
        has_text = root is not None and any(text.strip() for text in root.itertext())
        if name in _MAIN and not has_text:
            raise
        reason = str(error).split("(", 1)[-1].rstrip(")").split(")")[0]
        package.warnings.append(f"the part {name} is damaged ({reason}); words may be missing")
        if root is None:
            del package.parts[name]
        else:
            package.parts[name] = etree.tostring(root, encoding="UTF-8", standalone=True)


def _mend_relations(package: OfficePackage, name: str) -> None:
    """Learn the relationships of a part, and drop those that lead to no part."""
    folder, _, base = name.rpartition("_rels/")
    source = folder + base.removesuffix(".rels")
    root = _recovered(package.parts[name])
    if root is None:
        return
    known = {part.lower() for part in package.parts}
    relations: Relations = {}
    dropped = False
    for node in list(root):
        target, key = node.get("Target") or "", node.get("Id") or ""
        if (node.get("TargetMode") or "").lower() == "external" or target.startswith("#"):
            relations[key] = target
            continue
        plain = unquote(target.split("#")[0])
        place = posixpath.normpath(posixpath.join("/" + folder, plain)).lstrip("/")
        if place.lower() in known:
            relations[key] = place
            continue
        kind = (node.get("Type") or "").rpartition("/")[2] or "part"
        package.warnings.append(f"{_named(source)}: its {kind} is missing in the file ({place})")
        root.remove(node)
        dropped = True
    package.relations[source] = relations
    if dropped:
        package.parts[name] = etree.tostring(root, encoding="UTF-8", standalone=True)


def _mend_references(package: OfficePackage, name: str) -> None:
    data = package.parts[name]
    relations = package.relations.get(name, {})
    stated = {found.decode("utf-8", "replace") for found in _REFERENCE.findall(data)}
    if not stated - relations.keys():
        return
    root = _recovered(data)
    if root is None:
        return
    changed = False
    for node in list(root.iter(etree.Element)):
        for key, value in list(node.attrib.items()):
            if str(key).startswith(_RELATION) and value and str(value) not in relations:
                package.warnings.append(f"{_named(name)}: {_fault(node)}")
                _unlink(node, str(key))
                changed = True
    if changed:
        package.parts[name] = etree.tostring(root, encoding="UTF-8", standalone=True)


def _unlink(node: etree._Element, key: str) -> None:
    """Take a dead reference away; an element that is nothing without it goes as well."""
    name = etree.QName(node).localname
    text = "".join(node.itertext()).strip()
    parent = node.getparent()
    if name in ("hyperlink", "blip") or text or parent is None:
        del node.attrib[key]
    elif name in _UNLINKED or len(node) == 0:
        parent.remove(node)
    else:
        del node.attrib[key]


def _fault(node: etree._Element) -> str:
    """What is wrong, with the name of the element as the author sees it."""
    name = etree.QName(node).localname
    word = _WORDS.get(name, name)
    label = one_line("".join(node.itertext()))[:60]
    for holder in (node, *node.iterancestors()):
        if label:
            break
        properties = holder.find(".//{*}cNvPr")
        if properties is None:
            properties = holder.find(".//{*}docPr")
        if properties is not None:
            label = properties.get("name") or ""
        if etree.QName(holder).localname in ("pic", "sp", "drawing", "graphicFrame"):
            break
    return f"the {word} {label!r} leads nowhere" if label else f"a {word} leads nowhere"


def _named(part: str) -> str:
    """A part's name in words.

    >>> _named("ppt/slides/slide3.xml"), _named("word/document.xml")
    ('slide3', 'document')
    """
    return posixpath.basename(part).removesuffix(".xml") or "the file"


def diagram_texts(package: OfficePackage, relations: Mapping[str, str], key: str) -> list[str]:
    """Return the paragraphs of the diagram (SmartArt) or chart that a relationship leads to."""
    root = package.root(relations.get(key, ""))
    if root is None:
        return []
    paragraphs = ["".join(one.itertext("{*}t")) for one in root.iter("{*}p")]
    return [text for text in map(one_line, paragraphs) if text]
