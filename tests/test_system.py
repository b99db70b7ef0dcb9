"""`RagSystem`: the same stages as a sync, in five lines, also from a script."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from rag_pipeline import RagSystem
from rag_pipeline.errors import DocumentError, SettingsError, SourceError
from rag_pipeline.search import Filters, MetadataFilter
from rag_pipeline.settings import ChatSettings, Settings
from rag_pipeline.store.source_tables import list_roots
from tests.chat.chat_server import Answer, ChatServer, streamed

OIL = "# Maintenance\n\nReplace the oil filter every 2000 hours.\n"
AIR = "# Maintenance\n\nReplace the air filter every 4000 hours.\n"


@pytest.fixture
def rag(settings: Settings) -> Iterator[RagSystem]:
    with RagSystem(settings.project_dir, database_url=settings.database_url) as rag:
        yield rag


@pytest.fixture
def manuals(tmp_path: Path) -> Path:
    folder = tmp_path / "manuals"
    folder.mkdir()
    (folder / "oil.md").write_text(OIL, encoding="utf-8")
    (folder / "air.txt").write_text(AIR, encoding="utf-8")
    return folder


def found(rag: RagSystem, **arguments: object) -> set[str]:
    response = rag.search("filter replace hours", **arguments)  # type: ignore[arg-type]
    return {result.document for result in response.results}


def test_directories_documents_tags_and_types(rag: RagSystem, manuals: Path) -> None:
    seen: list[str] = []
    added = rag.add_directory(
        manuals, extensions=[".MD"], tags=["oil"], on_outcome=lambda one: seen.append(one.name)
    )
    assert (added.done, added.current, added.failures) == (["oil.md"], 0, {})
    assert seen == ["oil.md"]
    assert found(rag) == {"oil.md"}

    again = rag.add_directory(manuals, extensions=["md"], tags=["oil"])
    assert (again.done, again.current) == ([], 1)

    document = rag.add_document(manuals / "air.txt", tags=["air"], readers=["team"])
    assert document.done == ["air.txt"]
    assert found(rag) == {"oil.md", "air.txt"}
    assert found(rag, tags="air") == {"air.txt"}
    assert found(rag, source_type="md") == {"oil.md"}
    assert found(rag, filters={"documents": "oil.md"}) == {"oil.md"}
    assert found(rag, filters=Filters(source_types=["txt"])) == {"air.txt"}
    with rag.database.connection() as connection:
        roots = {root.root: (root.tags, root.readers) for root in list_roots(connection)}
    assert roots[str(manuals / "air.txt")] == (("air",), ("team",))

    details = rag.search("filter", use_hybrid=False).results[0].details
    assert {detail.leg for detail in details} == {"vector"}

    answer = rag.ask("How often is the oil filter replaced?", tags=["oil"])
    assert answer.kind == "extractive"
    assert [citation.document for citation in answer.citations] == ["oil.md"]
    with rag.stream("How often is the oil filter replaced?") as stream:
        assert "".join(stream) == stream.answer.text


def test_what_cannot_be_added_is_told(rag: RagSystem, manuals: Path) -> None:
    with pytest.raises(SourceError, match="does not exist"):
        rag.add_document(manuals / "none.pdf")
    with pytest.raises(SourceError, match="use add_directory"):
        rag.add_document(manuals)
    with pytest.raises(SourceError, match="use add_document"):
        rag.add_directory(manuals / "oil.md")
    with pytest.raises(SettingsError, match="lists"):
        rag.add_document(manuals / "oil.md", tags="oil")
    (manuals / "broken.pdf").write_bytes(b"%PDF-1.7 no more than this")
    for _ in range(2):  # also the second time, though it failed for good
        with pytest.raises(DocumentError, match=r"broken\.pdf"):
            rag.add_document(manuals / "broken.pdf")


def test_answers_by_chat(rag: RagSystem, manuals: Path) -> None:
    rag.add_directory(manuals)
    with ChatServer().serving() as server:
        server.always = Answer(pieces=streamed("Every 2000 hours ", "[c1]."))
        chat = ChatSettings(model="m", base_url=server.url)
        settings = {"database_url": rag.settings.database_url, "chat": chat}
        with (
            RagSystem(rag.settings.project_dir, **settings) as system,
            system.stream("How often is the oil filter replaced?", tags=["none"]) as stream,
        ):
            assert "".join(stream) == "The documents do not say."
            assert server.requests == []
            with system.stream("How often is the oil filter replaced?") as second:
                assert list(second) == ["Every 2000 hours ", "[c1]."]
            assert second.answer.citations[0].document == "oil.md"


def test_filters_by_name_and_by_metadata() -> None:
    assert Filters.of({"tags": "a", "first_page": 2, "machine.year": 7, "kind": ["x", "y"]}) == (
        Filters(
            tags=("a",),
            first_page=2,
            metadata=(MetadataFilter("machine.year", (7,)), MetadataFilter("kind", ("x", "y"))),
        )
    )
    assert Filters.of(None) == Filters(metadata=())


SCRIPT = """\
from rag_pipeline import RagSystem
rag = RagSystem({project!r})
added = rag.add_directory({manuals!r})
print(sorted(added.done), added.failures)
print(rag.ask("How often is the oil filter replaced?").text)
"""


def test_a_script_without_a_guard_works(settings: Settings, manuals: Path, tmp_path: Path) -> None:
    """Workers start by importing the main script, which would start them again."""
    script = tmp_path / "script.py"
    script.write_text(
        SCRIPT.format(project=str(settings.project_dir), manuals=str(manuals)), encoding="utf-8"
    )
    assert settings.database_url is not None
    ran = subprocess.run(
        [sys.executable, str(script)],
        env={**os.environ, "RAG_DATABASE_URL": settings.database_url.get_secret_value()},
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert ran.returncode == 0, ran.stderr
    first, second = ran.stdout.splitlines()
    assert first == "['air.txt', 'oil.md'] {}"
    assert "Replace the oil filter every 2000 hours." in second


def test_the_package_exports_the_system_and_nothing_heavy() -> None:
    code = (
        "import sys, rag_pipeline; print('dagster' in sys.modules, 'psycopg' in sys.modules);"
        "rag_pipeline.RagSystem; print('dagster' in sys.modules)"
    )
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert ran.stdout.split() == ["False", "False", "False"]
