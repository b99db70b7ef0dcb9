"""Errors as problem JSON (RFC 9457): what is wrong and what to do next."""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from http import HTTPStatus
from typing import Any

from fastapi import FastAPI
from fastapi.exceptions import RequestValidationError
from pydantic import BaseModel, Field
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from rag_pipeline.errors import (
    ChatError,
    DatabaseUnavailableError,
    ProviderError,
    RagError,
    SettingsError,
)

logger = logging.getLogger(__name__)

MEDIA_TYPE = "application/problem+json"


class ProblemBody(BaseModel):
    """Body of a problem: what is wrong and what to do about it."""

    title: str = Field(description="What is wrong")
    status: int = Field(description="The HTTP status")
    next_step: str | None = Field(default=None, description="What to do about it")
    errors: list[str] = Field(default=[], description="Each invalid value, by its location")


_PROBLEM = {"content": {MEDIA_TYPE: {"schema": ProblemBody.model_json_schema()}}}
RESPONSES: dict[int | str, dict[str, Any]] = {
    400: {**_PROBLEM, "description": "Malformed"},
    401: {**_PROBLEM, "description": "No token, or an unknown one"},
    403: {**_PROBLEM, "description": "Not allowed"},
    404: {**_PROBLEM, "description": "Not found"},
    409: {**_PROBLEM, "description": "The name is ambiguous"},
    413: {**_PROBLEM, "description": "Too large"},
    422: {**_PROBLEM, "description": "Invalid value"},
    502: {**_PROBLEM, "description": "A service that this needs failed"},
    503: {**_PROBLEM, "description": "The database cannot be reached, or too much is asked"},
}
"""What any route may answer, for the description of the API."""


@dataclass(frozen=True)
class Problem:
    """A problem that can be sent as a response."""

    status: int
    title: str
    next_step: str | None = None
    errors: Sequence[str] = ()
    headers: Mapping[str, str] = field(default_factory=dict)

    def response(self) -> JSONResponse:
        """Return the response."""
        return JSONResponse(
            self.body(), self.status, headers=dict(self.headers), media_type=MEDIA_TYPE
        )

    def body(self) -> dict[str, object]:
        """Return the JSON."""
        return ProblemBody(
            title=self.title,
            status=self.status,
            next_step=self.next_step,
            errors=list(self.errors),
        ).model_dump()


class ProblemError(Exception):
    """Raised when a request cannot be answered."""

    def __init__(
        self,
        status: int,
        title: str,
        next_step: str | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> None:
        super().__init__(title)
        self.problem = Problem(status, title, next_step, headers=headers or {})


def problem_of(error: RagError) -> Problem:
    """Return one of our errors as a problem: of the request, a service, or the database."""
    if isinstance(error, DatabaseUnavailableError):
        # Leaves out the database address: the client may not be the operator.
        return Problem(503, "the database cannot be reached", "try again; see `rag doctor`")
    if isinstance(error, (ProviderError, ChatError)):
        return Problem(502, error.message, error.hint)
    if type(error) in (SettingsError, RagError):
        return Problem(422, error.message, error.hint)
    logger.error("a request failed: %s", error)
    return Problem(500, "the request failed", "see the server's log")


def invalid_values(errors: Sequence[Mapping[str, Any]]) -> list[str]:
    """Return what pydantic found, by place; 20 at most.

    >>> invalid_values([{"loc": ("body", "limt"), "type": "extra_forbidden", "msg": "…"}])
    ['body.limt: there is no such field']
    """
    plain = {
        "extra_forbidden": "there is no such field",
        "string_unicode": "lone surrogates are not allowed",
    }
    return [
        f"{'.'.join(map(str, one['loc']))}: "
        + plain.get(one["type"], str(one["msg"]).removeprefix("Value error, "))
        for one in errors[:20]
    ]


def add_handlers(app: FastAPI) -> None:
    """Answer every error of the application as a problem."""

    async def of_request(_: Request, error: Exception) -> Response:
        assert isinstance(error, RequestValidationError)
        wrong = invalid_values(error.errors())
        return Problem(422, "the request is invalid", "see /api/openapi.json", wrong).response()

    async def of_http(_: Request, error: Exception) -> Response:
        assert isinstance(error, HTTPException)
        title = HTTPStatus(error.status_code).phrase.lower()
        step = "see /api/openapi.json for the available routes"
        if error.status_code == 400:
            title, step = "the body cannot be read", "send JSON in UTF-8; see /api/openapi.json"
        return Problem(error.status_code, title, step, headers=error.headers or {}).response()

    async def of_ours(_: Request, error: Exception) -> Response:
        assert isinstance(error, RagError)
        return problem_of(error).response()

    async def of_answer(_: Request, error: Exception) -> Response:
        assert isinstance(error, ProblemError)
        return error.problem.response()

    async def of_fault(_: Request, error: Exception) -> Response:
        del error  # the server logs it; its text may quote documents
        return Problem(500, "the request failed", "see the server's log").response()

    app.add_exception_handler(Exception, of_fault)
    app.add_exception_handler(RequestValidationError, of_request)
    app.add_exception_handler(HTTPException, of_http)
    app.add_exception_handler(RagError, of_ours)
    app.add_exception_handler(ProblemError, of_answer)
