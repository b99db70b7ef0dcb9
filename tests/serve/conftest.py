"""The page and the API, served over the samples."""

from __future__ import annotations

from collections.abc import Iterator

import httpx
import pytest

from rag_pipeline.serve.web_server import page_application
from rag_pipeline.settings import Settings
from tests.knowledge import sample_project, served


@pytest.fixture(scope="session")
def project(
    server_url: str, models_dir: object, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Settings]:
    """A project with the samples in it."""
    with sample_project(tmp_path_factory.mktemp("serve"), server_url, models_dir) as settings:
        yield settings


@pytest.fixture(scope="session")
def url(project: Settings) -> Iterator[str]:
    """The address of the server, on this machine only."""
    with page_application(project, "127.0.0.1") as application, served(application) as address:
        yield address


@pytest.fixture
def client(url: str) -> Iterator[httpx.Client]:
    with httpx.Client(base_url=url, timeout=300) as client:
        yield client
