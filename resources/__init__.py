"""Dagster resources: configuration → the library's objects."""

from rag_pipeline.resources.document_ai import DocumentAiResource
from rag_pipeline.resources.pipeline import PipelineResource
from rag_pipeline.resources.postgres import DatabaseResource
from rag_pipeline.resources.project_settings import SettingsResource

__all__ = [
    "DatabaseResource",
    "DocumentAiResource",
    "PipelineResource",
    "SettingsResource",
    "default_resources",
]


def default_resources(project_dir: str | None = None) -> dict[str, object]:
    """Return the resources of one project, under the names that the assets ask for."""
    settings = SettingsResource(project_dir=project_dir)
    return {
        "settings": settings,
        "database": DatabaseResource(settings=settings),
        "document_ai": DocumentAiResource(settings=settings),
        "pipeline": PipelineResource(settings=settings),
    }
