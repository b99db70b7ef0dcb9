"""The page in a real browser: search, why, pages with their boxes, answers, keys, phone, dark."""

from __future__ import annotations

import json
import shutil
import time
from collections.abc import Iterator
from typing import Any

import httpx
import pytest

from rag_pipeline.serve.web_server import page_application
from rag_pipeline.settings import ServeSettings, Settings, TokenSettings
from tests.conftest import PROJECT_DIR
from tests.knowledge import HOSTILE, served

SCREENSHOTS = PROJECT_DIR / "tests" / "screenshots"
PATIENCE = 60_000
"""Milliseconds; the first search loads the model."""


@pytest.fixture
def faults() -> list[str]:
    """What the browser complained of."""
    return []


@pytest.fixture
def open_page(browser: Any, url: str, faults: list[str]) -> Iterator[Any]:
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


def shot(page: Any, name: str) -> None:
    SCREENSHOTS.mkdir(exist_ok=True)
    page.screenshot(path=SCREENSHOTS / f"{name}.png")


def until(page: Any, expression: str) -> None:
    """Wait for an expression to be true; the page's policy forbids the browser to wait for it."""
    deadline = time.monotonic() + PATIENCE / 1000
    while not page.evaluate(expression):
        assert time.monotonic() < deadline, expression
        page.wait_for_timeout(30)


def search(page: Any, query: str) -> Any:
    page.fill("#query", query)
    page.press("#query", "Enter")
    until(page, "document.querySelector('#search-status').textContent.includes('ms')")
    return page.locator("#results > li")


def test_a_search_shows_trails_marks_and_shares(open_page: Any) -> None:
    page = open_page()
    results = search(page, "replacing the oil filter")
    first = results.first
    assert first.locator(".open").inner_text().endswith("5.3 Replacing the Oil Filter")
    assert "service-manual-en.pdf · page 2" in first.locator(".place").inner_text()
    assert first.locator("mark").all_inner_texts()[:3] == ["Replacing", "Oil", "Filter"]
    shares = [float(one.get_attribute("data-share")) for one in first.locator(".bar i").all()]
    assert sum(shares) == pytest.approx(1)
    widths = [one.bounding_box()["width"] for one in first.locator(".bar i").all()]
    for share, width in zip(shares, widths, strict=True):
        assert width / sum(widths) == pytest.approx(share, abs=0.02)
    assert first.locator(".bar").get_attribute("aria-label").startswith("Score ")
    first.get_by_role("button", name="Why?").click()
    rows = first.locator(".why tbody tr")
    given = [float(row.locator("td").last.inner_text()) for row in rows.all()]
    assert sum(given[:-1]) == pytest.approx(given[-1], abs=1e-4)
    shot(page, "search")


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


def test_an_answer_and_its_citation(open_page: Any) -> None:
    page = open_page()
    page.fill("#query", "What is the part number of the oil filter?")
    page.click("#ask-button")
    page.wait_for_selector("#answer .citations")
    citation = page.locator("#answer .text .cite").first
    named = citation.get_attribute("title")
    shot(page, "answer")
    citation.click()
    page.wait_for_selector(".box")
    assert named.startswith(page.locator("#viewer-title").inner_text())
    assert page.locator("#passage p").count() >= 2
    shot(page, "citation")


def test_filters_and_the_way_back(open_page: Any) -> None:
    page = open_page("/#/search?q=filter&language=ko")
    page.wait_for_selector("#results li")
    assert page.locator("#filter-count").inner_text() == "(1)"
    assert _documents(page) == {"service-manual-ko.pdf"}
    page.locator("#filters summary").click()
    page.select_option("#filter-language", "")
    page.fill("#filter-document", "datasheet.pdf")
    page.press("#filter-document", "Tab")
    until(
        page,
        "[...document.querySelectorAll('.place')].every((at) => at.textContent.startsWith('data'))",
    )
    shot(page, "filters")
    page.go_back()
    until(page, "document.querySelector('#filter-document').value === ''")
    assert page.input_value("#filter-language") == ""
    page.go_back()
    until(page, "document.querySelector('#filter-language').value === 'ko'")


def _documents(page: Any) -> set[str]:
    return {text.split(" · ")[0] for text in page.locator("#results .place").all_inner_texts()}


