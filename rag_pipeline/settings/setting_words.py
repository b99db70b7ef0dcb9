"""Every setting in words, as `docs/settings.md` lists them."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pydantic import BaseModel

from rag_pipeline.settings.project import Settings
from rag_pipeline.settings.server import TokenSettings
from rag_pipeline.settings.source_roots import RelationalSettings, SourceSettings


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
        *_describe(TokenSettings, "serve.tokens."),
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
