"""Output of `rag search`: results, where each score comes from, and the SQL."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from pathlib import PurePath
from typing import TYPE_CHECKING

from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from rag_pipeline.console.terminal import out, safe, safe_line, visible
from rag_pipeline.search.marking import Marker
from rag_pipeline.text import one_line

if TYPE_CHECKING:
    from rag_pipeline.answering import Citation
    from rag_pipeline.search import ScoreDetail, SearchResponse, SearchResult
    from rag_pipeline.search.sql_statements import Statement

SNIPPET_CHARACTERS = 280
_CORE = 200
"""Characters within which matches are counted."""
_CODE = 4
"""Weight of a match with a digit: a code is asked for itself."""
_DIGIT = re.compile(r"\d")
_LEAD = 40
"""Characters shown before the first match."""
_LONG_VALUE = re.compile(r"('[^']{80})[^']{80,}(')")
_TABLE_RULE = re.compile(r"\|[-:| ]{3,}\|")


def print_search(response: SearchResponse, explain: bool) -> None:
    """Print results with trail, page, snippet and each clause's share of the score."""
    for note in response.notes:
        out.print(f"[yellow]note[/] {safe(note)}")
    meant: dict[str, list[str]] = {}
    for correction in response.corrections:
        if correction.is_shown:
            meant.setdefault(correction.typed, []).append(correction.found)
    for typed, found in meant.items():
        out.print(f"[yellow]corrected[/] {safe(typed)} → {safe(', '.join(found))}")
    if explain and response.feedback:
        words = safe(", ".join(response.feedback))
        out.print(f"[yellow]little found[/] also searched for words of the best results: {words}")
    if response.results and not response.is_found:
        out.print("[yellow]nothing found[/] that answers this; the nearest texts:")
    languages = sorted({result.language for result in response.results})
    marker = Marker(
        response.query,
        languages,
        [correction.found for correction in response.corrections if correction.is_shown],
    )
    for number, result in enumerate(response.results, start=1):
        if number > 1:
            out.print()
        trail = safe(result.breadcrumb_trail) or "[dim]no heading[/]"
        out.print(f"[bold]{number}. {trail}[/]")
        reranked = "" if result.rerank_score is None else f", reranked {result.rerank_score:.3f}"
        language = f" · {result.language}" if len(languages) > 1 else ""
        out.print(
            f"   [cyan]{safe_line(result.document)}[/], {pages(result)}{language} · relevance "
            f"{result.relevance:.2f}{reranked} · score {result.score:.4f} = {_shares(result)}"
        )
        out.print(
            Padding(snippet(result.content, marker), (0, 0, 0, 3), expand=False), soft_wrap=False
        )
        if result.copies:
            names = ", ".join(PurePath(path).name for path in result.copies)
            out.print(f"   [dim]the same in[/] {safe_line(names)}")
        if result.context is not None:
            context = Text(one_line(visible(result.context)), style="dim italic")
            out.print(Padding(context, (0, 0, 0, 3), expand=False), soft_wrap=False)
        if explain:
            out.print(_details(result))
    if explain and response.seconds:
        times = ", ".join(f"{name} {1000 * s:.0f} ms" for name, s in response.seconds.items())
        out.print(f"[dim]{times}[/]")


def print_statements(statements: Sequence[Statement]) -> None:
    """Print SQL that can be pasted into psql; long values are cut, but not in `--json`."""
    for statement in statements:
        heading = ": ".join(filter(None, (statement.name, statement.comment)))
        out.print(f"-- {heading}".rstrip(), markup=False)
        out.print(_LONG_VALUE.sub(r"\1…\2", statement.sql) + "\n", markup=False)


def pages(place: SearchResult | Citation) -> str:
    """Return `page 3`, `pages 3–4`, or `page 4 of 3–4` if one of them matches best."""
    if place.page_start == place.page_end:
        return f"page {place.page_start}"
    if place.pages:
        return f"page {place.pages[0]} of {place.page_start}–{place.page_end}"
    return f"pages {place.page_start}–{place.page_end}"


def snippet(content: str, marker: Marker) -> Text:
    """Return the part of a chunk's text that matches best, on one line, its matches marked."""
    text = " ".join(_TABLE_RULE.sub(" ", visible(content)).replace(" | ", " · ").split())
    hits = marker.spans(text)
    start = _best_start(text, hits) if len(text) > SNIPPET_CHARACTERS else 0
    end = start + SNIPPET_CHARACTERS
    if end < len(text):
        end = max(start + 1, text.rfind(" ", start, end))
    shown = Text("… " if start else "", style="dim")
    offset = len(shown) - start
    shown.append(text[start:end])
    if end < len(text):
        shown.append(" …")
    for first, last in hits:
        if start <= first and last <= end:
            shown.stylize("bold not dim", first + offset, last + offset)
    return shown


def _best_start(text: str, hits: Sequence[tuple[int, int]]) -> int:
    """Return where the part with most different, and seldom, matches begins, a little before."""
    words = [text[a:b].lower() for a, b in hits]
    counts = Counter(words)

    def worth(start: int) -> float:
        inside = {
            word
            for (a, b), word in zip(hits, words, strict=True)
            if start <= a and b <= start + _CORE
        }
        return sum((_CODE if _DIGIT.search(word) else 1) / counts[word] for word in inside)

    first = max((a for a, _ in hits), key=lambda a: (worth(a), -a), default=0)
    if first <= SNIPPET_CHARACTERS - _CORE:
        return 0
    return text.rfind(" ", 0, first - _LEAD) + 1


def _shares(result: SearchResult) -> str:
    whole = result.score or 1.0
    return " + ".join(
        f"{_clause(detail)} {detail.contribution:.4f} ({detail.contribution / whole:.0%})"
        for detail in result.details
    )


def _clause(detail: ScoreDetail) -> str:
    """Return `vector`, or `text.words` for a leg with several clauses."""
    return detail.leg if detail.leg == detail.clause else f"{detail.leg}.{detail.clause}"


def _details(result: SearchResult) -> Table:
    table = Table(box=None, padding=(0, 2, 0, 3), header_style="dim")
    for column in ("leg", "clause", "raw score", "rank", "weight", "contribution"):
        table.add_column(column, justify="left" if column in ("leg", "clause") else "right")
    for detail in result.details:
        table.add_row(
            detail.leg,
            detail.clause,
            f"{detail.raw_score:.4f}",
            str(detail.rank),
            f"{detail.weight:g}",
            f"{detail.contribution:.5f}",
        )
    table.add_row("sum", "", "", "", "", f"{result.score:.5f}", style="bold")
    return table