def test_keys_alone_are_enough(open_page: Any) -> None:
    page = open_page()
    page.keyboard.press("/")
    page.keyboard.type("oil filter")
    page.keyboard.press("Enter")
    page.wait_for_selector("#results li")
    focused = "document.activeElement.closest('li')?.querySelector('.open').textContent"
    page.keyboard.press("ArrowDown")
    first = page.evaluate(focused)
    page.keyboard.press("ArrowDown")
    second = page.evaluate(focused)
    assert first != second is not None
    page.keyboard.press("ArrowUp")
    assert page.evaluate(focused) == first
    page.keyboard.press("Enter")
    page.wait_for_selector(".paper img")
    page.keyboard.press("Escape")
    until(page, "!document.querySelector('#viewer').open")
    assert page.evaluate(focused) == first
    page.keyboard.press("ArrowUp")
    assert page.evaluate("document.activeElement.id") == "query"


def test_hostile_text_stays_text(open_page: Any) -> None:
    page = open_page()
    first = search(page, "firmware update stick").first
    assert "<img src=x onerror=" in first.locator(".place").inner_text()
    assert "<script>document.title" in first.locator(".snippet").inner_text()
    first.locator(".open").click()
    page.wait_for_selector("#sheet .status")
    assert "no pages to show" in page.locator("#sheet .status").inner_text()
    assert "<script>document.title" in page.locator("#sheet").inner_text()
    assert page.title() == "Documents"
    assert page.locator("main script, main img, dialog script, dialog img, dialog b").count() == 0
    shot(page, "hostile")


IS_OPEN = "document.querySelector('#viewer').open"


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


@pytest.mark.parametrize(
    ("filters", "said"),
    [
        ("first=5&last=3", "“From page” (5) is greater than “To page” (3)."),
        ("first=0", "“From page” takes a whole number from 1 to 1,000,000."),
        ("last=x", "“To page” takes a number; the address says “x”."),
        ("document=none.pdf", "no document is called “none.pdf”"),
        ("language=xx", "no document is in the language “xx” (there are: en, ko)"),
        ("tag=none", "no document has the tag “none” (there are: service)"),
        ("document=datasheet.pdf&first=100", "there is nothing on these pages"),
    ],
)
def test_a_wrong_filter_is_told_in_plain_words(open_page: Any, filters: str, said: str) -> None:
    page = open_page(f"/#/search?q=oil&{filters}")
    until(page, f"document.querySelector('#search-status').textContent.includes('{said}')")
    assert page.locator("#results li").count() == 0


def test_a_query_that_is_no_text_is_told(open_page: Any, faults: list[str]) -> None:
    page = open_page("/#/search?q=oil%00filter")
    until(page, "document.querySelector('#search-status').className.includes('bad')")
    assert page.locator("#search-status").inner_text() == (
        "The query: NUL and lone surrogates are not allowed"
    )
    faults[:] = [fault for fault in faults if "422" not in fault]


def test_the_query_has_the_focus(open_page: Any) -> None:
    page = open_page()
    until(page, "document.querySelector('#search-status').textContent.includes('to search')")
    said = page.locator("#search-status").inner_text()
    assert said == "4 documents, 9 pages to search; 1 could not be read, see Sources"
    page.keyboard.type("oil filter")
    page.keyboard.press("Enter")
    page.wait_for_selector("#results li")
    page.get_by_role("link", name="Sources").click()
    page.wait_for_selector(".documents li")
    page.get_by_role("link", name="Search").click()
    until(page, "document.activeElement.id === 'query'")
    assert page.input_value("#query") == ""


def test_sources_show_failures_and_outlines(open_page: Any) -> None:
    page = open_page("/#/sources")
    page.wait_for_selector(".documents li")
    assert page.locator(".counts .bad").inner_text().split() == ["1", "failed"]
    assert "broken.pdf" in page.locator(".failure").inner_text()
    page.get_by_role("button", name="service-manual-en.pdf").click()
    page.get_by_role("button", name="5.3 Replacing the Oil Filter").click()
    page.wait_for_selector(".box")
    shot(page, "outline")
    page.keyboard.press("Escape")
    shot(page, "sources")


