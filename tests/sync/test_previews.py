"""Previews: boxes in the colours of their roles, few bytes, and no document that fails for them."""

from __future__ import annotations

import base64
import io
from pathlib import Path

import pandas as pd
from PIL import Image

from rag_pipeline.frames import ROLE_COLORS, ROLES, blocks_frame
from rag_pipeline.sync.documents.previews import (
    MAX_BYTES,
    MAX_CHUNKS,
    WIDTH,
    chunk_rows,
    page_previews,
)
from tests.pdfs import make_damaged_pdfs, make_pdf


def _structured() -> pd.DataFrame:
    box = {"x0": 0.25, "y0": 0.5, "x1": 0.75, "y1": 0.6}
    return blocks_frame([{"page_number": 1, "text": "a", "role": "heading", **box}])


def _near(color: tuple[int, ...], wanted: str) -> bool:
    channels = [int(wanted[at : at + 2], 16) for at in (1, 3, 5)]
    return all(abs(a - b) < 110 for a, b in zip(color, channels, strict=True))


def test_boxes_have_the_colour_of_their_role(tmp_path: Path) -> None:
    path = make_pdf(tmp_path / "a.pdf", [("Title", ["Text"])], pages=3)
    previews = page_previews([str(path)], _structured(), 2)
    first = previews[0]  # a slow machine stops after it
    head, data = first.split(",")
    assert head == "data:image/jpeg;base64"
    picture = Image.open(io.BytesIO(base64.b64decode(data)))
    assert picture.width == WIDTH
    edge = picture.getpixel((int(0.25 * WIDTH) - 1, int(0.55 * picture.height)))
    inside = picture.getpixel((WIDTH // 2, int(0.55 * picture.height)))
    assert _near(edge, ROLE_COLORS["heading"])
    assert not _near(inside, ROLE_COLORS["heading"])
    assert sum(map(len, previews)) < MAX_BYTES * 4 / 3


def test_what_cannot_be_drawn_has_no_preview(tmp_path: Path) -> None:
    files = make_damaged_pdfs(tmp_path)
    for name in ("truncated", "empty", "encrypted", "image"):
        assert page_previews([str(files[name])], _structured(), 2) == []
    assert page_previews([str(tmp_path / "gone.pdf")], _structured(), 2) == []
    assert page_previews([str(files["good"])], _structured(), 0) == []
    # The first of the files that is still there.
    both = [str(tmp_path / "gone.pdf"), str(files["good"])]
    assert len(page_previews(both, _structured(), 1)) == 1


def test_every_role_has_a_colour() -> None:
    assert set(ROLE_COLORS) == set(ROLES)


def test_rows_of_chunks_leave_parents_out() -> None:
    row = {"breadcrumb_trail": "A > B", "kind": "text", "token_count": 7, "page_start": 2}
    frame = pd.DataFrame(
        [
            {**row, "chunk_index": 0, "page_end": 2},
            {**row, "chunk_index": 1, "page_end": 4},
            {**row, "chunk_index": 2, "page_end": 2, "kind": "section"},
        ]
    )
    assert chunk_rows(frame) == [
        {"chunk": 0, "trail": "A > B", "kind": "text", "tokens": 7, "pages": "2"},
        {"chunk": 1, "trail": "A > B", "kind": "text", "tokens": 7, "pages": "2–4"},
    ]
    many = pd.DataFrame([{**row, "chunk_index": i, "page_end": 2} for i in range(300)])
    assert len(chunk_rows(many)) == MAX_CHUNKS
