"""Routes of a document's file: its pages as pictures, their words, and the file itself."""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated, TypeVar

import anyio.to_thread
from fastapi import APIRouter, Query, Request, Response
from fastapi import Path as PathParameter
from fastapi.responses import FileResponse

from rag_pipeline.parsing.pdf.native.page_pictures import has_pictures
from rag_pipeline.serve import problems
from rag_pipeline.serve import reply_models as replies
from rag_pipeline.serve import request_models as requests
from rag_pipeline.serve.knowledge import Knowledge
from rag_pipeline.serve.originals import Originals
from rag_pipeline.serve.pictures import WIDTHS, Pictures
from rag_pipeline.serve.readers import Reader, reader_of

DRAWING_THREADS = 4
"""Requests that may wait for the process that renders pages; more of them queue."""
_FILE_POLICY = "default-src 'none'; object-src 'self'; style-src 'unsafe-inline'"
Made = TypeVar("Made")
SourceHash = Annotated[str, PathParameter(pattern="^[0-9a-f]{64}$")]
PageNumber = Annotated[int, PathParameter(ge=1, le=requests.MAX_PAGE)]
files = APIRouter(prefix="/api", responses=problems.RESPONSES)


async def _drawn(request: Request, draw: Callable[[Knowledge, Pictures], Made]) -> Made:
    """Return what is drawn in threads of its own: a damaged PDF may take half a minute."""
    state = request.app.state
    return await anyio.to_thread.run_sync(
        lambda: draw(reader_of(request), state.pictures), limiter=state.drawing
    )


@files.get(
    "/pages/{source_hash}/{page}",
    response_class=Response,
    responses={200: {"content": {"image/webp": {}}, "description": "The page as it looks"}},
)
async def page_picture(
    source_hash: SourceHash,
    page: PageNumber,
    request: Request,
    width: Annotated[
        int, Query(ge=1, le=WIDTHS[-1], description="Minimum width in pixels")
    ] = WIDTHS[2],
) -> Response:
    """Return a page as an image; regions are fractions of its width and height."""
    picture = await _drawn(
        request, lambda reader, pictures: pictures.picture(reader.find(source_hash), page, width)
    )
    # Immutable: the address contains the hash of the file's content.
    headers = {"Cache-Control": "private, max-age=86400, immutable"}
    return Response(picture, media_type="image/webp", headers=headers)


@files.get("/pages/{source_hash}/{page}/words")
async def words_of_page(
    source_hash: SourceHash,
    page: PageNumber,
    request: Request,
    q: Annotated[
        requests.QuestionText | None, Query(description="Marks the words of this query")
    ] = None,
) -> replies.WordsReply:
    """Return the words of a page with their boxes; none for a scanned page."""

    def read(reader: Knowledge, pictures: Pictures) -> list[replies.WordReply]:
        words = pictures.words(reader.find(source_hash), page)
        marker = reader.marker(q) if q else None
        return [
            replies.WordReply(**vars(one), is_hit=marker is not None and marker.hits(one.text))
            for one in words
        ]

    return replies.WordsReply(page=page, words=await _drawn(request, read))


@files.get(
    "/files/{source_hash}",
    response_class=FileResponse,
    responses={
        200: {
            "content": {"application/pdf": {}, "application/octet-stream": {}},
            "description": "The file",
        }
    },
)
def original(source_hash: SourceHash, request: Request, reader: Reader) -> FileResponse:
    """Return the file that a document was read from; only a PDF is shown by the browser."""
    document = reader.find(source_hash)
    originals: Originals = request.app.state.originals
    path = originals.path(document)
    is_shown = has_pictures(path)
    return FileResponse(
        path,
        media_type="application/pdf" if is_shown else "application/octet-stream",
        filename=document.name,
        content_disposition_type="inline" if is_shown else "attachment",
        headers={"Content-Security-Policy": _FILE_POLICY},
    )
