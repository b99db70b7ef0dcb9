"""One typed settings tree: defaults < rag.toml < environment (`RAG_…`, nested by `__`) < arguments.

`Settings.load()` reads `rag.toml` in the project folder. Every field has a default, so that nothing
needs to be set to start. Secrets come from the environment only.
"""

from __future__ import annotations

import json
import os
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal
from urllib.parse import urlsplit

from pydantic import (
    BaseModel,
    ConfigDict,
    Field,
    SecretStr,
    ValidationError,
    field_validator,
    model_validator,
)
from pydantic_settings import (
    BaseSettings,
    PydanticBaseSettingsSource,
    SettingsConfigDict,
)

from rag_pipeline.embedding_models import Provider, resolve_model
from rag_pipeline.errors import SettingsError

SETTINGS_FILE = "rag.toml"
KEY_VARIABLES = {
    "openai": "OPENAI_API_KEY",
    "voyage": "VOYAGE_API_KEY",
    "vertex": "GOOGLE_API_KEY",
}
"""Where each provider's own tools look for its key; read where RAG_EMBEDDING__API_KEY is unset."""
OTHER_VARIABLES = frozenset({"RAG_HOME", "RAG_BENCH_DATA", "RAG_BENCH_PYTHON"})
"""Variables of the project that are no settings."""


SOURCE_CODE = {
    "py": "python",
    "pyi": "python",
    "js": "javascript",
    "mjs": "javascript",
    "cjs": "javascript",
    "jsx": "javascript",
    "ts": "typescript",
    "tsx": "typescript",
    "rs": "rust",
    "go": "go",
    "java": "java",
    "kt": "kotlin",
    "scala": "scala",
    "swift": "swift",
    "c": "c",
    "h": "c",
    "cc": "cpp",
    "cpp": "cpp",
    "cxx": "cpp",
    "hpp": "cpp",
    "cs": "csharp",
    "rb": "ruby",
    "php": "php",
    "pl": "perl",
    "lua": "lua",
    "r": "r",
    "jl": "julia",
    "sh": "bash",
    "bash": "bash",
    "ps1": "powershell",
    "sql": "sql",
}
"""Languages of source code, by the ending of a file's name."""
DOCUMENT_ENDINGS = (
    "pdf docx pptx xlsx odt rtf epub html htm xhtml eml md markdown txt text csv tsv"
).split()
DEFAULT_INCLUDE = [f"**/*.{ending}" for ending in (*DOCUMENT_ENDINGS, *SOURCE_CODE)]
"""Files that a source takes unless it says otherwise: every format that can be read."""
DEFAULT_EXCLUDE = [
    "**/~$*",
    "**/._*",
    "**/.git/**",
    "**/.venv/**",
    "**/node_modules/**",
    "**/__pycache__/**",
]
"""Files that a source leaves out: locks of Office, shadows of macOS, and what tools put among
code."""


class Section(BaseModel):
    """Base of every section: unknown keys are errors, so that a misspelt setting is seen."""

    model_config = ConfigDict(extra="forbid", frozen=True)


ParserName = Literal["local", "document_ai", "auto"]
StrategyName = Literal[
    "contextual",
    "fixed_size",
    "sentence",
    "paragraph",
    "recursive",
    "by_headers",
    "semantic",
    "code",
]


class SourceSettings(Section):
    """One folder of documents."""

    path: str = Field(
        description="Folder, relative to the project folder or absolute; an fsspec URL such as "
        "`s3://bucket/manuals`; or the address of a web page"
    )
    include: list[str] = Field(default=DEFAULT_INCLUDE, description="Globs of the files to take")
    exclude: list[str] = Field(
        default=DEFAULT_EXCLUDE, description="Globs of the files to leave out"
    )
    tags: list[str] = Field(default=[], description="Tags kept with every document of the source")
    readers: list[str] = Field(
        default=["public"], description="Who may read the documents; stored, not enforced yet"
    )
    parser: ParserName | None = Field(
        default=None, description="Parser of this source; unset = parsing.parser"
    )
    strategy: StrategyName | None = Field(
        default=None, description="Chunker of this source; unset = chunking.strategy"
    )


