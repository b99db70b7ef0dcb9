"""`rag inspect --html`: one file, safe against its document, with chunks and boxes that agree."""

from __future__ import annotations

import base64
import hashlib
import json
import re
from pathlib import Path
from typing import Any

import lxml.html
import pandas as pd
import pytest
from typer.testing import CliRunner

from rag_pipeline.cli.commands import app
from rag_pipeline.errors import DamagedPdfError, RagError, SettingsError
from rag_pipeline.frames import blocks_frame
from rag_pipeline.inspection.block_links import chunks_of_blocks
from rag_pipeline.inspection.html_page import write_inspection_page
from rag_pipeline.inspection.page_budget import STEPS, chosen_step, pictures_of
from rag_pipeline.parsing.pdf.native.page_pictures import open_renderer
from rag_pipeline.settings import Settings
from tests.pdfs import make_damaged_pdfs, make_pdf

HOSTILE = [
    "</script><script>document.title='gone'</script>",
    "<!-- <script> <img src=x onerror=alert(1)>",
    "&lt;b&gt; \"quoted\" 'text' ]]>",
]
SECTIONS = [
    ("1 Maintenance", ["Replace the oil filter every 500 hours.", *HOSTILE]),
    ("2 Troubleshooting", ["Error code E-07 means that the valve is stuck."]),
]


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    return Settings.load(tmp_path)


def _written(file: Path, settings: Settings) -> Path:
    target = file.parent / "page.html"
    assert write_inspection_page(file, settings, target) == target.stat().st_size
    return target


def _tree(page: Path) -> Any:
    return lxml.html.document_fromstring(page.read_bytes())


@pytest.fixture
def manual(tmp_path: Path) -> Path:
    return make_pdf(tmp_path / "<b>manual & more.pdf", SECTIONS, pages=3)


def test_text_of_the_document_stays_text(manual: Path, settings: Settings) -> None:
    tree = _tree(_written(manual, settings))
    assert tree.findtext(".//title") == manual.name
    texts = [line.text_content() for line in tree.iterfind(".//div[@class='part']/div")]
    for hostile in HOSTILE:
        assert sum(hostile in text for text in texts) == 3
    # A picture and the data of each page, the data of all, and the one that runs.
    kinds = [script.get("type") for script in tree.iterfind(".//script")]
    assert kinds.count(None) == 1
    assert len(kinds) == 3 * 2 + 2
    assert not tree.xpath("//img | //b | //@onerror | //@style")
    chunks = json.loads(tree.get_element_by_id("data").text)["chunks"]
    assert HOSTILE[0] in chunks[0]["content"]


def test_the_policy_names_the_one_script_and_style(manual: Path, settings: Settings) -> None:
    tree = _tree(_written(manual, settings))
    (policy,) = tree.xpath("//meta[@http-equiv='Content-Security-Policy']/@content")
    for directive, element in (("script-src", "//script[not(@type)]"), ("style-src", "//style")):
        digest = hashlib.sha256(tree.xpath(element)[0].text.encode()).digest()
        assert f"{directive} 'sha256-{base64.b64encode(digest).decode()}'" in policy
    assert policy.startswith("default-src 'none'; img-src data:;")
    assert not tree.xpath("//link | //iframe | //@src")
    assert all(link.startswith("#") for link in tree.xpath("//@href"))


def test_a_file_without_pages_has_text_outline_and_chunks(
    tmp_path: Path, settings: Settings
) -> None:
    file = tmp_path / "notes.md"
    file.write_text("# Pump\n\nIt pumps.\n\n## Valve\n\n| a | b |\n|---|---|\n| 1 | `2` |\n")
    tree = _tree(_written(file, settings))
    assert tree.xpath("//nav//li/a/text()") == ["Pump", "Valve"]
    assert tree.xpath("//nav//li/a/@href") == ["#b0", "#b2"]
    assert not tree.xpath("//svg | //script[@type='text/plain']")
    assert [cell.text for cell in tree.iterfind(".//td")] == ["a", "b", "1", "2"]
    assert all(line.get("data-chunks") for line in tree.xpath("//div[contains(@class, 'b r-')]"))


def test_a_failure_leaves_the_target_alone(tmp_path: Path, settings: Settings) -> None:
    damaged = make_damaged_pdfs(tmp_path / "files")
    target = tmp_path / "page.html"
    target.write_text("before")
    with pytest.raises(DamagedPdfError):
        write_inspection_page(damaged["truncated"], settings, target)
    assert target.read_text() == "before"
    with pytest.raises(RagError, match=r"none/page\.html cannot be written"):
        write_inspection_page(damaged["good"], settings, tmp_path / "none" / "page.html")
    assert [path.name for path in tmp_path.iterdir() if path.is_file()] == ["page.html"]


def _chunks(*rows: dict[str, Any]) -> pd.DataFrame:
    return pd.DataFrame(list(rows))


def _block(text: str, role: str, *box: float) -> dict[str, Any]:
    x0, y0, x1, y1 = box
    return {"page_number": 1, "text": text, "x0": x0, "y0": y0, "x1": x1, "y1": y1, "role": role}


