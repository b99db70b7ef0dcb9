"""Settings to compare: `NAME: KEY=VALUE, …`, on top of the project's settings."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass

from pydantic import BaseModel, ValidationError

from rag_pipeline.errors import SettingsError
from rag_pipeline.settings import Settings

SECTIONS = ("search", "answering", "chat")
"""Sections used when a question is asked; changes of others need a sync."""
_HINT = 'write "words only: search.weights.vector=0" or "other: space=PROVIDER/MODEL/DIMENSIONS"'


@dataclass(frozen=True)
class Variant:
    """Named settings; `space` is an embedding space, None for the active one."""

    name: str
    settings: Settings
    space: str | None = None
    changes: str = ""


def current_settings(settings: Settings) -> Variant:
    """Return the unchanged settings of the project."""
    return Variant("current settings", settings)


def parse_variant(text: str, settings: Settings) -> Variant:
    """Read a variant. Raises `SettingsError` for an unknown key or an invalid value."""
    name, colon, rest = text.partition(":")
    if not colon or not name.strip() or "=" in name:
        raise SettingsError(f"{text!r} is not a variant", hint=_HINT)
    space = None
    update: dict[str, BaseModel] = {}
    for change in filter(None, (part.strip() for part in rest.split(","))):
        key, equals, value = (part.strip() for part in change.partition("="))
        if not equals:
            raise SettingsError(f"{change!r} is not KEY=VALUE", hint=_HINT)
        if key == "space":
            space = value
            continue
        section, *path = key.split(".")
        if section not in SECTIONS or not path:
            raise SettingsError(
                f"{key} cannot be compared without a sync",
                hint=f"settings of {', '.join(SECTIONS)}, and `space`",
            )
        base = update.get(section, getattr(settings, section))
        update[section] = _changed(base, path, _value(value), key)
    return Variant(name.strip(), settings.model_copy(update=update), space, rest.strip())


def _changed(section: BaseModel, path: Sequence[str], value: object, key: str) -> BaseModel:
    values = section.model_dump()
    inner: object = values
    for name in path[:-1]:
        inner = inner.get(name) if isinstance(inner, dict) else None
    if not isinstance(inner, dict) or path[-1] not in inner:
        raise SettingsError(f"there is no setting {key}", hint="see docs/settings.md")
    inner[path[-1]] = value
    try:
        return type(section).model_validate(values)
    except ValidationError as error:
        problems = "; ".join(item["msg"] for item in error.errors())
        raise SettingsError(f"{key}: {problems}", hint="see docs/settings.md") from None


def _value(text: str) -> object:
    try:
        value: object = json.loads(text)
        return value
    except ValueError:
        return text
