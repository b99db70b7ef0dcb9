"""Mutants of files of every format but PDF, read in a child with small limits."""

from __future__ import annotations

import io
import random
import re
import zipfile
from dataclasses import dataclass
from pathlib import Path

from rag_pipeline.errors import ParseError
from rag_pipeline.parsing import parse_file
from rag_pipeline.settings import ParsingSettings
from rag_pipeline.sync.workers.worker_limits import Limits

LIMITS = Limits(seconds=10, idle_seconds=20, memory=700 * 2**20)
CONTROLS = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ud800-\udfff]")
_PIECES = (
    b"<",
    b">",
    b"&#0;",
    b"&x;",
    b"\x00",
    b"\x1b]0;x\x07",
    b"\xff\xfe",
    b"{\\*\\bin9999999 ",
    b"{" * 500,
    b"<b>" * 500,
    b"> " * 500,
    b"- " * 200,
    b"9" * 400,
    b'"',
    b"\\u-1?",
    b"=?utf-8?b?",
    b"\xe2\x80\xae",
)


@dataclass(frozen=True)
class Mutant:
    """A sample, to be changed as the seed says, in a folder."""

    sample: Path
    seed: int
    folder: Path


def read(mutant: Mutant) -> str | None:
    """Make and read a mutant; return what is wrong with the reader, if anything is."""
    file = mutant.folder / f"{mutant.seed}-{mutant.sample.name}"
    file.write_bytes(changed(mutant.sample.read_bytes(), mutant.seed))
    try:
        parsed = parse_file(file, ParsingSettings(ocr="off"), document=mutant.sample.name)
    except ParseError as error:
        told = str(error)
        return None if told.startswith(mutant.sample.name) else told
    except MemoryError:
        raise
    except Exception as error:
        return f"{mutant.sample.name}, seed {mutant.seed}: {type(error).__name__}: {error}"
    finally:
        file.unlink()
    cells = [cell for table in parsed.blocks["table_cells"] for row in table or () for cell in row]
    texts = [*parsed.blocks["text"], *cells, parsed.title or ""]
    steering = [text for text in texts if CONTROLS.search(text)]
    return f"{mutant.sample.name}, seed {mutant.seed}: {steering[0]!a}" if steering else None


def changed(data: bytes, seed: int) -> bytes:
    """Return mutated bytes; of a ZIP container mostly a part that is packed again."""
    choice = random.Random(seed)
    if not data.startswith(b"PK") or choice.random() < 0.2:
        return _mutated(data, choice)
    packed = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(data)) as source, zipfile.ZipFile(packed, "w") as target:
        names = source.namelist()
        bad = choice.choice([name for name in names if name.endswith((".xml", ".xhtml", ".opf"))])
        for name in names:
            part = source.read(name)
            target.writestr(name, _mutated(part, choice) if name == bad else part)
    return packed.getvalue()


def _mutated(data: bytes, choice: random.Random) -> bytes:
    changing = bytearray(data)
    for _ in range(choice.choice((1, 2, 8))):
        at = choice.randrange(len(changing) + 1)
        match choice.randrange(5):
            case 0:
                del changing[at : at + choice.choice((1, 5, 50, 500))]
            case 1:
                changing[at:at] = choice.choice(_PIECES)
            case 2:
                changing[at : at + 1] = bytes([choice.randrange(256)])
            case 3:
                start = choice.randrange(len(data))
                changing[at:at] = data[start : start + choice.choice((5, 50, 500))]
            case 4:
                for found in list(re.finditer(rb"\d+", changing))[at % 7 :: 7][:3]:
                    lie = choice.choice((b"0", b"-1", b"99999999"))
                    changing[found.start() : found.end()] = lie
    return bytes(changing)
