"""Which pages `auto` sends to Document AI, and why. Pure.

A page is sent from a score (see `page_quality`) of `document_ai.auto_score` on. When the share of
pages to be sent reaches `auto_document_share`, the whole document is sent. With the layout parser,
so is a longer document in which nothing stands out: one size and weight, no numbering, no heading
named by the file itself.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, replace

import pandas as pd

from rag_pipeline.frames import Blocks, check
from rag_pipeline.parsing.contract import ParsedDocument
from rag_pipeline.parsing.document_ai.service.page_ranges import describe_pages
from rag_pipeline.parsing.document_ai.service.process_requests import add_ons
from rag_pipeline.parsing.page_quality import page_score
from rag_pipeline.settings import DocumentAiSettings
from rag_pipeline.text import detect_language
from rag_pipeline.usage import Usage

PLAIN_PAGES = 3
PLAIN_WORDS = 600
PLAIN_SHARE = 0.995
"""A document of so many pages and words, of which this share looks alike, has poor structure."""

_NUMBERED = re.compile(r"^\d{1,2}(?:\.\d{1,2})*[.)]?\s+\S")


@dataclass(frozen=True)
class Choice:
    """Pages to be sent, in order, with a reason in words for each; none where `pages` is empty."""

    pages: tuple[int, ...]
    reasons: Mapping[int, str] = field(default_factory=dict)
    page_count: int = 0
    model: str = "ocr"
    add_ons: int = 0

    def usage(self) -> list[Usage]:
        """What it would be to send the pages, if no reply is stored."""
        if not self.pages:
            return []
        pages = len(self.pages)
        found = [Usage("document_ai", self.model, "parse", pages=pages)]
        if self.add_ons:
            found.append(Usage("document_ai", "ocr_add_on", "parse", pages=self.add_ons * pages))
        return found

    def describe(self) -> str:
        """One line for people.

        >>> Choice((2, 3), {2: "no text", 3: "no text"}, page_count=9).describe()
        'page 2-3 of 9: no text'
        """
        if not self.pages:
            return "nothing to send"
        groups: dict[str, list[int]] = {}
        for page in self.pages:
            groups.setdefault(self.reasons[page], []).append(page)
        if len(self.pages) == self.page_count and len(groups) == 1:
            return f"all {self.page_count} pages: {next(iter(groups))}"
        return "; ".join(
            f"page {describe_pages(pages)}" + f" of {self.page_count}: {reason}"
            for reason, pages in groups.items()
        )


def choose(
    parsed: ParsedDocument,
    settings: DocumentAiSettings,
    *,
    blank_pages: Collection[int] = (),
) -> Choice:
    """Choose the pages of a document that Document AI is to read, by what the local parser made.

    `blank_pages` show nothing, so that it is right that they have no text. Calls nobody.
    """
    texts, confidences = _by_page(parsed)
    reasons: dict[int, str] = {}
    for page in range(1, parsed.page_count + 1):
        if page in blank_pages and not texts.get(page, "").strip():
            continue
        score, reason = page_score(texts.get(page, ""), confidences.get(page))
        if score >= settings.auto_score:
            reasons[page] = reason
    whole = None
    if reasons and len(reasons) >= settings.auto_document_share * parsed.page_count:
        whole = f"{len(reasons)} of {parsed.page_count} pages need it"
    elif settings.processor_type == "layout_parser" and not reasons:
        whole = _plainness(parsed)
    if whole is not None:
        reasons = {page: reasons.get(page, whole) for page in range(1, parsed.page_count + 1)}
    return Choice(
        tuple(sorted(reasons)),
        reasons,
        parsed.page_count,
        settings.processor_type,
        add_ons(settings),
    )


def _by_page(parsed: ParsedDocument) -> tuple[dict[int, str], dict[int, float]]:
    """Text of each page, and mean confidence of what was recognized on it."""
    texts: dict[int, list[str]] = {}
    sums: dict[int, list[float]] = {}
    frame = parsed.blocks
    for page, text, confidence in zip(
        frame["page_number"].tolist(),
        frame["text"].tolist(),
        frame["confidence"].tolist(),
        strict=True,
    ):
        texts.setdefault(page, []).append(text)
        if confidence < 1 and text:
            total = sums.setdefault(page, [0.0, 0.0])
            total[0] += confidence * len(text)
            total[1] += len(text)
    return (
        {page: "\n".join(found) for page, found in texts.items()},
        {page: weighted / length for page, (weighted, length) in sums.items()},
    )


def _plainness(parsed: ParsedDocument) -> str | None:
    """Why a document has poor structure, or None."""
    frame = parsed.blocks
    if parsed.page_count < PLAIN_PAGES or frame["level_hint"].notna().any():
        return None
    text = frame[frame["kind"] == "text"]
    if sum(len(one.split()) for one in text["text"]) < PLAIN_WORDS:
        return None
    if sum(bool(_NUMBERED.match(one)) for one in text["text"]) >= PLAIN_PAGES:
        return None
    looks: Counter[tuple[float, bool]] = Counter()
    for size, bold, one in zip(text["font_size"], text["is_bold"], text["text"], strict=True):
        looks[round(size * 2) / 2, bool(bold)] += len(one)
    share = max(looks.values()) / sum(looks.values())
    return "no heading stands out" if share >= PLAIN_SHARE else None


def merge_pages(
    local: ParsedDocument, service: ParsedDocument, pages: Collection[int]
) -> ParsedDocument:
    """Take `pages` from the service's result and the others from the local one.

    Page numbers are the source's in both, so that none shifts. Sizes may differ a little between
    the two; everything else has the same meaning.
    """
    chosen = set(pages)
    mine = local.blocks[~local.blocks["page_number"].isin(chosen)]
    theirs = service.blocks[service.blocks["page_number"].isin(chosen)]
    parts = [part for part in (mine, theirs) if len(part)]
    if not parts:
        return replace(service, warnings=[*local.warnings, *service.warnings])
    frame = pd.concat([part.astype({"table_cells": object}) for part in parts], ignore_index=True)
    frame = frame.sort_values("page_number", kind="stable", ignore_index=True)
    for name in frame.columns:
        if any(name in part and part[name].dtype == bool for part in parts):
            frame[name] = frame[name].eq(True)  # a column that only one of the two has
    language = detect_language("\n".join(frame["text"]))
    if language == "und":
        language = local.language if local.language != "und" else service.language
    frame["block_index"] = range(len(frame))
    frame["language"] = language
    return ParsedDocument(
        check(frame, Blocks),
        max(local.page_count, service.page_count),
        local.title or service.title,
        language,
        [*local.warnings, *service.warnings],
        [*local.usage, *service.usage],
    )
