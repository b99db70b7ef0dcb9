"""What a user of the page does in a real browser."""

from __future__ import annotations

import time
from typing import Any

from tests.conftest import PROJECT_DIR

SCREENSHOTS = PROJECT_DIR / "tests" / "screenshots"
PATIENCE = 60_000
"""Milliseconds; the first search loads the model."""


def shot(page: Any, name: str) -> None:
    """Keep a picture of the page, for people."""
    SCREENSHOTS.mkdir(exist_ok=True)
    page.screenshot(path=SCREENSHOTS / f"{name}.png")


def until(page: Any, expression: str) -> None:
    """Wait for an expression to be true; the page's policy forbids the browser to wait for it."""
    deadline = time.monotonic() + PATIENCE / 1000
    while not page.evaluate(expression):
        assert time.monotonic() < deadline, expression
        page.wait_for_timeout(30)


def search(page: Any, query: str) -> Any:
    """Type a query; return the results."""
    page.fill("#query", query)
    page.press("#query", "Enter")
    until(page, "document.querySelector('#search-status').textContent.includes('ms')")
    return page.locator("#results > li")
