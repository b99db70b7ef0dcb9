"""The files that a batch job writes → one document. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from rag_pipeline.errors import ParserServiceError
from rag_pipeline.parsing.document_ai.service.reply_checks import page_layouts


def read_shard(content: bytes) -> Any:
    """The raw `Document` message of one JSON file. Raises `ValueError` if it is cut."""
    from google.cloud.documentai_v1 import Document
    from google.protobuf.json_format import ParseError as JsonError

    try:
        return Document.pb(Document.from_json(content.decode(), ignore_unknown_fields=True))
    except (JsonError, UnicodeDecodeError) as error:
        raise ValueError(str(error)) from error


def merge_shards(shards: Sequence[Any], name: str) -> Any:
    """Join shards in the order of their index, whatever order they arrive in.

    Each shard has its own text; anchors are shifted to its place in the joined text. Raises
    `ParserServiceError` if a shard is missing or repeated.
    """
    ordered = sorted(shards, key=lambda shard: shard.shard_info.shard_index)
    indexes = [shard.shard_info.shard_index for shard in ordered]
    expected = max([1, *(shard.shard_info.shard_count for shard in ordered)])
    if indexes != list(range(expected)):
        raise ParserServiceError(
            f"Document AI's batch job wrote the parts {indexes} of {expected}",
            document=name,
            hint="the next sync starts the job again",
        )
    whole = type(ordered[0])()
    texts: list[str] = []
    length = 0
    for shard in ordered:
        _shift(shard, length)
        texts.append(shard.text)
        length += len(shard.text)
        whole.pages.extend(shard.pages)
        whole.document_layout.blocks.extend(shard.document_layout.blocks)
        if shard.error.code:
            whole.error.CopyFrom(shard.error)
    whole.text = "".join(texts)
    whole.mime_type = ordered[0].mime_type
    return whole


def _shift(document: Any, by: int) -> None:
    if not by:
        return
    for page in document.pages:
        for layout in page_layouts(page):
            for segment in layout.text_anchor.text_segments:
                segment.start_index += by
                segment.end_index += by
