"""Hangul's two formats: the same content gives the same blocks, whichever was written."""

from __future__ import annotations

import re
import struct
from collections.abc import Callable
from pathlib import Path

import extract_hwp
import hwpx
import pandas as pd
import pytest

from rag_pipeline.errors import (
    DamagedFileError,
    MissingLibraryError,
    NoTextError,
    UnsafeFileError,
    UnsupportedFileError,
)
from rag_pipeline.parsing import ParsedDocument, parse_file
from rag_pipeline.parsing.local_parser import audit_file
from rag_pipeline.parsing.witness.losses import words
from rag_pipeline.settings import ParsingSettings, StructureSettings
from rag_pipeline.structure import infer_structure
from rag_pipeline.sync.workers.worker_pool import WorkerPool
from tests.formats.hangul_content import C, Grid, Image, Inner, Link, P, Script, cells, p
from tests.formats.hwp_writer import record, write_hwp
from tests.formats.hwpx_writer import write_hwpx
from tests.security.mutants import LIMITS, Mutant, read

SETTINGS = ParsingSettings()
MUTANTS = 40
Writer = Callable[..., Path]
WRITERS = {"hwp": write_hwp, "hwpx": write_hwpx}
MANUAL = [
    p("펌프 점검 안내서", bold=True),
    p("개요", head=("outline", 0)),
    p("이 안내서는 펌프를 다룹니다."),
    p("안전", head=("outline", 1)),
    p("전원을 끄십시오.", head=("number", 0)),
    p("밸브를 닫으십시오.", head=("number", 0)),
    p("왼쪽 밸브", head=("number", 1)),
    p("오른쪽 밸브", head=("number", 1)),
    p("압력을 확인하십시오.", head=("number", 0)),
    p("점검", head=("outline", 0)),
    p("기름", head=("outline", 1)),
    p("필터", head=("bullet", 0)),
    p("고무 패킹", head=("bullet", 1)),
]
TABLE = [
    p("규격", head=("outline", 0)),
    p(
        Grid(
            [
                [C([p("항목")], high=2), C([p("값")], wide=2)],
                cells("최소", "최대"),
                [
                    C([p("압력")]),
                    C([p("16"), p("bar")]),
                    C([p("안쪽 "), p(Grid([cells("a", "b"), cells("c", "d")]))]),
                ],
            ],
            caption="표 1 압력",
        )
    ),
    p("끝."),
]
APART = [
    p("본문", Inner("fn", [p("첫째 각주입니다.")]), " 다음", Inner("en", [p("미주입니다.")])),
    p("둘째", Inner("fn", [p("둘째 각주입니다.")])),
    p(Inner("head", [p("머리말")]), Inner("foot", [p("꼬리말")]), Inner("comment", [p("숨은 말")])),
    p("상자 앞", Inner("box", [p("글상자 안"), p("두 줄")])),
    p("식은 ", Script("a over b = 3"), "이다."),
]
LINKED = [
    p("자세한 것은 ", Link("정비 기록", "http://pumps.example/log"), "에 있다.\t끝"),
    p(Image("그림입니다.\r\n원본 그림의 이름: a.bmp")),
    p(Image("펌프의 단면")),
]
FRAMED = [
    p("첫 쪽", top=0),
    p("아래", top=5000),
    p("다음 쪽", top=0),
    p("새 쪽", new_page=True, top=0),
    p(Grid([[C([p("틀 안의 제목", head=("outline", 0)), p("틀 안의 글")])]])),
]


@pytest.fixture(params=WRITERS)
def written(request: pytest.FixtureRequest, tmp_path: Path) -> Callable[..., ParsedDocument]:
    """Writes a document in one of the formats and reads it."""

    def read(*sections: list[P], **values: object) -> ParsedDocument:
        file = WRITERS[request.param](tmp_path / f"file.{request.param}", list(sections), **values)
        assert audit_file(file, SETTINGS).lost.total() == 0
        return parse_file(file, SETTINGS)

    return read


