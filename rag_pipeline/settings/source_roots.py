"""Where documents come from: folders, object stores, web pages, databases."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Literal
from urllib.parse import urlsplit

from pydantic import Field, model_validator

from rag_pipeline.errors import SettingsError
from rag_pipeline.settings.section import Section

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
    "pdf docx docm pptx pptm xlsx xlsm odt hwpx hwp rtf epub html htm xhtml eml md markdown txt"
    " text csv tsv json jsonl xml ipynb"
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
        default=["public"],
        description="Who may read the documents: `user:kim`, `group:service`; see `security`",
    )
    parser: ParserName | None = Field(
        default=None, description="Parser of this source; unset = parsing.parser"
    )
    strategy: StrategyName | None = Field(
        default=None, description="Chunker of this source; unset = chunking.strategy"
    )


class MetricSettings(Section):
    """A number that the owner of a database defines: revenue = unit_price * quantity."""

    name: str = Field(description="What people call it")
    table: str = Field(description="Table whose rows have it")
    expression: str = Field(
        description="Columns of the table and numbers, with + - * and brackets; added up over rows"
    )
    words: list[str] = Field(default=[], description="Other names for it, in any language")


class SynonymSettings(Section):
    """Words for a table, a column, or a value of the data."""

    words: list[str] = Field(description="What people say")
    means: str = Field(description="A table, a `table.column`, or a value as it is in the data")


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
    metric: list[MetricSettings] = Field(
        default=[], description="Numbers with names of one's own (`[[relational.metric]]`)"
    )
    synonym: list[SynonymSettings] = Field(
        default=[], description="Words of one's own (`[[relational.synonym]]`)"
    )
    dbt_semantic_model: Path | None = Field(
        default=None,
        description="dbt file with `semantic_models` and `metrics`, relative to the project",
    )
    duplicates: Literal["keep", "exact", "semantic"] = Field(
        default="keep",
        description="Chunks that say what another row's chunk says: kept; left out where the text "
        "is the same; or where the vectors are as similar as `duplicate_similarity`",
    )
    duplicate_similarity: float = Field(
        default=0.98, gt=0, le=1, description="Cosine from which on chunks are semantic duplicates"
    )
    trust_updated_at: bool = Field(
        default=True,
        description="Rows of tables with a time of their last change (`updated_at`) are read again "
        "only where it differs",
    )
    batch_size: int = Field(default=500, ge=1, le=10_000, description="Rows read at once")
    timeout_seconds: float = Field(
        default=30, gt=0, description="Longest time that one statement may run"
    )
    row_limit: int = Field(default=1000, ge=1, description="Rows of an exact answer, at most")
    tags: list[str] = Field(default=[], description="Tags kept with every row of the source")
    readers: list[str] = Field(
        default=["public"], description="Who may read the rows; see `security`"
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


class WebSettings(Section):
    """How web pages are fetched."""

    allow_private_addresses: bool = Field(
        default=False, description="Fetch pages of this machine and of private networks as well"
    )
    max_megabytes: float = Field(default=20, gt=0, description="Size of a page, at most")
    timeout_seconds: float = Field(default=30, gt=0, description="Wait for a server, at most")
