"""Files that attack: bombs, loops, crashes, links and names. One document fails, the rest lands."""

from __future__ import annotations

import os
import re
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import LiteralString

import pytest

from rag_pipeline.errors import NoTextError, ParseError, UnsafeFileError
from rag_pipeline.parsing import parse_file
from rag_pipeline.search import Filters
from rag_pipeline.settings import ParsingSettings, Settings, SyncSettings
from rag_pipeline.store.source_tables import SourceRoot
from rag_pipeline.sync.sources.scan import scan
from rag_pipeline.system import RagSystem

SETTINGS = ParsingSettings(ocr="off")
CATALOG = b"<< /Type /Catalog /Pages 2 0 R >>"
PAGES = b"<< /Type /Pages /Kids [3 0 R] /Count 1 >>"
FONT = b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /Encoding /WinAnsiEncoding >>"
TEXT = b"BT /F1 12 Tf 72 700 Td (Replace the oil filter.) Tj ET"


def pdf(*objects: bytes, more: bytes = b"") -> bytes:
    """A PDF whose objects are these, numbered from 1; `more` stands in its trailer."""
    data, offsets = bytearray(b"%PDF-1.7\n"), []
    for number, body in enumerate(objects, start=1):
        offsets.append(len(data))
        data += b"%d 0 obj\n%s\nendobj\n" % (number, body)
    table = len(data)
    data += b"xref\n0 %d\n0000000000 65535 f \n" % (len(objects) + 1)
    data += b"".join(b"%010d 00000 n \n" % offset for offset in offsets)
    trailer = b"trailer\n<< /Size %d /Root 1 0 R %s >>\nstartxref\n%d\n%%%%EOF\n"
    return bytes(data + trailer % (len(objects) + 1, more, table))


def stream(content: bytes, keys: bytes = b"") -> bytes:
    return b"<< /Length %d %s >>\nstream\n%s\nendstream" % (len(content), keys, content)


def page(contents: bytes = b"4 0 R", box: bytes = b"0 0 595 842", objects: bytes = b"") -> bytes:
    resources = b"<< /Font << /F1 5 0 R >> /XObject << %s >> >>" % objects
    return b"<< /Type /Page /Parent 2 0 R /MediaBox [%s] /Contents %s /Resources %s >>" % (
        box,
        contents,
        resources,
    )


def one_page(*more: bytes, content: bytes = TEXT, keys: bytes = b"", **of_page: bytes) -> bytes:
    return pdf(CATALOG, PAGES, page(**of_page), stream(content, keys), FONT, *more)


def packed_twice(megabytes: int) -> bytes:
    """So many million zeros, packed and packed again."""
    packer = zlib.compressobj(1)
    million = b"0" * 1_000_000
    packed = b"".join(packer.compress(million) for _ in range(megabytes))
    return zlib.compress(packed + packer.flush(), 9)


def forms(depth: int) -> bytes:
    """Drawings in drawings, ten of the next in each: ten to the power of `depth`."""
    form = b"/Type /XObject /Subtype /Form /BBox [0 0 595 842] /Resources "
    inner = [
        stream(b"/X Do " * 10, form + b"<< /XObject << /X %d 0 R >> >>" % (7 + number))
        for number in range(depth)
    ]
    last = stream(TEXT, form + b"<< /Font << /F1 5 0 R >> >>")
    return one_page(*inner, last, content=TEXT + b" /X Do", objects=b"/X 6 0 R")


def flate(megabytes: int) -> bytes:
    """A page whose contents unpack to so many megabytes."""
    return one_page(content=packed_twice(megabytes), keys=b"/Filter [/FlateDecode /FlateDecode]")


READABLE = {
    "loop of pages": pdf(
        CATALOG, b"<< /Kids [2 0 R 3 0 R 2 0 R] /Count 3 >>", page(), stream(TEXT), FONT
    ),
    "loop of contents": one_page(b"[6 0 R 6 0 R]", contents=b"[4 0 R 6 0 R]"),
    "page of a kilometre": one_page(box=b"0 0 3000000 3000000"),
    "deep object": one_page(b"[" * 300_000 + b"]" * 300_000),
    "huge image": one_page(
        stream(
            zlib.compress(bytes(1000)),
            b"/Type /XObject /Subtype /Image /Width 100000 /Height 100000 /ColorSpace /DeviceRGB"
            b" /BitsPerComponent 8 /Filter /FlateDecode",
        ),
        content=TEXT + b" q 500 0 0 500 0 0 cm /I Do Q",
        objects=b"/I 6 0 R",
    ),
}