class RelationalSettings(Section):
    """One database whose rows are indexed with all that belongs to them."""

    name: str = Field(
        pattern=r"^[A-Za-z0-9_-]+$", description="Name of the source, as `rag relational` shows it"
    )
    url: str | None = Field(
        default=None, description="SQLAlchemy URL of the database; without a password"
    )
    url_variable: str | None = Field(
        default=None, description="Environment variable that holds the URL, where it has a password"
    )
    db_schema: str | None = Field(
        default=None, description="Schema of the tables; unset = the connection's own"
    )
    root: str = Field(description="Table whose rows the chunks are about: the side of the one")
    depth: int = Field(default=2, ge=0, le=5, description="Levels of children below the root")
    strategy: Literal["auto", "entity", "child", "parent_child"] = Field(
        default="auto",
        description="A chunk a row with all its children; a chunk a child; a summary and a chunk a "
        "child; `auto` takes the first, and the last for rows over the budget",
    )
    token_budget: int = Field(
        default=2000, ge=50, description="Tokens of an entity's one chunk, at most, under `auto`"
    )
    children_per_chunk: int = Field(
        default=8, ge=1, description="Children in one chunk below a summary (`parent_child`)"
    )
    language: Literal["en", "ko"] = Field(default="en", description="Language of the chunks' text")
    template: Path | None = Field(
        default=None, description="Jinja2 template of one's own, relative to the project folder"
    )
    exclude: list[str] = Field(
        default=[], description="Tables, and columns as `table.column`, that are left out"
    )
    words: dict[str, list[str]] = Field(
        default={}, description="What people call a table or `table.column`, in any language"
    )
    batch_size: int = Field(default=500, ge=1, le=10_000, description="Rows read at once")
    timeout_seconds: float = Field(
        default=30, gt=0, description="Longest time that one statement may run"
    )
    row_limit: int = Field(default=100, ge=1, description="Rows of an exact answer, at most")
    tags: list[str] = Field(default=[], description="Tags kept with every row of the source")
    readers: list[str] = Field(
        default=["public"], description="Who may read the rows; stored, not enforced yet"
    )

    @model_validator(mode="after")
    def _one_address(self) -> RelationalSettings:
        if (self.url is None) == (self.url_variable is None):
            raise ValueError("give either url or url_variable")
        if self.url is not None and urlsplit(self.url).password:
            raise ValueError("url holds a password: put it into a variable, and url_variable here")
        return self

    @property
    def address(self) -> str:
        """The SQLAlchemy URL. Raises `SettingsError` where its variable is not set."""
        if self.url is not None:
            return self.url
        value = os.environ.get(self.url_variable or "")
        if not value:
            raise SettingsError(
                f"relational source {self.name}: the variable {self.url_variable} is not set"
            )
        return value


