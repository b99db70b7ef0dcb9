"""The JSON API: searches, answers, documents, pages; what is wrong is told as a problem."""

from __future__ import annotations

import io
import json
import re
from pathlib import Path

import httpx
import pytest
from PIL import Image

from rag_pipeline.answering import Answer, Citation
from rag_pipeline.serve.readers import KnowledgeBases
from rag_pipeline.settings import Settings
from tests.knowledge import HOSTILE_NAME

MANUAL = "service-manual-en.pdf"


def hash_of(client: httpx.Client, name: str) -> str:
    documents = client.get("/api/sources", params={"name": name}).json()["documents"]
    assert [one["document"] for one in documents] == [name]
    return str(documents[0]["source_hash"])


def test_a_search_says_where_each_score_comes_from(client: httpx.Client) -> None:
    body = {"query": "replacing the oil filter", "limit": 3, "filters": {"documents": [MANUAL]}}
    reply = client.post("/api/search", json=body).json()
    best = reply["results"][0]
    assert len(reply["results"]) == 3
    assert best["breadcrumb_trail"].endswith("5.3 Replacing the Oil Filter")
    assert sum(one["contribution"] for one in best["details"]) == pytest.approx(best["score"])
    assert {one["leg"] for one in best["details"]} == {"text", "vector"}
    marked = [best["content"][start:end] for start, end in best["marks"]]
    assert marked[:3] == ["Replacing", "Oil", "Filter"]
    assert "the" not in marked
    assert best["regions"][0]["page"] == best["page_start"]


def test_the_address_and_the_body_search_alike(client: httpx.Client) -> None:
    filters = {"languages": ["ko"], "tags": ["service"], "first_page": 1, "last_page": 2}
    body = {"query": "에어필터 교체", "filters": filters, "weights": {"text": 1, "vector": 0}}
    posted = client.post("/api/search", json=body).json()["results"]
    parameters = {"language": "ko", "tag": "service", "first_page": 1, "last_page": 2}
    parameters |= {"text_weight": 1, "vector_weight": 0, "q": "에어필터 교체"}
    got = client.get("/api/search", params=parameters).json()["results"]
    assert [one["chunk_id"] for one in posted] == [one["chunk_id"] for one in got] != []
    assert {one["document"] for one in got} == {"service-manual-ko.pdf"}
    assert {detail["leg"] for one in got for detail in one["details"]} == {"text"}


def test_korean_words_are_marked_without_their_particles_meaning(client: httpx.Client) -> None:
    body = {"query": "카트리지를 교체", "filters": {"languages": ["ko"]}, "limit": 1}
    best = client.post("/api/search", json=body).json()["results"][0]
    marked = {best["content"][start:end] for start, end in best["marks"]}
    assert "교체" in marked
    assert "카트리지" in marked
    assert not any(word.endswith("하십시오") and "교체" not in word for word in marked)


def test_an_answer_quotes_and_cites(client: httpx.Client) -> None:
    question = "What is the part number of the oil filter?"
    answer = client.post("/api/ask", json={"question": question}).json()
    assert (answer["kind"], answer["status"]) == ("extractive", "answered")
    cited = answer["citations"][0]
    assert cited["marker"] in answer["text"]
    assert cited["source_hash"] == hash_of(client, cited["document"])
    assert cited["regions"]


def test_a_citation_leads_to_its_best_page(project: Settings) -> None:
    places = [
        Citation(number, f"[{number}]", "a.pdf", "/m/a.pdf", 2, 3, "", number, [], pages=pages)
        for number, pages in ((1, (3, 2)), (2, ()))
    ]
    readers = KnowledgeBases(project)
    try:
        answer = Answer("?", "[1] [2]", "extractive", "answered", citations=places)
        reply = readers.knowledge_of(None)._answer_reply(answer)
    finally:
        readers.close()
    assert [one.page for one in reply.citations] == [3, 2]


def test_an_answer_comes_in_pieces(client: httpx.Client) -> None:
    question = {"question": "What is the part number of the oil filter?"}
    with client.stream("POST", "/api/ask/stream", json=question) as response:
        assert response.headers["content-type"].startswith("text/event-stream")
        events = [block.split("\n") for block in response.read().decode().strip().split("\n\n")]
    names = [event[0].removeprefix("event: ") for event in events]
    values = [json.loads(event[1].removeprefix("data: ")) for event in events]
    assert names == ["piece"] * (len(names) - 1) + ["answer"]
    assert "".join(values[:-1]) == values[-1]["text"]


