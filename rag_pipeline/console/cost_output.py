"""Output about dry runs, embedding spaces and cost."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from rich.table import Table

from rag_pipeline.console.progress_bars import STAGE_TITLES
from rag_pipeline.console.terminal import out, safe, safe_line
from rag_pipeline.store.embeddings import SpaceRow
from rag_pipeline.store.usage_table import UsageTotal
from rag_pipeline.sync.planning.estimate import SyncEstimate
from rag_pipeline.sync.planning.plan import SourceChanges
from rag_pipeline.text import counted


def usd(value: float | None) -> str:
    """Return an amount with as many digits as needed.

    >>> usd(0.00042), usd(12.5), usd(None)
    ('$0.00042', '$12.50', 'unknown')
    """
    if value is None:
        return "unknown"
    if value == 0 or value >= 1:
        return f"${value:,.2f}"
    return f"${value:.2g}"


def print_reason(name: str, stage: str, why: str, sent_why: str = "") -> None:
    """Print why a document is processed, from which stage on, and why it is sent to Document AI."""
    sent = f" · [yellow]Document AI: {safe(sent_why)}[/]" if sent_why else ""
    out.print(f"{safe_line(name)} [dim]from {STAGE_TITLES[stage]} on: {safe(why)}[/]{sent}")


def print_edited(edited: Sequence[Mapping[str, str | int]]) -> None:
    """Print how many texts of each edited document are embedded again, and why."""
    for one in edited:
        made, moved = int(one["made"]), int(one["moved"])
        why = [f"{made - moved} with other text"] if made > moved else []
        why += [f"{moved} under another heading, which is embedded with them"] if moved else []
        reason = f": {', '.join(why)}" if why else ""
        total = made + int(one["kept"])
        out.print(
            f"{safe_line(str(one['file']))} [dim]{made} of {counted(total, 'chunk')} embedded "
            f"again{reason}[/]"
        )


def print_dry_run(changes: SourceChanges, estimate: SyncEstimate, problems: Sequence[str]) -> None:
    """Print what a sync would do and cost."""
    files = ", ".join(f"{count} {kind}" for kind, count in changes.counts().items() if count)
    out.print(f"[bold]files[/]      {files or 'none found'}")
    pages = counted(estimate.pages, "page")
    out.print(f"[bold]documents[/]  {len(estimate.documents)} to process, about {pages}")
    if estimate.sent_pages:
        out.print(f"[bold]sent[/]       {counted(estimate.sent_pages, 'page')} to Document AI")
    where = "on this machine" if estimate.model.startswith("local/") else "sent"
    out.print(f"[bold]tokens[/]     about {estimate.tokens:,} to {estimate.model}, {where}")
    unknown = "; more for models with unknown prices" if estimate.has_unknown_prices else ""
    out.print(f"[bold]cost[/]       about {usd(estimate.usd)}{unknown}")
    for problem in problems:
        out.print(f"[yellow]note[/] {safe(problem)}")
    out.print("[dim]Nothing was written or sent.[/]")


def print_spaces(spaces: Sequence[SpaceRow]) -> None:
    """Print every embedding space, the active one first."""
    table = Table(box=None, padding=(0, 2, 0, 0), header_style="dim")
    for column in ("space", "state", "vectors", "of chunks", "cached texts"):
        # Names are typed again in other commands, so they are never cut.
        table.add_column(
            column,
            justify="left" if column in ("space", "state") else "right",
            overflow="fold" if column == "space" else "ellipsis",
        )
    for row in spaces:
        state = row.space.state + (", pinned" if row.space.pinned else "")
        table.add_row(
            safe(row.space.name), state, str(row.vectors), str(row.chunks), str(row.cached)
        )
    out.print(table)


def print_cost(totals: Sequence[UsageTotal], by: str) -> None:
    """Print usage and estimated cost by group, and the total."""
    if not totals:
        out.print("no service has been called yet")
        return
    table = Table(box=None, padding=(0, 2, 0, 0), header_style="dim")
    for column in (by, "requests", "tokens", "output tokens", "pages", "estimated cost"):
        table.add_column(column, justify="left" if column == by else "right")
    for total in totals:
        table.add_row(
            safe(total.group),
            f"{total.requests:,}",
            f"{total.tokens:,}",
            f"{total.output_tokens:,}",
            f"{total.pages:,}",
            usd(total.usd) + (" + unknown" if total.unpriced and total.usd is not None else ""),
        )
    out.print(table)
    out.print(f"[bold]total[/] {usd(sum(total.usd or 0.0 for total in totals))} (estimate)")
