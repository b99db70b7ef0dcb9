"""The page in a real browser: search, why, answers, filters, keys, phone, dark."""

from __future__ import annotations

import json
import shutil
from typing import Any

import pytest

from rag_pipeline.settings import Settings
from tests.serve.browsing import search, shot, until


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
