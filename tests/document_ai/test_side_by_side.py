"""Requests of one document run at the same time."""

from __future__ import annotations

import threading
from pathlib import Path

from rag_pipeline.parsing.document_ai import DocumentAiParser
from tests.document_ai.conftest import SettingsMaker
from tests.document_ai.replies import make_manual, reply_of
from tests.document_ai.server import DocumentAiServer, Fault


def test_ranges_are_asked_for_side_by_side(tmp_path: Path, settings_for: SettingsMaker) -> None:
    """Three requests that are all answered only when all three have come."""
    manual = make_manual(tmp_path / "manual.pdf", 9)
    together = threading.Barrier(3)
    with DocumentAiServer(reply_of(manual), [Fault(until=together)] * 3) as server:
        parsed = DocumentAiParser(settings_for(server, pages_per_request=3)).parse(manual)
    assert len(server.calls) == 3
    assert parsed.blocks["page_number"].drop_duplicates().tolist() == list(range(1, 10))
