"""Output of `rag ask`: the answer, the source of each statement, and what to doubt."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from rag_pipeline.console.search_output import pages
from rag_pipeline.console.terminal import out, safe

if TYPE_CHECKING:
    from rag_pipeline.answering import Answer, AnswerStream, Citation
    from rag_pipeline.usage import Usage


def print_stream(stream: AnswerStream) -> Answer:
    """Print an answer's text as it arrives, then its sources. Raises `ChatError`."""
    begun = False
    try:
        for piece in stream:
            sys.stdout.write("".join(c for c in piece if c.isprintable() or c in "\n\t"))
            sys.stdout.flush()
            begun = begun or bool(piece.strip())
    finally:
        if begun:
            sys.stdout.write("\n")
            sys.stdout.flush()
    answer = stream.answer
    if not begun:
        out.print(safe(answer.text))
    print_foot(answer)
    return answer


def print_answer(answer: Answer) -> None:
    """Print a complete answer."""
    if answer.quotes:
        out.print("[dim]Extractive answer: sentences of the documents, word for word.[/]")
        for quote in answer.quotes:
            out.print(f"“{safe(quote.text)}” [cyan]{safe(quote.citation.marker)}[/]")
    else:
        out.print(safe(answer.text))
    print_foot(answer)


def print_foot(answer: Answer) -> None:
    """Print problems, sources and token counts."""
    for problem in answer.problems:
        out.print(f"[yellow]doubtful[/] {safe(problem)}")
    for citation in answer.citations:
        out.print(_place(citation))
    if answer.computation is not None:
        out.print(
            f"[dim]computed over {safe(answer.computation.source)} by SQL:[/]\n"
            f"{safe(answer.computation.sql)}"
        )
    if answer.usage:
        out.print(f"[dim]{safe(answer.model or 'chat model')}: {_tokens(answer.usage)}[/]")


def _place(place: Citation) -> str:
    box = ""
    if place.regions:
        region = next((one for one in place.regions if one["page"] == place.page), place.regions[0])
        corners = ", ".join(f"{region[edge]:.2f}" for edge in ("x0", "y0", "x1", "y1"))
        box = f", box ({corners})"
    return (
        f"[cyan]{safe(place.marker)}[/] {safe(place.document)}, {pages(place)}{box}, "
        f"chunk {place.chunk_id}: [dim]{safe(place.breadcrumb_trail)}[/]"
    )


def _tokens(usage: list[Usage]) -> str:
    read, written = sum(use.tokens for use in usage), sum(use.output_tokens for use in usage)
    return f"{read} tokens read, {written} written"
