"""Online requests: the real client over gRPC against a local server that injects faults."""

from __future__ import annotations

import time
from pathlib import Path

import pytest
from google.cloud.documentai_v1 import Document

from rag_pipeline.errors import (
    NoTextError,
    ParseError,
    ParserServiceError,
    ProviderError,
    SettingsError,
)
from rag_pipeline.parsing.document_ai import DocumentAiParser
from rag_pipeline.parsing.document_ai.service.reply_cache import unpack
from rag_pipeline.settings import DocumentAiSettings
from rag_pipeline.usage import Usage, UsageMeter
from tests.clock import skip_time
from tests.document_ai.conftest import FolderReplies, SettingsMaker
from tests.document_ai.replies import make_manual, page_codes, picture_of, reply_of, scanned
from tests.document_ai.server import DocumentAiServer, Fault


@pytest.fixture(scope="session")
def manual(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A PDF of 40 pages that say their numbers."""
    return make_manual(tmp_path_factory.mktemp("manual") / "manual.pdf", 40)


@pytest.fixture(scope="session")
def short(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A PDF of 3 pages."""
    return make_manual(tmp_path_factory.mktemp("short") / "short.pdf", 3)


def test_forty_pages_are_three_requests_in_order(
    manual: Path, replies: FolderReplies, settings_for: SettingsMaker
) -> None:
    with DocumentAiServer(reply_of(manual)) as server:
        parsed = DocumentAiParser(settings_for(server), replies=replies).parse(manual)
    asked = sorted((call.pages[0], call.pages[-1], len(call.pages)) for call in server.calls)
    assert asked == [(1, 15, 15), (16, 30, 15), (31, 40, 10)]
    assert parsed.page_count == 40
    assert parsed.usage == [Usage("document_ai", "ocr", "parse", requests=3, pages=40)]
    # A heading, a sentence and three steps a page.
    assert parsed.blocks["page_number"].tolist() == [p for p in range(1, 41) for _ in range(5)]
    sentences = parsed.blocks["text"].iloc[1::5].tolist()
    assert sentences == [f"This is page {p} of the manual, code PG-{p:03d}." for p in range(1, 41)]
    assert replies.names() == ["1-15.pb.gz", "16-30.pb.gz", "31-40.pb.gz"]


def test_a_second_run_asks_for_nothing(
    manual: Path, replies: FolderReplies, settings_for: SettingsMaker
) -> None:
    with DocumentAiServer(reply_of(manual)) as server:
        first = DocumentAiParser(settings_for(server), replies=replies).parse(manual)
        second = DocumentAiParser(settings_for(server), replies=replies).parse(manual)
        assert len(server.calls) == 3
        # Other options are another reply.
        DocumentAiParser(settings_for(server, math=True), replies=replies).parse(manual)
        assert len(server.calls) == 6
    assert second.usage == []
    assert second.blocks.equals(first.blocks)


def test_page_images_are_not_stored(
    short: Path, replies: FolderReplies, settings_for: SettingsMaker
) -> None:
    """A reply of 6 MB arrives: gRPC's own limit is 4 MB."""

    def with_images(document: Document) -> None:
        for page in document.pages:
            page.image.content = bytes(range(256)) * 8192

    with DocumentAiServer(reply_of(short), [Fault(change=with_images)]) as server:
        parsed = DocumentAiParser(settings_for(server), replies=replies).parse(short)
    assert len(server.calls) == 1
    assert len(parsed.blocks) == 15
    (stored,) = replies.folder.rglob("*.gz")
    document = unpack(stored.read_bytes())
    assert [len(page.image.content) for page in document.pages] == [0, 0, 0]
    assert stored.stat().st_size < 20_000
    assert "pages.image" not in server.calls[0].fields
    assert "pages.lines" in server.calls[0].fields


def test_waits_as_long_as_the_quota_says(short: Path, settings_for: SettingsMaker) -> None:
    faults = [Fault("RESOURCE_EXHAUSTED", "Quota exceeded", retry_after=1.2)]
    with DocumentAiServer(reply_of(short), faults) as server:
        parsed = DocumentAiParser(settings_for(server)).parse(short)
    assert len(server.calls) == 2
    assert server.calls[1].seconds - server.calls[0].seconds > 1.1
    # A refused request is free.
    assert parsed.usage == [Usage("document_ai", "ocr", "parse", requests=1, pages=3)]


def test_a_wait_beyond_the_deadline_is_not_begun(short: Path, settings_for: SettingsMaker) -> None:
    faults = [Fault("RESOURCE_EXHAUSTED", "Quota exceeded", retry_after=90)]
    began = time.monotonic()
    with (
        DocumentAiServer(reply_of(short), faults) as server,
        pytest.raises(
            ParserServiceError, match=r"no answer within 60 s .*Quota exceeded"
        ) as caught,
    ):
        DocumentAiParser(settings_for(server, timeout_seconds=60)).parse(short)
    assert time.monotonic() - began < 30
    assert not caught.value.permanent
    assert len(server.calls) == 1


@pytest.mark.parametrize("code", ["UNAVAILABLE", "INTERNAL", "DEADLINE_EXCEEDED", "ABORTED"])
def test_passing_faults_are_tried_again(
    short: Path, settings_for: SettingsMaker, code: str
) -> None:
    with DocumentAiServer(reply_of(short), [Fault(code)]) as server:
        parsed = DocumentAiParser(settings_for(server)).parse(short)
    assert len(server.calls) == 2
    assert len(parsed.blocks) == 15


def test_one_deadline_for_an_answer_that_does_not_come(
    short: Path, settings_for: SettingsMaker
) -> None:
    began = time.monotonic()
    with (
        DocumentAiServer(reply_of(short), [Fault(delay=60)] * 4) as server,
        pytest.raises(ParserServiceError, match="no answer within 2 s"),
    ):
        DocumentAiParser(settings_for(server, timeout_seconds=2)).parse(short)
    assert time.monotonic() - began < 30


def test_faults_that_never_pass_end_at_the_deadline(
    short: Path, settings_for: SettingsMaker, monkeypatch: pytest.MonkeyPatch
) -> None:
    with DocumentAiServer(reply_of(short), [Fault("UNAVAILABLE")] * 50) as server:
        skip_time(monkeypatch, lambda: 60 if len(server.calls) >= 2 else 0)
        with pytest.raises(ParserServiceError, match=r"60 s \(2 attempts; last UNAVAILABLE"):
            DocumentAiParser(settings_for(server, timeout_seconds=60)).parse(short)
        assert len(server.calls) == 2


def test_a_reply_cut_on_its_way_is_tried_again(short: Path, settings_for: SettingsMaker) -> None:
    with DocumentAiServer(reply_of(short), [Fault(cut_bytes=37)]) as server:
        parsed = DocumentAiParser(settings_for(server)).parse(short)
    assert len(server.calls) == 2
    assert parsed.blocks["page_number"].max() == 3


def _without_page_2(document: Document) -> None:
    del document.pages[1]


def _with_half_the_text(document: Document) -> None:
    document.text = document.text[: len(document.text) // 2]


def _with_half_the_paragraphs(document: Document) -> None:
    del document.pages[1].paragraphs[2:]


def _with_page_2_empty(document: Document) -> None:
    number, dimension = document.pages[1].page_number, document.pages[1].dimension
    kept = type(document.pages[1])(page_number=number, dimension=dimension)
    document.pages[1].CopyFrom(kept)


def _with_other_numbers(document: Document) -> None:
    for page in document.pages:
        page.page_number += 1


def _with_nothing(document: Document) -> None:
    document.Clear()


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (_without_page_2, "page 2 missing"),
        (_with_half_the_text, "is cut: it has"),
        (_with_half_the_paragraphs, "page 2: .*paragraphs hold"),
        (_with_page_2_empty, "page 2 has text to be seen"),
        (_with_other_numbers, "page 1 missing"),
        (_with_nothing, "page 1-3 missing"),
    ],
)
def test_replies_that_are_not_whole_are_never_stored(
    short: Path, replies: FolderReplies, settings_for: SettingsMaker, change: object, said: str
) -> None:
    meter = UsageMeter()
    with DocumentAiServer(reply_of(short), [Fault(change=change)]) as server:  # type: ignore[arg-type]
        parser = DocumentAiParser(settings_for(server), replies=replies, meter=meter)
        with pytest.raises(ParserServiceError, match=said) as caught:
            parser.parse(short)
        assert not caught.value.permanent
        assert replies.names() == []
        # The pages were paid for all the same.
        assert meter.take() == [Usage("document_ai", "ocr", "parse", requests=1, pages=3)]
        assert len(parser.parse(short).blocks) == 15