def test_blocks_lie_in_the_chunks_whose_regions_cover_them() -> None:
    structured = blocks_frame(
        [
            _block("head", "page_header", 0.1, 0.1, 0.9, 0.12),
            _block("one", "paragraph", 0.1, 0.2, 0.9, 0.3),
            _block("table", "table", 0.1, 0.32, 0.9, 0.6),
            _block("note", "footnote", 0.1, 0.9, 0.9, 0.95),
        ]
    )
    region = {"page": 1, "x0": 0.1, "y0": 0.1, "x1": 0.9, "y1": 0.6}
    chunks = _chunks(
        {"content": "one table", "regions": [region]},
        {"content": "table", "regions": [{**region, "y0": 0.32}]},
        {"content": "elsewhere", "regions": [{**region, "page": 2}]},
    )
    assert chunks_of_blocks(structured, chunks) == [[], [0], [0, 1], []]


def test_without_boxes_the_text_decides_in_reading_order() -> None:
    rows = [("Pump", "heading"), ("See below.", "paragraph"), ("See below.", "paragraph")]
    structured = blocks_frame(
        [{"page_number": 1, "text": text, "role": role} for text, role in [*rows, ("?", "code")]]
    )
    chunks = _chunks(
        {"content": "Pump", "regions": []},
        {"content": "See\nbelow.", "regions": []},
        {"content": "Other", "regions": []},
    )
    assert chunks_of_blocks(structured, chunks) == [[0], [1], [1], []]


def test_pictures_keep_to_the_budget(tmp_path: Path) -> None:
    path = make_pdf(tmp_path / "many.pdf", SECTIONS, pages=8)
    pages = range(1, 9)
    with open_renderer(path) as renderer:
        assert chosen_step(renderer, pages, 10**9) == STEPS[0]
        assert chosen_step(renderer, pages, 1) == STEPS[-1]
    generous = [picture for picture in pictures_of(path, pages) if not isinstance(picture, str)]
    assert [picture.width for picture in generous] == [STEPS[0][0]] * 8
    half = sum(len(picture.data) for picture in generous) // 2
    thrifty = [
        picture for picture in pictures_of(path, pages, half) if not isinstance(picture, str)
    ]
    assert 0.1 * half < sum(len(picture.data) for picture in thrifty) < 1.1 * half


def test_in_a_browser(browser: Any, manual: Path, settings: Settings) -> None:
    # Never `wait_for_function`: what it evaluates again and again, the page's policy refuses.
    from playwright.sync_api import expect

    page = browser.new_page(viewport={"width": 1300, "height": 900})
    page.set_default_timeout(60_000)
    faults: list[str] = []
    page.on("console", lambda message: faults.append(message.text))
    page.on("pageerror", lambda error: faults.append(str(error)))
    page.on(
        "request",
        lambda request: None if re.match("file|data", request.url) else faults.append(request.url),
    )
    page.goto(_written(manual, settings).as_uri())
    page.wait_for_selector("#p1 .box")
    assert page.title() == manual.name
    assert page.locator("svg rect.box[data-block='0'] title").text_content().startswith("0 · ")

    # From a box to its text and its chunk, from the chunk to all its boxes, and away.
    page.locator("#p1 .box").nth(2).click()
    text = page.locator(".b.on").text_content()
    assert text == HOSTILE[0]
    page.locator("#details").get_by_role("button", name=re.compile("^chunk ")).click()
    assert page.locator("#details h3").text_content().startswith("Chunk ")
    assert page.locator("#p1 .box.on").count() >= 2
    assert page.locator("#p1 .border.on").count() >= 1
    assert HOSTILE[0] in page.locator("#details pre").text_content()
    page.keyboard.press("Escape")
    assert page.locator(".on").count() == 0
    assert page.locator("#details").is_hidden()

    # Pages by keys; a role switched off; the outline leads to its page.
    page.keyboard.press("j")
    expect(page.locator("#page")).to_have_value("2")
    page.locator("[data-role=heading]").uncheck()
    assert page.locator("#p2 .box.r-heading").first.is_hidden()
    page.keyboard.press("ArrowRight")
    page.locator("nav a").first.click()
    expect(page.locator("#page")).to_have_value("1")
    page.locator("[data-switch=order]").check()
    assert page.locator("#p1 .number").first.is_visible()
    page.set_viewport_size({"width": 390, "height": 800})
    assert page.evaluate("document.documentElement.scrollWidth") == 390
    assert faults == []
    page.close()


def test_the_command_writes_a_page_a_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for name in ("a.md", "b.md"):
        (tmp_path / name).write_text(f"# {name}\n\nText.\n")
    run = CliRunner().invoke
    assert run(app, ["inspect", "a.md", "--html", "one.html"]).exit_code == 0
    assert (tmp_path / "one.html").read_text().startswith("<!doctype html>")
    several = run(app, ["inspect", "a.md", "b.md", "--html", "one.html"])
    assert isinstance(several.exception, SettingsError)
    (tmp_path / "pages").mkdir()
    assert run(app, ["inspect", "a.md", "b.md", "--html", "pages"]).exit_code == 0
    assert sorted(path.name for path in (tmp_path / "pages").iterdir()) == [
        "a.md.html",
        "b.md.html",
    ]
