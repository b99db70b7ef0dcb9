"""What the API and the tools take: every length and range has a limit."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Annotated, Literal

from pydantic import AfterValidator, AwareDatetime, BaseModel, ConfigDict, Field, model_validator

from rag_pipeline.search import Filters, MetadataFilter
from rag_pipeline.text import clean_text

MAX_QUESTION = 8_000
MAX_NAME = 500
MAX_LIMIT = 100
MAX_PAGE = 1_000_000
MAX_VALUES = 50
MAX_ID = 2**63 - 1
_LARGEST = 2**53
_EARLIEST, _LATEST = datetime(1970, 1, 1, tzinfo=UTC), datetime(2200, 1, 1, tzinfo=UTC)


def _storable(text: str) -> str:
    """Refuse what Postgres cannot carry: NUL and lone surrogates."""
    if "\x00" in text or any("\ud800" <= letter <= "\udfff" for letter in text):
        raise ValueError("NUL and lone surrogates are no text")
    return text


def _near(moment: datetime) -> datetime:
    if not _EARLIEST <= moment <= _LATEST:
        raise ValueError("a time between 1970 and 2200 is needed")
    return moment


Question = Annotated[
    str,
    Field(min_length=1, max_length=MAX_QUESTION, description="Words, a part number, a question"),
    AfterValidator(clean_text),
]
Name = Annotated[str, Field(min_length=1, max_length=MAX_NAME), AfterValidator(_storable)]
Key = Annotated[
    str,
    Field(
        min_length=1,
        max_length=200,
        pattern=r"^[^.]+(\.[^.]+)*$",
        description="Key of a chunk's metadata; nested ones with a dot between",
    ),
    AfterValidator(_storable),
]
Number = Annotated[float, Field(ge=-_LARGEST, le=_LARGEST, allow_inf_nan=False)]
Integer = Annotated[int, Field(ge=-_LARGEST, le=_LARGEST)]
Value = bool | Integer | Number | Name
Weight = Annotated[float, Field(ge=0, le=1000, allow_inf_nan=False)]
PageNumber = Annotated[int, Field(ge=1, le=MAX_PAGE)]
Moment = Annotated[AwareDatetime, AfterValidator(_near)]
Limit = Annotated[int, Field(ge=1, le=MAX_LIMIT, description="Results at most")]
Names = Annotated[list[Name], Field(max_length=MAX_VALUES)]
Expansion = Literal["none", "parent", "neighbours"]
Selection = Literal["top_k", "mmr"]


class Request(BaseModel):
    """Unknown fields are errors, so that a misspelt one is seen."""

    model_config = ConfigDict(extra="forbid")


class Condition(Request):
    """A condition on the metadata: one of the values, or a range with its ends included."""

    key: Key
    values: Annotated[list[Value], Field(max_length=MAX_VALUES)] = []
    low: Value | None = None
    high: Value | None = None


class FiltersRequest(Request):
    """What may be found: every field must hold, and of the values of one field any."""

    documents: Names = Field(default=[], description="File names, paths, or beginnings of hashes")
    tags: Names = []
    languages: Names = Field(default=[], description="As the sources list them: en, ko")
    source_types: Names = Field(default=[], description="Ends of file names: pdf")
    first_page: PageNumber | None = None
    last_page: PageNumber | None = None
    ingested_from: Moment | None = None
    ingested_before: Moment | None = None
    metadata: Annotated[list[Condition], Field(max_length=20)] = []

    @model_validator(mode="after")
    def _pages_in_order(self) -> FiltersRequest:
        if self.first_page and self.last_page and self.last_page < self.first_page:
            raise ValueError("last_page lies before first_page")
        return self

    def as_filters(self) -> Filters:
        """Return them as the search takes them."""
        values = {name: getattr(self, name) for name in type(self).model_fields}
        values["metadata"] = tuple(
            MetadataFilter(one.key, tuple(one.values), one.low, one.high) for one in self.metadata
        )
        return Filters(**values)


class WeightsRequest(Request):
    """Weights of the legs; a leg of weight 0 is not asked."""

    text: Weight
    vector: Weight

    @model_validator(mode="after")
    def _one_leg(self) -> WeightsRequest:
        if not (self.text or self.vector):
            raise ValueError("both weights are 0")
        return self


class SearchRequest(Request):
    """A search; what is not given is as the server's settings have it."""

    query: Question
    limit: Limit | None = None
    weights: WeightsRequest | None = None
    filters: FiltersRequest = FiltersRequest()
    relevance_threshold: Annotated[float, Field(ge=0, le=1)] | None = None
    selection: Selection | None = None
    mmr_lambda: Annotated[float, Field(ge=0, le=1)] | None = None
    duplicate_similarity: Annotated[float, Field(ge=0.01, le=1)] | None = None
    expand: Expansion | None = Field(
        default=None, description="Give the section or the neighbours with each result"
    )


class SearchQuery(Request):
    """A search in the address: the most used of `SearchRequest`; names may be repeated."""

    q: Question
    limit: Limit | None = None
    document: Names = []
    tag: Names = []
    language: Names = []
    source_type: Names = []
    first_page: PageNumber | None = None
    last_page: PageNumber | None = None
    text_weight: Weight | None = None
    vector_weight: Weight | None = None
    selection: Selection | None = None
    expand: Expansion | None = None

    @model_validator(mode="after")
    def _pages_in_order(self) -> SearchQuery:
        if self.first_page and self.last_page and self.last_page < self.first_page:
            raise ValueError("last_page lies before first_page")
        if self.text_weight == 0 and self.vector_weight == 0:
            raise ValueError("both weights are 0")
        return self

    def as_request(self, weights: Mapping[str, float]) -> SearchRequest:
        """Return the same search; `weights` are those of the settings."""
        given = {"text": self.text_weight, "vector": self.vector_weight}
        wanted = {name: weights[name] if one is None else one for name, one in given.items()}
        return SearchRequest(
            query=self.q,
            limit=self.limit,
            weights=WeightsRequest(**wanted) if any(wanted.values()) else None,
            filters=FiltersRequest(
                documents=self.document,
                tags=self.tag,
                languages=self.language,
                source_types=self.source_type,
                first_page=self.first_page,
                last_page=self.last_page,
            ),
            selection=self.selection,
            expand=self.expand,
        )


class TurnRequest(Request):
    """A turn of the conversation before."""

    role: Literal["user", "assistant"]
    content: Annotated[str, Field(max_length=MAX_QUESTION), AfterValidator(_storable)]


class AskRequest(Request):
    """A question; without a chat model in the settings the answer quotes."""

    question: Question
    history: Annotated[list[TurnRequest], Field(max_length=20)] = []
    filters: FiltersRequest = FiltersRequest()


class SourcesQuery(Request):
    """A part of the list of documents."""

    status: Literal["ready", "failed", "pending"] | None = None
    name: Name | None = Field(default=None, description="A part of the file's name")
    limit: Annotated[int, Field(ge=1, le=1000)] = 200
    offset: Annotated[int, Field(ge=0, le=10_000_000)] = 0
