"""Stage frames as Parquet under a folder or any fsspec URL: one file per stage and document.

Raw replies of services lie there too, under keys of their own: a page is paid for once. The
libraries for frames load with the first frame: a sync without work reads none.

The fingerprint of the code and settings that made a frame stands in the file's metadata, so that a
frame of an older rule is never taken for a current one.
"""

from __future__ import annotations

import contextlib
import io
import json
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import fsspec

from rag_pipeline.errors import StoreError

if TYPE_CHECKING:
    import pandas as pd
    import pyarrow as pa

FINGERPRINT_KEY = b"rag_fingerprint"
DOCUMENT_KEY = b"rag_document"
FORMAT_KEY = b"rag_format"
JSON_COLUMNS_KEY = b"rag_json_columns"
FORMAT = b"1"
"""Version of the files' own layout; a file of another one counts as absent and is made again."""
SMALL_ROWS = 500


class ArtifactStore:
    """Reads and writes stage frames under `location` (a folder or an fsspec URL)."""

    def __init__(self, location: str) -> None:
        self.location = location
        self._filesystem, self._root = fsspec.core.url_to_fs(location, auto_mkdir=True)

    def write(
        self,
        stage: str,
        source_hash: str,
        frame: pd.DataFrame,
        fingerprint: str,
        document: dict[str, Any],
    ) -> int:
        """Write a frame whole or not at all; return its size in bytes.

        `document` holds what belongs to the document as a whole (title, pages, language, warnings).
        """
        import pyarrow.parquet as pq

        table, nested = _arrow_table(frame)
        table = table.replace_schema_metadata(
            {
                **table.schema.metadata,
                FINGERPRINT_KEY: fingerprint.encode(),
                FORMAT_KEY: FORMAT,
                JSON_COLUMNS_KEY: json.dumps(nested).encode(),
                DOCUMENT_KEY: json.dumps(document, ensure_ascii=False).encode(),
            }
        )
        # On few rows, setting up compression and dictionaries takes longer than all else.
        is_small = len(frame) <= SMALL_ROWS
        buffer = io.BytesIO()
        pq.write_table(
            table,
            buffer,
            compression="snappy" if is_small else "zstd",
            use_dictionary=not is_small,
            write_statistics=not is_small,
        )
        with self._moved_into_place(self._path(stage, source_hash)) as partial:
            self._filesystem.pipe_file(partial, buffer.getvalue())
        return buffer.tell()

    def read(
        self, stage: str, source_hash: str, fingerprint: str
    ) -> tuple[pd.DataFrame, dict[str, Any]] | None:
        """Return the frame and its document attributes; None if absent, damaged or outdated."""
        import pyarrow as pa
        import pyarrow.parquet as pq

        path = self._path(stage, source_hash)
        try:
            with self._filesystem.open(path, "rb") as file:
                table = pq.read_table(file)
        except (FileNotFoundError, pa.ArrowInvalid):
            return None
        metadata = table.schema.metadata or {}
        if not _is_current(metadata, fingerprint):
            return None
        frame = table.to_pandas()
        for name in json.loads(metadata[JSON_COLUMNS_KEY]):
            frame[name] = [None if value is None else json.loads(value) for value in frame[name]]
        return frame, json.loads(metadata[DOCUMENT_KEY])

    def has(self, stage: str, source_hash: str, fingerprint: str) -> bool:
        """Tell whether a frame of that making is there, reading the file's footer only."""
        import pyarrow as pa
        import pyarrow.parquet as pq

        try:
            with self._filesystem.open(self._path(stage, source_hash), "rb") as file:
                metadata = pq.read_schema(file).metadata or {}
        except (FileNotFoundError, pa.ArrowInvalid):
            return False
        return _is_current(metadata, fingerprint)

    def delete(self, source_hashes: list[str], stages: tuple[str, ...]) -> None:
        """Remove all frames of these documents; what is absent is no error."""
        for source_hash in source_hashes:
            for stage in stages:
                try:
                    self._filesystem.rm_file(self._path(stage, source_hash))
                except FileNotFoundError:
                    continue

    def get(self, key: str) -> bytes | None:
        """Return bytes that were kept under a key, a relative path; None if absent."""
        try:
            return bytes(self._filesystem.cat_file(f"{self._root}/{key}"))
        except FileNotFoundError:
            return None

    def put(self, key: str, value: bytes) -> None:
        """Keep bytes under a key, whole or not at all. Raises `StoreError`."""
        with self._moved_into_place(f"{self._root}/{key}") as partial:
            self._filesystem.pipe_file(partial, value)

    def delete_below(self, keys: list[str]) -> None:
        """Remove everything kept under these keys' folders; what is absent is no error."""
        for key in keys:
            with contextlib.suppress(FileNotFoundError):
                self._filesystem.rm(f"{self._root}/{key}", recursive=True)

    @contextmanager
    def _moved_into_place(self, path: str) -> Iterator[str]:
        """Lend a name beside `path` and move it there at the end.

        A killed process leaves no half file under the real name.
        """
        partial = f"{path}.{uuid.uuid4().hex}.partial"
        try:
            yield partial
            self._filesystem.mv(partial, path)
        except OSError as error:
            with contextlib.suppress(OSError):
                self._filesystem.rm_file(partial)
            raise StoreError(
                f"an artifact could not be written: {error.strerror or error}",
                hint=f"free space or check the rights of {self.location}",
            ) from error

    def _path(self, stage: str, source_hash: str) -> str:
        return f"{self._root}/{stage}/{source_hash[:2]}/{source_hash}.parquet"


def _is_current(metadata: dict[bytes, bytes], fingerprint: str) -> bool:
    return (
        metadata.get(FORMAT_KEY) == FORMAT and metadata.get(FINGERPRINT_KEY) == fingerprint.encode()
    )


def _arrow_table(frame: pd.DataFrame) -> tuple[pa.Table, list[str]]:
    """Return a frame for Arrow, and the columns that hold lists or dictionaries (cells, regions).

    They are JSON in the file: their shapes differ from row to row, which Parquet's own nested types
    do not allow. Column by column, since `Table.from_pandas` takes longer than a page's parsing;
    its note for pandas is written for the columns alone of which Arrow's types do not tell enough.
    """
    import pyarrow as pa

    columns: dict[str, Any] = {}
    nested: list[str] = []
    noted: list[dict[str, Any]] = []
    for name in map(str, frame.columns):
        series = frame[name]
        if series.dtype == object:
            values = series.tolist()
            if any(isinstance(value, (list, tuple, dict)) for value in values):
                nested.append(name)
                values = [
                    None if value is None else json.dumps(value, ensure_ascii=False)
                    for value in values
                ]
            columns[name] = pa.array(values, from_pandas=True)
        else:
            columns[name] = pa.array(series, from_pandas=True)
            if str(series.dtype)[0].isupper():  # pandas' own, such as Int64
                pandas_type = str(series.dtype).lower()
                numpy_type = str(series.dtype)
                noted.append(
                    {
                        "name": name,
                        "field_name": name,
                        "pandas_type": pandas_type,
                        "numpy_type": numpy_type,
                        "metadata": None,
                    }
                )
    note = {"columns": noted, "index_columns": [], "column_indexes": []}
    return pa.table(columns).replace_schema_metadata({b"pandas": json.dumps(note)}), nested


def contexts_key(source_hash: str) -> str:
    """Return the folder of a document's contexts in the artifact store."""
    return f"contexts/{source_hash}"


def sentences_key(source_hash: str) -> str:
    """Return the folder of a document's sentence vectors in the artifact store."""
    return f"sentences/{source_hash}"
