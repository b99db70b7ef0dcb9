"""The page and the API, served over the samples."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import httpx
import pytest

from rag_pipeline.serve.web_server import page_application
from rag_pipeline.settings import Settings
from tests.knowledge import sample_project, served
from tests.serve.browsing import PATIENCE


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


@pytest.fixture
def faults() -> list[str]:
    """What the browser complained of."""
    return []


@pytest.fixture
def open_page(browser: Any, url: str, faults: list[str]) -> Iterator[Any]:
    """Open the page; at the end the browser must not have complained."""
    contexts = []

    def opened(path: str = "/", **options: Any) -> Any:
        options.setdefault("viewport", {"width": 1200, "height": 860})
        context = browser.new_context(**options)
        contexts.append(context)
        page = context.new_page()
        page.set_default_timeout(PATIENCE)
        page.on("pageerror", lambda error: faults.append(str(error)))
        page.on("console", lambda said: said.type == "error" and faults.append(said.text))
        page.on("request", lambda sent: _note_foreign(sent.url, url, faults))
        page.goto(url + path)
        return page

    yield opened
    for context in contexts:
        context.close()
    assert faults == []


def _note_foreign(asked: str, url: str, faults: list[str]) -> None:
    if not asked.startswith((url, "data:", "blob:")):
        faults.append(f"the page asked for {asked}")
