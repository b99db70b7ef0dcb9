"""How a document is made: read, structured, cut into chunks."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

from pydantic import Field, model_validator

from rag_pipeline.settings.section import Section
from rag_pipeline.settings.source_roots import ParserName, StrategyName


class ParsingSettings(Section):
    """How files become blocks."""

    parser: ParserName = Field(
        default="local",
        description="Parser for PDFs and images: this machine, Google Document AI, or this machine"
        " first and Document AI for the pages that need it (docs/document-ai.md)",
    )
    ignore_outline: bool = Field(
        default=False, description="Do not use bookmarks and tags as hints (for benchmarks)"
    )
    outline_min_agreement: float = Field(
        default=0.6,
        ge=0,
        le=1,
        description="Minimum share of bookmarks (or tags) found in the text; below it none is used",
    )
    ocr: Literal["auto", "off"] = Field(
        default="auto", description="Read pages without text with Tesseract, if it is installed"
    )
    main_content: bool = Field(
        default=True,
        description="Keep only the main content of web pages, without menus and footers",
    )
    max_unpacked_mb: int = Field(
        default=500,
        ge=1,
        description="Maximum unpacked size of an Office, EPUB or ODT file, in megabytes",
    )
    max_unpacked_ratio: int = Field(
        default=200, ge=1, description="Maximum ratio of unpacked to packed size, beyond 10 MB"
    )
    max_file_mb: int = Field(default=1000, ge=1, description="Maximum file size in megabytes")
    max_pages: int = Field(default=20_000, ge=1, description="Maximum pages per document")
    max_seconds: float = Field(
        default=900,
        gt=0,
        description="Maximum processor seconds a sync spends on chunking one document; also the"
        " seconds after which an idle process is ended",
    )
    max_memory_mb: int = Field(
        default=3000,
        ge=200,
        description="Maximum megabytes of memory for the process that chunks one document",
    )


class DocumentAiSettings(Section):
    """Google Document AI; used where `parsing.parser` is `document_ai` or `auto`."""

    project: str = Field(default="", description="Google Cloud project")
    location: str = Field(default="us", description="Where the processor is: us, eu, or a region")
    processor: str = Field(
        default="", description="Id of the processor, or its full name `projects/…/processors/…`"
    )
    processor_version: str | None = Field(
        default=None, description="Version of the processor; unset = its default version"
    )
    processor_type: Literal["ocr", "form_parser", "layout_parser"] = Field(
        default="ocr", description="What the processor is; limits, options and price depend on it"
    )
    credentials_file: Path | None = Field(
        default=None, description="Key file of a service account; unset = default credentials"
    )
    mode: Literal["online", "batch", "auto"] = Field(
        default="online",
        description="Requests page by page range, jobs through Cloud Storage, or jobs for large"
        " documents only",
    )
    bucket: str | None = Field(
        default=None, description="`gs://bucket/prefix` that batch jobs read from and write to"
    )
    batch_min_pages: int = Field(
        default=100, ge=1, description="Minimum pages for `auto` mode to use a batch job"
    )
    pages_per_request: int = Field(
        default=15, ge=1, le=30, description="Pages of an online request; above 15 imageless only"
    )
    imageless: bool = Field(
        default=False, description="Ask for imageless processing, which allows 30 pages a request"
    )
    page_ranges: Literal["select", "split"] = Field(
        default="select",
        description="Send the file and name its pages, or send files with just those pages;"
        " large files and the layout parser's are always split",
    )
    max_request_megabytes: float = Field(
        default=20, gt=0, le=40, description="Size of the file in a request; larger ones are split"
    )
    max_concurrent_requests: int = Field(
        default=4, ge=1, le=100, description="Maximum concurrent requests, per parsing process"
    )
    requests_per_minute: int = Field(
        default=120, ge=1, description="Maximum requests per minute, per parsing process"
    )
    timeout_seconds: float = Field(
        default=300, gt=0, description="Deadline for a request, including retries"
    )
    batch_timeout_minutes: float = Field(
        default=360, gt=0, description="Maximum minutes to wait for a batch job"
    )
    language_hints: list[str] = Field(
        default=[], description="Languages to expect (BCP 47), where detection is not enough"
    )
    native_pdf_text: bool = Field(
        default=False, description="OCR takes the text that a PDF carries instead of its picture"
    )
    style_info: bool = Field(
        default=False, description="OCR tells weight and slant of text; a paid add-on"
    )
    math: bool = Field(default=False, description="OCR reads formulas as LaTeX; a paid add-on")
    auto_score: float = Field(
        default=0.5, gt=0, le=1, description="Score from which `auto` sends a page"
    )
    auto_document_share: float = Field(
        default=0.8, gt=0, le=1, description="Share of such pages from which all are sent"
    )
    endpoint: str | None = Field(
        default=None,
        description="Host of the service, unset = the location's; `http://…` is spoken to without"
        " TLS and credentials",
    )
    storage_endpoint: str | None = Field(
        default=None, description="URL of Cloud Storage, unset = Google's; `http://…` likewise"
    )

    @model_validator(mode="after")
    def _pages_fit_the_mode(self) -> DocumentAiSettings:
        if self.pages_per_request > 15 and not self.imageless:
            raise ValueError("pages_per_request above 15 needs imageless = true")
        if self.mode == "batch" and not self.bucket:
            raise ValueError('mode = "batch" needs a bucket ("gs://bucket/prefix")')
        if self.bucket and not self.bucket.startswith("gs://"):
            raise ValueError("bucket is written gs://bucket/prefix")
        return self


class StructureSettings(Section):
    """Thresholds of the rules that infer roles, levels and trails."""

    furniture_band: float = Field(
        default=0.14, ge=0, le=0.5, description="Share of the page's height for running heads"
    )
    furniture_depth: int = Field(default=2, ge=1, description="Lines of a running head, at most")
    furniture_min_pages: int = Field(default=3, ge=2, description="Pages a running head is on")
    furniture_min_share: float = Field(
        default=0.03, ge=0, le=1, description="Share of the pages a running head is on"
    )
    furniture_slot_share: float = Field(
        default=0.4, ge=0, le=1, description="Share of repeated texts that makes a place a head's"
    )
    heading_max_characters: int = Field(default=250, ge=1, description="Length of a heading")
    heading_max_lines: int = Field(default=4, ge=1, description="Lines of a heading")
    heading_large: float = Field(
        default=1.08, ge=1, description="Size over the text's that alone makes a heading"
    )
    heading_very_large: float = Field(
        default=1.4, ge=1, description="Size over the text's that allows a full stop at the end"
    )
    heading_code: float = Field(
        default=1.15, ge=1, description="Size over the text's from which fixed width is a heading"
    )
    heading_bold_min: float = Field(
        default=0.8, ge=0, description="Size over the text's that a bold heading has at least"
    )
    heading_bold_characters: int = Field(
        default=100, ge=1, description="Length of a heading that is bold only"
    )
    heading_short: int = Field(
        default=60, ge=1, description="Length up to which a large heading may end with a full stop"
    )
    heading_min_letters: float = Field(
        default=0.4, ge=0, le=1, description="Share of letters in a heading"
    )
    styled_min: int = Field(
        default=3, ge=1, description="Lines of a style of their own that make it a heading style"
    )
    footnote_size: float = Field(
        default=0.93, ge=0, le=1, description="Size of footnotes over the text's, at most"
    )
    edge_band: float = Field(
        default=0.075, ge=0, le=0.5, description="Share of the page's height without bold headings"
    )
    title_min_headings: int = Field(
        default=5, ge=1, description="Headings from which a first one of its own style is the title"
    )
    edge_band_pages: int = Field(
        default=3, ge=0, description="Pages up to which the edge band is kept free of bold headings"
    )
    cover_min_pages: int = Field(
        default=8, ge=1, description="Pages from which a document may have a cover of its own"
    )
    cover_pages: int = Field(default=3, ge=0, description="Pages that may be covers")
    kicker_size: float = Field(
        default=1.25, ge=1, description="Size of a title over that of the small line above it"
    )
    kicker_distance: float = Field(
        default=1.5, ge=0, description="Room between the two, in sizes of the title, at most"
    )
    label_size: float = Field(
        default=1.3, ge=1, description="Size over the text's below which figures' texts are labels"
    )


OWN_CONTEXT = frozenset({"contextual", "code"})
"""Strategies whose chunks are self-contained."""


class ChunkingSettings(Section):
    """How blocks become chunks."""

    strategy: StrategyName = Field(
        default="contextual", description="The chunker; docs/chunking.md says which for what"
    )
    target_tokens: int = Field(
        default=400, ge=32, le=8192, description="Token budget of a chunk, trail included"
    )
    ideal_tokens: int = Field(
        default=0,
        ge=0,
        description="Length near which sentence keeps its chunks; 0 = as full as the budget allows",
    )
    overlap_tokens: int = Field(
        default=64, ge=0, le=4096, description="Repeated by the next chunk: fixed_size, sentence"
    )
    min_tokens: int = Field(
        default=32, ge=0, description="Chunks below it join a neighbour where the budget allows"
    )
    unit: Literal["tokens", "characters"] = Field(
        default="tokens", description="What recursive measures: the budget and the minimum"
    )
    separators: list[str] = Field(
        default=[],
        description="Of recursive, the coarsest first; none = paragraphs, lines, sentences, words",
    )
    major_heading_level: int = Field(
        default=2, ge=1, le=9, description="Small sections merge below it, never across it"
    )
    small_section_tokens: int = Field(
        default=128, ge=0, description="Sections below it merge with neighbours; 0 = never"
    )
    surrounding_characters: int = Field(
        default=300,
        ge=0,
        description="Of either neighbour, indexed with a chunk for its words; not by contextual",
    )
    llm_context: bool = Field(
        default=False,
        description="Ask the chat model for a sentence that places each chunk in its document; "
        "embedded and searched with it",
    )
    parent_tokens: int = Field(
        default=2048, ge=0, description="Token budget of a parent, a section's text; 0 = no parents"
    )
