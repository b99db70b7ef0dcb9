"""Views to text by a Jinja2 template in a sandbox: ours in two languages, or the user's own."""

from __future__ import annotations

from importlib.resources import files
from pathlib import Path

from jinja2 import Environment, StrictUndefined, TemplateError
from jinja2.sandbox import ImmutableSandboxedEnvironment

from rag_pipeline.errors import SettingsError
from rag_pipeline.relational.rows.row_views import Group, View
from rag_pipeline.settings import RelationalSettings


class Renderer:
    """Writes rows as text; `source` is the template's text, part of what makes a chunk stale."""

    def __init__(self, settings: RelationalSettings, project_dir: Path) -> None:
        self._name = str(settings.template or f"{settings.language}.jinja")
        try:
            if settings.template is not None:
                self.source = (project_dir / settings.template).read_text(encoding="utf-8")
            else:
                folder = files("rag_pipeline.relational.rows").joinpath("templates")
                self.source = folder.joinpath(self._name).read_text(encoding="utf-8")
            # A template of the user's may come from elsewhere: it can neither reach Python nor
            # change its data. Ours need no guard, which takes half of the time.
            kind = Environment if settings.template is None else ImmutableSandboxedEnvironment
            environment = kind(undefined=StrictUndefined, keep_trailing_newline=False)
            self._template = environment.from_string(self.source)
        except (OSError, UnicodeDecodeError, TemplateError) as error:
            raise SettingsError(
                f"relational source {settings.name}: the template {self._name} cannot be read: "
                f"{error}"
            ) from error

    def whole(self, entity: View) -> str:
        """Return a row with everything below it."""
        return self._render(mode="whole", entity=entity)

    def summary(self, entity: View) -> str:
        """Return a row with counts, sums and names instead of the rows below it."""
        return self._render(mode="summary", entity=entity)

    def rows(self, entity: View, group: Group, positions: range) -> str:
        """Return some children (from 1) in the context of their parent."""
        chosen = [(position, group.rows[position - 1]) for position in positions]
        return self._render(mode="rows", entity=entity, group=group, chosen=chosen)

    def _render(self, **values: object) -> str:
        try:
            return self._template.render(**values).strip()
        except (TemplateError, TypeError, ValueError, AttributeError) as error:
            raise SettingsError(f"the template {self._name} fails: {error}") from error