def test_a_missing_part_fails_the_document_and_keeps_the_others(
    manual: Path, replies: FolderReplies, settings_for: SettingsMaker
) -> None:
    with DocumentAiServer(reply_of(manual), [Fault(), Fault(change=_without_page_2)]) as server:
        settings = settings_for(server, max_concurrent_requests=1)
        with pytest.raises(ParserServiceError, match="page 17 missing"):
            DocumentAiParser(settings, replies=replies).parse(manual)
        assert replies.names() == ["1-15.pb.gz"]
        parsed = DocumentAiParser(settings, replies=replies).parse(manual)
    assert len(server.calls) == 4
    assert parsed.usage == [Usage("document_ai", "ocr", "parse", requests=2, pages=25)]
    assert parsed.blocks["page_number"].drop_duplicates().tolist() == list(range(1, 41))


@pytest.mark.parametrize(
    ("fault", "said"),
    [
        (Fault("PERMISSION_DENIED", "no"), "roles/documentai.apiUser"),
        (Fault("PERMISSION_DENIED", "This API method requires billing to be enabled"), "billing"),
        (Fault("UNAUTHENTICATED", "no"), "gcloud auth application-default login"),
        (Fault("NOT_FOUND", "no such processor"), "check document_ai.project, location"),
        (Fault("FAILED_PRECONDITION", "disabled"), "deploy the version"),
        (
            Fault("INVALID_ARGUMENT", "bad", violations=(("process_options.ocr_config", "x"),)),
            "process_options.ocr_config is wrong",
        ),
    ],
)
def test_refusals_of_everything_end_the_sync(
    short: Path, settings_for: SettingsMaker, fault: Fault, said: str
) -> None:
    with (
        DocumentAiServer(reply_of(short), [fault]) as server,
        pytest.raises(ProviderError, match=said),
    ):
        DocumentAiParser(settings_for(server)).parse(short)
    assert len(server.calls) == 1