def test_sources_tell_failures(client: httpx.Client) -> None:
    reply = client.get("/api/sources").json()
    assert reply["counts"] | {"chunks": 0} == {
        "documents": 5,
        "ready": 4,
        "failed": 1,
        "pending": 0,
        "pages": 9,
        "chunks": 0,
    }
    assert (reply["waiting"], reply["languages"], reply["tags"]) == (0, ["en", "ko"], ["service"])
    failed = client.get("/api/sources", params={"status": "failed"}).json()
    assert failed["total"] == 1
    assert "broken.pdf" in failed["documents"][0]["failure"]


def test_outlines_lead_to_sections(client: httpx.Client) -> None:
    outline = client.get(f"/api/outline/{MANUAL}").json()
    heading = next(one for one in outline["headings"] if "Oil Filter" in one["title"])
    assert (outline["pages"], heading["page"]) == (3, 2)
    parameters = {"section": heading["breadcrumb_trail"]}
    section = client.get(f"/api/sections/{MANUAL}", params=parameters).json()
    text = "\n".join(one["content"] for one in section["chunks"])
    assert "Screw on the new filter by hand" in text
    assert "Separator" not in text
    by_name = client.get(f"/api/sections/{MANUAL}", params={"section": heading["title"]}).json()
    assert by_name["chunks"] == section["chunks"]
    first = {"chunk_id": section["chunks"][0]["chunk_id"]}
    onwards = client.get(f"/api/sections/{outline['source_hash']}", params=first).json()
    assert onwards["chunks"][0] == section["chunks"][0]


def test_a_page_is_a_picture_with_words(client: httpx.Client) -> None:
    source_hash = hash_of(client, MANUAL)
    response = client.get(f"/api/pages/{source_hash}/2", params={"width": 500})
    picture = Image.open(io.BytesIO(response.content))
    assert (response.headers["content-type"], picture.format) == ("image/webp", "WEBP")
    assert picture.width == 800
    assert "immutable" in response.headers["cache-control"]
    words = client.get(f"/api/pages/{source_hash}/2/words", params={"q": "oil filters"}).json()
    hits = {one["text"].strip(".,") for one in words["words"] if one["is_hit"]}
    assert {"oil", "filter", "Filter"} <= hits
    assert all(0 <= one["x0"] < one["x1"] <= 1 for one in words["words"])


@pytest.mark.parametrize(
    ("path", "status", "said"),
    [
        ("/api/outline/none.pdf", 404, "no such document"),
        (f"/api/sections/{MANUAL}?section=Nothing+of+the+kind", 404, "no such section"),
        (f"/api/sections/{MANUAL}?chunk_id=999999999", 404, "no such chunk"),
        ("/api/pages/" + "0" * 64 + "/1", 404, "no such document"),
        ("/api/pages/abc/1", 422, "the request is invalid"),
        ("/api/pages/" + "0" * 64 + "/0", 422, "the request is invalid"),
        ("/api/outline/a%00b", 422, "the request is invalid"),
        ("/api/search?q=oil&limit=0", 422, "the request is invalid"),
        ("/api/search?q=oil&lmit=5", 422, "the request is invalid"),
        ("/api/search?q=oil&tag=%00", 422, "the request is invalid"),
        ("/api/search?q=oil&first_page=5&last_page=4", 422, "the request is invalid"),
        ("/api/evaluation/report", 404, "no report"),
        ("/api/nothing", 404, "not found"),
        ("/../rag.toml", 404, "not found"),
    ],
)
def test_problems_say_what_is_wrong_and_what_to_do(
    client: httpx.Client, path: str, status: int, said: str
) -> None:
    response = client.get(path)
    problem = response.json()
    assert (response.status_code, problem["status"]) == (status, status)
    assert response.headers["content-type"] == "application/problem+json"
    assert said in problem["title"]
    assert problem["next_step"]


def test_pages_beyond_the_last_and_files_without_pages(client: httpx.Client) -> None:
    beyond = client.get(f"/api/pages/{hash_of(client, MANUAL)}/4")
    assert (beyond.status_code, beyond.json()["title"]) == (404, "the document has 3 pages")
    text = client.get(f"/api/pages/{hash_of(client, HOSTILE_NAME)}/1")
    assert (text.status_code, text.json()["next_step"]) == (404, "read the section instead")


@pytest.mark.parametrize(
    "body",
    [
        {"query": ""},
        {"query": "x" * 8001},
        {"query": "oil", "limit": 1000},
        {"query": "oil", "weights": {"text": 0, "vector": 0}},
        {"query": "oil", "weights": {"text": -1, "vector": 1}},
        {"query": "oil", "filters": {"metadata": [{"key": "a..b"}]}},
        {"query": "oil", "filters": {"tags": ["\ud800"]}},
        {"query": "oil", "filters": {"ingested_from": "0001-01-01T00:00:00+14:00"}},
        {"query": "oil", "unknown": 1},
    ],
)
def test_bodies_are_checked(client: httpx.Client, body: dict[str, object]) -> None:
    data = json.dumps(body, ensure_ascii=True)
    headers = {"Content-Type": "application/json"}
    assert client.post("/api/search", content=data, headers=headers).status_code == 422


