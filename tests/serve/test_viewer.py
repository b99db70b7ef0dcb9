"""The viewer in a real browser: boxes over words, addresses, the file itself, tables."""

from __future__ import annotations

from typing import Any

import httpx
import pytest

from rag_pipeline.serve.web_server import page_application
from rag_pipeline.settings import ServeSettings, Settings, TokenSettings
from tests.knowledge import HOSTILE, served
from tests.serve.browsing import PATIENCE, search, shot, until

IS_OPEN = "document.querySelector('#viewer').open"


def test_the_boxes_lie_over_the_words_of_the_result(open_page: Any, client: httpx.Client) -> None:
    """The drawn rectangles hold the chunk's words, as the parser places them, and no others."""
    page = open_page()
    search(page, "replacing the oil filter").first.locator(".open").click()
    page.wait_for_selector(".paper img")
    page.wait_for_selector(".hit")
    image = page.locator(".paper img").bounding_box()
    boxes = [_share_of(one.bounding_box(), image) for one in page.locator(".box").all()]
    found = client.post(
        "/api/search", json={"query": "replacing the oil filter", "limit": 1}
    ).json()
    result = found["results"][0]
    path = f"/api/pages/{result['source_hash']}/{result['page_start']}/words"
    words = client.get(path).json()["words"]
    inside = [word["text"] for word in words if any(_holds(box, word) for box in boxes)]
    assert "".join(inside) == "".join(result["content"].split())
    hits = [_share_of(one.bounding_box(), image) for one in page.locator(".hit").all()]
    over = {word["text"] for word in words if any(_holds(hit, word) for hit in hits)}
    assert {"oil", "filter"} <= {word.lower().strip(".,") for word in over}
    assert "wrench." not in over
    shot(page, "page-with-boxes")
    page.keyboard.press("ArrowRight")
    until(page, "document.querySelector('#page-number').textContent === 'page 3 of 3'")
    until(page, "!document.querySelector('.box')")
    assert page.locator("#page-after").is_disabled()
    page.keyboard.press("Escape")
    assert not page.locator("#viewer").is_visible()


def _share_of(box: Any, image: Any) -> tuple[float, float, float, float]:
    left, top = box["x"] - image["x"], box["y"] - image["y"]
    return (
        left / image["width"],
        top / image["height"],
        (left + box["width"]) / image["width"],
        (top + box["height"]) / image["height"],
    )


def _holds(box: tuple[float, float, float, float], word: Any) -> bool:
    x, y = (word["x0"] + word["x1"]) / 2, (word["y0"] + word["y1"]) / 2
    return box[0] <= x <= box[2] and box[1] <= y <= box[3]


def test_what_is_open_has_an_address(open_page: Any, url: str) -> None:
    """Back leaves the viewer; whoever is sent its address sees document, page and box."""
    page = open_page()
    first = search(page, "replacing the oil filter").first
    searched, trail = page.url, first.locator(".open").inner_text()
    first.locator(".open").click()
    page.wait_for_selector(".box")
    boxes = page.locator(".box").count()
    link = page.url.removeprefix(url)
    page.go_back()
    until(page, f"!{IS_OPEN}")
    assert page.url == searched
    assert page.locator("#results .open").first.inner_text() == trail
    page.go_forward()
    page.wait_for_selector(".box")
    page.keyboard.press("ArrowRight")
    page.wait_for_selector(".paper img[alt^='Page 3']")
    assert page.url.removeprefix(url) == link.replace("page=2", "page=3")
    page.keyboard.press("Escape")
    until(page, f"location.href === '{searched}' && !{IS_OPEN}")

    other = open_page(link)
    other.wait_for_selector(".hit")
    assert other.locator("#viewer-title").inner_text() == "service-manual-en.pdf"
    assert other.locator("#page-number").inner_text() == "page 2 of 3"
    assert other.locator(".box").count() == boxes
    assert other.locator("#passage h3").inner_text() == trail
    other.click("#viewer-close")
    other.wait_for_selector("#results li")
    assert other.input_value("#query") == "replacing the oil filter"


