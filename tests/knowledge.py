"""A small knowledge base of the samples, synced once, and servers on this machine."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pypdfium2 as pdfium

from rag_pipeline.serve.guard import Guard
from rag_pipeline.serve.web_server import address_of, bind, server_of
from rag_pipeline.settings import Settings
from rag_pipeline.system import RagSystem
from tests.conftest import SAMPLES_DIR, fresh_database, make_settings

EXCERPTS = {
    "service-manual-en.pdf": (16, 17, 18),
    "service-manual-ko.pdf": (16, 17),
}
"""Pages of the samples, counted from 0."""
HOSTILE_NAME = "hostile <img src=x onerror=alert(1)>.txt"
HOSTILE = """\
<script>document.title = "owned"</script> The firmware update needs a stick of 32 GB.

<img src=x onerror="document.title = 'owned'"> <b>bold</b> {{ 7 * 7 }} [a](javascript:alert(1))
"""


def write_corpus(folder: Path) -> Path:
    """Write excerpts of the samples, a hostile text, and a file that is no PDF."""
    folder.mkdir(parents=True)
    for name, pages in EXCERPTS.items():
        whole = pdfium.PdfDocument(SAMPLES_DIR / name)
        part = pdfium.PdfDocument.new()
        part.import_pages(whole, list(pages))
        part.save(folder / name)
        part.close()
        whole.close()
    (folder / "datasheet.pdf").write_bytes((SAMPLES_DIR / "datasheet.pdf").read_bytes())
    (folder / HOSTILE_NAME).write_text(HOSTILE, encoding="utf-8")
    (folder / "broken.pdf").write_bytes(b"%PDF-1.7 no more than this")
    return folder


@contextmanager
def sample_project(folder: Path, server_url: str, models_dir: Path) -> Iterator[Settings]:
    """Lend the settings of a project whose knowledge base holds the corpus."""
    corpus = write_corpus(folder / "manuals")
    with fresh_database(server_url) as url:
        settings = make_settings(folder / "project", url, models_dir)
        with RagSystem(settings.project_dir, database_url=settings.database_url) as system:
            added = system.add_directory(corpus, tags=["service"])
        assert set(added.failures) == {"broken.pdf"}
        yield settings


@contextmanager
def served(application: Guard, host: str = "127.0.0.1") -> Iterator[str]:
    """Serve an application on a free port; lend its URL."""
    bound = bind(host, 0)
    server = server_of(application)
    thread = threading.Thread(target=server.run, kwargs={"sockets": [bound]}, daemon=True)
    thread.start()
    deadline = time.monotonic() + 120
    while not server.started and time.monotonic() < deadline:
        time.sleep(0.02)
    assert server.started
    try:
        yield address_of(bound)
    finally:
        server.should_exit = True
        thread.join(120)
        bound.close()