NOT_TEXT = [r'"oil\u0000filter"', r'"oil\ud800"', json.dumps("oil " * 3000)]


@pytest.mark.parametrize("query", NOT_TEXT)
@pytest.mark.parametrize(
    ("path", "body"),
    [
        ("/api/search", '{"query": %s}'),
        ("/api/ask", '{"question": %s}'),
        ("/api/ask/stream", '{"question": %s}'),
        ("/api/ask", '{"question": "oil", "history": [{"role": "user", "content": %s}]}'),
        ("/api/search", '{"query": "oil", "filters": {"documents": [%s]}}'),
    ],
)
def test_what_is_no_text_is_refused_in_plain_words(
    client: httpx.Client, path: str, body: str, query: str
) -> None:
    headers = {"Content-Type": "application/json"}
    response = client.post(path, content=body % query, headers=headers)
    assert response.status_code == 422
    (wrong,) = response.json()["errors"]
    assert re.search("NUL|surrogates|at most (8000|500) characters", wrong)


@pytest.mark.parametrize(
    "path",
    [
        "/api/search?q=oil%00filter",
        "/api/search?q=" + "oil+" * 3000,
        "/api/sources?name=%00",
        f"/api/sections/{MANUAL}?section=%00",
    ],
)
def test_addresses_that_are_no_text_are_refused(client: httpx.Client, path: str) -> None:
    assert client.get(path).status_code == 422


@pytest.mark.parametrize("data", [b'{"query": "\xff"}', b"[" * 100_000, b"{"])
def test_bodies_that_are_no_json_are_refused(client: httpx.Client, data: bytes) -> None:
    headers = {"Content-Type": "application/json"}
    response = client.post("/api/search", content=data, headers=headers)
    assert response.status_code in (400, 422)
    assert "JSON" in json.dumps(response.json())


def test_the_original_can_be_opened(client: httpx.Client, project: Settings) -> None:
    path = project.project_dir.parent / "manuals" / MANUAL
    response = client.get(f"/api/files/{hash_of(client, MANUAL)}")
    assert response.content == path.read_bytes()
    assert response.headers["content-type"] == "application/pdf"
    assert response.headers["content-disposition"] == f'inline; filename="{MANUAL}"'
    hostile = client.get(f"/api/files/{hash_of(client, HOSTILE_NAME)}")
    assert hostile.headers["content-type"] == "application/octet-stream"
    assert hostile.headers["content-disposition"].startswith("attachment; filename*=utf-8''hostile")
    assert client.get("/api/files/" + "0" * 64).status_code == 404


def test_metadata_is_filtered(client: httpx.Client) -> None:
    metadata = [{"key": "heading", "values": ["5.3 Replacing the Oil Filter"]}]
    body = {"query": "filter", "filters": {"metadata": metadata}}
    results = client.post("/api/search", json=body).json()["results"]
    assert {one["metadata"]["heading"] for one in results} == {"5.3 Replacing the Oil Filter"}


def test_the_last_evaluation_is_shown(
    client: httpx.Client, project: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert client.get("/api/evaluation").json()["is_there"] is False
    folder = project.data_path / "evaluation"
    folder.mkdir()
    settings = [{"setting": "as set", "measures": {}, "questions": {"1": {}, "2": {}}}]
    figures = {"questions_name": "q.jsonl", "thresholds": {"MRR": True}, "settings": settings}
    (folder / "report.html.json").write_text(json.dumps(figures), encoding="utf-8")
    (folder / "report.html").write_text("<h1>Retrieval</h1>", encoding="utf-8")
    try:
        reply = client.get("/api/evaluation").json()
        assert (reply["questions_name"], reply["settings"][0]["questions"]) == ("q.jsonl", 2)
        report = client.get("/api/evaluation/report")
        assert report.text == "<h1>Retrieval</h1>"
        assert report.headers["content-security-policy"].startswith("sandbox; default-src 'none'")
    finally:
        for file in folder.iterdir():
            file.unlink()
        folder.rmdir()


def test_a_changed_file_has_no_picture(client: httpx.Client, project: Settings) -> None:
    source_hash = hash_of(client, "datasheet.pdf")
    path = Path(
        client.get("/api/sources", params={"name": "datasheet"}).json()["documents"][0]["uris"][0]
    )
    content = path.read_bytes()
    path.write_bytes(content + b"\n% more")
    try:
        response = client.get(f"/api/pages/{source_hash}/1")
        assert (response.status_code, "has changed" in response.json()["title"]) == (404, True)
    finally:
        path.write_bytes(content)
    assert client.get(f"/api/pages/{source_hash}/1").status_code == 200
