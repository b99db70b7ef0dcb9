"""How questions are answered: search, answers, and what retrieval must reach."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

from pydantic import Field, SecretStr

from rag_pipeline.settings.section import Section

ResultSelection = Literal["top_k", "mmr"]
ResultExpansion = Literal["none", "parent", "neighbours"]


class SearchWeights(Section):
    """Weight of each leg in the fusion."""

    text: float = Field(default=0.7, ge=0, description="Words, by BM25")
    vector: float = Field(default=0.3, ge=0, description="Meaning, by cosine similarity")


class ClauseWeights(Section):
    """Weight of each clause within the text leg."""

    title: float = Field(
        default=4.0, ge=0, description="A section whose own heading has all words of the query"
    )
    phrase: float = Field(
        default=2.0, ge=0, description="The query as a phrase, as far as its words are rare"
    )
    words: float = Field(default=4.0, gt=0, description="The query's words, by BM25")
    closeness: float = Field(
        default=1.0, ge=0, description="The query's words close together, as in a sentence"
    )
    fuzzy: float = Field(
        default=1.5, ge=0, description="Words that were mistyped, as corrected; 0 = no correction"
    )
    file_name: float = Field(
        default=4.0, ge=0, description="The query's words in the name of the chunk's file"
    )


class RelevanceSettings(Section):
    """How a result's relevance, 0..1, is told from its scores."""

    similarity_floor: float = Field(
        default=0.78,
        ge=-1,
        lt=1,
        description="Cosine similarity that says nothing; the default is of the local model",
    )
    similarity_ceiling: float = Field(
        default=0.93, gt=-1, le=1, description="Cosine similarity of a certain match"
    )
    recency_boost: float = Field(
        default=0.0, ge=0, le=0.2, description="Added for a document of today; less for older ones"
    )
    recency_half_life_days: float = Field(
        default=365.0, gt=0, description="Age at which half of that boost is left"
    )
    tag_boosts: dict[str, float] = Field(
        default={}, description="Added for sources with a tag: priorities of sources"
    )


class RerankerSettings(Section):
    """An HTTP service that orders the results anew; off without an address."""

    url: str | None = Field(
        default=None,
        description="Address of a `/rerank` endpoint in the format of Cohere and Voyage",
    )
    model: str = Field(default="rerank-2.5", description="Name that the service knows its model by")
    api_key: SecretStr | None = Field(default=None, description="Sent as a bearer token")
    candidates: int = Field(default=50, ge=1, le=1000, description="Results that it is shown")
    timeout_seconds: float = Field(
        default=10.0, gt=0, description="After that, the results keep their order"
    )


class SearchSettings(Section):
    """How results are found and fused."""

    weights: SearchWeights = Field(default=SearchWeights(), description="Weights of the legs")
    clauses: ClauseWeights = Field(
        default=ClauseWeights(), description="Weights of the text leg's clauses"
    )
    feedback: float = Field(
        default=1.0,
        ge=0,
        allow_inf_nan=False,
        description="Weight, as a part of text's, of words that the best results share, where "
        "little of the query's own was found; 0 = off",
    )
    limit: int = Field(default=10, ge=1, le=1000, description="Results returned")
    candidates: int = Field(default=100, ge=1, le=1000, description="Candidates taken from a leg")
    fusion: Literal["relative_score", "rrf"] = Field(
        default="relative_score",
        description="How the legs are fused: by each score as a share of its leg's best, or by "
        "ranks alone (reciprocal rank fusion)",
    )
    rank_constant: int = Field(default=60, ge=1, description="k of rrf: weight / (k + rank)")
    relevance: RelevanceSettings = Field(
        default=RelevanceSettings(), description="How relevance is told"
    )
    relevance_threshold: float = Field(
        default=0.0, ge=0, le=1, description="Results of less relevance are left out"
    )
    selection: ResultSelection = Field(
        default="top_k", description="top_k, or mmr: results that also differ from each other"
    )
    mmr_lambda: float = Field(
        default=0.7, ge=0, le=1, description="mmr: 1 = only the score counts, 0 = only difference"
    )
    duplicate_similarity: float = Field(
        default=1.0,
        gt=0,
        le=1,
        description="Share of common word triples from which a result with the same numbers is a "
        "copy of a better one and stands under it; 1 = only the very same words",
    )
    expand: ResultExpansion = Field(
        default="none", description="Text that is given with each result beyond its chunk"
    )
    reranker: RerankerSettings = Field(default=RerankerSettings(), description="Reranker")


class AnsweringSettings(Section):
    """What the chat model reads before it answers."""

    context_tokens: int = Field(
        default=6000, ge=200, description="Token budget of the chunks that the model reads"
    )
    max_chunks: int = Field(default=10, ge=1, le=100, description="Chunks that it reads, at most")
    selection: ResultSelection = Field(
        default="top_k",
        description="The best results in order, or those that add something new (maximal marginal "
        "relevance)",
    )
    min_relevance: float = Field(
        default=0.0,
        ge=0,
        le=1,
        description="Results of less relevance are not read; 0 = the model judges whatever the "
        "search finds",
    )
    standalone_query: bool = Field(
        default=False,
        description="Have the chat model rewrite a question of a conversation as one that stands "
        "alone, before the search",
    )


class EvaluationSettings(Section):
    """Questions with known answers, and what retrieval must reach on them."""

    questions: Path | None = Field(
        default=None, description="JSON Lines of questions (docs/evaluation.md); unset = none"
    )
    min_recall_at_5: float = Field(
        default=0.8, ge=0, le=1, description="Mean share of the gold found among the first five"
    )
    min_mrr: float = Field(
        default=0.6, ge=0, le=1, description="Mean reciprocal rank of the first gold"
    )
    max_p95_ms: float = Field(
        default=500, gt=0, description="Milliseconds within which 95 % of the searches end"
    )
