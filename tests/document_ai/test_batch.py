"""Batch jobs: the real clients of Document AI and Cloud Storage against servers of this machine."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from gcp_storage_emulator.server import create_server
from google.auth.credentials import AnonymousCredentials
from google.cloud import storage
from google.cloud.documentai_v1 import BatchProcessRequest, Document

from rag_pipeline.errors import ParseError, ParserServiceError, ProviderError
from rag_pipeline.parsing.document_ai import DocumentAiParser
from rag_pipeline.parsing.document_ai.service import batch as batch_module
from rag_pipeline.parsing.document_ai.service.shards import merge_shards
from rag_pipeline.settings import DocumentAiSettings
from rag_pipeline.usage import Usage
from tests.clock import skip_time
from tests.document_ai.conftest import FolderReplies, SettingsMaker
from tests.document_ai.replies import make_manual, reply_of
from tests.document_ai.server import DocumentAiServer, Fault

BUCKET = "jobs"
ORDER = (2, 0, 3, 1)
"""The files of a job are named in another order than their shards'."""


@pytest.fixture(scope="module")
def storage_url() -> Iterator[str]:
    """A server of Cloud Storage that keeps files in memory."""
    server = create_server("127.0.0.1", 0, in_memory=True, default_bucket=BUCKET)
    server.start()
    address = server._api._httpd.server_address
    yield f"http://{address[0]}:{address[1]}"
    server.stop()


@pytest.fixture
def bucket(storage_url: str) -> Iterator[storage.Bucket]:
    """The bucket, emptied afterwards."""
    client = storage.Client(
        project="p",
        credentials=AnonymousCredentials(),
        client_options={"api_endpoint": storage_url},
    )
    bucket = client.bucket(BUCKET)
    yield bucket
    for blob in client.list_blobs(bucket):
        blob.delete()


@pytest.fixture
def manual(tmp_path: Path) -> Path:
    """A PDF of 8 pages that say their numbers."""
    return make_manual(tmp_path / "manual.pdf", 8)


@pytest.fixture
def batch_settings(
    settings_for: SettingsMaker, storage_url: str, monkeypatch: pytest.MonkeyPatch
) -> Callable[..., DocumentAiSettings]:
    """Settings of batch mode; jobs are asked for every 50 ms."""
    monkeypatch.setattr(batch_module, "FIRST_POLL", 0.05)
    monkeypatch.setattr(batch_module, "LONGEST_POLL", 0.05)

    def make(server: DocumentAiServer, **values: Any) -> DocumentAiSettings:
        given = {
            "mode": "batch",
            "bucket": f"gs://{BUCKET}/work",
            "storage_endpoint": storage_url,
            **values,
        }
        return settings_for(server, **given)

    return make