def test_a_document_that_is_refused_fails_alone(short: Path, settings_for: SettingsMaker) -> None:
    fault = Fault("INVALID_ARGUMENT", "Unsupported input file format.")
    with (
        DocumentAiServer(reply_of(short), [fault]) as server,
        pytest.raises(ParseError, match=r"short\.pdf: .*Unsupported input") as caught,
    ):
        DocumentAiParser(settings_for(server)).parse(short)
    assert caught.value.permanent
    assert len(server.calls) == 1


def test_larger_than_max_is_no_quota(
    short: Path, replies: FolderReplies, settings_for: SettingsMaker
) -> None:
    """gRPC's words for a message above a channel's limit: smaller parts are asked for at once."""
    message = "Received message larger than max (5218782 vs. 4194304)"
    with DocumentAiServer(reply_of(short), [Fault("RESOURCE_EXHAUSTED", message)]) as server:
        parsed = DocumentAiParser(settings_for(server), replies=replies).parse(short)
    assert [call.pages for call in server.calls] == [[], [1, 2], [3]]
    assert server.calls[1].seconds - server.calls[0].seconds < 0.5
    assert parsed.blocks["page_number"].drop_duplicates().tolist() == [1, 2, 3]


def test_a_processor_of_fewer_pages_gets_smaller_parts(
    manual: Path, settings_for: SettingsMaker
) -> None:
    with DocumentAiServer(reply_of(manual), max_pages=10) as server:
        parsed = DocumentAiParser(settings_for(server)).parse(manual)
    answered = sorted(len(call.pages) for call in server.calls if len(call.pages) <= 10)
    assert answered == [7, 7, 8, 8, 10]
    assert parsed.blocks["page_number"].drop_duplicates().tolist() == list(range(1, 41))


def test_imageless_requests_hold_thirty_pages(manual: Path, settings_for: SettingsMaker) -> None:
    with DocumentAiServer(reply_of(manual), max_pages=30) as server:
        settings = settings_for(server, imageless=True, pages_per_request=30)
        DocumentAiParser(settings).parse(manual)
    assert sorted(len(call.pages) for call in server.calls) == [10, 30]
    assert all(call.imageless for call in server.calls)
    with pytest.raises(ValueError, match="imageless = true"):
        DocumentAiSettings(pages_per_request=30)


