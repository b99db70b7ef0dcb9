"""Every statement of `sql/queries/`, loaded by aiosql: `queries.NAME(connection, **parameters)`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import aiosql

from rag_pipeline import sql

QUERIES_DIR = Path(str(sql.__file__)).parent / "queries"

queries: Any = aiosql.from_path(QUERIES_DIR, "psycopg")
"""aiosql's queries object; its attributes are made from the files, so they have no static types."""
