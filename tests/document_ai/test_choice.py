"""What `auto` sends, and why; local and recognized pages side by side."""

from __future__ import annotations

from pathlib import Path

import pandas as pd
import pytest

from rag_pipeline.errors import (
    EncryptedPdfError,
    NoTextError,
    ParserServiceError,
    SettingsError,
)
from rag_pipeline.frames import blocks_frame
from rag_pipeline.parsing import LocalParser, ParsedDocument
from rag_pipeline.parsing.page_choice import Choice, choose, merge_pages
from rag_pipeline.parsing.page_quality import page_score
from rag_pipeline.parsing.parsers import AutoParser, ServiceParser, create_parser
from rag_pipeline.settings import DocumentAiSettings, ParsingSettings, StructureSettings
from rag_pipeline.store.artifacts import ArtifactStore
from rag_pipeline.structure import infer_structure
from rag_pipeline.usage import Usage, estimate_usd
from tests.conftest import SAMPLES_DIR
from tests.document_ai.conftest import FolderReplies, SettingsMaker
from tests.document_ai.replies import make_manual, picture_of, reply_of, scanned
from tests.document_ai.server import DocumentAiServer, Fault
from tests.pdfs import make_pdf

OCR = DocumentAiSettings()
PROSE = "Replace the oil filter every 500 hours of operation and check the XJ-900/B seal. " * 3


def parsed(*pages: str, **values: object) -> ParsedDocument:
    rows = [
        {"page_number": number, "text": text, "font_size": 10.0, **values}
        for number, text in enumerate(pages, start=1)
        if text
    ]
    return ParsedDocument(blocks_frame(rows), len(pages), None, "en")


def cost(choice: Choice, prices: dict[str, float] | None = None) -> float:
    return sum(estimate_usd(usage, prices) or 0.0 for usage in choice.usage())


def test_readable_pages_stay_here() -> None:
    assert choose(parsed(PROSE, PROSE), OCR) == Choice((), {}, 2, "ocr")
    for text in (
        "주행거리를 확인하고 오일 필터를 교체합니다. E-07 경고등이 켜지면 밸브를 닫으십시오. " * 3,
        "Überprüfen Sie die Schrauben M8x20 (8 Nm) gemäß DIN EN ISO 4762 und Größe 10 µm. " * 3,
        "本许可证适用于，由版权所有者说明、可按照本许可证条款分发的（任何）程序：“程序”指程序。 "
        * 15,
        "交換フィルターを取り付けます。安全カバーを閉じてください。" * 5,
        "1 2.5 3,000 4-20 mA 24 V DC 0x1F 10 kΩ ±5 % M12 Ø8 PN-4711 \\\\srv\\x --flag=1 " * 3,
        "ERR_CNF HTTP 404 SQLSTATE XJKLM PRTSCR CTRL+SHIFT+F5 GPIO_PWM3 RS-485 BNC " * 3,
    ):
        assert page_score(text)[0] < 0.2, text


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", "no text"),
        ("· — ·", "no text"),
        ("The \ue001\ue002\ue003 valve \ue004 is \ufffd\ufffd stuck", "characters are unreadable"),
        ("ϮϬ¤ϭϱ¬ ¦ϭϮ§¤ Ɣ¬ϮϬ¦ " * 10, "of no language"),
        # Replace the oil filter …, by a font whose letters are shifted by two.
        (
            "Tgrnceg vjg qkn hknvgt gxgta 500 jqwtu qh qrgtcvkqp cpf ejgem. " * 6,
            "11% of the letters",
        ),
        ("H e i nz C om pa ny L i m i t e d U ni t e d K i ngdom " * 2, "single letters"),
        ("R e p l a c e t h e o i l f i l t e r n o w p l e a s e", "single letters"),
    ],
)
def test_pages_that_need_recognition(text: str, reason: str) -> None:
    score, said = page_score(text)
    assert score >= 0.5
    assert reason in said


def test_confidence_of_recognized_text() -> None:
    assert page_score(PROSE, 0.95) == (0.1, "recognized with confidence 0.95")
    assert page_score(PROSE, 0.6) == (0.8, "recognized with confidence 0.60")
    poor = parsed(PROSE, PROSE, PROSE, confidence=0.6)
    assert choose(poor, OCR).pages == (1, 2, 3)


def test_only_the_pages_that_need_it() -> None:
    choice = choose(parsed(PROSE, "", PROSE, "", PROSE), OCR, blank_pages={4})
    assert choice.pages == (2,)
    assert choice.describe() == "page 2 of 5: no text"
    assert choice.usage() == [Usage("document_ai", "ocr", "parse", pages=1)]
    assert cost(choice) == pytest.approx(0.0015)
    assert cost(choice, {"document_ai/ocr": 3.0}) == pytest.approx(0.003)


def test_add_ons_cost_more() -> None:
    settings = DocumentAiSettings(style_info=True, math=True)
    choice = choose(parsed("", ""), settings)
    # 2 pages of OCR at 1.50 and of two add-ons at 6.00, by the thousand.
    assert cost(choice) == pytest.approx(2 * (1.5 + 6 + 6) / 1000)


