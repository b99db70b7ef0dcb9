"""Scanning folders: globs, hashes only where needed, trouble that stays with its file."""

from __future__ import annotations

import hashlib
import os
from pathlib import Path

import pytest

from rag_pipeline.errors import SourceError
from rag_pipeline.store.source_tables import SourceRoot
from rag_pipeline.sync.sources.listing import folder_notes
from rag_pipeline.sync.sources.places import given_root
from rag_pipeline.sync.sources.scan import scan


def names(root: Path, found: list) -> list[str]:
    return [Path(item.uri).relative_to(root).as_posix() for item in found]


def test_globs_take_and_leave_out(tmp_path: Path) -> None:
    for name in ("a.pdf", "B.PDF", "notes.bin", "sub/c.pdf", "sub/draft/d.pdf"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_bytes(name.encode())
    root = SourceRoot(str(tmp_path), exclude=("**/draft/**",))
    assert names(tmp_path, scan([root], {}).files) == ["B.PDF", "a.pdf", "sub/c.pdf"]


def test_a_folder_says_itself_what_to_leave_out(tmp_path: Path) -> None:
    for name in ("a.pdf", "notes.md", "sub/notes.md", "old/b.pdf", "sub/old/c.pdf"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_bytes(name.encode())
    (tmp_path / ".ragignore").write_text("# drafts\n\nold/\nnotes.md\n", encoding="utf-8")
    found = scan([SourceRoot(str(tmp_path))], {}).files
    assert names(tmp_path, found) == ["a.pdf", "sub/notes.md", "sub/old/c.pdf"]


def test_every_format_is_taken_and_tools_folders_are_not(tmp_path: Path) -> None:
    taken = ["a.PDF", "b.docx", "c.eml", "sub/d.md", "sub/e.py"]
    for name in (*taken, "~$b.docx", ".git/x.md", "sub/node_modules/y.js", "rag.toml", "f.png"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_bytes(name.encode())
    assert names(tmp_path, scan([SourceRoot(str(tmp_path))], {}).files) == taken


def test_hidden_folders_are_neither_read_nor_counted(tmp_path: Path) -> None:
    for name in (".rag/copy.pdf", "sub/.cache/d.pdf", ".rag/postgres/PG_VERSION", "a.pdf"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_bytes(name.encode())
    root = SourceRoot(str(tmp_path))
    assert names(tmp_path, scan([root], {}).files) == ["a.pdf"]
    assert folder_notes([root]).not_taken == []


def test_hash_is_sha256_of_the_bytes(tmp_path: Path) -> None:
    (tmp_path / "a.pdf").write_bytes(b"abc")
    (found,) = scan([SourceRoot(str(tmp_path))], {}).files
    # The well-known test vector of FIPS 180.
    assert found.source_hash == "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
    assert found.size == 3


def test_an_untouched_file_is_not_read_again(tmp_path: Path) -> None:
    path = tmp_path / "a.pdf"
    path.write_bytes(b"abc")
    root = SourceRoot(str(tmp_path))
    first = scan([root], {})
    assert first.hashed == 1
    known = {item.uri: item for item in first.files}
    again = scan([root], known)
    assert again.hashed == 0
    assert again.files == first.files
    os.utime(path, ns=(1, 1))
    assert scan([root], known).hashed == 1


def test_a_missing_root_is_a_problem_not_an_empty_folder(tmp_path: Path) -> None:
    found = scan([SourceRoot(str(tmp_path / "gone"))], {})
    assert found.roots == []
    assert "is not there" in found.problems[0]


def test_an_emptied_root_keeps_its_many_documents(tmp_path: Path) -> None:
    root = SourceRoot(str(tmp_path))
    for number in range(10):
        (tmp_path / f"{number}.pdf").write_bytes(bytes([number]))
    known = {item.uri: item for item in scan([root], {}).files}
    for path in tmp_path.iterdir():
        path.unlink()
    found = scan([root], known)
    assert found.roots == []
    assert "is empty, its 10 documents were kept" in found.problems[0]
    (tmp_path / "readme.txt").touch()
    assert scan([root], known).roots == [root.root], "a folder with something in it is there"


def test_a_deleted_single_file_is_gone(tmp_path: Path) -> None:
    path = tmp_path / "only.pdf"
    path.write_bytes(b"x")
    root = given_root(path)
    known = {item.uri: item for item in scan([root], {}).files}
    path.unlink()
    found = scan([root], known)
    assert (found.files, found.roots, found.problems) == ([], [root.root], [])


def test_a_pipe_is_left_out(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.pdf")
    found = scan([SourceRoot(str(tmp_path))], {})
    assert found.files == []
    assert "no regular file" in found.problems[0]


def test_a_root_within_a_root_has_its_files_to_itself(tmp_path: Path) -> None:
    (tmp_path / "sub").mkdir()
    for name in ("a.pdf", "sub/b.pdf"):
        (tmp_path / name).write_bytes(name.encode())
    outer, inner = SourceRoot(str(tmp_path)), SourceRoot(str(tmp_path / "sub"), tags=("x",))
    names_of_roots = {outer.root, inner.root}
    found = scan([outer, inner], {}, names_of_roots)
    assert {Path(item.uri).name: item.root for item in found.files} == {
        "a.pdf": outer.root,
        "b.pdf": inner.root,
    }
    assert names(tmp_path, scan([outer], {}, names_of_roots).files) == ["a.pdf"]


def test_a_name_that_is_no_text_fails_alone(tmp_path: Path) -> None:
    (tmp_path / "good.pdf").write_bytes(b"1")
    bad = os.fsencode(tmp_path) + b"/bad\xff.pdf"
    try:
        Path(os.fsdecode(bad)).write_bytes(b"2")
    except OSError:
        pytest.skip("this file system takes no such names")
    found = scan([SourceRoot(str(tmp_path))], {})
    assert names(tmp_path, found.files) == ["good.pdf"]
    assert "not valid text" in found.problems[0]


def test_a_single_file_is_a_root(tmp_path: Path) -> None:
    path = tmp_path / "only.pdf"
    path.write_bytes(b"x")
    (found,) = scan([given_root(path)], {}).files
    assert found.uri == str(path.resolve())
    assert found.source_hash == hashlib.sha256(b"x").hexdigest()


def test_a_path_that_is_not_there_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(SourceError, match=r"nowhere does not exist; give a folder"):
        given_root(tmp_path / "nowhere")
