"""What a plan would cost before anything is spent: pages, tokens, US dollars.

Rather too much where it cannot be exact: a document that is to be chunked again is counted whole,
although texts that stay the same come from the cache. While a sync runs, `Ledger` counts exactly.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from rag_pipeline.embedding_models import api_name
from rag_pipeline.errors import BudgetError, ParseError
from rag_pipeline.settings import Settings
from rag_pipeline.store.database import Database
from rag_pipeline.store.documents import DocumentState, TokenCounts, document_states, token_counts
from rag_pipeline.store.named_queries import queries
from rag_pipeline.sync.planning.fingerprints import BLOCKS, EMBEDDINGS, STAGES
from rag_pipeline.sync.planning.plan import SyncPlan
from rag_pipeline.sync.planning.profiles import Profiles
from rag_pipeline.sync.planning.refresh import settings_space
from rag_pipeline.sync.sync_context import SyncContext
from rag_pipeline.usage import Usage, estimate_usd

# Parsers are loaded by the functions that ask them: most syncs have no limit of cost.
if TYPE_CHECKING:
    from rag_pipeline.parsing.page_choice import Choice

TOKENS_PER_PAGE = 600
"""Where the store has no documents yet to tell it from: a page of a technical manual."""
BYTES_PER_PAGE = 4_000
BYTES_PER_TOKEN = 3
"""Of a file without pages: text has about four bytes a token, in Korean more."""
BYTES_PER_PDF_PAGE = 25_000
"""Of a PDF that lies elsewhere and cannot be looked at; scans have far more."""
CONTEXT_PROMPT_TOKENS = 400
CONTEXT_REPLY_TOKENS = 120
CHUNK_TOKENS = 300
"""What the chat model reads and writes for a chunk's context, and how large a chunk is."""


@dataclass(frozen=True)
class DocumentEstimate:
    """One document that is to be done."""

    source_hash: str
    name: str
    stage: str
    why: str
    pages: int
    tokens: int
    """To be embedded, at most."""
    sent_pages: int = 0
    """To be sent to Document AI."""
    sent_why: str = ""
    usd: float | None = 0.0
    """None where a price is not known."""


@dataclass(frozen=True)
class SyncEstimate:
    """Every document to be done, with the sums."""

    documents: list[DocumentEstimate] = field(default_factory=list)
    model: str = ""
    parsers: tuple[str, ...] = ("local",)

    @property
    def pages(self) -> int:
        """Pages of the documents to be done."""
        return sum(document.pages for document in self.documents)

    @property
    def sent_pages(self) -> int:
        """Pages that go to Document AI."""
        return sum(document.sent_pages for document in self.documents)

    @property
    def tokens(self) -> int:
        """Tokens to be embedded, at most."""
        return sum(document.tokens for document in self.documents)

    @property
    def usd(self) -> float:
        """Estimated cost, without what has no known price."""
        return sum(document.usd or 0.0 for document in self.documents)

    @property
    def has_unknown_prices(self) -> bool:
        """Whether the cost is more than `usd` says."""
        return any(document.usd is None for document in self.documents)


def estimate_plan(
    plan: SyncPlan,
    settings: Settings,
    database: Database,
    on_document: Callable[[], None] = lambda: None,
) -> SyncEstimate:
    """Estimate what carrying out `plan` costs; `on_document` is called after each document.

    Files of sources with `parser = "auto"` are read by the local parser, which costs time but no
    money, to tell which pages would be sent.
    """
    profiles = Profiles(settings)
    states = list(plan.states.values())
    with database.connection() as connection:
        space = settings_space(settings, connection)
        hashes = [state.source_hash for state in states]
        counts = token_counts(connection, space.space_id if space else None, hashes)
    documents = []
    parsers = set()
    for state in states:
        own = profiles.settings_of(state)
        parsers.add(own.parsing.parser)
        documents.append(_estimate(state, plan, own, counts))
        on_document()
    embedding = settings.embedding
    model = f"{embedding.provider}/{api_name(embedding.model)}"
    return SyncEstimate(documents, model, tuple(sorted(parsers)))


def check_budget(estimate: SyncEstimate, max_usd: float | None, spent: float = 0.0) -> None:
    """Raise `BudgetError` where the estimate, on top of what was `spent`, is above the limit."""
    if max_usd is None:
        return
    if estimate.has_unknown_prices:
        raise BudgetError(
            f"sync.max_cost_usd = {max_usd} cannot be kept: no price is known for a model that the "
            "sync would use; nothing was sent",
            hint='set it under [prices], such as "openai/my-model" = 0.02',
        )
    if spent + estimate.usd <= max_usd:
        return
    done = f"has cost {spent:.4f} USD, and its next documents would" if spent else "would"
    raise BudgetError(
        f"the sync {done} cost an estimated {estimate.usd:.4f} USD ({estimate.sent_pages} pages "
        f"to Document AI, {estimate.tokens} tokens to {estimate.model}), more than "
        f"sync.max_cost_usd = {max_usd}; {'no more' if spent else 'nothing'} was sent",
        hint="see `rag sync --dry-run`; raise the limit or sync fewer folders",
    )