def shards_of(document: Any, count: int) -> list[Any]:
    """Part a reply as batch jobs do: pages keep their numbers, each shard has its own text."""
    size = -(-len(document.pages) // count)
    shards = []
    for index in range(count):
        shard = Document.pb(Document(mime_type=document.mime_type))
        shard.pages.extend(document.pages[index * size : (index + 1) * size])
        start = shard.pages[0].layout.text_anchor.text_segments[0].start_index
        end = shard.pages[-1].layout.text_anchor.text_segments[0].end_index
        shard.text = document.text[start:end]
        for page in shard.pages:
            groups = (page.blocks, page.paragraphs, page.lines, page.tokens)
            layouts = [unit.layout for group in groups for unit in group]
            for layout in [page.layout, *layouts]:
                for segment in layout.text_anchor.text_segments:
                    segment.start_index -= start
                    segment.end_index -= start
        shard.shard_info.shard_index, shard.shard_info.shard_count = index, count
        shard.shard_info.text_offset = start
        shards.append(shard)
    return shards


def writer(bucket: storage.Bucket, shards: list[Any], order: tuple[int, ...] = ORDER) -> Any:
    """What the service does with a job: reads the input, writes a file for each shard."""

    def run(request: BatchProcessRequest) -> None:
        (source,) = request.input_documents.gcs_documents.documents
        name = source.gcs_uri.removeprefix(f"gs://{BUCKET}/")
        assert bucket.blob(name).download_as_bytes()[:5] == b"%PDF-"
        target = request.document_output_config.gcs_output_config.gcs_uri
        folder = target.removeprefix(f"gs://{BUCKET}/")
        for number, shard in enumerate(shards):
            text = Document.to_json(Document.wrap(shard))
            blob = bucket.blob(f"{folder}1/0/input-{order[number]}.json")
            blob.upload_from_string(text, content_type="application/json")

    return run


def test_shards_are_joined_by_their_index(
    manual: Path,
    bucket: storage.Bucket,
    replies: FolderReplies,
    batch_settings: Callable[..., DocumentAiSettings],
) -> None:
    reply = reply_of(manual)
    run = writer(bucket, shards_of(reply, 4))
    with DocumentAiServer(reply, run_job=run, job_polls=3) as server:
        settings = batch_settings(server)
        parsed = DocumentAiParser(settings, replies=replies).parse(manual)
        assert len(server.jobs) == 1
        online = DocumentAiParser(settings.model_copy(update={"mode": "online"})).parse(manual)
        again = DocumentAiParser(settings, replies=replies).parse(manual)
        assert len(server.jobs) == 1
    assert parsed.blocks.equals(online.blocks)
    assert parsed.usage == [Usage("document_ai", "ocr", "parse", requests=1, pages=8)]
    assert again.usage == []
    assert replies.names() == ["1-8.pb.gz"]
    # Nothing is left behind in the bucket.
    assert list(bucket.client.list_blobs(bucket)) == []


def test_auto_mode_makes_jobs_of_large_documents_only(
    manual: Path,
    tmp_path: Path,
    bucket: storage.Bucket,
    batch_settings: Callable[..., DocumentAiSettings],
) -> None:
    reply = reply_of(manual)
    small = make_manual(tmp_path / "small.pdf", 3)
    with DocumentAiServer(reply, run_job=writer(bucket, shards_of(reply, 4))) as server:
        settings = batch_settings(server, mode="auto", batch_min_pages=8)
        DocumentAiParser(settings).parse(small)
        assert (len(server.calls), len(server.jobs)) == (1, 0)
        DocumentAiParser(settings).parse(manual)
        assert (len(server.calls), len(server.jobs)) == (1, 1)


def test_a_job_that_was_started_is_found_again(
    manual: Path,
    bucket: storage.Bucket,
    replies: FolderReplies,
    batch_settings: Callable[..., DocumentAiSettings],
) -> None:
    reply = reply_of(manual)
    with DocumentAiServer(
        reply, run_job=writer(bucket, shards_of(reply, 4)), job_polls=10
    ) as server:
        settings = batch_settings(server, batch_timeout_minutes=0.002)
        with pytest.raises(ParserServiceError, match="is not done after") as caught:
            DocumentAiParser(settings, replies=replies).parse(manual)
        assert not caught.value.permanent
        settings = batch_settings(server)
        parsed = DocumentAiParser(settings, replies=replies).parse(manual)
        assert len(server.jobs) == 1
    assert parsed.blocks["page_number"].drop_duplicates().tolist() == list(range(1, 9))
    assert parsed.usage == []


def test_faults_while_waiting_keep_the_job(
    manual: Path,
    bucket: storage.Bucket,
    replies: FolderReplies,
    batch_settings: Callable[..., DocumentAiSettings],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    reply = reply_of(manual)
    faults = [Fault(), *[Fault("UNAVAILABLE")] * 9]
    with DocumentAiServer(reply, faults, run_job=writer(bucket, shards_of(reply, 4))) as server:
        # The deadline passes with the second question for the job's state.
        skip_time(monkeypatch, lambda: 60 if len(server.faults) <= 7 else 0)
        settings = batch_settings(server, timeout_seconds=60)
        with pytest.raises(ParserServiceError, match=r"no answer within 60 s \(2 attempts"):
            DocumentAiParser(settings, replies=replies).parse(manual)
        server.faults.clear()
        DocumentAiParser(batch_settings(server), replies=replies).parse(manual)
        assert len(server.jobs) == 1


def test_a_job_that_failed_or_is_forgotten_is_started_again(
    manual: Path,
    bucket: storage.Bucket,
    replies: FolderReplies,
    batch_settings: Callable[..., DocumentAiSettings],
) -> None:
    reply = reply_of(manual)
    run = writer(bucket, shards_of(reply, 4))
    with DocumentAiServer(reply, run_job=run, job_error="cannot read the input") as server:
        settings = batch_settings(server)
        with pytest.raises(ParserServiceError, match=r"job failed .cannot read the input"):
            DocumentAiParser(settings, replies=replies).parse(manual)
        server.job_error, server.job_polls = "", 1000
        with pytest.raises(ParserServiceError, match="is not done"):
            DocumentAiParser(
                batch_settings(server, batch_timeout_minutes=0.002), replies=replies
            ).parse(manual)
        assert len(server.jobs) == 2
        # The service keeps finished jobs for some days only.
        server.faults, server.job_polls = [Fault("NOT_FOUND", "no such operation")], 1
        DocumentAiParser(settings, replies=replies).parse(manual)
        assert len(server.jobs) == 3


@pytest.mark.parametrize("missing", [0, 3])
def test_a_missing_shard_is_never_stored(
    manual: Path,
    bucket: storage.Bucket,
    replies: FolderReplies,
    batch_settings: Callable[..., DocumentAiSettings],
    missing: int,
) -> None:
    reply = reply_of(manual)
    shards = shards_of(reply, 4)
    del shards[missing]
    with DocumentAiServer(reply, run_job=writer(bucket, shards)) as server:
        parser = DocumentAiParser(batch_settings(server), replies=replies)
        with pytest.raises(ParserServiceError, match=r"wrote the parts \[.*\] of 4"):
            parser.parse(manual)
        assert replies.names() == []
        server.run_job = writer(bucket, shards_of(reply, 4))
        parser.parse(manual)
    assert len(server.jobs) == 2


def test_a_shard_that_is_cut_is_never_stored(
    manual: Path,
    bucket: storage.Bucket,
    replies: FolderReplies,
    batch_settings: Callable[..., DocumentAiSettings],
) -> None:
    reply = reply_of(manual)

    def run(request: BatchProcessRequest) -> None:
        writer(bucket, shards_of(reply, 4))(request)
        blobs = list(bucket.client.list_blobs(bucket))
        (victim,) = [blob for blob in blobs if blob.name.endswith("input-3.json")]
        victim.upload_from_string(victim.download_as_bytes()[:-500])

    with DocumentAiServer(reply, run_job=run) as server:
        parser = DocumentAiParser(batch_settings(server), replies=replies)
        with pytest.raises(ParserServiceError, match=r"is cut .*input-3\.json"):
            parser.parse(manual)
    assert replies.names() == []


def test_jobs_of_some_pages_keep_the_numbers(
    manual: Path,
    bucket: storage.Bucket,
    batch_settings: Callable[..., DocumentAiSettings],
) -> None:
    reply = reply_of(manual)
    chosen = Document.pb(Document())
    chosen.CopyFrom(reply)
    kept = [page for page in chosen.pages if page.page_number in (3, 6)]
    for number, page in enumerate(kept, start=1):
        page.page_number = number
    del chosen.pages[:]
    chosen.pages.extend(kept)
    with DocumentAiServer(reply, run_job=writer(bucket, [chosen], (0,))) as server:
        parsed = DocumentAiParser(batch_settings(server)).parse_pages(manual, [3, 6])
    assert parsed.blocks["page_number"].drop_duplicates().tolist() == [3, 6]
    assert parsed.blocks["text"].iloc[6] == "This is page 6 of the manual, code PG-006."


def test_a_bucket_that_is_not_there(
    manual: Path, batch_settings: Callable[..., DocumentAiSettings], bucket: storage.Bucket
) -> None:
    with DocumentAiServer(reply_of(manual)) as server:
        settings = batch_settings(server, bucket="gs://elsewhere/work")
        with pytest.raises(ProviderError, match=r"Cloud Storage refuses gs://elsewhere/work"):
            DocumentAiParser(settings).parse(manual)
    assert server.jobs == []


def test_a_job_that_is_refused(
    manual: Path, bucket: storage.Bucket, batch_settings: Callable[..., DocumentAiSettings]
) -> None:
    faults = [Fault("INVALID_ARGUMENT", "Document pages exceed the limit: 5 got 8")]
    with (
        DocumentAiServer(reply_of(manual), faults) as server,
        pytest.raises(ParseError, match="too large for a batch job"),
    ):
        DocumentAiParser(batch_settings(server)).parse(manual)


def test_recorded_shards_in_any_order(recorded: Path) -> None:
    """Files 0 to 4 hold the pages 41-50, 21-30, 1-10, 11-20 and 31-40 (see their shardInfo)."""
    folder = recorded / "15_batch_shards_unordered"
    shards = [
        Document.pb(Document.from_json(file.read_text("utf-8"), ignore_unknown_fields=True))
        for file in sorted(folder.glob("*.json"))
    ]
    assert [shard.shard_info.shard_index for shard in shards] == [4, 2, 0, 1, 3]
    whole = merge_shards(shards, "winnie.pdf")
    assert [page.page_number for page in whole.pages] == list(range(1, 51))
    assert len(whole.text) == 7105 + 6527 + 8048 + 6021 + 8532
    text = json.loads((folder / "Winnie_the_Pooh_50_Pages-0.json").read_text("utf-8"))["text"]
    (segment,) = whole.pages[49].layout.text_anchor.text_segments
    assert text.endswith(whole.text[segment.start_index : segment.end_index])