class ParsingSettings(Section):
    """How files become blocks."""

    parser: Literal["local", "document_ai", "auto"] = Field(
        default="local",
        description="Who reads PDFs and images: this machine, Google Document AI, or the machine"
        " first and Document AI for pages that need it (docs/document-ai.md)",
    )
    ignore_outline: bool = Field(
        default=False, description="Do not use bookmarks and tags as hints (for benchmarks)"
    )
    outline_min_agreement: float = Field(
        default=0.6,
        ge=0,
        le=1,
        description="Share of bookmarks (or tags) that stand in the text; below it none is used",
    )
    ocr: Literal["auto", "off"] = Field(
        default="auto", description="Read pages without text by Tesseract, where it is installed"
    )
    main_content: bool = Field(
        default=True, description="Of web pages take the main content, not menus and footers"
    )
    max_unpacked_mb: int = Field(
        default=500, ge=1, description="Megabytes that an Office, EPUB or ODT file may unpack to"
    )
    max_unpacked_ratio: int = Field(
        default=200, ge=1, description="Times its size that it may unpack to, beyond 10 MB"
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
        default=100, ge=1, description="Pages from which `auto` mode makes a job of a document"
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
        default=4, ge=1, le=100, description="Requests at once, per parsing process"
    )
    requests_per_minute: int = Field(
        default=120, ge=1, description="Requests a minute at most, per parsing process"
    )
    timeout_seconds: float = Field(
        default=300, gt=0, description="One deadline for a request with all its repeats"
    )
    batch_timeout_minutes: float = Field(
        default=360, gt=0, description="How long a batch job is waited for"
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
    contents_page_share: float = Field(
        default=0.6, ge=0, le=1, description="Share of a block's lines that end with a page number"
    )
    contents_max_misses: int = Field(default=3, ge=0, description="Other blocks among entries")
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
        default=4, ge=1, description="Lines of a style of their own that make it a heading style"
    )
    footnote_size: float = Field(
        default=0.93, ge=0, le=1, description="Size of footnotes over the text's, at most"
    )
    edge_band: float = Field(
        default=0.075, ge=0, le=0.5, description="Share of the page's height without bold headings"
    )
    rare_style_min_headings: int = Field(
        default=20, ge=1, description="Headings that a document has before rare styles are dropped"
    )
    rare_style_max: int = Field(default=6, ge=0, description="Headings of a rare style, at most")
    rare_style_share: float = Field(
        default=0.05, ge=0, le=1, description="The same as a share of all headings"
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


class EmbeddingSettings(Section):
    """Which model turns chunks into vectors; docs/models.md says which for what.

    `model` and `dimensions` are resolved when the settings are made: readers see the model's full
    name and true dimensions. Raises `SettingsError` for what the provider does not have.
    """

    provider: Provider = Field(default="local", description="Who computes the vectors")
    model: str = Field(default="", description='Name of the model; "" = the provider\'s default')
    dimensions: int = Field(
        default=0, ge=0, description="Length of a vector, 4000 at most; 0 = the model's own"
    )
    model_path: Path | None = Field(
        default=None, description="Folder of another local model: model.onnx and tokenizer.json"
    )
    document_prefix: str | None = Field(
        default=None, description="Set before a text to be found; unset = the model's own"
    )
    query_prefix: str | None = Field(
        default=None, description="Set before a question; unset = the model's own"
    )
    max_tokens: int = Field(
        default=0, ge=0, description="Longer texts are split and averaged; 0 = the model's limit"
    )
    batch_size: int = Field(default=16, ge=1, le=2048, description="Texts computed at once")
    threads: int = Field(default=0, ge=0, description="Threads of the local model; 0 = all cores")
    api_key: SecretStr | None = Field(
        default=None,
        description="Only by RAG_EMBEDDING__API_KEY; unset = the provider's own variable",
    )
    base_url: str | None = Field(
        default=None, description="Another server that speaks the provider's protocol"
    )
    project: str | None = Field(default=None, description="Google Cloud project of vertex")
    location: str = Field(default="us-central1", description="Google Cloud region of vertex")
    tokens_per_minute: int = Field(
        default=0, ge=0, description="Tokens sent in a minute, at most; 0 = as many as are taken"
    )
    requests_per_minute: int = Field(
        default=0, ge=0, description="Requests in a minute, at most; 0 = as many as are taken"
    )
    max_concurrent_requests: int = Field(default=4, ge=1, le=100, description="Requests at once")
    deadline_seconds: float = Field(
        default=120, gt=0, description="One deadline for a request with all its repeats"
    )

    @model_validator(mode="after")
    def _resolve(self) -> EmbeddingSettings:
        model, dimensions = resolve_model(
            self.provider,
            self.model,
            self.dimensions,
            model_path=self.model_path,
            document_prefix=self.document_prefix,
            max_tokens=self.max_tokens,
        )
        # The instance is not shared yet; afterwards it is frozen.
        object.__setattr__(self, "model", model)
        object.__setattr__(self, "dimensions", dimensions)
        return self


def chat_provider(base_url: str | None) -> str:
    """Name whose endpoint it is: `openai` (also where none is set), `ollama`, else `chat`.

    It stands in usage and prices, and only OpenAI's own endpoint is ever sent OPENAI_API_KEY.
    """
    if base_url is None:
        return "openai"
    parts = urlsplit(base_url)
    host = parts.hostname or ""
    if parts.scheme == "https" and (host == "openai.com" or host.endswith(".openai.com")):
        return "openai"
    return "ollama" if parts.port == 11434 or host in ("ollama", "ollama.com") else "chat"


class ChatSettings(Section):
    """The chat model that writes answers, and contexts of chunks; none unless `model` is set."""

    model: str = Field(
        default="",
        description='Name of the chat model; "" = none: answers are quoted, nothing is written',
    )
    base_url: str | None = Field(
        default=None,
        description="Endpoint that speaks OpenAI's protocol, such as http://localhost:11434/v1 "
        "(Ollama) or http://localhost:8000/v1 (vLLM); unset = OpenAI's",
    )
    temperature: float = Field(
        default=0.0, ge=0, le=2, description="0 = the likeliest words; higher = more varied"
    )
    max_tokens: int = Field(
        default=4096, ge=1, description="Length of an answer, what a model thinks before included"
    )
    deadline_seconds: float = Field(
        default=180, gt=0, description="One deadline for an answer with all its repeats"
    )
    max_concurrent_requests: int = Field(default=4, ge=1, le=100, description="Requests at once")
    api_key: SecretStr | None = Field(
        default=None,
        description="Only by RAG_CHAT__API_KEY; unset = OPENAI_API_KEY, for OpenAI's endpoint only",
    )

    @field_validator("base_url")
    @classmethod
    def _is_plain_url(cls, url: str | None) -> str | None:
        if url is None:
            return None
        parts = urlsplit(url)
        if parts.scheme not in ("http", "https") or not parts.hostname:
            raise ValueError("base_url is written http://host:port/v1")
        if parts.username or parts.query or parts.fragment:
            raise ValueError("base_url takes no password and no ?query; the key is a variable")
        return url.rstrip("/")

    @model_validator(mode="after")
    def _endpoint_has_a_model(self) -> ChatSettings:
        if self.base_url and not self.model:
            raise ValueError("base_url needs a model")
        return self

    @property
    def provider(self) -> str:
        """Whose endpoint it is, see `chat_provider`."""
        return chat_provider(self.base_url)


class SearchWeights(Section):
    """Weight of each leg in the fusion."""

    text: float = Field(default=2.0, ge=0, description="Words, by BM25")
    vector: float = Field(default=1.0, ge=0, description="Meaning, by cosine similarity")


class ClauseWeights(Section):
    """Weight of each clause within the text leg."""

    phrase_in_trail: float = Field(
        default=10.0, ge=0, description="The query as a phrase in the breadcrumb trail"
    )
    phrase_in_text: float = Field(
        default=8.0, ge=0, description="The query as a phrase in the text"
    )
    words: float = Field(default=4.0, gt=0, description="The query's words, by BM25")
    fuzzy: float = Field(
        default=1.5, ge=0, description="Words that were mistyped, as corrected; 0 = no correction"
    )


class RelevanceSettings(Section):
    """How a result's relevance, 0..1, is told from its scores."""

    similarity_floor: float = Field(
        default=0.78,
        ge=-1,
        lt=1,
        description="Cosine similarity that says nothing; the default is of the local model",
    )
    similarity_ceiling: float = Field(
        default=0.93, gt=-1, le=1, description="Cosine similarity of a certain match"
    )
    recency_boost: float = Field(
        default=0.0, ge=0, le=0.2, description="Added for a document of today; less for older ones"
    )
    recency_half_life_days: float = Field(
        default=365.0, gt=0, description="Age at which half of that boost is left"
    )
    tag_boosts: dict[str, float] = Field(
        default={}, description="Added for sources with a tag: priorities of sources"
    )


class RerankerSettings(Section):
    """An HTTP service that orders the results anew; off without an address."""

    url: str | None = Field(
        default=None,
        description="Address of a `/rerank` endpoint in the format of Cohere and Voyage",
    )
    model: str = Field(default="rerank-2.5", description="Name that the service knows its model by")
    api_key: SecretStr | None = Field(default=None, description="Sent as a bearer token")
    candidates: int = Field(default=50, ge=1, le=1000, description="Results that it is shown")
    timeout_seconds: float = Field(
        default=10.0, gt=0, description="After that, the results keep their order"
    )


class SearchSettings(Section):
    """How results are found and fused."""

    weights: SearchWeights = Field(default=SearchWeights(), description="Weights of the legs")
    clauses: ClauseWeights = Field(
        default=ClauseWeights(), description="Weights of the text leg's clauses"
    )
    limit: int = Field(default=10, ge=1, le=1000, description="Results returned")
    candidates: int = Field(default=100, ge=1, le=1000, description="Candidates taken from a leg")
    rank_constant: int = Field(
        default=60, ge=1, description="k of reciprocal rank fusion: weight / (k + rank)"
    )
    relevance: RelevanceSettings = Field(
        default=RelevanceSettings(), description="How relevance is told"
    )
    relevance_threshold: float = Field(
        default=0.0, ge=0, le=1, description="Results of less relevance are left out"
    )
    selection: Literal["top_k", "mmr"] = Field(
        default="top_k", description="top_k, or mmr: results that also differ from each other"
    )
    mmr_lambda: float = Field(
        default=0.7, ge=0, le=1, description="mmr: 1 = only the score counts, 0 = only difference"
    )
    duplicate_similarity: float = Field(
        default=1.0,
        gt=0,
        le=1,
        description="Share of common word triples from which a result counts as a repetition of a "
        "better one and is left out; 1 = every result is kept",
    )
    expand: Literal["none", "parent", "neighbours"] = Field(
        default="none", description="Text that is given with each result beyond its chunk"
    )
    reranker: RerankerSettings = Field(default=RerankerSettings(), description="Reranker")


class AnsweringSettings(Section):
    """What the chat model reads before it answers."""

    context_tokens: int = Field(
        default=6000, ge=200, description="Token budget of the chunks that the model reads"
    )
    max_chunks: int = Field(default=10, ge=1, le=100, description="Chunks that it reads, at most")
    selection: Literal["top_k", "mmr"] = Field(
        default="top_k",
        description="The best results in order, or those that add something new (maximal marginal "
        "relevance)",
    )
    min_relevance: float = Field(
        default=0.3,
        ge=0,
        le=1,
        description="Results below it are not read; where none is left, the model is not asked",
    )
    standalone_query: bool = Field(
        default=False,
        description="Have the chat model rewrite a question of a conversation as one that stands "
        "alone, before the search",
    )


class EvaluationSettings(Section):
    """Questions with known answers, and what retrieval must reach on them."""

    questions: Path | None = Field(
        default=None, description="JSON Lines of questions (docs/evaluation.md); unset = none"
    )
    min_recall_at_5: float = Field(
        default=0.8, ge=0, le=1, description="Mean share of the gold found among the first five"
    )
    min_mrr: float = Field(
        default=0.6, ge=0, le=1, description="Mean reciprocal rank of the first gold"
    )
    max_p95_ms: float = Field(
        default=500, gt=0, description="Milliseconds within which 95 % of the searches end"
    )


class WebSettings(Section):
    """How web pages are fetched."""

    allow_private_addresses: bool = Field(
        default=False, description="Fetch pages of this machine and of private networks as well"
    )
    max_megabytes: float = Field(default=20, gt=0, description="Size of a page, at most")
    timeout_seconds: float = Field(default=30, gt=0, description="Wait for a server, at most")


class SyncSettings(Section):
    """How a sync runs."""

    workers: int = Field(default=0, ge=0, description="Parsing processes; 0 = one per core")
    run_size: int = Field(default=500, ge=1, description="Documents in one Dagster run, at most")
    attempts: int = Field(
        default=2, ge=1, le=10, description="Tries per document at errors that may pass"
    )
    quarantine_after: int = Field(
        default=5, ge=1, description="Failed syncs after which a document waits for `rag retry`"
    )
    max_cost_usd: float | None = Field(
        default=None,
        ge=0,
        description="A sync that is estimated to cost more stops before its first call; unset = no "
        "limit",
    )
    schedule: str = Field(default="0 2 * * *", description="Cron expression of the nightly sync")
    timezone: str = Field(default="UTC", description="Time zone of the schedule")


class Settings(BaseSettings):
    """All settings. See `docs/settings.md`."""

    model_config = SettingsConfigDict(
        env_prefix="RAG_",
        env_nested_delimiter="__",
        env_ignore_empty=True,
        extra="forbid",
        frozen=True,
    )

    project_dir: Path = Field(
        default=Path(), description="Folder of rag.toml; relative paths start here"
    )
    data_dir: Path = Field(
        default=Path(".rag"), description="Embedded Postgres, artifacts and model files"
    )
    database_url: SecretStr | None = Field(
        default=None, description="A Postgres server of your own; unset = embedded"
    )
    artifacts_url: str | None = Field(
        default=None, description="Folder or fsspec URL of stage frames; unset = under data_dir"
    )
    sources: list[SourceSettings] = Field(default=[], description="Folders of documents")
    relational: list[RelationalSettings] = Field(
        default=[], description="Databases whose rows are indexed"
    )
    parsing: ParsingSettings = Field(default=ParsingSettings(), description="Files to blocks")
    document_ai: DocumentAiSettings = Field(
        default=DocumentAiSettings(), description="Google Document AI"
    )
    structure: StructureSettings = Field(default=StructureSettings(), description="Rules")
    chunking: ChunkingSettings = Field(default=ChunkingSettings(), description="Blocks to chunks")
    embedding: EmbeddingSettings = Field(default=EmbeddingSettings(), description="The model")
    chat: ChatSettings = Field(default=ChatSettings(), description="The chat model")
    search: SearchSettings = Field(default=SearchSettings(), description="The query layer")
    answering: AnsweringSettings = Field(default=AnsweringSettings(), description="Answers")
    evaluation: EvaluationSettings = Field(
        default=EvaluationSettings(), description="What retrieval must reach"
    )
    sync: SyncSettings = Field(default=SyncSettings(), description="How a sync runs")
    web: WebSettings = Field(default=WebSettings(), description="Web pages as sources")
    prices: dict[str, float] = Field(
        default={},
        description="US dollars by `PROVIDER/MODEL`: per million tokens, for `document_ai/…` per "
        "thousand pages; goes before the built-in list",
    )

    @model_validator(mode="before")
    @classmethod
    def _complete_embedding(cls, values: dict[str, Any]) -> dict[str, Any]:
        """Read the provider's own variable for its key; paths start at the project folder."""
        section = values.get("embedding")
        if not isinstance(section, dict):
            return values
        section = dict(section)
        variable = KEY_VARIABLES.get(section.get("provider", ""))
        # Another server never gets the provider's key: RAG_EMBEDDING__API_KEY is meant for it.
        is_own = not section.get("base_url")
        if variable and is_own and not section.get("api_key") and os.environ.get(variable):
            section["api_key"] = os.environ[variable]
        if section.get("model_path"):
            project_dir = Path(values.get("project_dir", "")).resolve()
            section["model_path"] = project_dir / section["model_path"]
        return {**values, "embedding": section}

    @model_validator(mode="before")
    @classmethod
    def _complete_chat(cls, values: dict[str, Any]) -> dict[str, Any]:
        """Read OpenAI's own variable for its key, where the endpoint is OpenAI's."""
        section = values.get("chat")
        key = os.environ.get(KEY_VARIABLES["openai"])
        if not isinstance(section, dict) or section.get("api_key") or not key:
            return values
        url = section.get("base_url")
        if url is not None and not (isinstance(url, str) and chat_provider(url) == "openai"):
            return values
        return {**values, "chat": {**section, "api_key": key}}

    @classmethod
    def settings_customise_sources(
        cls,
        settings_cls: type[BaseSettings],
        init_settings: PydanticBaseSettingsSource,
        env_settings: PydanticBaseSettingsSource,
        dotenv_settings: PydanticBaseSettingsSource,
        file_secret_settings: PydanticBaseSettingsSource,
    ) -> tuple[PydanticBaseSettingsSource, ...]:
        """Environment wins over rag.toml, which `load` passes as initial values."""
        del settings_cls, dotenv_settings, file_secret_settings
        return env_settings, init_settings

    @classmethod
    def load(cls, project_dir: Path | None = None, **overrides: Any) -> Settings:
        """Read rag.toml in `project_dir` (default: `find_project_dir()`), then the environment.

        Raises `SettingsError` that names the file and the key.
        """
        folder = (project_dir or find_project_dir()).resolve()
        file = folder / SETTINGS_FILE
        values: dict[str, Any] = {}
        if file.is_file():
            try:
                values = tomllib.loads(file.read_text(encoding="utf-8"))
            except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
                raise SettingsError(f"{file.name} is not valid TOML: {error}") from error
        if "database_url" in values:
            raise SettingsError(
                f"{file.name}: database_url may hold a password",
                hint="set the environment variable RAG_DATABASE_URL instead",
            )
        for section in ("embedding", "chat"):
            if "api_key" in values.get(section, {}):
                raise SettingsError(
                    f"{file.name}: {section}.api_key is a secret",
                    hint=f"set the environment variable RAG_{section.upper()}__API_KEY instead",
                )
        values["project_dir"] = folder
        _refuse_unknown_variables()
        try:
            settings = cls(**values)
            return settings.model_copy(update=overrides) if overrides else settings
        except ValidationError as error:
            problems = "; ".join(
                f"{'.'.join(map(str, item['loc']))}: {item['msg']}" for item in error.errors()
            )
            raise SettingsError(
                f"settings are wrong ({problems})", hint=f"see {SETTINGS_FILE} and docs/settings.md"
            ) from None

    @property
    def data_path(self) -> Path:
        """The data folder as an absolute path."""
        return (self.project_dir / self.data_dir).resolve()

    @property
    def artifacts_location(self) -> str:
        """Folder or URL of the stage frames."""
        return self.artifacts_url or str(self.data_path / "artifacts")


def _refuse_unknown_variables() -> None:
    """A misspelt RAG_ variable is an error like a misspelt key of the file."""
    for name in os.environ:
        field = name.removeprefix("RAG_").split("__")[0].lower()
        if name.startswith("RAG_") and not (
            name in OTHER_VARIABLES or field in Settings.model_fields
        ):
            raise SettingsError(
                f"the environment variable {name} names no setting", hint="see docs/settings.md"
            )


@dataclass(frozen=True)
class SettingDescription:
    """One setting: its dotted name in rag.toml, its default, and what it does."""

    name: str
    default: str
    description: str


def describe_settings() -> list[SettingDescription]:
    """List every setting, section by section, as `docs/settings.md` shows them."""
    return [
        *_describe(Settings, ""),
        *_describe(SourceSettings, "sources."),
        *_describe(RelationalSettings, "relational."),
    ]


def _describe(model: type[BaseModel], prefix: str) -> Iterator[SettingDescription]:
    for name, field in model.model_fields.items():
        kind = field.annotation
        if isinstance(kind, type) and issubclass(kind, BaseModel):
            yield from _describe(kind, f"{prefix}{name}.")
        elif name not in ("project_dir", "sources", "relational"):
            default = "required" if field.is_required() else _shown(field.default)
            yield SettingDescription(f"{prefix}{name}", default, field.description or "")


def _shown(default: Any) -> str:
    """Return a default as rag.toml would spell it."""
    if default is None:
        return "unset"
    if isinstance(default, Path):
        default = str(default)
    return json.dumps(default, ensure_ascii=False)


def find_project_dir() -> Path:
    """Return the project folder: `RAG_HOME`, or the nearest upwards with rag.toml or .rag.

    Where there is none, the current folder.
    """
    if home := os.environ.get("RAG_HOME"):
        return Path(home)
    here = Path.cwd()
    for folder in (here, *here.parents):
        if (folder / SETTINGS_FILE).is_file() or (folder / ".rag").is_dir():
            return folder
    return here