def check_cost(context: SyncContext, source_hashes: Sequence[str] | None) -> None:
    """Raise `BudgetError` where documents would cost more than `sync.max_cost_usd`.

    None: all that the store holds. What the sync's other runs have cost is added.
    """
    settings = context.settings
    if settings.sync.max_cost_usd is None or not may_cost(settings):
        return
    with context.database.connection() as connection:
        space = context.space(connection)
        states = document_states(connection, space.space_id, source_hashes)
    plan = context.profiles.plan(states)
    estimate = estimate_plan(plan, settings, context.database)
    check_budget(estimate, settings.sync.max_cost_usd, spent_before(context))


def may_cost(settings: Settings) -> bool:
    """Tell whether a sync can cost anything at all under these settings."""
    parsers = {settings.parsing.parser, *(source.parser for source in settings.sources)}
    return (
        settings.embedding.provider not in ("local", "ollama")
        or settings.chunking.llm_context
        or not parsers <= {"local", None}
    )


def _estimate(
    state: DocumentState, plan: SyncPlan, settings: Settings, counts: TokenCounts
) -> DocumentEstimate:
    from rag_pipeline.parsing.page_choice import Choice
    from rag_pipeline.parsing.pdf.native.pdf_opening import count_pages

    stage = plan.stale[state.source_hash]
    path = _first_file(state.uris)
    paged = state.page_count or (count_pages(path) if path else None)
    pages = paged or _pages_by_size(state)
    choice = _choice(path, pages, settings) if stage == BLOCKS else Choice(())
    is_chunked = STAGES.index(stage) >= STAGES.index(EMBEDDINGS)
    if is_chunked and state.source_hash in counts.all:
        tokens = counts.missing[state.source_hash]
    else:
        per_page = max(TOKENS_PER_PAGE, counts.per_page or 0.0)
        by_size = 0 if paged else state.size // BYTES_PER_TOKEN
        tokens = max(counts.all.get(state.source_hash, 0), by_size, round(pages * per_page))
    uses = [*choice.usage(), *_model_uses(tokens, is_chunked, settings)]
    costs = [estimate_usd(usage, settings.prices) for usage in uses if usage.tokens or usage.pages]
    return DocumentEstimate(
        source_hash=state.source_hash,
        name=Path(state.uris[0]).name,
        stage=stage,
        why=plan.why[state.source_hash],
        pages=pages,
        tokens=tokens,
        sent_pages=len(choice.pages),
        sent_why=choice.describe() if choice.pages else "",
        usd=_sum(costs),
    )


def _model_uses(tokens: int, is_chunked: bool, settings: Settings) -> list[Usage]:
    """Return what the models are asked for: vectors, and where it is set, contexts."""
    embedding, chat = settings.embedding, settings.chat
    model = api_name(embedding.model)
    uses = [Usage(embedding.provider, model, "embed_documents", tokens=tokens)]
    if is_chunked:
        return uses
    if settings.chunking.strategy == "semantic":
        # Every sentence is embedded to find where the meaning turns.
        uses.append(Usage(embedding.provider, model, "embed_documents", tokens=tokens))
    if settings.chunking.llm_context:
        from rag_pipeline.chunking.chunk_contexts import DOCUMENT_CHARACTERS

        chunks = max(1, tokens // min(CHUNK_TOKENS, settings.chunking.target_tokens))
        uses.append(
            Usage(
                chat.provider,
                chat.model,
                "chat",
                tokens=chunks * (DOCUMENT_CHARACTERS // 4 + CONTEXT_PROMPT_TOKENS),
                output_tokens=chunks * CONTEXT_REPLY_TOKENS,
            )
        )
    return uses


def _pages_by_size(state: DocumentState) -> int:
    is_pdf = state.uris[0].lower().endswith(".pdf")
    return max(1, state.size // (BYTES_PER_PDF_PAGE if is_pdf else BYTES_PER_PAGE))


def _choice(path: Path | None, pages: int, settings: Settings) -> Choice:
    """Return the pages that go to Document AI, and why."""
    from rag_pipeline.parsing.page_choice import Choice
    from rag_pipeline.parsing.parsers import AutoParser, ServiceParser, create_parser

    if settings.parsing.parser == "local":
        return Choice(())
    if path is None:
        # It lies elsewhere: all of it may be sent, and it is not copied here to find out.
        numbers = tuple(range(1, pages + 1))
        why = "it lies elsewhere, all its pages are counted"
        model = settings.document_ai.processor_type
        return Choice(numbers, dict.fromkeys(numbers, why), pages, model)
    parser = create_parser(settings.parsing, settings.document_ai)
    assert isinstance(parser, (AutoParser, ServiceParser))
    try:
        return parser.plan(path)
    except ParseError:
        return Choice(())  # it will fail before anything is sent


def _first_file(uris: Iterable[str]) -> Path | None:
    return next((Path(uri) for uri in uris if Path(uri).is_file()), None)


def _sum(costs: Iterable[float | None]) -> float | None:
    total = 0.0
    for cost in costs:
        if cost is None:
            return None
        total += cost
    return total


def spent_before(context: SyncContext) -> float:
    """Return the estimated US dollars that the sync's other runs have cost, if there is a limit."""
    if context.settings.sync.max_cost_usd is None or not context.earlier_runs:
        return 0.0
    with context.database.connection() as connection:
        return float(queries.spent_usd(connection, runs=list(context.earlier_runs)))
