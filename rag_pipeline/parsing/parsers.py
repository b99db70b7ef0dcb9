"""Settings → the parser of a source: this machine, Document AI, or one after the other."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, replace
from pathlib import Path

import pypdfium2 as pdfium

from rag_pipeline.errors import NoTextError, ParseError, ParserServiceError
from rag_pipeline.frames import Blocks, empty
from rag_pipeline.parsing.contract import ParsedDocument, Parser
from rag_pipeline.parsing.document_ai.document_ai_parser import DocumentAiParser, choice_version
from rag_pipeline.parsing.document_ai.service.page_ranges import describe_pages
from rag_pipeline.parsing.document_ai.service.process_requests import add_ons
from rag_pipeline.parsing.document_ai.service.reply_cache import ReplyCache
from rag_pipeline.parsing.local_parser import LocalParser
from rag_pipeline.parsing.page_choice import Choice, choose, merge_pages
from rag_pipeline.parsing.pdf.native.pdf_opening import count_pages, open_pdf
from rag_pipeline.parsing.pdf.ocr.tesseract import has_ink
from rag_pipeline.parsing.signatures import HEADER_WINDOW, PDF_MIME, mime_type_of
from rag_pipeline.settings import DocumentAiSettings, ParsingSettings
from rag_pipeline.usage import UsageMeter


def create_parser(
    parsing: ParsingSettings,
    document_ai: DocumentAiSettings,
    replies: ReplyCache | None = None,
    *,
    meter: UsageMeter | None = None,
    local: Parser | None = None,
) -> Parser:
    """Return the parser that `parsing.parser` names.

    `replies` keeps what Document AI answered; without one, replies last as long as the parser.
    `meter` counts what was asked for by documents that failed in the end. `local` reads what is
    no PDF or image, whatever the setting; by default a `LocalParser`.

    Raises `SettingsError` where Document AI is asked for and no processor is set.
    """
    local = local or LocalParser(parsing)
    if parsing.parser == "local":
        return local
    service = DocumentAiParser(document_ai, parsing, replies, meter=meter)
    if parsing.parser == "document_ai":
        return ServiceParser(local, service)
    return AutoParser(local, service)


@dataclass(frozen=True)
class ServiceParser:
    """Sends every PDF and image to Document AI; other files are read locally."""

    local: Parser
    service: DocumentAiParser

    @property
    def version(self) -> str:
        """Part of the fingerprint of what it parsed."""
        return f"{self.service.version}+{self.local.version}"

    def parse(self, path: Path, *, document: str | None = None) -> ParsedDocument:
        """Read one file. Raises what the two parsers raise."""
        if _mime_type(path) is None:
            return self.local.parse(path, document=document)
        return self.service.parse(path, document=document)

    def plan(self, path: Path, *, document: str | None = None) -> Choice:
        """Say which pages `parse` would send: all of a PDF or image. Calls nobody."""
        del document
        if _mime_type(path) is None:
            return Choice(())
        return _whole(count_pages(path) or 1, 'parser = "document_ai"', self.service.settings)


@dataclass(frozen=True)
class AutoParser:
    """Reads locally, then sends the pages that `choose` names; images are sent as they are."""

    local: Parser
    service: DocumentAiParser

    @property
    def version(self) -> str:
        """Part of the fingerprint of what it parsed."""
        chosen = choice_version(self.service.settings)
        return f"auto-{chosen}+{self.service.version}+{self.local.version}"

    def parse(self, path: Path, *, document: str | None = None) -> ParsedDocument:
        """Read one file.

        Raises `ParserServiceError` where Document AI fails in passing, rather than to land less
        than the settings ask for. A document that Document AI refuses for good stays as it was
        read here, with a warning, if it has text.
        """
        mime_type = _mime_type(path)
        if mime_type is None:
            return self.local.parse(path, document=document)
        if mime_type != PDF_MIME:
            return self.service.parse(path, document=document)
        parsed, choice = self._look(path, document)
        if not choice.pages:
            return parsed
        try:
            read = self.service.parse_pages(path, choice.pages, document=document)
        except ParserServiceError:
            raise
        except ParseError as error:
            if parsed.blocks.empty:
                raise
            return replace(
                parsed, warnings=[*parsed.warnings, f"document_ai: not used ({error.message})"]
            )
        merged = merge_pages(parsed, read, choice.pages)
        if not merged.blocks["text"].str.strip().any():
            for usage in read.usage:
                self.service.meter.add(usage)
            raise NoTextError(
                "neither this machine nor Document AI found text on it",
                document=document or path.name,
                hint="is it blank, or a picture?",
            )
        note = f"document_ai: read page {describe_pages(choice.pages)} ({_reasons(choice)})"
        return replace(merged, warnings=[*merged.warnings, note])

    def plan(self, path: Path, *, document: str | None = None) -> Choice:
        """Say which pages `parse` would send, and why. Calls nobody."""
        mime_type = _mime_type(path)
        if mime_type is None:
            return Choice(())
        if mime_type == PDF_MIME:
            return self._look(path, document)[1]
        return _whole(1, "an image", self.service.settings)

    def _look(self, path: Path, document: str | None) -> tuple[ParsedDocument, Choice]:
        """The local result and the choice; an empty result where no page has text."""
        name = document or path.name
        try:
            parsed = self.local.parse(path, document=document)
        except NoTextError:
            with open_pdf(path, name) as pdf:
                parsed = ParsedDocument(empty(Blocks), len(pdf), None, "und")
            choice = plan_choice(path, parsed, self.service.settings, name)
            if not choice.pages:
                raise
            return parsed, choice
        return parsed, plan_choice(path, parsed, self.service.settings, name)


def plan_choice(
    path: Path, parsed: ParsedDocument, settings: DocumentAiSettings, document: str
) -> Choice:
    """Choose the pages of a PDF to be sent; looks at pages without text, whether they are blank.

    Raises what `open_pdf` raises.
    """
    with_text = set(parsed.blocks.loc[parsed.blocks["text"] != "", "page_number"])
    silent = [page for page in range(1, parsed.page_count + 1) if page not in with_text]
    return choose(parsed, settings, blank_pages=_blank(path, silent, document))


def _whole(page_count: int, reason: str, settings: DocumentAiSettings) -> Choice:
    pages = tuple(range(1, page_count + 1))
    return Choice(
        pages,
        dict.fromkeys(pages, reason),
        page_count,
        settings.processor_type,
        add_ons(settings),
    )


def _blank(path: Path, pages: Collection[int], document: str) -> set[int]:
    """Those of the pages that show nothing."""
    blank: set[int] = set()
    if not pages:
        return blank
    with open_pdf(path, document) as pdf:
        for page in pages:
            try:
                opened = pdf[page - 1]
            except pdfium.PdfiumError:
                continue
            if not has_ink(opened):
                blank.add(page)
            opened.close()
    return blank


def _mime_type(path: Path) -> str | None:
    """What Document AI takes the file for, None where it (or nobody) can read it."""
    try:
        with Path(path).open("rb") as file:
            return mime_type_of(file.read(HEADER_WINDOW))
    except OSError:
        return None


def _reasons(choice: Choice) -> str:
    return "; ".join(dict.fromkeys(choice.reasons[page] for page in choice.pages))
