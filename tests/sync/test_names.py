"""A sync keeps the words of files' names, whatever becomes of the files."""

from __future__ import annotations

from pathlib import Path

from pydantic import SecretStr

from rag_pipeline.store.source_tables import SourceFile, apply_changes
from rag_pipeline.sync.planning.refresh import refresh_sources
from rag_pipeline.system import RagSystem


def named(system: RagSystem) -> dict[str, list[str] | None]:
    with system.database.connection() as connection:
        rows = connection.execute("SELECT uri, name_lexemes FROM source").fetchall()
    return {uri.rsplit("/", 1)[-1]: lexemes for uri, lexemes in rows}


def by_name(system: RagSystem, query: str) -> dict[str, bool]:
    """Return the last line of each text found, and whether its file's name counted."""
    found = system.search(query, weights={"text": 1, "vector": 0}).results
    return {
        one.content.splitlines()[-1]: any(d.clause == "file_name" for d in one.details)
        for one in found
    }


def test_names_follow_the_files(tmp_path: Path, database_url: str) -> None:
    place = tmp_path / "project"
    folder = tmp_path / "manuals"
    folder.mkdir()
    (folder / "pump_guide.md").write_text("The voltage is 5 V.")
    (folder / "copy.md").write_text("The voltage is 5 V.")
    (folder / "other.md").write_text("No voltage here.")
    with RagSystem(place, database_url=SecretStr(database_url)) as system:
        system.add_directory(folder)
        assert named(system)["pump_guide.md"] == ["guid", "guide", "pump", "pumpguide"]
        # One document, two names.
        for word in ("pump", "copy"):
            assert by_name(system, f"voltage {word}")["The voltage is 5 V."]
        assert not by_name(system, "voltage pump")["No voltage here."]

        (folder / "pump_guide.md").rename(folder / "valve.md")
        system.add_directory(folder)
        assert by_name(system, "voltage valve")["The voltage is 5 V."]
        assert not by_name(system, "voltage pump")["The voltage is 5 V."]

        # What a changed file held has its name until the new content has landed.
        (folder / "copy.md").unlink()
        (folder / "valve.md").write_text("The voltage is 7 V.")
        refresh_sources(system.settings, system.database)
        assert by_name(system, "voltage valve")["The voltage is 5 V."]
        system.add_directory(folder)
        assert by_name(system, "voltage valve") == {
            "The voltage is 7 V.": True,
            "No voltage here.": False,
        }

        # Rows of databases have none, and files of a store of before get theirs.
        row = SourceFile("relational:x/valve", "relational:x", "a" * 64, 1, 1)
        with system.database.connection() as connection:
            apply_changes(connection, [row], [])
            connection.execute(
                "UPDATE source SET name_lexemes = NULL WHERE root = %s", (str(folder),)
            )
        refresh_sources(system.settings, system.database)
        assert named(system)["valve"] == []
        assert named(system)["valve.md"] == ["valv", "valve"]