def _trails(parsed: ParsedDocument) -> list[tuple[str, str]]:
    frame = infer_structure(parsed.blocks, StructureSettings())
    return list(zip(frame["text"], frame["breadcrumb_trail"], strict=True))


def _tables(parsed: ParsedDocument) -> pd.DataFrame:
    return parsed.blocks[parsed.blocks["kind"] == "table"]


def test_headings_and_lists_carry_the_numbers_that_hangul_counts(
    written: Callable[..., ParsedDocument],
) -> None:
    parsed = written(MANUAL, title="펌프 안내서")
    assert parsed.title == "펌프 안내서"
    assert parsed.language == "ko"
    assert _trails(parsed) == [
        ("펌프 점검 안내서", "펌프 점검 안내서"),
        ("1. 개요", "1. 개요"),
        ("이 안내서는 펌프를 다룹니다.", "1. 개요"),
        ("1.1 안전", "1. 개요 > 1.1 안전"),
        ("1) 전원을 끄십시오.", "1. 개요 > 1.1 안전"),
        ("2) 밸브를 닫으십시오.", "1. 개요 > 1.1 안전"),
        ("가. 왼쪽 밸브", "1. 개요 > 1.1 안전"),
        ("나. 오른쪽 밸브", "1. 개요 > 1.1 안전"),
        ("3) 압력을 확인하십시오.", "1. 개요 > 1.1 안전"),
        ("2. 점검", "2. 점검"),
        ("2.1 기름", "2. 점검 > 2.1 기름"),
        ("- 필터", "2. 점검 > 2.1 기름"),
        ("- 고무 패킹", "2. 점검 > 2.1 기름"),
    ]


def test_tables_keep_spans_nested_tables_and_captions(
    written: Callable[..., ParsedDocument],
) -> None:
    parsed = written(TABLE)
    assert parsed.blocks["text"].tolist()[:2] == ["1. 규격", "표 1 압력"]
    table = _tables(parsed).iloc[0]
    assert [list(row) for row in table["table_cells"]] == [
        ["항목", "값", ""],
        ["", "최소", "최대"],
        ["압력", "16\nbar", "안쪽\na b\nc d"],
    ]
    assert [[tuple(one) for one in row] for row in table["table_spans"]] == [
        [(1, 2), (2, 1), (0, 0)],
        [(0, 0), (1, 1), (1, 1)],
        [(1, 1), (1, 1), (1, 1)],
    ]


def test_notes_boxes_and_equations_are_read_and_running_heads_are_not(
    written: Callable[..., ParsedDocument],
) -> None:
    assert written(APART).blocks["text"].tolist() == [
        "본문 다음",
        "Note 1: 첫째 각주입니다.",
        "Endnote 1: 미주입니다.",
        "둘째",
        "Note 2: 둘째 각주입니다.",
        "상자 앞",
        "글상자 안",
        "두 줄",
        "식은 a over b = 3이다.",
    ]


def test_links_have_their_address_and_pictures_are_noted(
    written: Callable[..., ParsedDocument],
) -> None:
    parsed = written(LINKED)
    assert parsed.blocks["text"].tolist() == [
        "자세한 것은 정비 기록 (http://pumps.example/log)에 있다.\t끝",
        "펌프의 단면",
    ]
    assert parsed.blocks["kind"].tolist() == ["text", "figure"]
    assert parsed.warnings == ["1 picture has no description and cannot be searched"]


def test_pages_are_those_of_the_last_layout_and_a_frame_is_no_table(
    written: Callable[..., ParsedDocument],
) -> None:
    parsed = written(FRAMED, [p("zweiter Abschnitt")])
    assert list(zip(parsed.blocks["page_number"], parsed.blocks["text"], strict=True)) == [
        (1, "첫 쪽"),
        (1, "아래"),
        (2, "다음 쪽"),
        (3, "새 쪽"),
        (3, "1. 틀 안의 제목"),
        (3, "틀 안의 글"),
        (4, "zweiter Abschnitt"),
    ]
    assert parsed.page_count == 4


