"""Page ranges: which pages go into which request. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

PageRange = tuple[int, ...]
"""Pages of one request, 1-based, ascending."""
PAGES_ONLINE = 15
"""Pages of an online request (cloud.google.com/document-ai/limits, read in November 2026)."""
PAGES_BATCH = {"ocr": 500, "form_parser": 100, "layout_parser": 500}
"""Pages of one document of a batch job, from the same page."""


def split_pages(pages: Iterable[int], size: int) -> list[PageRange]:
    """Ranges of at most `size` pages, in order; each page is in exactly one.

    >>> split_pages(range(1, 8), 3)
    [(1, 2, 3), (4, 5, 6), (7,)]
    >>> split_pages([9, 2, 2], 3)
    [(2, 9)]
    """
    ordered = sorted(set(pages))
    return [tuple(ordered[at : at + size]) for at in range(0, len(ordered), size)]


def halves(pages: PageRange) -> tuple[PageRange, PageRange]:
    """Two ranges of about the same length.

    >>> halves((1, 2, 5))
    ((1, 2), (5,))
    """
    middle = (len(pages) + 1) // 2
    return pages[:middle], pages[middle:]


def describe_pages(pages: Sequence[int], separator: str = ", ") -> str:
    """Write page numbers as people do.

    >>> describe_pages([1, 2, 3, 7, 9, 10])
    '1-3, 7, 9-10'
    """
    runs: list[list[int]] = []
    for page in pages:
        if runs and page == runs[-1][1] + 1:
            runs[-1][1] = page
        else:
            runs.append([page, page])
    return separator.join(str(a) if a == b else f"{a}-{b}" for a, b in runs)
