"""Sources that lie elsewhere: object stores and web pages, by real servers on this machine."""

from __future__ import annotations

import hashlib
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import fsspec
import pytest

from rag_pipeline.errors import ChangedMeanwhileError, RemoteFileError, SourceError
from rag_pipeline.settings import WebSettings
from rag_pipeline.store.source_tables import SourceFile, SourceRoot
from rag_pipeline.sync.planning.plan import source_changes
from rag_pipeline.sync.sources.fetching import local_copies, prefetched
from rag_pipeline.sync.sources.places import given_root
from rag_pipeline.sync.sources.scan import Pages, Scan, scan
from rag_pipeline.sync.sources.spool import Spool
from rag_pipeline.sync.sources.web_pages import PageGoneError, fetch_page

HERE = WebSettings(allow_private_addresses=True, timeout_seconds=5, max_megabytes=0.01)


def known(found: Scan) -> dict[str, SourceFile]:
    return {file.uri: file for file in found.files}


def sha256(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


@pytest.fixture
def memory() -> Iterator[Any]:
    filesystem = fsspec.filesystem("memory")
    filesystem.store.clear()
    yield filesystem
    filesystem.store.clear()


def test_a_folder_of_another_file_system(memory: Any, tmp_path: Path) -> None:
    memory.pipe("/manuals/a.pdf", b"abc")
    memory.pipe("/manuals/sub/b.md", b"text")
    memory.pipe("/manuals/sub/c.bin", b"left out")
    root = given_root("memory://manuals/")
    first = scan([root], {})
    assert [(file.uri, file.source_hash, file.size) for file in first.files] == [
        ("memory:///manuals/a.pdf", sha256(b"abc"), 3),
        ("memory:///manuals/sub/b.md", sha256(b"text"), 4),
    ]
    assert first.hashed == 2
    again = scan([root], known(first))
    assert (again.hashed, again.files) == (0, first.files)

    memory.pipe("/manuals/a.pdf", b"xyz")
    memory.rm("/manuals/sub/b.md")
    changed = scan([root], known(first))
    changes = source_changes(changed, known(first), {root.root})
    assert [file.source_hash for _, file in changes.changed] == [sha256(b"xyz")]
    assert [file.uri for file in changes.removed] == ["memory:///manuals/sub/b.md"]

    spool = Spool(tmp_path / "spool")
    (path,) = local_copies(["memory:///manuals/a.pdf"], sha256(b"xyz"), "a.pdf", spool, HERE)
    assert Path(path).read_bytes() == b"xyz"
    with pytest.raises(ChangedMeanwhileError, match=r"a\.pdf: changed after"):
        local_copies(["memory:///manuals/a.pdf"], sha256(b"abc"), "a.pdf", spool, HERE)
    with pytest.raises(RemoteFileError, match="cannot be read"):
        local_copies(["memory:///manuals/gone.pdf"], sha256(b"1"), "gone.pdf", spool, HERE)
    assert [item.name for item in (tmp_path / "spool").iterdir()] == [sha256(b"xyz")]


def test_an_emptied_remote_folder_keeps_its_many_documents(memory: Any) -> None:
    for number in range(10):
        memory.pipe(f"/manuals/{number}.pdf", bytes([number]))
    root = SourceRoot("memory://manuals")
    held = known(scan([root], {}))
    memory.store.clear()
    found = scan([root], held)
    assert found.roots == []
    assert "is empty, its 10 documents were kept" in found.problems[0]


def test_a_wrong_url_is_said() -> None:
    assert "nothing at memory://nowhere" in scan([SourceRoot("memory://nowhere")], {}).problems[0]
    found = scan([SourceRoot("nosuch://bucket")], {})
    assert "cannot be opened" in found.problems[0]
    assert found.roots == []


@pytest.fixture(scope="module")
def s3() -> Iterator[str]:
    """A real S3 server with one bucket; returns its endpoint."""
    server_module = pytest.importorskip("moto.server", reason="moto is not installed")
    pytest.importorskip("s3fs", reason="s3fs is not installed")
    server = server_module.ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
    server.start()
    host, port = server.get_host_and_port()
    yield f"http://{host}:{port}"
    server.stop()


def test_a_bucket(s3: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("AWS_ENDPOINT_URL", s3)
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "test")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "test")
    monkeypatch.setenv("AWS_DEFAULT_REGION", "us-east-1")
    import s3fs

    s3fs.S3FileSystem.clear_instance_cache()
    filesystem = s3fs.S3FileSystem()
    filesystem.mkdir("manuals")
    filesystem.pipe("manuals/pumps/a.pdf", b"abc")
    filesystem.pipe("manuals/pumps/b.pdf", b"def")
    root = given_root("s3://manuals/pumps/")
    first = scan([root], {})
    assert first.problems == []
    assert [(file.uri, file.source_hash) for file in first.files] == [
        ("s3://manuals/pumps/a.pdf", sha256(b"abc")),
        ("s3://manuals/pumps/b.pdf", sha256(b"def")),
    ]
    filesystem.invalidate_cache()
    assert scan([root], known(first)).hashed == 0, "the etag says that nothing changed"
    filesystem.pipe("manuals/pumps/b.pdf", b"new")
    filesystem.invalidate_cache()
    changed = scan([root], known(first))
    assert changed.hashed == 1
    copy = local_copies(
        ["s3://manuals/pumps/b.pdf"], sha256(b"new"), "b.pdf", Spool(tmp_path / "spool"), HERE
    )
    assert Path(copy[0]).read_bytes() == b"new"