@pytest.mark.parametrize("content", [MANUAL, TABLE, APART, LINKED, FRAMED])
def test_saving_in_the_other_format_gives_the_same_chunks(tmp_path: Path, content: list[P]) -> None:
    first, second = (
        infer_structure(
            parse_file(write(tmp_path / f"one.{ending}", [content]), SETTINGS).blocks,
            StructureSettings(),
        )
        for ending, write in WRITERS.items()
    )
    pd.testing.assert_frame_equal(first, second)


@pytest.mark.parametrize("content", [MANUAL, TABLE, APART, LINKED, FRAMED])
@pytest.mark.parametrize("ending", WRITERS)
def test_a_second_reader_finds_no_other_word(tmp_path: Path, content: list[P], ending: str) -> None:
    """By extract-hwp, which shares no code with ours; it reads running heads as well."""
    file = WRITERS[ending](tmp_path / f"file.{ending}", [content])
    found = words([extract_hwp.extract_text_from_hwp(str(file))[0]])
    assert found.total() >= 3
    asides = [piece for one in content for piece in one.items if isinstance(piece, Inner)]
    left_out = words(
        str(said)
        for aside in asides
        if aside.kind in ("head", "foot", "comment")
        for one in aside.content
        for said in one.items
    )
    texts = parse_file(file, SETTINGS).blocks["text"].tolist()
    # The address of a link stands within what is one word to the other reader.
    letters = re.sub(r"\W", "", re.sub(r" \(http\S+\)", "", "".join(texts)))
    assert [one for one in (found - left_out) if one not in letters] == []


def test_a_document_of_python_hwpx(tmp_path: Path) -> None:
    """Another writer: its headings, merged cells, notes and tracked deletions."""
    document = hwpx.HwpxDocument.new()
    document.add_heading("설치", level=1)
    document.add_paragraph("바닥에 놓는다.", para_pr_id_ref="0", style_id_ref="0")
    table = document.add_table(2, 2)
    for row, texts in enumerate((("부품", ""), ("볼트", "M8"))):
        for column, text in enumerate(texts):
            table.set_cell_text(row, column, text)
    table.merge_cells(0, 0, 0, 1)
    paragraph = document.add_paragraph("조인다.")
    document.add_footnote("손으로만.", paragraph=paragraph)
    file = tmp_path / "library.hwpx"
    document.save_to_path(str(file))
    parsed = parse_file(file, SETTINGS)
    assert parsed.blocks["text"].tolist()[0].endswith("설치")
    assert parsed.blocks["text"].tolist()[1] == "바닥에 놓는다."
    assert [list(row) for row in _tables(parsed).iloc[0]["table_cells"]] == [
        ["부품", ""],
        ["볼트", "M8"],
    ]
    assert parsed.blocks["text"].tolist()[-2:] == ["조인다.", "Note 1: 손으로만."]
    assert audit_file(file, SETTINGS).lost.total() == 0


def test_tracked_deletions_are_left_out(tmp_path: Path) -> None:
    file = write_hwpx(tmp_path / "tracked.hwpx", [[p("남은 MARK 글")]])
    marks = '남은 <hp:deleteBegin Id="1"/>지운 <hp:deleteEnd Id="1"/>글'
    _change(file, "Contents/section0.xml", lambda xml: xml.replace("남은 MARK 글", marks))
    assert parse_file(file, SETTINGS).blocks["text"].tolist() == ["남은 글"]
    assert audit_file(file, SETTINGS).lost.total() == 0


def test_hwp_does_not_say_what_was_deleted(tmp_path: Path) -> None:
    file = write_hwp(tmp_path / "tracked.hwp", [[p("글")]], records=record(96, 1, bytes(8)))
    assert parse_file(file, SETTINGS).warnings == [
        "it tracks changes: text that was deleted may stand among the text"
    ]


