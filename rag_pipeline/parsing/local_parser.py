"""A file → its blocks frame, by what its content is; or one clear error."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path

from rag_pipeline.code_versions import PARSER_VERSION
from rag_pipeline.errors import (
    DamagedFileError,
    EmptyFileError,
    NoTextError,
    ParseError,
    UnsupportedFileError,
)
from rag_pipeline.parsing.contract import ParsedDocument
from rag_pipeline.parsing.file_limits import check_size
from rag_pipeline.parsing.file_type import FileType, file_type
from rag_pipeline.parsing.formats.elements import Reading, blocks_of
from rag_pipeline.parsing.pdf.pdf_parser import parse_pdf
from rag_pipeline.parsing.witness.losses import Losses, find_losses
from rag_pipeline.parsing.witness.page_losses import KnownPage, find_page_losses
from rag_pipeline.parsing.witness.raw_pdf import pdf_readers
from rag_pipeline.settings import ParsingSettings
from rag_pipeline.text import clean_text, one_line

WITNESSED_PAGES = 8
"""One PDF page in so many is read again by another engine, which takes half of the parser's time;
all are, of a document where that finds what should be warned of …"""
FEW_PAGES = 8
"""… or that has no more pages than these."""


@dataclass(frozen=True)
class LocalParser:
    """The parser that reads files on this machine."""

    settings: ParsingSettings = field(default_factory=ParsingSettings)
    version: str = PARSER_VERSION

    def parse(self, path: Path, *, document: str | None = None) -> ParsedDocument:
        """See `parse_file`."""
        return parse_file(path, self.settings, document=document)


def parse_file(
    path: Path, settings: ParsingSettings, *, document: str | None = None
) -> ParsedDocument:
    """Read a file of any known format into a blocks frame, in reading order.

    The content decides what a file is; a name that says otherwise becomes a warning. Raises
    `EmptyFileError`, `UnsafeFileError` (too large), `UnsupportedFileError`, `NoTextError`, the
    errors of `parse_pdf`, or those of the format's reader (`DamagedFileError`,
    `UnsafeFileError`, `MissingLibraryError`); each names
    `document` (by default the file's name).
    """
    path = Path(path)
    name = document or path.name
    found = _checked_type(path, settings, name)
    if found.format == "pdf":
        parsed = parse_pdf(path, settings, document=name)
        warning = pdf_losses(path, parsed, every=WITNESSED_PAGES).warning
    else:
        reading = _reading(path, found, settings, name)
        parsed = _parsed(reading, name)
        warning = losses_of(path, found.format, reading, parsed).warning
    told = [one for one in (found.mismatch, *parsed.warnings, warning) if one is not None]
    return replace(parsed, warnings=told)


def audit_file(path: Path, settings: ParsingSettings) -> Losses:
    """Return the words of a file that a second reading finds and the blocks do not hold.

    Raises what `parse_file` raises.
    """
    path = Path(path)
    found = _checked_type(path, settings, path.name)
    if found.format == "pdf":
        return pdf_losses(path, parse_pdf(path, settings))
    reading = _reading(path, found, settings, path.name)
    return losses_of(path, found.format, reading, _parsed(reading, path.name))


def losses_of(path: Path, kind: str, reading: Reading, parsed: ParsedDocument) -> Losses:
    """Compare a second reading of the file with blocks, title, furniture and warnings."""
    known = [*parsed.blocks["text"], parsed.title or "", *reading.furniture, *parsed.warnings]
    return find_losses(path, kind, known)


def pdf_losses(path: Path, parsed: ParsedDocument, *, every: int = 1) -> Losses:
    """Compare readings of a PDF by other engines with its blocks, page by page.

    Of a document of more than a few pages, `every` so many-th is read; if these lose enough for a
    warning, all are. Pages that were read from their picture are left out.
    """
    count = parsed.page_count
    texts: dict[int, list[str]] = {page: [] for page in range(1, count + 1)}
    blocks = parsed.blocks
    for page, text in zip(blocks["page_number"], blocks["text"], strict=True):
        texts[page].append(text)
    for page in blocks["page_number"][blocks["confidence"] < 1].unique():
        del texts[page]
    said = "\n".join(parsed.warnings)
    known = {
        page: KnownPage("\n".join([*found, parsed.left_out.get(page, "")]), said)
        for page, found in texts.items()
    }
    readers = pdf_readers(path)
    # Which pages are read depends on the file, so that no page goes unread in all of them.
    first = 1 + path.stat().st_size % every
    some = {page: known[page] for page in range(first, count + 1, every) if page in known}
    if every > 1 and count > FEW_PAGES:
        # The fast engine alone first: only what it misses is worth the slow one's time.
        for asked in (readers[:1], readers):
            losses = find_page_losses(asked, some)
            if losses.warning is None:
                return losses
    return find_page_losses(readers, known)


def _checked_type(path: Path, settings: ParsingSettings, name: str) -> FileType:
    try:
        if path.stat().st_size == 0:
            raise EmptyFileError(
                "the file is empty (zero bytes)", document=name, hint="copy or download it again"
            )
        check_size(path, settings, name)
        found = file_type(path, name)
    except OSError as error:
        raise ParseError(
            f"the file cannot be read ({error.strerror or error})",
            document=name,
            hint="check that it exists and that you may read it",
        ) from error
    if found.format == "unsupported":
        raise UnsupportedFileError(
            f"by its content it is {found.description}, which cannot be read as a document",
            document=name,
            hint=found.hint,
        )
    return found


def _reading(path: Path, found: FileType, settings: ParsingSettings, name: str) -> Reading:
    """Call the format's reader; each is imported where it is used."""
    try:
        return _READERS[found.format](path, found, settings, name)
    except RecursionError as error:
        raise DamagedFileError("its parts are nested too deep", document=name) from error


def _parsed(reading: Reading, name: str) -> ParsedDocument:
    blocks, language = blocks_of(reading.elements)
    if blocks.empty:
        why = f" ({'; '.join(reading.warnings)})" if reading.warnings else ""
        raise NoTextError(f"the file holds no text{why}", document=name)
    pages = max(reading.page_count, int(blocks["page_number"].max()))
    title = one_line(clean_text(reading.title or "")) or None
    return ParsedDocument(blocks, pages, title, language, reading.warnings)


Reader = Callable[[Path, FileType, ParsingSettings, str], Reading]


def _docx(path: Path, _: FileType, settings: ParsingSettings, name: str) -> Reading:
    from rag_pipeline.parsing.formats.office.docx import read_docx

    return read_docx(path, settings, name)


def _pptx(path: Path, _: FileType, settings: ParsingSettings, name: str) -> Reading:
    from rag_pipeline.parsing.formats.office.pptx import read_pptx

    return read_pptx(path, settings, name)


def _xlsx(path: Path, _: FileType, settings: ParsingSettings, name: str) -> Reading:
    from rag_pipeline.parsing.formats.office.xlsx import read_xlsx

    return read_xlsx(path, settings, name)


def _odt(path: Path, _: FileType, settings: ParsingSettings, name: str) -> Reading:
    from rag_pipeline.parsing.formats.odt import read_odt

    return read_odt(path, settings, name)


def _hwpx(path: Path, _: FileType, settings: ParsingSettings, name: str) -> Reading:
    from rag_pipeline.parsing.formats.hangul.hwpx_reader import read_hwpx

    return read_hwpx(path, settings, name)


def _hwp(path: Path, _: FileType, settings: ParsingSettings, name: str) -> Reading:
    from rag_pipeline.parsing.formats.hangul.hwp_reader import read_hwp

    return read_hwp(path, settings, name)


def _epub(path: Path, _: FileType, settings: ParsingSettings, name: str) -> Reading:
    from rag_pipeline.parsing.formats.epub import read_epub

    return read_epub(path, settings, name)


def _rtf(path: Path, _: FileType, settings: ParsingSettings, name: str) -> Reading:
    from rag_pipeline.parsing.formats.rtf.rtf_reader import read_rtf

    del settings
    return read_rtf(path.read_bytes(), name)


def _html(path: Path, _: FileType, settings: ParsingSettings, name: str) -> Reading:
    from rag_pipeline.parsing.formats.main_content import read_html

    return read_html(path.read_bytes(), settings, name)


def _email(path: Path, _: FileType, settings: ParsingSettings, name: str) -> Reading:
    from rag_pipeline.parsing.formats.email_reader import read_mail

    del settings
    return read_mail(path.read_bytes(), name)


def _markdown(path: Path, _: FileType, settings: ParsingSettings, name: str) -> Reading:
    from rag_pipeline.parsing.formats.markdown_reader import read_markdown

    del settings
    return read_markdown(path.read_bytes(), name)


def _csv(path: Path, _: FileType, settings: ParsingSettings, name: str) -> Reading:
    from rag_pipeline.parsing.formats.data.csv_reader import read_csv

    del settings, name
    return read_csv(path.read_bytes())


def _json(path: Path, _: FileType, settings: ParsingSettings, name: str) -> Reading:
    from rag_pipeline.parsing.formats.data.json_reader import read_json

    del settings
    return read_json(path.read_bytes(), name)


def _xml(path: Path, _: FileType, settings: ParsingSettings, name: str) -> Reading:
    from rag_pipeline.parsing.formats.data.xml_reader import read_xml

    del settings
    return read_xml(path.read_bytes(), name)


def _notebook(path: Path, _: FileType, settings: ParsingSettings, name: str) -> Reading:
    from rag_pipeline.parsing.formats.data.notebook_reader import read_notebook

    del settings
    return read_notebook(path.read_bytes(), name)


def _code(path: Path, found: FileType, settings: ParsingSettings, name: str) -> Reading:
    from rag_pipeline.parsing.formats.plain_text import read_source_code

    del settings
    # A program has no title of its own: its trails begin with the file's name.
    return replace(read_source_code(path.read_bytes(), found.code_language), title=name)


def _text(path: Path, _: FileType, settings: ParsingSettings, name: str) -> Reading:
    from rag_pipeline.parsing.formats.plain_text import read_text

    del settings, name
    return read_text(path.read_bytes())


_READERS: dict[str, Reader] = {
    "docx": _docx,
    "pptx": _pptx,
    "xlsx": _xlsx,
    "odt": _odt,
    "hwpx": _hwpx,
    "hwp": _hwp,
    "epub": _epub,
    "rtf": _rtf,
    "html": _html,
    "email": _email,
    "markdown": _markdown,
    "csv": _csv,
    "json": _json,
    "xml": _xml,
    "notebook": _notebook,
    "code": _code,
    "text": _text,
}
