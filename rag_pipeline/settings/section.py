"""What every section of the settings has in common."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict


class Section(BaseModel):
    """Base of every section: unknown keys are errors, so that a misspelt setting is seen."""

    model_config = ConfigDict(extra="forbid", frozen=True)
