"""Killed between two replies: what was paid for is not asked for again."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

from rag_pipeline.parsing.document_ai import DocumentAiParser
from rag_pipeline.usage import Usage
from tests.conftest import PROJECT_DIR
from tests.document_ai.conftest import FolderReplies, SettingsMaker
from tests.document_ai.replies import make_manual, reply_of
from tests.document_ai.server import DocumentAiServer, Fault

SCRIPT = """
import sys
from pathlib import Path
from rag_pipeline.parsing.document_ai import DocumentAiParser
from rag_pipeline.settings import DocumentAiSettings
from tests.document_ai.conftest import FolderReplies

endpoint, replies, pdf = sys.argv[1:]
settings = DocumentAiSettings(project="p", processor="1f", endpoint=endpoint)
DocumentAiParser(settings, replies=FolderReplies(Path(replies))).parse(Path(pdf))
"""


def test_killed_after_the_second_request_the_next_run_makes_one(
    tmp_path: Path, replies: FolderReplies, settings_for: SettingsMaker
) -> None:
    manual = make_manual(tmp_path / "manual.pdf", 40)
    never = threading.Event()
    with DocumentAiServer(reply_of(manual), [Fault(), Fault(), Fault(until=never)]) as server:
        process = subprocess.Popen(
            [sys.executable, "-c", SCRIPT, server.endpoint, str(replies.folder), str(manual)],
            cwd=PROJECT_DIR,
            env={**os.environ, "PYTHONPATH": str(PROJECT_DIR)},
        )
        try:
            deadline = time.monotonic() + 600
            while len(replies.names()) < 2 or len(server.calls) < 3:
                assert process.poll() is None, "the process ended by itself"
                assert time.monotonic() < deadline, "the second reply was not stored in time"
                time.sleep(0.02)
        finally:
            process.send_signal(signal.SIGKILL)
            process.wait()
        assert process.returncode == -signal.SIGKILL
        never.set()
        server.calls.clear()
        parsed = DocumentAiParser(settings_for(server), replies=replies).parse(manual)
    assert len(server.calls) == 1
    assert parsed.usage[0].requests == 1
    assert parsed.usage == [
        Usage("document_ai", "ocr", "parse", requests=1, pages=len(server.calls[0].pages))
    ]
    assert parsed.blocks["page_number"].drop_duplicates().tolist() == list(range(1, 41))
