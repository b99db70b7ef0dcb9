"""Requests of the API and the tools; every length and range is limited."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Annotated, Literal

from pydantic import AfterValidator, AwareDatetime, BaseModel, ConfigDict, Field, model_validator

from rag_pipeline.search import Filters, MetadataFilter, SearchRequest
from rag_pipeline.settings import ResultExpansion, ResultSelection
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
    """Refuse what Postgres cannot store: NUL and lone surrogates."""
    if "\x00" in text or any("\ud800" <= letter <= "\udfff" for letter in text):
        raise ValueError("NUL and lone surrogates are not allowed")
    return text


def _near(moment: datetime) -> datetime:
    if not _EARLIEST <= moment <= _LATEST:
        raise ValueError("the time must be between 1970 and 2200")
    return moment


QuestionText = Annotated[
    str,
    Field(min_length=1, max_length=MAX_QUESTION, description="Words, a part number, a question"),
    AfterValidator(_storable),  # dropped, a NUL would join the words beside it
    AfterValidator(clean_text),
]
Name = Annotated[str, Field(min_length=1, max_length=MAX_NAME), AfterValidator(_storable)]
Key = Annotated[
    str,
    Field(
        min_length=1,
        max_length=200,
        pattern=r"^[^.]+(\.[^.]+)*$",
        description="Key of a chunk's metadata; dots separate nested keys",
    ),
    AfterValidator(_storable),
]
Number = Annotated[float, Field(ge=-_LARGEST, le=_LARGEST, allow_inf_nan=False)]
Integer = Annotated[int, Field(ge=-_LARGEST, le=_LARGEST)]
Value = bool | Integer | Number | Name
Weight = Annotated[float, Field(ge=0, le=1000, allow_inf_nan=False)]
PageNumber = Annotated[int, Field(ge=1, le=MAX_PAGE)]
Moment = Annotated[AwareDatetime, AfterValidator(_near)]
Limit = Annotated[int, Field(ge=1, le=MAX_LIMIT, description="Maximum number of results")]
Names = Annotated[list[Name], Field(max_length=MAX_VALUES)]


class Request(BaseModel):
    """Base of all requests; unknown fields are errors, so that a misspelt one is noticed."""

    model_config = ConfigDict(extra="forbid")


class MetadataCondition(Request):
    """A condition on the metadata: any of the values, or an inclusive range."""

    key: Key
    values: Annotated[list[Value], Field(max_length=MAX_VALUES)] = []
    low: Value | None = None
    high: Value | None = None


class FiltersRequest(Request):
    """Restricts what may be found: all fields must match, with any of their values."""

    documents: Names = Field(default=[], description="File names, paths, or prefixes of hashes")
    tags: Names = []
    languages: Names = Field(default=[], description="Codes as listed by the sources: en, ko")
    source_types: Names = Field(default=[], description="File name extensions: pdf")
    first_page: PageNumber | None = None
    last_page: PageNumber | None = None
    ingested_from: Moment | None = None
    ingested_before: Moment | None = None
    metadata: Annotated[list[MetadataCondition], Field(max_length=20)] = []

    @model_validator(mode="after")
    def _pages_in_order(self) -> FiltersRequest:
        if self.first_page and self.last_page and self.last_page < self.first_page:
            raise ValueError("last_page is before first_page")
        return self

    def as_filters(self) -> Filters:
        """Return the filters of the search."""
        values = {name: getattr(self, name) for name in type(self).model_fields}
        values["metadata"] = tuple(
            MetadataFilter(one.key, tuple(one.values), one.low, one.high) for one in self.metadata
        )
        return Filters(**values)


class WeightsRequest(Request):
    """Weights of the legs; a leg with weight 0 does not run."""

    text: Weight
    vector: Weight

    @model_validator(mode="after")
    def _one_leg(self) -> WeightsRequest:
        if not (self.text or self.vector):
            raise ValueError("both weights are 0")
        return self


class SearchBody(Request):
    """A search; options left out take their values from the server's settings."""

    query: QuestionText
    limit: Limit | None = None
    weights: WeightsRequest | None = None
    filters: FiltersRequest = FiltersRequest()
    relevance_threshold: Annotated[float, Field(ge=0, le=1)] | None = None
    selection: ResultSelection | None = None
    mmr_lambda: Annotated[float, Field(ge=0, le=1)] | None = None
    duplicate_similarity: Annotated[float, Field(ge=0.01, le=1)] | None = None
    expand: ResultExpansion | None = Field(
        default=None, description="Add the section or the neighbours to each result"
    )

    def as_search(self) -> SearchRequest:
        """Return the request of the search."""
        values = {name: getattr(self, name) for name in type(self).model_fields}
        values["weights"] = self.weights and self.weights.model_dump()
        values["filters"] = self.filters.as_filters()
        return SearchRequest(**values)


class SearchQuery(Request):
    """The common options of `SearchBody` as query parameters; names may be repeated."""

    q: QuestionText
    limit: Limit | None = None
    document: Names = []
    tag: Names = []
    language: Names = []
    source_type: Names = []
    first_page: PageNumber | None = None
    last_page: PageNumber | None = None
    text_weight: Weight | None = None
    vector_weight: Weight | None = None
    selection: ResultSelection | None = None
    expand: ResultExpansion | None = None

    @model_validator(mode="after")
    def _pages_in_order(self) -> SearchQuery:
        if self.first_page and self.last_page and self.last_page < self.first_page:
            raise ValueError("last_page is before first_page")
        if self.text_weight == 0 and self.vector_weight == 0:
            raise ValueError("both weights are 0")
        return self

    def as_request(self, weights: Mapping[str, float]) -> SearchBody:
        """Return the same search as a body; `weights` are the defaults from the settings."""
        given = {"text": self.text_weight, "vector": self.vector_weight}
        wanted = {name: weights[name] if one is None else one for name, one in given.items()}
        return SearchBody(
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
    """An earlier turn of the conversation."""

    role: Literal["user", "assistant"]
    content: Annotated[str, Field(max_length=MAX_QUESTION), AfterValidator(_storable)]


class AskRequest(Request):
    """A question; the answer quotes the documents if no chat model is configured."""

    question: QuestionText
    history: Annotated[list[TurnRequest], Field(max_length=20)] = []
    filters: FiltersRequest = FiltersRequest()


class SourcesQuery(Request):
    """Selects a part of the list of documents."""

    status: Literal["ready", "failed", "pending"] | None = None
    name: Name | None = Field(default=None, description="Part of the file's name")
    limit: Annotated[int, Field(ge=1, le=1000)] = 200
    offset: Annotated[int, Field(ge=0, le=10_000_000)] = 0
