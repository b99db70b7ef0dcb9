"""The whole tree, read from rag.toml and the environment."""

from __future__ import annotations

import os
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from platformdirs import user_cache_path
from pydantic import BaseModel, Field, SecretStr, ValidationError, create_model, model_validator
from pydantic_settings import BaseSettings, PydanticBaseSettingsSource, SettingsConfigDict

from rag_pipeline.errors import SettingsError
from rag_pipeline.settings.document_stages import (
    ChunkingSettings,
    DocumentAiSettings,
    ParsingSettings,
    StructureSettings,
)
from rag_pipeline.settings.models import (
    KEY_VARIABLES,
    ChatSettings,
    EmbeddingSettings,
    chat_provider,
)
from rag_pipeline.settings.query_layer import AnsweringSettings, EvaluationSettings, SearchSettings
from rag_pipeline.settings.section import Section
from rag_pipeline.settings.security import SecuritySettings
from rag_pipeline.settings.server import TOKEN_PREFIX, McpSettings, ServeSettings
from rag_pipeline.settings.source_roots import RelationalSettings, SourceSettings, WebSettings
from rag_pipeline.settings.suggestions import meant

SETTINGS_FILE = "rag.toml"
OTHER_VARIABLES = frozenset({"RAG_HOME", "RAG_BENCH_DATA", "RAG_BENCH_PYTHON"})
"""Variables of the project that are no settings."""
SECRETS = frozenset({"database_url", "api_key"})
"""Settings that are read from the environment only."""


class SyncSettings(Section):
    """How a sync runs."""

    workers: int = Field(default=0, ge=0, description="Parsing processes; 0 = one per core")
    run_size: int = Field(default=500, ge=1, description="Maximum documents per Dagster run")
    attempts: int = Field(
        default=2, ge=1, le=10, description="Attempts per document for transient errors"
    )
    quarantine_after: int = Field(
        default=5,
        ge=1,
        description="Failed syncs after which a document is quarantined until `rag retry`",
    )
    wait_vectors: bool = Field(
        default=False,
        description="Documents become searchable with their vectors, not by words first",
    )
    max_cost_usd: float | None = Field(
        default=None,
        ge=0,
        description="A sync estimated to cost more stops before its first call; unset = no limit",
    )
    follow_links: bool = Field(
        default=False, description="Follow symbolic links to files outside the source folder"
    )
    verify_syncs: int = Field(
        default=30,
        ge=0,
        description="Syncs over which every local file is read again, a share each time, to find "
        "changes that keep size and time; 1 = all each time, 0 = none",
    )
    preview_pages: int = Field(
        default=0, ge=0, le=5, description="First pages drawn for Dagster's UI; 0 = none"
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
    data_dir: Path = Field(default=Path(".rag"), description="Embedded Postgres and artifacts")
    models_dir: Path | None = Field(
        default=None,
        description="Folder of the built local model, which a read-only image may bring along; "
        "unset = the user's cache folder",
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
    security: SecuritySettings = Field(default=SecuritySettings(), description="Who may read what")
    serve: ServeSettings = Field(default=ServeSettings(), description="The page and the API")
    mcp: McpSettings = Field(default=McpSettings(), description="Tools for agents")
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

    @model_validator(mode="after")
    def _readers_by_rules(self) -> Settings:
        """Give relational sources the readers that rules for tags and paths name."""
        self.__dict__["relational"] = [
            source.model_copy(
                update={
                    "readers": list(
                        self.security.readers_of(
                            f"relational:{source.name}/{source.root}/", source.tags, source.readers
                        )
                    )
                }
            )
            for source in self.relational
        ]
        return self

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

        `overrides` win over both: whole values, or of a section some of its settings as a mapping.
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
        _refuse_secrets(values)
        values["project_dir"] = folder
        _refuse_unknown_variables()
        try:
            settings = cls(**values)
            update = {name: settings._given(name, value) for name, value in overrides.items()}
            return settings.model_copy(update=update)
        except ValidationError as error:
            problems = "; ".join(
                _problem(item["type"], item["loc"], item["msg"]) for item in error.errors()
            )
            raise SettingsError(
                f"settings are wrong ({problems})", hint=f"see {SETTINGS_FILE} and docs/settings.md"
            ) from None

    def _given(self, name: str, value: Any) -> Any:
        """Return an override as the field has it. Raises `ValidationError` and `SettingsError`."""
        field = type(self).model_fields.get(name)
        if field is None:
            raise SettingsError(f"there is no setting {name!r}", hint=_meant([name]))
        current = getattr(self, name)
        if isinstance(current, BaseModel) and isinstance(value, Mapping):
            value = {**dict(current), **value}
        # A model of this field alone: its errors name the field, and no other source is asked.
        given = create_model("Given", **{name: (field.annotation, field)})  # type: ignore[call-overload]
        return getattr(given(**{name: value}), name)

    @property
    def data_path(self) -> Path:
        """The data folder as an absolute path."""
        return (self.project_dir / self.data_dir).resolve()

    @property
    def models_path(self) -> Path:
        """Folder of the built local model, shared by all projects of a user."""
        if self.models_dir is not None:
            return (self.project_dir / self.models_dir).resolve()
        return user_cache_path("rag-pipeline", appauthor=False) / "models"

    @property
    def report_path(self) -> Path:
        """Report of the last evaluation; its figures lie beside it, as `….json`."""
        return self.data_path / "evaluation" / "report.html"

    @property
    def artifacts_location(self) -> str:
        """Folder or URL of the stage frames."""
        return self.artifacts_url or str(self.data_path / "artifacts")


def _problem(kind: str, location: tuple[int | str, ...], message: str) -> str:
    """Return one finding about a value, with its place."""
    place = ".".join(map(str, location))
    if kind != "extra_forbidden":
        return f"{place}: {message}"
    path = [part for part in location if isinstance(part, str)]
    return f"{place}: there is no such setting, {_meant(path)}"


def _meant(path: list[str]) -> str:
    found = meant(Settings, path)
    return f"did you mean {found}?" if found else "see docs/settings.md"


def _refuse_secrets(values: Mapping[str, Any], path: tuple[str, ...] = ()) -> None:
    """Refuse a key or the database's address in the file, in whatever section it stands."""
    for name, value in values.items():
        here = (*path, name)
        if isinstance(value, Mapping):
            _refuse_secrets(value, here)
        elif name in SECRETS:
            raise SettingsError(
                f"{SETTINGS_FILE}: {'.'.join(here)} is a secret, or may hold one",
                hint=f"set the environment variable RAG_{'__'.join(here).upper()} instead",
            )


def _refuse_unknown_variables() -> None:
    """A misspelt RAG_ variable is an error like a misspelt key of the file."""
    for name in os.environ:
        field = name.removeprefix("RAG_").split("__")[0].lower()
        if name.startswith("RAG_") and not (
            name in OTHER_VARIABLES
            or name.startswith(TOKEN_PREFIX)
            or field in Settings.model_fields
        ):
            found = meant(Settings, name.removeprefix("RAG_").lower().split("__"))
            variable = f"RAG_{found.replace('.', '__').upper()}" if found else None
            raise SettingsError(
                f"the environment variable {name} names no setting",
                hint=f"did you mean {variable}?" if variable else "see docs/settings.md",
            )


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
