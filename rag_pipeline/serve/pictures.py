"""Images of pages and their words, rendered in a separate process.

A PDF may crash or hang the renderer. That costs the child process and one image, not the server.
"""

from __future__ import annotations

import contextlib
import multiprocessing
import os
import threading
from collections import OrderedDict
from collections.abc import Callable
from concurrent.futures import BrokenExecutor, CancelledError, Future, ProcessPoolExecutor
from pathlib import Path
from typing import Any, TypeVar

import psutil

from rag_pipeline.errors import DocumentError
from rag_pipeline.parsing.pdf.native.page_pictures import has_pictures, render_page
from rag_pipeline.parsing.pdf.native.word_places import PlacedWord, page_words
from rag_pipeline.serve import drawing
from rag_pipeline.serve.knowledge import StoredDocument
from rag_pipeline.serve.originals import Originals
from rag_pipeline.serve.problems import ProblemError
from rag_pipeline.sync.workers.worker_process import interrupts_held

WIDTHS = (400, 800, 1200, 1600)
"""Pixels. A requested width is rounded up to one of these, so that few images per page are made."""
SECONDS = 30.0
"""Longest time for one image, including the start of the process."""
KEPT_BYTES = 64 * 2**20
Made = TypeVar("Made")


class Pictures:
    """Renders pages of one project's documents; safe to use from several threads."""

    def __init__(self, originals: Originals) -> None:
        self._originals = originals
        self._lock = threading.Lock()
        self._executor: ProcessPoolExecutor | None = None
        self._pid: Future[int] = Future()
        """The child's, known once it has started."""
        self._kept: OrderedDict[tuple[str, int, int], bytes] = OrderedDict()

    def picture(self, document: StoredDocument, page: int, width: int) -> bytes:
        """Return a page (1-based) as WebP. Raises `ProblemError` if there is no such page."""
        wide = next((one for one in WIDTHS if one >= width), WIDTHS[-1])
        key = (document.source_hash, page, wide)
        with self._lock:
            if key in self._kept:
                self._kept.move_to_end(key)
                return self._kept[key]
        path = self._file(document, page)
        made = self._made(document, render_page, path, page, wide)
        with self._lock:
            self._kept[key] = made
            while sum(map(len, self._kept.values())) > KEPT_BYTES:
                self._kept.popitem(last=False)
        return made

    def words(self, document: StoredDocument, page: int) -> list[PlacedWord]:
        """Return the words of a page (1-based). Raises `ProblemError`."""
        return self._made(document, page_words, self._file(document, page), page)

    def prepare(self) -> None:
        """Start the process without waiting, so that the first image does not have to."""
        self._running().submit(drawing.prepare)

    def close(self) -> None:
        """End the process."""
        with self._lock:
            self._end()

    def _file(self, document: StoredDocument, page: int) -> Path:
        """Return a local file with the document's content."""
        if not document.is_pdf:
            raise ProblemError(
                404, "pages of this format have no image", "read the section instead"
            )
        if document.page_count is not None and page > document.page_count:
            raise ProblemError(
                404, f"the document has {document.page_count} pages", "ask for one of them"
            )
        path = self._originals.path(document)
        if not has_pictures(path):
            raise ProblemError(
                404, "pages of this format have no image", "read the section instead"
            )
        return path

    def _made(
        self, document: StoredDocument, make: Callable[..., Made], path: Path, *arguments: Any
    ) -> Made:
        """Call a function in the child process; if that kills it, the next call starts another."""
        executor = self._running()
        try:
            future = executor.submit(make, path, *arguments, document=document.name)
            return future.result(SECONDS)
        except DocumentError as error:
            raise ProblemError(422, str(error), error.hint) from error
        except (BrokenExecutor, CancelledError, TimeoutError, MemoryError) as error:
            with self._lock:
                if self._executor is executor:
                    self._end()
            raise ProblemError(
                422, "the page cannot be rendered", "open the file itself, or try again"
            ) from error

    def _running(self) -> ProcessPoolExecutor:
        with self._lock:
            if self._executor is None:
                context = multiprocessing.get_context("spawn")
                self._executor = ProcessPoolExecutor(
                    1, mp_context=context, initializer=drawing.begin
                )
                with interrupts_held():
                    self._pid = self._executor.submit(os.getpid)
            return self._executor

    def _end(self) -> None:
        """Kill the child process, whatever it is doing."""
        executor, self._executor = self._executor, None
        if executor is None:
            return
        pid = self._pid.result() if self._pid.done() and self._pid.exception() is None else None
        executor.shutdown(wait=False, cancel_futures=True)
        with contextlib.suppress(psutil.Error):
            if pid is not None and (child := psutil.Process(pid)).ppid() == os.getpid():
                child.kill()