@pytest.mark.parametrize(
    ("flags", "said"),
    [
        (1 | 2, "has a password"),
        (1 | 4, "is locked for distribution"),
        (1 | 16, "is encrypted by rights management"),
    ],
)
def test_locked_files_are_refused(tmp_path: Path, flags: int, said: str) -> None:
    file = write_hwp(tmp_path / "locked.hwp", [[p("글")]], flags=flags)
    with pytest.raises(UnsupportedFileError, match=f"locked.hwp: the Hangul document {said}"):
        parse_file(file, SETTINGS)


def test_an_encrypted_hwpx_is_refused(tmp_path: Path) -> None:
    manifest = '<m:manifest xmlns:m="urn:x"><m:encryption-data/></m:manifest>'
    file = write_hwpx(tmp_path / "locked.hwpx", [[p("글")]], manifest=manifest)
    with pytest.raises(UnsupportedFileError, match=r"locked\.hwpx: the Hangul document has a pass"):
        parse_file(file, SETTINGS)


def test_hwp_3_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "old.hwp"
    file.write_bytes(b"HWP Document File V3.00 \x1a\x01\x02\x03\x04\x05" + bytes(200))
    with pytest.raises(UnsupportedFileError, match=r"HWP 3\.0.*save it as \.hwpx"):
        parse_file(file, SETTINGS)


def test_a_file_without_text_says_so(written: Callable[..., ParsedDocument]) -> None:
    with pytest.raises(NoTextError):
        written([p("")])


def test_uncompressed_records_are_read(tmp_path: Path) -> None:
    file = write_hwp(tmp_path / "plain.hwp", [[p("긴 글 " * 2000)]], flags=0)
    assert len(parse_file(file, SETTINGS).blocks["text"].iloc[0]) == len("긴 글 " * 2000) - 1


def test_a_section_that_is_cut_off_is_damaged(tmp_path: Path) -> None:
    whole = write_hwp(tmp_path / "whole.hwp", [[p("글 " * 5000)]], flags=0)
    data = bytearray(whole.read_bytes())
    text = "글 글 글 ".encode("utf-16-le")
    at = data.index(text) - 4
    struct.pack_into("<I", data, at, 100_000)
    cut = tmp_path / "cut.hwp"
    cut.write_bytes(data)
    with pytest.raises(DamagedFileError, match=r"cut\.hwp: .*BodyText/Section0 is cut off"):
        parse_file(cut, SETTINGS)


def test_a_stream_that_unpacks_to_too_much_is_refused(tmp_path: Path) -> None:
    file = write_hwp(tmp_path / "bomb.hwp", [[p("0" * 8_000_000)]])
    with pytest.raises(UnsafeFileError, match=r"bomb\.hwp: its parts would unpack"):
        parse_file(file, SETTINGS)


def test_without_the_extra_the_error_says_what_to_install(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import sys

    file = write_hwp(tmp_path / "file.hwp", [[p("글")]])
    monkeypatch.setitem(sys.modules, "olefile", None)
    with pytest.raises(MissingLibraryError, match=r"rag-pipeline\[hangul\]"):
        parse_file(file, SETTINGS)


def _change(file: Path, part: str, change: Callable[[str], str]) -> None:
    import zipfile

    with zipfile.ZipFile(file) as container:
        parts = {name: container.read(name) for name in container.namelist()}
    parts[part] = change(parts[part].decode("utf-8")).encode("utf-8")
    with zipfile.ZipFile(file, "w") as container:
        for name, content in parts.items():
            container.writestr(name, content)


@pytest.mark.parametrize("ending", ["hwp", "hwpx", "plain.hwp"])
def test_mutants_fail_with_a_reason_or_are_read(tmp_path: Path, ending: str) -> None:
    write = WRITERS[ending.rpartition(".")[2]]
    options = {"flags": 0} if ending.startswith("plain") else {}
    sample = write(tmp_path / f"sample.{ending}", [[*MANUAL, *TABLE, *APART, *LINKED]], **options)
    mutants = [Mutant(sample, seed, tmp_path) for seed in range(MUTANTS)]
    results = dict(WorkerPool(read, 1, lambda _: LIMITS).run(mutants, len(mutants)))
    assert [wrong for wrong in results.values() if wrong is not None] == []