class Site:
    """A web server of a few pages, with entity tags."""

    def __init__(self) -> None:
        self.pages: dict[str, bytes] = {"/page": b"<html><p>Check the oil.</p></html>"}
        self.redirects = {"/moved": "/page", "/loop": "/loop"}
        self.requests: list[tuple[str, dict[str, str]]] = []
        site = self

        class Handler(BaseHTTPRequestHandler):
            def log_message(self, *args: Any) -> None:
                pass

            def do_GET(self) -> None:
                site.requests.append((self.path, dict(self.headers)))
                if self.path in site.redirects:
                    self.answer(302, b"", Location=site.redirects[self.path])
                elif self.path not in site.pages:
                    self.answer(404, b"")
                else:
                    content = site.pages[self.path]
                    tag = f'"{sha256(content)[:8]}"'
                    if self.headers.get("If-None-Match") == tag:
                        self.answer(304, b"")
                    else:
                        self.answer(200, content, ETag=tag)

            def answer(self, status: int, content: bytes, **headers: str) -> None:
                self.send_response(status)
                for name, value in headers.items():
                    self.send_header(name, value)
                self.send_header("Content-Length", str(len(content)))
                self.end_headers()
                self.wfile.write(content)

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://localhost:{self.server.server_address[1]}"


@pytest.fixture
def site() -> Iterator[Site]:
    site = Site()
    thread = threading.Thread(target=site.server.serve_forever, args=(0.02,), daemon=True)
    thread.start()
    yield site
    site.server.shutdown()
    site.server.server_close()


def test_a_page_is_asked_for_again_only_if_it_changed(site: Site, tmp_path: Path) -> None:
    root = given_root(f"{site.url}/page")
    pages = Pages(HERE, Spool(tmp_path / "spool"))
    first = scan([root], {}, (), pages)
    (file,) = first.files
    assert (file.uri, file.source_hash) == (root.root, sha256(site.pages["/page"]))
    assert site.requests[0][1]["Host"].startswith("localhost:")
    again = scan([root], known(first), (), pages)
    assert again.files == first.files
    assert "If-None-Match" in site.requests[-1][1]

    site.pages["/page"] = b"<html><p>Check the water.</p></html>"
    (changed,) = scan([root], known(first), (), pages).files
    assert changed.source_hash == sha256(site.pages["/page"])
    del site.pages["/page"]
    gone = scan([root], known(first), (), pages)
    assert (gone.files, gone.roots) == ([], [root.root])


def test_a_page_that_cannot_be_fetched_keeps_its_document(site: Site, tmp_path: Path) -> None:
    root = given_root(f"{site.url}/loop")
    found = scan([root], {}, (), Pages(HERE, Spool(tmp_path / "spool")))
    assert (found.files, found.roots) == ([], [])
    assert "redirects more than 5 times" in found.problems[0]


def test_redirects_limits_and_errors(site: Site) -> None:
    assert fetch_page(f"{site.url}/moved", HERE).content == site.pages["/page"]
    site.pages["/large"] = bytes(20_000)
    with pytest.raises(SourceError, match=r"is larger than 0\.01 MB; raise web\.max_megabytes"):
        fetch_page(f"{site.url}/large", HERE)
    with pytest.raises(PageGoneError):
        fetch_page(f"{site.url}/gone", HERE)


@pytest.mark.parametrize("path", ["/page", "/moved"])
def test_addresses_of_this_machine_are_refused(site: Site, path: str) -> None:
    with pytest.raises(SourceError, match=r"an address of this machine.*allow_private_addresses"):
        fetch_page(f"{site.url}{path}", WebSettings())
    assert site.requests == []


@pytest.mark.parametrize(
    "url",
    [
        "http://169.254.169.254/latest/meta-data",
        "http://10.0.0.1/",
        "http://[::1]/",
        "http://[::ffff:127.0.0.1]/",
        "http://2130706433/",
        "file:///etc/passwd",
    ],
)
def test_no_way_around_it(url: str) -> None:
    with pytest.raises(SourceError):
        fetch_page(url, WebSettings())


@pytest.mark.parametrize(
    "url", ["http://127.0.0.1:99999/", "http://[bad", "https://kim:secret@example.org/", "https://"]
)
def test_no_address_is_refused_before_it_is_remembered(url: str) -> None:
    with pytest.raises(SourceError) as caught:
        given_root(url)
    assert "secret" not in str(caught.value)


def test_a_redirect_to_nowhere_is_that_page_s_fault(site: Site) -> None:
    site.redirects["/bad"] = "http://[x/"
    with pytest.raises(SourceError, match="cannot be fetched"):
        fetch_page(f"{site.url}/bad", HERE)


def test_slow_items_are_made_ahead_and_order_is_kept() -> None:
    made = prefetched(range(20), lambda number: number * 2, lambda number: number % 3 == 0)
    assert list(made) == [number * 2 for number in range(20)]
