"""Pictures of all pages of a PDF within a budget of bytes, by adapting size and quality."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from PIL import Image

from rag_pipeline.errors import ParseError
from rag_pipeline.parsing.pdf.native.page_pictures import PageRenderer, encoded, open_renderer

BUDGET = 33_000_000
"""Bytes of all pictures together, before base64 adds a third."""
STEPS = ((1200, 70), (1000, 60), (1000, 45), (850, 40), (700, 35), (560, 30), (420, 25), (300, 20))
"""(width in pixels, WebP quality), best first."""
SAMPLE = 12
"""Pages sampled across the file to choose the step."""
THREADS = 2
"""Encoding WebP releases Python's lock; it takes four times as long as drawing by PDFium."""


@dataclass(frozen=True)
class Picture:
    """A page as an image file; width and height in pixels."""

    width: int
    height: int
    data: bytes
    media_type: str = "image/webp"


def pictures_of(path: Path, pages: Sequence[int], budget: int = BUDGET) -> Iterator[Picture | str]:
    """Yield the picture of each page, or the reason it cannot be drawn.

    Together they take at most about `budget` bytes. Raises the errors of `open_pdf`.
    """
    with open_renderer(path) as renderer, ThreadPoolExecutor(THREADS) as pool:
        width, quality = chosen_step(renderer, pages, budget)
        waiting: deque[Future[Picture] | str] = deque()
        for page in pages:
            drawn = _drawn(renderer, page, width)
            waiting.append(
                drawn if isinstance(drawn, str) else pool.submit(_picture, drawn, quality)
            )
            if len(waiting) > 2 * THREADS:
                yield _result(waiting.popleft())
        while waiting:
            yield _result(waiting.popleft())


def chosen_step(renderer: PageRenderer, pages: Sequence[int], budget: int) -> tuple[int, int]:
    """Return the best (width, quality) at which a sample of the pages stays within its share."""
    sample = pages[:: max(1, len(pages) // SAMPLE)]
    for width, quality in STEPS[:-1]:
        drawn = [_drawn(renderer, page, width) for page in sample]
        size = sum(
            len(_picture(image, quality).data) for image in drawn if not isinstance(image, str)
        )
        if size * len(pages) <= budget * len(sample):
            return width, quality
    return STEPS[-1]


def _drawn(renderer: PageRenderer, page: int, width: int) -> Image.Image | str:
    try:
        return renderer.draw(page, width)
    except ParseError as error:
        return str(error)


def _picture(image: Image.Image, quality: int) -> Picture:
    return Picture(image.width, image.height, encoded(image, "WEBP", quality=quality))


def _result(item: Future[Picture] | str) -> Picture | str:
    return item if isinstance(item, str) else item.result()
