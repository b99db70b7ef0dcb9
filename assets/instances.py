"""Opens the Dagster instance of a project."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import dagster as dg
from sqlalchemy.exc import SQLAlchemyError

from rag_pipeline.dagster_storage import open_configured, open_sqlite
from rag_pipeline.errors import SettingsError, StoreError
from rag_pipeline.settings import Settings


@contextmanager
def disk_errors() -> Iterator[None]:
    """Turn errors of Dagster's own files into one that says what to do."""
    try:
        yield
    except (OSError, SQLAlchemyError) as error:
        line = (str(error).strip() or type(error).__name__).splitlines()[0]
        raise StoreError(
            f"Dagster's records could not be written: {line}",
            hint="free space or check the rights of the folder, then run `rag sync` again: what "
            "has landed stays",
        ) from error


@disk_errors()
def open_instance(settings: Settings) -> dg.DagsterInstance:
    """Return the Dagster instance: DAGSTER_HOME, the project's dagster.yaml, or one in data_dir."""
    if home := os.environ.get("DAGSTER_HOME"):
        folder = Path(home).expanduser()
        if not folder.is_absolute() or not folder.is_dir():
            raise SettingsError(
                f"DAGSTER_HOME is {home}, which is no folder that is there",
                hint="create it (an absolute path), or unset the variable",
            )
        return open_configured(folder)
    if (settings.project_dir / "dagster.yaml").is_file():
        return open_configured(settings.project_dir)
    return open_sqlite(settings.data_path / "dagster")