def test_mostly_scanned_documents_go_as_a_whole() -> None:
    choice = choose(parsed("", "", "", "", PROSE), OCR)
    assert choice.pages == (1, 2, 3, 4, 5)
    assert choice.reasons[5] == "4 of 5 pages need it"
    assert choose(parsed("", "", "", PROSE, PROSE), OCR).pages == (1, 2, 3)


def test_nothing_stands_out_matters_to_the_layout_parser_alone() -> None:
    plain = parsed(*[PROSE * 8] * 4)
    layout = DocumentAiSettings(processor_type="layout_parser")
    assert choose(plain, OCR).pages == ()
    assert choose(plain, layout).describe() == "all 4 pages: no heading stands out"
    styled = plain.blocks.copy()
    styled.loc[0, "level_hint"] = 1
    assert choose(ParsedDocument(styled, 4, None, "en"), layout).pages == ()


def test_the_samples_need_nothing() -> None:
    for sample in sorted(SAMPLES_DIR.glob("*.pdf")):
        found = LocalParser().parse(sample)
        choice = choose(found, OCR)
        assert choice.pages == (), f"{sample.name}: {choice.describe()}"


def test_merged_pages_keep_their_numbers() -> None:
    local = parsed("one", "bad", "three", "bad", "five")
    rows = [
        {"page_number": 2, "text": "two a"},
        {"page_number": 2, "text": "two b"},
        {"page_number": 4, "text": "four"},
    ]
    service = ParsedDocument(
        blocks_frame(rows), 5, "Title", "en", ["w"], [Usage("document_ai", "ocr", "parse", 1)]
    )
    merged = merge_pages(local, service, (2, 4))
    assert merged.blocks["text"].tolist() == ["one", "two a", "two b", "three", "four", "five"]
    assert merged.blocks["page_number"].tolist() == [1, 2, 2, 3, 4, 5]
    assert merged.blocks["block_index"].tolist() == list(range(6))
    assert merged.page_count == 5
    assert merged.title == "Title"
    assert merged.usage == service.usage


def auto(settings: DocumentAiSettings, replies: FolderReplies | None = None) -> AutoParser:
    parser = create_parser(
        ParsingSettings(parser="auto", ocr="off"),
        settings,
        replies,
        local=LocalParser(ParsingSettings(ocr="off")),
    )
    assert isinstance(parser, AutoParser)
    return parser


def test_auto_sends_the_scanned_pages_of_a_manual(
    tmp_path: Path, replies: FolderReplies, settings_for: SettingsMaker
) -> None:
    manual = make_manual(tmp_path / "manual.pdf", 20)
    mixed = scanned(manual, tmp_path / "mixed.pdf", {3, 18})
    with DocumentAiServer(reply_of(manual)) as server:
        parser = auto(settings_for(server), replies)
        assert parser.plan(mixed).describe() == "page 3, 18 of 20: no text"
        assert server.calls == []
        parsed = parser.parse(mixed)
    assert [call.pages for call in server.calls] == [[3, 18]]
    assert parsed.blocks["page_number"].drop_duplicates().tolist() == list(range(1, 21))
    for page in (2, 3, 17, 18, 19):
        text = " ".join(parsed.blocks.loc[parsed.blocks["page_number"] == page, "text"])
        assert f"This is page {page} of the manual, code PG-{page:03d}." in text
    assert parsed.usage == [Usage("document_ai", "ocr", "parse", requests=1, pages=2)]
    assert parsed.warnings[-1] == "document_ai: read page 3, 18 (no text)"
    # Frames of both parsers together are stored like any other.
    store = ArtifactStore(str(tmp_path / "artifacts"))
    store.write("blocks", "ab" * 32, parsed.blocks, "f", {})
    assert parsed.blocks["level_is_given"].dtype == bool
    assert len(infer_structure(parsed.blocks, StructureSettings())) == 100


def test_auto_sends_a_scan_as_a_whole(tmp_path: Path, settings_for: SettingsMaker) -> None:
    manual = make_manual(tmp_path / "manual.pdf", 3)
    scan = scanned(manual, tmp_path / "scan.pdf")
    with DocumentAiServer(reply_of(manual)) as server:
        parser = auto(settings_for(server))
        assert parser.plan(scan).describe() == "all 3 pages: no text"
        parsed = parser.parse(scan)
    assert len(server.calls) == 1
    assert parsed.page_count == 3
    assert parsed.blocks["page_number"].tolist() == [p for p in (1, 2, 3) for _ in range(5)]


def test_auto_sends_no_blank_pages(tmp_path: Path, settings_for: SettingsMaker) -> None:
    from reportlab.pdfgen.canvas import Canvas

    blank = tmp_path / "blank.pdf"
    canvas = Canvas(str(blank))
    canvas.showPage()
    canvas.save()
    with DocumentAiServer(reply_of(blank)) as server:
        parser = auto(settings_for(server))
        with pytest.raises(NoTextError):
            parser.parse(blank)
    assert server.calls == []