def test_files_above_the_size_are_split_and_keep_their_numbers(
    manual: Path, settings_for: SettingsMaker
) -> None:
    limit = manual.stat().st_size / 2 / 1_000_000
    with DocumentAiServer(reply_of(manual), find_pages=page_codes) as server:
        settings = settings_for(server, max_request_megabytes=limit)
        parsed = DocumentAiParser(settings).parse(manual)
    assert all(call.size <= limit * 1_000_000 and not call.pages for call in server.calls)
    assert sorted(call.sent_pages for call in server.calls) == [10, 15, 15]
    texts = parsed.blocks["text"].iloc[1::5].tolist()
    assert texts == [f"This is page {p} of the manual, code PG-{p:03d}." for p in range(1, 41)]
    assert parsed.blocks["page_number"].iloc[1::5].tolist() == list(range(1, 41))


def test_a_page_above_the_size_fails_the_document(short: Path, settings_for: SettingsMaker) -> None:
    with (
        DocumentAiServer(reply_of(short), find_pages=page_codes) as server,
        pytest.raises(ParseError, match="page 1: the page is too large"),
    ):
        DocumentAiParser(settings_for(server, max_request_megabytes=0.0005)).parse(short)
    assert server.calls == []


def test_a_processor_that_ignores_the_selection_is_told_of(
    manual: Path, replies: FolderReplies, settings_for: SettingsMaker
) -> None:
    """Its first pages would pass for the pages asked for: numbers never shift."""

    def first_pages(document: Document) -> None:
        for number, page in enumerate(document.pages, start=1):
            page.page_number = number

    faults = [Fault(), Fault(change=first_pages)]
    with DocumentAiServer(reply_of(manual), faults) as server:
        settings = settings_for(server, max_concurrent_requests=1)
        with pytest.raises(ParserServiceError, match='page_ranges = "split"'):
            DocumentAiParser(settings, replies=replies).parse(manual)


def test_split_ranges_are_numbered_by_the_source(manual: Path, settings_for: SettingsMaker) -> None:
    with DocumentAiServer(reply_of(manual), find_pages=page_codes) as server:
        parser = DocumentAiParser(settings_for(server, page_ranges="split"))
        parsed = parser.parse_pages(manual, [7, 20, 33])
    assert [(call.sent_pages, call.pages) for call in server.calls] == [(3, [])]
    assert parsed.blocks["page_number"].drop_duplicates().tolist() == [7, 20, 33]
    assert parsed.blocks["text"].iloc[6] == "This is page 20 of the manual, code PG-020."
    assert parsed.page_count == 40


def test_a_page_that_stays_empty_is_a_picture(
    short: Path, tmp_path: Path, replies: FolderReplies, settings_for: SettingsMaker
) -> None:
    scan = scanned(short, tmp_path / "scan.pdf", {2})
    with DocumentAiServer(reply_of(scan)) as server:
        parsed = DocumentAiParser(settings_for(server), replies=replies).parse(scan)
    assert [call.pages for call in server.calls] == [[], [2]]
    assert parsed.warnings == ["document_ai: page 2 shows something, but has no text (asked twice)"]
    assert parsed.usage == [Usage("document_ai", "ocr", "parse", requests=2, pages=4)]


def test_a_page_that_comes_back_empty_once_is_a_fault(
    short: Path, tmp_path: Path, replies: FolderReplies, settings_for: SettingsMaker
) -> None:
    scan = scanned(short, tmp_path / "scan.pdf")
    with DocumentAiServer(reply_of(short), [Fault(change=_with_page_2_empty)]) as server:
        parser = DocumentAiParser(settings_for(server), replies=replies)
        with pytest.raises(ParserServiceError, match="page 2 has text to be seen"):
            parser.parse(scan)
    assert replies.names() == []


def test_pictures_are_one_page(short: Path, tmp_path: Path, settings_for: SettingsMaker) -> None:
    picture = picture_of(short, tmp_path / "page.png")
    with DocumentAiServer(reply_of(short)) as server:
        parsed = DocumentAiParser(settings_for(server)).parse(picture)
    assert parsed.page_count == 1
    assert len(parsed.blocks) == 5