def test_the_last_evaluation(open_page: Any, project: Settings) -> None:
    measures = {"recall@1": 0.5, "recall@5": 0.75, "recall@10": 1.0, "precision@5": 0.2}
    measures |= {"hit@5": 0.75, "MRR": 0.625, "nDCG@10": 0.7}
    setting = {
        "measures": {"all": measures, "ko": measures},
        "latency_ms": {"search": {"p50": 20.0, "p95": 41.0}},
        "misses": [{"id": "ko-3", "rank": None, "found": []}],
        "questions": {str(number): {} for number in range(4)},
    }
    settings = [{"setting": name, **setting} for name in ("as set", "words <b>only</b>")]
    thresholds = {"recall@5": False, "MRR": True}
    figures = {"questions_name": "q.jsonl", "thresholds": thresholds, "settings": settings}
    folder = project.data_path / "evaluation"
    folder.mkdir()
    (folder / "report.html.json").write_text(json.dumps(figures), encoding="utf-8")
    try:
        page = open_page("/#/evaluation")
        page.wait_for_selector("table")
        text = page.locator("#evaluation-view").inner_text()
        assert "q.jsonl, 4 questions" in text
        assert "words <b>only</b>" in text
        row = page.get_by_role("row", name="recall@5").first
        assert row.locator("td").all_inner_texts() == ["0.750", "0.750"]
        assert "✗ failed: recall@5" in text
        shot(page, "evaluation")
    finally:
        shutil.rmtree(folder)


def test_korean_at_phone_width(open_page: Any) -> None:
    phone = {"width": 360, "height": 740}
    page = open_page(viewport=phone, device_scale_factor=2, is_mobile=True, has_touch=True)
    first = search(page, "에어필터 카트리지 교체").first
    assert first.locator(".open").get_attribute("lang") == "ko"
    assert "에어필터" in first.locator("mark").all_inner_texts()
    assert page.evaluate("document.documentElement.scrollWidth") == 360
    first.get_by_role("button", name="Why?").tap()
    assert page.evaluate("document.documentElement.scrollWidth") == 360
    shot(page, "phone")
    first.locator(".open").tap()
    page.wait_for_selector(".box")
    assert page.locator(".paper img").bounding_box()["width"] > 320
    page.wait_for_selector(".hit")
    shot(page, "phone-page")


def test_dark_where_the_system_is_dark(open_page: Any) -> None:
    colour = "getComputedStyle(document.body).backgroundColor"
    light, dark = open_page(color_scheme="light"), open_page(color_scheme="dark")
    assert light.evaluate(colour) == "rgb(247, 246, 242)"
    assert dark.evaluate(colour) == "rgb(20, 25, 27)"
    search(dark, "oil filter")
    shot(dark, "dark")
    dark.locator("#results .open").first.click()
    dark.wait_for_selector(".box")
    shot(dark, "dark-page")


def test_everything_that_acts_has_a_name(open_page: Any) -> None:
    page = open_page()
    search(page, "oil filter")
    nameless = """[...document.querySelectorAll('button, input, select, a, summary')]
      .filter((one) => !one.textContent.trim() && !one.ariaLabel && !one.labels?.length)
      .map((one) => one.outerHTML)"""
    assert page.evaluate(nameless) == []
    for colours in ("light", "dark"):
        page.emulate_media(color_scheme=colours)
        assert page.evaluate(CONTRASTS) == []


CONTRASTS = """(() => {
  const luminance = (colour) => {
    const [r, g, b] = colour.match(/[\\d.]+/g).map(Number).map((c) => c / 255)
      .map((c) => (c <= 0.03928 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4));
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const ground = (one) => {
    for (let at = one; at; at = at.parentElement) {
      const colour = getComputedStyle(at).backgroundColor;
      if (!/, 0\\)$/.test(colour)) return colour;
    }
    return "rgb(255, 255, 255)";
  };
  return [...document.querySelectorAll("button, a, p, mark, label, li, summary, kbd")]
    .filter((one) => one.offsetParent && !one.disabled && one.textContent.trim())
    .map((one) => {
      const [a, b] = [luminance(getComputedStyle(one).color), luminance(ground(one))];
      return [one.className || one.tagName, (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05)];
    })
    .filter(([, contrast]) => contrast < 4.5);
})()"""
"""Texts whose contrast with their ground is below 4.5 : 1 (WCAG 2.2, 1.4.3)."""