def read(tmp_path: Path, data: bytes, settings: ParsingSettings = SETTINGS) -> list[str]:
    file = tmp_path / "a.pdf"
    file.write_bytes(data)
    parsed = parse_file(file, settings)
    texts = [text for text in parsed.blocks["text"] if text]  # images are blocks without text
    assert texts == ["Replace the oil filter."]
    return parsed.warnings


@pytest.mark.parametrize("name", READABLE)
def test_what_can_be_read_is_read(tmp_path: Path, name: str) -> None:
    read(tmp_path, READABLE[name])


def test_an_enormous_page_is_looked_at_for_ink_in_little_memory(tmp_path: Path) -> None:
    file = tmp_path / "a.pdf"
    file.write_bytes(one_page(box=b"0 0 1000000 1000000", content=b"0 0 9000 9000 re f"))
    with pytest.raises(NoTextError):
        parse_file(file, ParsingSettings())


def test_attached_files_and_programs_are_told_and_left_alone(tmp_path: Path) -> None:
    program = b"<< /S /JavaScript /JS (app.alert\\(1\\)) >>"
    attached = b"<< /Type /Filespec /F (x.exe) /EF << /F 6 0 R >> >>"
    names = b"<< /JavaScript << /Names [(a) %s] >> /EmbeddedFiles << /Names [(x) %s] >> >>"
    catalog = b"<< /Type /Catalog /Pages 2 0 R /OpenAction %s /Names %s >>"
    data = pdf(
        catalog % (program, names % (program, attached)),
        PAGES,
        page(),
        stream(TEXT),
        FONT,
        stream(b"MZ"),
    )
    assert read(tmp_path, data) == [
        "1 attached file was left out",
        "it holds JavaScript, which was not run",
    ]


def test_a_title_with_half_a_character_and_controls(tmp_path: Path) -> None:
    text = "a\ud800 b\x07\u202ec".encode("utf-16-be", "surrogatepass").hex()
    title = b"<FEFF" + text.encode()
    objects = CATALOG, PAGES, page(), stream(TEXT), FONT, b"<< /Title %s> >>" % title
    (tmp_path / "a.pdf").write_bytes(pdf(*objects, more=b"/Info 6 0 R"))
    assert parse_file(tmp_path / "a.pdf", SETTINGS).title == "a\ufffd bc"


def test_a_document_that_says_it_has_a_million_pages(tmp_path: Path) -> None:
    tree = b"<< /Type /Pages /Kids [3 0 R] /Count 1000000 >>"
    with pytest.raises(UnsafeFileError, match=r"1,000,000 pages; raise parsing\.max_pages"):
        read(tmp_path, pdf(CATALOG, tree, page(), stream(TEXT), FONT))


@pytest.mark.parametrize("name", ["a.pdf", "a.md", "a.docx"])
def test_a_file_over_the_size(tmp_path: Path, name: str) -> None:
    file = tmp_path / name
    with file.open("wb") as handle:
        handle.truncate(2_100_000)
    with pytest.raises(UnsafeFileError, match=r"has 2 MB; raise parsing\.max_file_mb \(1\)"):
        parse_file(file, ParsingSettings(max_file_mb=1))


# --- a sync --------------------------------------------------------------------------------------


@pytest.fixture
def limited(settings: Settings) -> Iterator[RagSystem]:
    """An empty knowledge base with small limits."""
    parsing = ParsingSettings(max_seconds=4, max_memory_mb=600, max_pages=100, ocr="off")
    with RagSystem(
        settings.project_dir,
        database_url=settings.database_url,
        parsing=parsing,
        sync=SyncSettings(workers=2, preview_pages=0),
    ) as rag:
        yield rag


def rows(rag: RagSystem, query: LiteralString) -> list[tuple[object, ...]]:
    with rag.database.connection() as connection:
        return connection.execute(query).fetchall()


def test_bombs_fail_alone_with_a_reason(limited: RagSystem, folder: Path) -> None:
    (folder / "own.txt").unlink()
    for number in range(4):
        (folder / f"good{number}.md").write_text(f"# Pump {number}\n\nReplace filter {number}.\n")
    (folder / "forms.pdf").write_bytes(forms(12))
    # So far over the limit that no machine reads it before the limit is noticed.
    (folder / "flate.pdf").write_bytes(flate(900))
    (folder / "pages.pdf").write_bytes(
        pdf(CATALOG, b"<< /Type /Pages /Kids [3 0 R] /Count 9999 >>", page(), stream(TEXT), FONT)
    )
    added = limited.add_directory(folder)
    assert len(added.done) == 4
    assert set(added.failures) == {"forms.pdf", "flate.pdf", "pages.pdf"}
    assert "raise parsing.max_" in added.failures["forms.pdf"]
    assert "raise parsing.max_pages (100)" in added.failures["pages.pdf"]
    # Which limit it meets first depends on the machine.
    assert re.search(r"died|memory|parsing\.max_seconds", added.failures["flate.pdf"])
    found = rows(
        limited,
        "SELECT d.status, count(c.chunk_id) > 0, count(e.chunk_id) = count(c.chunk_id) "
        "FROM document d LEFT JOIN chunk c USING (source_hash) "
        "LEFT JOIN chunk_embedding e USING (chunk_id) GROUP BY d.source_hash, d.status",
    )
    assert sorted(found) == [("failed", False, True)] * 3 + [("ready", True, True)] * 4
    permanent = "SELECT count(*) FROM document WHERE failure_permanent AND failure_reason LIKE %s"
    with limited.database.connection() as connection:
        (count,) = connection.execute(permanent, ["%raise parsing.max_%"]).fetchone() or (0,)
    assert count >= 2  # the bomb in a stream may also end as a crash, by the system's limit
    assert list(limited.settings.data_path.rglob("*.partial")) == []