def test_a_document_without_text_says_so(tmp_path: Path, settings_for: SettingsMaker) -> None:
    from reportlab.pdfgen.canvas import Canvas

    blank = tmp_path / "blank.pdf"
    canvas = Canvas(str(blank))
    canvas.showPage()
    canvas.save()
    with (
        DocumentAiServer(reply_of(blank)) as server,
        pytest.raises(NoTextError, match="found no text on its 1 pages"),
    ):
        DocumentAiParser(settings_for(server)).parse(blank)
    assert len(server.calls) == 1


def tree_of(content: bytes) -> Document:
    """What the layout parser says of pages of a manual: it counts the pages of the file it got."""
    blocks = []
    for number, code in enumerate(page_codes(content), start=1):
        span = {"page_start": number, "page_end": number}
        text = {"text": f"Page {code} of it.", "type_": "paragraph"}
        below = [{"text_block": text, "page_span": span}]
        head = {"text": f"Assembly {code}", "type_": "heading-1", "blocks": below}
        blocks.append({"text_block": head, "page_span": span})
    return Document.pb(Document(document_layout={"blocks": blocks}))


def test_the_layout_parser_gets_files_of_its_pages(
    manual: Path, replies: FolderReplies, settings_for: SettingsMaker
) -> None:
    with DocumentAiServer(reply_of(manual), answer=tree_of) as server:
        settings = settings_for(server, processor_type="layout_parser")
        parsed = DocumentAiParser(settings, replies=replies).parse(manual)
    assert sorted(call.sent_pages for call in server.calls) == [10, 15, 15]
    assert not any(call.pages for call in server.calls)
    assert server.calls[0].options == {"layout_config": {"return_bounding_boxes": True}}
    assert parsed.blocks["page_number"].tolist() == [p for p in range(1, 41) for _ in range(2)]
    assert parsed.blocks["text"].iloc[::2].tolist() == [f"Assembly {p}" for p in range(1, 41)]
    assert parsed.blocks["level_hint"].iloc[::2].tolist() == [1] * 40
    assert parsed.usage == [Usage("document_ai", "layout_parser", "parse", requests=3, pages=40)]


def test_a_page_missing_from_the_tree_is_a_fault(
    short: Path, replies: FolderReplies, settings_for: SettingsMaker
) -> None:
    """Blank pages have no blocks: page 3 shows text, so that it is none."""

    def without_the_last(document: Document) -> None:
        del document.document_layout.blocks[-1]

    with DocumentAiServer(
        reply_of(short), [Fault(change=without_the_last)], answer=tree_of
    ) as server:
        settings = settings_for(server, processor_type="layout_parser")
        with pytest.raises(ParserServiceError, match="page 3 has text to be seen"):
            DocumentAiParser(settings, replies=replies).parse(short)
        assert replies.names() == []


def test_no_processor_is_a_settings_error() -> None:
    with pytest.raises(SettingsError, match=r"document_ai\.project is not set"):
        DocumentAiParser(DocumentAiSettings())
    with pytest.raises(SettingsError, match=r"document_ai\.processor is not set"):
        DocumentAiParser(DocumentAiSettings(project="p"))


def test_requests_name_version_and_options(short: Path, settings_for: SettingsMaker) -> None:
    with DocumentAiServer(reply_of(short)) as server:
        settings = settings_for(
            server, location="eu", processor_version="rc", language_hints=["ko"], style_info=True
        )
        parsed = DocumentAiParser(settings).parse(short)
        DocumentAiParser(settings_for(server)).parse(short)
        DocumentAiParser(settings_for(server, processor_type="form_parser")).parse(short)
    assert server.calls[0].name == "projects/p/locations/eu/processors/1f/processorVersions/rc"
    assert server.calls[0].options["ocr_config"]["hints"] == {"language_hints": ["ko"]}
    assert server.calls[0].options["ocr_config"]["premium_features"]["compute_style_info"]
    assert server.calls[1].options == server.calls[2].options == {}
    assert parsed.usage == [
        Usage("document_ai", "ocr", "parse", requests=1, pages=3),
        Usage("document_ai", "ocr_add_on", "parse", pages=3),
    ]