def test_links_to_sections_and_to_what_is_gone(
    open_page: Any, client: httpx.Client, faults: list[str]
) -> None:
    outline = client.get("/api/outline/service-manual-en.pdf").json()
    (heading,) = [one for one in outline["headings"] if "5.3" in one["title"]]
    path = f"/#/view/{outline['source_hash']}"
    section = httpx.QueryParams(page=2, section=heading["breadcrumb_trail"])
    page = open_page(f"{path}?{section}")
    page.wait_for_selector(".box")
    assert page.locator("#passage h3").inner_text().endswith(heading["title"])
    page = open_page(f"{path}?page=3&chunk=999999999")
    page.wait_for_selector(".paper img")
    assert page.locator("#page-number").inner_text() == "page 3 of 3"
    assert "no longer exists" in page.locator("#passage").inner_text()
    page = open_page("/#/view/" + "0" * 64 + "?page=2")
    until(page, "document.querySelector('#search-status').className.includes('bad')")
    assert "cannot be opened: no such document" in page.locator("#search-status").inner_text()
    assert not page.locator("#viewer").is_visible()
    # The browser notes what the server does not have.
    assert len(faults) == 2
    faults[:] = [fault for fault in faults if "404" not in fault]


def test_the_file_itself_can_be_opened(open_page: Any, url: str) -> None:
    page = open_page()
    first = search(page, "firmware update stick").first
    first.locator(".open").click()
    page.wait_for_selector("#sheet .status")
    with page.expect_download() as download:
        page.click("#viewer-file")
    assert download.value.path().read_text(encoding="utf-8") == HOSTILE
    page.keyboard.press("Escape")
    until(page, f"!{IS_OPEN}")
    search(page, "replacing the oil filter").first.locator(".open").click()
    page.wait_for_selector(".box")
    link = page.get_attribute("#viewer-file", "href")
    assert link.startswith("/api/files/")
    assert link.endswith("#page=2")
    reply = page.request.get(url + link)
    assert (reply.headers["content-type"], reply.body()[:5]) == ("application/pdf", b"%PDF-")


def test_a_token_is_asked_for_once_and_opens_files(
    browser: Any, project: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A link cannot carry a token: the page fetches the file itself."""
    monkeypatch.setenv("RAG_TOKEN_KIM", "kim-0123456789abcdef")
    tokens = [TokenSettings(name="kim", token_env="RAG_TOKEN_KIM")]
    settings = project.model_copy(update={"serve": ServeSettings(tokens=tokens)})
    context = browser.new_context()
    with (
        page_application(settings, "0.0.0.0") as application,
        served(application, "0.0.0.0") as address,
    ):
        page = context.new_page()
        page.set_default_timeout(PATIENCE)
        page.goto(address)
        page.fill("#token", "kim-0123456789abcdef")
        page.press("#token", "Enter")
        search(page, "firmware update stick").first.locator(".open").click()
        page.wait_for_selector("#sheet .status")
        with page.expect_download() as download:
            page.click("#viewer-file")
        assert download.value.path().read_text(encoding="utf-8") == HOSTILE
        assert download.value.suggested_filename.startswith("hostile")
        link = page.url
        context.close()
        other = browser.new_context().new_page()
        other.goto(link)
        other.wait_for_selector("#token-dialog[open]")
        assert not other.locator("#viewer").is_visible()
        other.fill("#token", "kim-0123456789abcdef")
        other.press("#token", "Enter")
        other.wait_for_selector("#sheet .status")
        other.context.close()


def test_wide_tables_scroll_by_themselves(open_page: Any) -> None:
    row = "|" + "|".join(f"clearance {number} mm" for number in range(30)) + "|"
    table = f"{row}\n{'|---' * 30}|\n{row}"
    measure = """(text) => {
      document.querySelector("#sheet .plain").append(...passageOf(text, []));
      const [table, sheet] = [...document.querySelectorAll("#sheet .table, #sheet")].reverse();
      const words = [...table.querySelectorAll("td")].map((one) => one.getClientRects()[0].width);
      return [table.scrollWidth > table.clientWidth, sheet.scrollWidth > sheet.clientWidth,
        Math.min(...words)];
    }"""
    for width in (1200, 360):
        page = open_page(viewport={"width": width, "height": 740})
        search(page, "firmware update stick").first.locator(".open").click()
        page.wait_for_selector("#sheet .status")
        scrolls, overflows, narrowest = page.evaluate(measure, table)
        assert (scrolls, overflows) == (True, False)
        assert narrowest > 60, "a word is broken"
        shot(page, f"wide-{width}")