# --- links and names -----------------------------------------------------------------------------


def listed(folder: Path, *, follow_links: bool = False) -> tuple[set[str], dict[str, str]]:
    found = scan([SourceRoot(root=str(folder))], {}, follow_links=follow_links)
    problems = dict(problem.rsplit(": ", 1) for problem in found.problems)
    return {Path(file.uri).name for file in found.files}, {
        Path(uri).name: reason for uri, reason in problems.items()
    }


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    folder = (tmp_path / "manuals").resolve()
    folder.mkdir()
    (folder / "own.txt").write_text("own")
    return folder


def test_links_out_of_the_folder_are_not_followed(tmp_path: Path, folder: Path) -> None:
    (tmp_path / "secret.txt").write_text("key")
    (tmp_path / "private").mkdir()
    (tmp_path / "private" / "more.txt").write_text("key")
    (folder / "inside.txt").symlink_to("own.txt")
    (folder / "out.txt").symlink_to("../secret.txt")
    (folder / "absolute.txt").symlink_to(tmp_path / "secret.txt")
    (folder / "twice.txt").symlink_to("out.txt")
    (folder / "below").symlink_to("../private", target_is_directory=True)
    (folder / "circle.txt").symlink_to("circle.txt")
    os.mkfifo(folder / "waits.txt")
    files, problems = listed(folder)
    assert files == {"own.txt", "inside.txt"}
    out = "is a link that leads out of the folder; see sync.follow_links"
    assert problems == {
        "out.txt": out,
        "absolute.txt": out,
        "twice.txt": out,
        "circle.txt": "Too many levels of symbolic links",
        "waits.txt": "is no regular file; it was left out",
    }
    files, _ = listed(folder, follow_links=True)
    assert files == {"own.txt", "inside.txt", "out.txt", "absolute.txt", "twice.txt"}


def test_a_folder_that_is_a_link_itself_is_what_it_leads_to(tmp_path: Path, folder: Path) -> None:
    (tmp_path / "link").symlink_to(folder, target_is_directory=True)
    files, problems = listed(tmp_path / "link")
    assert (files, problems) == ({"own.txt"}, {})


NAMES = [
    "a\nerror b.txt",
    "a\x1b[31m.txt",
    "a\u202etxt.txt",
    "$(id).txt",
    "'; DROP TABLE.txt",
    "%s.txt",
]


def test_names_with_controls_are_files_like_others(limited: RagSystem, folder: Path) -> None:
    (folder / "own.txt").unlink()
    for number, name in enumerate(NAMES):
        (folder / name).write_text(f"The filter {number} is replaced.\n")
        (folder / f"blank {name}").write_text(" " * (number + 1))
    added = limited.add_directory(folder)
    assert (len(added.done), len(added.failures)) == (len(NAMES), len(NAMES))
    assert all(reason.isprintable() for reason in added.failures.values())
    stored = {uri for (uri,) in rows(limited, "SELECT uri FROM source")}
    assert {str(folder / name) for name in NAMES} < stored
    for name in NAMES:
        filters = Filters(documents=[str(folder / name)])
        (found,) = limited.search("filter", filters=filters).results
        assert found.source_path == str(folder / name)


def test_dots_in_a_path_lead_to_the_same_folder(limited: RagSystem, folder: Path) -> None:
    limited.add_directory(folder / ".." / "manuals")
    assert rows(limited, "SELECT uri FROM source") == [(str(folder / "own.txt"),)]


def test_no_reader_but_those_of_the_errors(tmp_path: Path) -> None:
    """Whatever the bytes, a caller has to catch `ParseError` alone."""
    for data in (b"%PDF-1.7", b"%PDF-" + bytes(3000)):
        (tmp_path / "a.pdf").write_bytes(data)
        with pytest.raises(ParseError):
            parse_file(tmp_path / "a.pdf", SETTINGS)