def test_auto_leaves_readable_documents_here(tmp_path: Path, settings_for: SettingsMaker) -> None:
    manual = make_manual(tmp_path / "manual.pdf", 3)
    with DocumentAiServer(reply_of(manual)) as server:
        parsed = auto(settings_for(server)).parse(manual)
    assert server.calls == []
    assert parsed.usage == []


def test_images_go_to_document_ai_and_text_does_not(
    tmp_path: Path, settings_for: SettingsMaker
) -> None:
    manual = make_manual(tmp_path / "manual.pdf", 1)
    picture = picture_of(manual, tmp_path / "page.png")
    note = tmp_path / "note.txt"
    note.write_text("Replace the filter.\n", encoding="utf-8")
    with DocumentAiServer(reply_of(manual)) as server:
        parser = auto(settings_for(server))
        assert parser.plan(picture).describe() == "all 1 pages: an image"
        assert len(parser.parse(picture).blocks) == 5
        assert parser.plan(note).pages == ()
        assert parser.parse(note).blocks["text"].tolist() == ["Replace the filter."]
        always = create_parser(ParsingSettings(parser="document_ai"), settings_for(server))
        assert always.parse(note).blocks["text"].tolist() == ["Replace the filter."]
        assert len(server.calls) == 1
        assert isinstance(always, ServiceParser)
        assert always.plan(manual).pages == (1,)
        assert cost(always.plan(manual)) == pytest.approx(0.0015)
        assert always.plan(note).pages == ()
        assert len(server.calls) == 1
        assert always.parse(manual).usage[0].pages == 1


def test_auto_fails_rather_than_land_half(tmp_path: Path, settings_for: SettingsMaker) -> None:
    manual = make_manual(tmp_path / "manual.pdf", 5)
    mixed = scanned(manual, tmp_path / "mixed.pdf", {3})
    with DocumentAiServer(reply_of(manual), [Fault("UNAVAILABLE")] * 20) as server:
        with pytest.raises(ParserServiceError):
            auto(settings_for(server, timeout_seconds=1)).parse(mixed)
        # What is refused for good is not asked for each night: the rest is of use.
        server.faults = [Fault("INVALID_ARGUMENT", "Unsupported input file format.")]
        parsed = auto(settings_for(server)).parse(mixed)
    assert parsed.blocks["page_number"].drop_duplicates().tolist() == [1, 2, 4, 5]
    assert "not used (Document AI refuses the document" in parsed.warnings[-1]


def test_what_nobody_can_open(tmp_path: Path, settings_for: SettingsMaker) -> None:
    locked = make_pdf(tmp_path / "locked.pdf", [("Secret", ["Text"])], password="open sesame")
    with DocumentAiServer(reply_of(make_manual(tmp_path / "m.pdf", 1))) as server:
        for parser in (
            auto(settings_for(server)),
            create_parser(ParsingSettings(parser="document_ai"), settings_for(server)),
        ):
            with pytest.raises(EncryptedPdfError):
                parser.parse(locked)
    assert server.calls == []


def test_parsers_by_name_and_their_versions() -> None:
    document_ai = DocumentAiSettings(project="p", processor="1f")
    local = create_parser(ParsingSettings(), DocumentAiSettings())
    assert isinstance(local, LocalParser)
    versions = {
        create_parser(ParsingSettings(parser=name), settings).version
        for name in ("local", "document_ai", "auto")
        for settings in (document_ai, document_ai.model_copy(update={"processor_version": "rc"}))
    }
    assert len(versions) == 5  # the local parser does not care for the processor
    threshold = document_ai.model_copy(update={"auto_score": 0.7})
    assert create_parser(ParsingSettings(parser="auto"), threshold).version not in versions
    with pytest.raises(SettingsError, match=r"document_ai\.project is not set"):
        create_parser(ParsingSettings(parser="auto"), DocumentAiSettings())


def words(blocks: pd.DataFrame) -> list[str]:
    return " ".join(blocks["text"]).split()


@pytest.mark.parametrize("sample", sorted(SAMPLES_DIR.glob("*.pdf")), ids=lambda path: path.name)
def test_the_same_words_by_document_ai_and_here(sample: Path, settings_for: SettingsMaker) -> None:
    """Share of words that both have, page by page, over the words of both."""
    local = LocalParser().parse(sample)
    with DocumentAiServer(reply_of(sample)) as server:
        parser = create_parser(ParsingSettings(parser="document_ai"), settings_for(server))
        service = parser.parse(sample)
    assert service.page_count == local.page_count
    assert service.language == local.language
    both = total = 0
    for page in range(1, local.page_count + 1):
        mine, theirs = (
            pd.Series(words(found.blocks[found.blocks["page_number"] == page])).value_counts()
            for found in (local, service)
        )
        both += 2 * int(pd.concat([mine, theirs], axis=1).fillna(0).min(axis=1).sum())
        total += int(mine.sum() + theirs.sum())
    assert both / total >= 0.97
