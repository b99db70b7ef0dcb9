"""The web application behind `rag serve`: the routes of the page and the API."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Generator
from contextlib import asynccontextmanager
from importlib.metadata import version
from pathlib import Path
from typing import Annotated

import anyio.to_thread
from fastapi import APIRouter, Depends, FastAPI, Query, Request, Response
from fastapi import Path as PathParameter
from fastapi.responses import StreamingResponse
from pydantic import StringConstraints

from rag_pipeline.errors import RagError
from rag_pipeline.serve import evaluations, file_routes, problems
from rag_pipeline.serve import reply_models as replies
from rag_pipeline.serve import request_models as requests
from rag_pipeline.serve.answer_turns import AnswerTurns
from rag_pipeline.serve.guard import Access, Guard
from rag_pipeline.serve.knowledge import Knowledge
from rag_pipeline.serve.originals import Originals
from rag_pipeline.serve.pictures import Pictures
from rag_pipeline.serve.problems import ProblemError
from rag_pipeline.serve.readers import KnowledgeBases, Reader, reader_of
from rag_pipeline.settings import Settings

PAGE_DIR = Path(__file__).parent / "page"
PAGE_FILES = {
    "/": ("index.html", "text/html; charset=utf-8"),
    "/style.css": ("style.css", "text/css; charset=utf-8"),
    "/app.js": ("app.js", "text/javascript; charset=utf-8"),
}
PUBLIC_PATHS = frozenset({*PAGE_FILES, "/api/health", "/api/openapi.json"})
"""Answered without a token."""
DocumentName = Annotated[
    str,
    PathParameter(min_length=1, max_length=requests.MAX_NAME, description="A name or a hash"),
    StringConstraints(pattern=r"^[^\x00]+$"),
]
VERSION = version("rag-pipeline")
_REPORT_POLICY = "sandbox; default-src 'none'; style-src 'unsafe-inline'; img-src data:"


def create_app(
    settings: Settings,
    access: Access,
    readers: KnowledgeBases,
    originals: Originals,
    pictures: Pictures,
    turns: AnswerTurns,
) -> Guard:
    """Return the application behind its guard; the caller closes what it gave."""

    @asynccontextmanager
    async def limits(_: FastAPI) -> AsyncIterator[None]:
        threads = anyio.to_thread.current_default_thread_limiter()
        threads.total_tokens = settings.serve.max_concurrent
        yield

    app = FastAPI(
        title="rag_pipeline",
        version=VERSION,
        description="Search and answers over technical documents, with the origin of every score "
        "and statement. See docs/serving.md.",
        openapi_url="/api/openapi.json",
        docs_url=None,
        redoc_url=None,
        lifespan=limits,
        separate_input_output_schemas=False,
    )
    problems.add_handlers(app)
    app.state.readers, app.state.originals, app.state.pictures = readers, originals, pictures
    app.state.turns = turns
    app.state.drawing = anyio.CapacityLimiter(file_routes.DRAWING_THREADS)
    app.include_router(api)
    app.include_router(file_routes.files)
    app.include_router(page)
    return Guard(app, access, turns.stop)


async def _turns(request: Request) -> AsyncIterator[AnswerTurns]:
    """Hold a place among the answers until the reply has been sent."""
    turns: AnswerTurns = request.app.state.turns
    with turns.place():
        yield turns


Turns = Annotated[AnswerTurns, Depends(_turns)]
api = APIRouter(prefix="/api", responses=problems.RESPONSES)
page = APIRouter(include_in_schema=False)


@api.get("/health")
async def health() -> replies.HealthReply:
    """Report that the server is running; needs no token, no database and no free thread."""
    return replies.HealthReply(status="ok", version=VERSION)


@api.post("/search")
def search(body: requests.SearchBody, reader: Reader) -> replies.SearchReply:
    """Find chunks by words and meaning, with the origin of every score."""
    return reader.search(body)


@api.get("/search")
def search_by_address(
    query: Annotated[requests.SearchQuery, Query()], reader: Reader
) -> replies.SearchReply:
    """Find chunks; the most common options as query parameters."""
    return reader.search(query.as_request(reader.settings.search.weights.model_dump()))


@api.post("/ask")
async def ask(body: requests.AskRequest, request: Request, turns: Turns) -> replies.AnswerReply:
    """Answer from the documents, citing page and box for every statement."""
    return await turns.run(lambda: reader_of(request).ask(body))


@api.post(
    "/ask/stream",
    response_class=StreamingResponse,
    responses={
        200: {
            "content": {"text/event-stream": {}},
            "description": "Events `piece` (a string), then `answer` (as /api/ask) or `problem`",
        }
    },
)
async def ask_in_pieces(
    body: requests.AskRequest, request: Request, turns: Turns
) -> StreamingResponse:
    """Answer like `/api/ask`, but stream the text as server-sent events."""
    events = turns.iterate(_events(request, body))
    return StreamingResponse(events, media_type="text/event-stream")


@api.get("/sources")
def sources(
    query: Annotated[requests.SourcesQuery, Query()], reader: Reader
) -> replies.SourcesReply:
    """List the documents with their status and, where one failed, the reason."""
    return reader.sources(query)


@api.get("/outline/{document}")
def outline(document: DocumentName, reader: Reader) -> replies.OutlineReply:
    """Return the headings of a document."""
    return reader.outline(document)


@api.get("/sections/{document}")
def read_section(
    document: DocumentName,
    reader: Reader,
    section: Annotated[requests.Name | None, Query(description="A trail, or a heading")] = None,
    chunk_id: Annotated[int | None, Query(ge=1, le=requests.MAX_ID)] = None,
) -> replies.SectionReply:
    """Return a section, or else the document from its beginning or from a chunk onwards."""
    return reader.read_section(document, section, chunk_id)


@api.get("/evaluation")
def evaluation(reader: Reader) -> replies.EvaluationReply:
    """Return the figures of the last `rag eval`."""
    _check_sees_everything(reader)
    return evaluations.last_evaluation(reader.settings)


@api.get(
    "/evaluation/report",
    response_class=Response,
    responses={200: {"content": {"text/html": {}}, "description": "The report of `rag eval`"}},
)
def evaluation_report(reader: Reader) -> Response:
    """Return the whole report of the last `rag eval`."""
    _check_sees_everything(reader)
    html = evaluations.report(reader.settings)
    if html is None:
        raise ProblemError(404, "there is no report yet", "run `rag eval QUESTIONS.jsonl`")
    return Response(
        html,
        media_type="text/html; charset=utf-8",
        headers={"Content-Security-Policy": _REPORT_POLICY},
    )


def _check_sees_everything(reader: Knowledge) -> None:
    """Refuse readers who are restricted: an evaluation names every reader's documents."""
    if not reader.sees_everything:
        raise ProblemError(403, "the evaluation covers more than you may read", None)


def _events(request: Request, body: requests.AskRequest) -> Generator[str, None, None]:
    """Yield an answer as server-sent events; an error midway is an event too."""
    try:
        for piece in reader_of(request).stream(body):
            if isinstance(piece, str):
                yield _event("piece", piece)
            else:
                yield _event("answer", piece.model_dump(mode="json"))
    except RagError as error:
        yield _event("problem", problems.problem_of(error).body())


def _event(name: str, value: object) -> str:
    return f"event: {name}\ndata: {json.dumps(value, ensure_ascii=False)}\n\n"


def _add_page(path: str, file: str, media_type: str) -> None:
    """Serve one file of the page, from memory: reading it would take a thread."""
    content = (PAGE_DIR / file).read_bytes()

    async def serve() -> Response:
        return Response(content, media_type=media_type, headers={"Cache-Control": "no-cache"})

    page.add_api_route(path, serve, methods=["GET"])


for _path, (_file, _media_type) in PAGE_FILES.items():
    _add_page(_path, _file, _media_type)
