"""The Dagster resource: a project's settings → a parser that works."""

from __future__ import annotations

from pathlib import Path

from rag_pipeline.parsing import LocalParser
from rag_pipeline.resources import DocumentAiResource, SettingsResource
from tests.document_ai.conftest import FolderReplies
from tests.document_ai.replies import make_manual, reply_of
from tests.document_ai.server import DocumentAiServer


def test_a_project_that_uses_document_ai(tmp_path: Path, replies: FolderReplies) -> None:
    manual = make_manual(tmp_path / "manual.pdf", 2)
    project = tmp_path / "project"
    project.mkdir()
    resource = DocumentAiResource(settings=SettingsResource(project_dir=str(project)))
    assert isinstance(resource.parser(), LocalParser)
    with DocumentAiServer(reply_of(manual)) as server:
        (project / "rag.toml").write_text(
            f"""
[parsing]
parser = "document_ai"

[document_ai]
project = "my-project"
location = "eu"
processor = "1f2e3d4c"
endpoint = "{server.endpoint}"
""",
            encoding="utf-8",
        )
        parsed = resource.parser(replies).parse(manual)
        again = resource.document_ai(replies).parse(manual)
    assert server.calls[0].name == "projects/my-project/locations/eu/processors/1f2e3d4c"
    assert len(server.calls) == 1
    assert len(parsed.blocks) == 10
    assert again.blocks.equals(parsed.blocks)
