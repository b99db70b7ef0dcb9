"""Dagster resources: configuration → the library's objects. No logic of their own."""

from rag_pipeline.resources.session import (
    GivenSession,
    SessionResource,
    SessionSource,
    SyncRecord,
    SyncSession,
)

__all__ = [
    "GivenSession",
    "SessionResource",
    "SessionSource",
    "SyncRecord",
    "SyncSession",
    "default_resources",
]


def default_resources(project_dir: str | None = None) -> dict[str, object]:
    """Return the resources of one project, under the names that the assets ask for."""
    return {"session": SessionResource(project_dir=project_dir)}
