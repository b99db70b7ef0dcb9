"""Who is answered: this machine's own names, the page's own origin, and bearers of tokens."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from rag_pipeline.errors import SettingsError
from rag_pipeline.serve.access_tokens import Tokens
from rag_pipeline.serve.web_server import access_of, page_application
from rag_pipeline.settings import ServeSettings, Settings, TokenSettings
from tests.knowledge import served

TOKEN = "kim-0123456789abcdef"
OTHER = "lee-0123456789abcdef"


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({}, 200),
        ({"Host": "localhost:9999"}, 200),
        ({"Host": "[::1]:80"}, 200),
        ({"Host": "evil.example"}, 421),
        ({"Host": "127.0.0.1.evil.example"}, 421),
        ({"Host": "user@127.0.0.1"}, 400),
        ({"Host": "127.0.0.1:port"}, 400),
        ({"Origin": "http://evil.example"}, 403),
        ({"Origin": "null"}, 403),
        ({"Sec-Fetch-Site": "cross-site"}, 403),
        ({"Sec-Fetch-Site": "same-site", "Sec-Fetch-Mode": "no-cors"}, 403),
        ({"Sec-Fetch-Site": "same-origin"}, 200),
        ({"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "navigate"}, 200),
        ({"Authorization": f"Bearer {TOKEN}"}, 401),
        ({"Authorization": "Basic a2ltOmtpbQ=="}, 401),
    ],
)
def test_hosts_origins_and_unknown_tokens(
    client: httpx.Client, headers: dict[str, str], status: int
) -> None:
    assert client.get("/api/sources?limit=1", headers=headers).status_code == status


def test_the_own_origin_may_post(client: httpx.Client, url: str) -> None:
    body = {"query": "oil"}
    assert client.post("/api/search", json=body, headers={"Origin": url}).status_code == 200
    other = {"Origin": url.replace("127.0.0.1", "localhost")}
    assert client.post("/api/search", json=body, headers=other).status_code == 403


def test_a_form_cannot_search(client: httpx.Client) -> None:
    response = client.post(
        "/api/search", content='{"query": "oil"}', headers={"Content-Type": "text/plain"}
    )
    assert response.status_code == 422


def test_large_bodies_are_refused(client: httpx.Client) -> None:
    assert client.post("/api/search", content=b"x" * 300_000).status_code == 413
    chunked = client.post("/api/search", content=(b"x" * 100_000 for _ in range(4)))
    assert chunked.status_code in (400, 413)


def test_everything_carries_the_strict_policy(client: httpx.Client) -> None:
    for path in ("/", "/app.js", "/style.css", "/api/health", "/api/nothing"):
        headers = client.get(path).headers
        assert headers["content-security-policy"].startswith(
            "default-src 'none'; script-src 'self'"
        )
        assert "unsafe" not in headers["content-security-policy"]
        assert headers["x-content-type-options"] == "nosniff"
    assert client.get("/api/sources").headers["cache-control"] == "no-store"


def test_the_page_asks_no_other_host(client: httpx.Client) -> None:
    for path in ("/", "/app.js", "/style.css"):
        text = client.get(path).text.replace("http://www.w3.org/2000/svg", "")
        assert "http" not in text.replace("http-equiv", "")
        assert "innerHTML" not in text


def test_no_token_no_other_machine(project: Settings) -> None:
    for host in ("0.0.0.0", "::", "192.0.2.1", "example.org"):
        with pytest.raises(SettingsError, match="no token is configured"):
            access_of(project, host)


@pytest.fixture
def open_url(project: Settings, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[str]:
    """A server on every address of the machine, with two tokens."""
    monkeypatch.setenv("RAG_TOKEN_KIM", TOKEN)
    (tmp_path / "lee").write_text(OTHER + "\n", encoding="utf-8")
    tokens = [
        TokenSettings(name="kim", token_env="RAG_TOKEN_KIM"),
        TokenSettings(name="lee", token_file=tmp_path / "lee", principals=["user:lee"]),
    ]
    serve = ServeSettings(tokens=tokens, allowed_hosts=["manuals.example"])
    settings = project.model_copy(update={"serve": serve})
    with (
        page_application(settings, "0.0.0.0") as application,
        served(application, "0.0.0.0") as url,
    ):
        yield url


def test_over_the_network_a_token_is_needed(open_url: str) -> None:
    with httpx.Client(base_url=open_url, timeout=300) as client:
        without = client.get("/api/sources")
        assert (without.status_code, without.headers["www-authenticate"]) == (401, "Bearer")
        wrong = {"Authorization": f"Bearer {TOKEN}x"}
        assert client.get("/api/sources", headers=wrong).status_code == 401
        for path in ("/", "/app.js", "/api/health", "/api/openapi.json"):
            assert client.get(path).status_code == 200
        kim = {"Authorization": f"Bearer {TOKEN}"}
        assert client.get("/api/sources", headers=kim).json()["counts"]["documents"] == 5
        named = kim | {"Host": "manuals.example"}
        assert client.get("/api/sources", headers=named).status_code == 200
        assert client.get("/api/sources", headers=kim | {"Host": "a.example"}).status_code == 421


def test_a_bearer_with_principals_sees_no_evaluation_and_no_folders(open_url: str) -> None:
    lee = {"Authorization": f"Bearer {OTHER}"}
    with httpx.Client(base_url=open_url, timeout=300, headers=lee) as client:
        assert client.get("/api/evaluation").status_code == 403
        sources = client.get("/api/sources").json()
        assert (sources["folders"], sources["waiting"]) == ([], None)


def test_tokens_are_never_written_in_the_settings(tmp_path: Path) -> None:
    (tmp_path / "rag.toml").write_text('[[serve.tokens]]\nname = "kim"\ntoken = "secret-value"\n')
    with pytest.raises(SettingsError, match="token_env") as caught:
        Settings.load(tmp_path)
    assert "secret-value" not in str(caught.value)


@pytest.mark.parametrize(
    ("tokens", "said"),
    [
        ([{"name": "a", "token_env": "RAG_TOKEN_NONE"}], "RAG_TOKEN_NONE holds no token"),
        ([{"name": "a", "token_file": "none"}], "cannot be read"),
        ([{"name": "a", "token_env": "RAG_TOKEN_SHORT"}], "16 characters"),
        (
            [{"name": "a", "token_env": "RAG_TOKEN_A"}, {"name": "b", "token_env": "RAG_TOKEN_A"}],
            "configured twice",
        ),
    ],
)
def test_tokens_that_cannot_be(
    tokens: list[dict[str, str]], said: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("RAG_TOKEN_SHORT", "secret")
    monkeypatch.setenv("RAG_TOKEN_A", TOKEN)
    with pytest.raises(SettingsError, match=said) as caught:
        Tokens([TokenSettings.model_validate(one) for one in tokens], tmp_path)
    assert TOKEN not in str(caught.value)
