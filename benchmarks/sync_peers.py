"""One peer syncs a folder of PDFs into pgvector, as its documentation does; the embedder is a stub.

    python -m benchmarks.sync_peers ENGINE FOLDER DATABASE_URL STATE_DIR

Run in a process of its own by `benchmarks.sync`, with the Python that `RAG_BENCH_PYTHON` names, so
that time is the peer's: `pip install langchain-community langchain-classic langchain-postgres
llama-index-core llama-index-readers-file llama-index-vector-stores-postgres haystack-ai
pgvector-haystack "cocoindex[postgres]" pypdf`. What each remembers lies in STATE_DIR and in the
database, for the next call. Prints one JSON object; exit status 3: the engine is not installed.
"""

import asyncio
import hashlib
import importlib.util
import itertools
import json
import os
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

NOT_INSTALLED = 3
DIMENSIONS = 256
CHUNK_LETTERS = 1_000
PACKAGES = {
    "langchain": "langchain_postgres",
    "llamaindex": "llama_index.vector_stores.postgres",
    "haystack": "haystack_integrations.document_stores.pgvector",
    "cocoindex": "cocoindex",
}
EMBEDDED: list[str] = []


def main() -> None:
    """Sync once; print seconds beyond the imports, CPU seconds and the texts embedded."""
    engine, folder, url, state = sys.argv[1:]
    try:
        installed = importlib.util.find_spec(PACKAGES[engine]) is not None
    except ModuleNotFoundError:
        installed = False
    if not installed:
        sys.exit(NOT_INSTALLED)
    os.environ["COCOINDEX_DISABLE_USAGE_TRACKING"] = "1"
    os.environ["HAYSTACK_TELEMETRY_ENABLED"] = "False"
    Path(state).mkdir(parents=True, exist_ok=True)
    work = ENGINES[engine](Path(folder), url, Path(state))
    start, cpu = time.perf_counter(), time.process_time()
    work()
    print(
        json.dumps(
            {
                "seconds": time.perf_counter() - start,
                "cpu": time.process_time() - cpu,
                "embedded": len(EMBEDDED),
            }
        )
    )


def embed(texts: Sequence[str]) -> list[list[float]]:
    """Return a vector for each text, made from its hash."""
    EMBEDDED.extend(texts)
    return [
        [byte - 127.5 for byte in hashlib.shake_256(text.encode()).digest(DIMENSIONS)]
        for text in texts
    ]


def _langchain(folder: Path, url: str, state: Path) -> Callable[[], None]:
    """PyPDFLoader, its splitter, the record manager with `index` in full mode."""
    from langchain_classic.indexes import SQLRecordManager
    from langchain_community.document_loaders import PyPDFDirectoryLoader
    from langchain_core.embeddings import Embeddings
    from langchain_core.indexing import index
    from langchain_postgres import PGVector
    from langchain_text_splitters import RecursiveCharacterTextSplitter

    class Stub(Embeddings):
        def embed_documents(self, texts: list[str]) -> list[list[float]]:
            return embed(texts)

        def embed_query(self, text: str) -> list[float]:
            return embed([text])[0]

    def work() -> None:
        connection = url.replace("postgresql://", "postgresql+psycopg://")
        store = PGVector(
            embeddings=Stub(), collection_name="docs", connection=connection, use_jsonb=True
        )
        records = SQLRecordManager("pgvector/docs", db_url=f"sqlite:///{state}/records.db")
        records.create_schema()
        splitter = RecursiveCharacterTextSplitter(chunk_size=CHUNK_LETTERS, chunk_overlap=100)
        pieces = splitter.split_documents(PyPDFDirectoryLoader(str(folder)).load())
        for piece in pieces:
            piece.page_content = piece.page_content.replace("\x00", "")
        index(
            pieces,
            records,
            store,
            cleanup="full",
            source_id_key="source",
            key_encoder="sha256",
        )

    return work


def _llamaindex(folder: Path, url: str, state: Path) -> Callable[[], None]:
    """SimpleDirectoryReader with pypdf, IngestionPipeline with a document store and upserts."""
    import psycopg
    from llama_index.core import SimpleDirectoryReader
    from llama_index.core.embeddings import BaseEmbedding
    from llama_index.core.ingestion import DocstoreStrategy, IngestionPipeline
    from llama_index.core.node_parser import SentenceSplitter
    from llama_index.core.storage.docstore import SimpleDocumentStore
    from llama_index.vector_stores.postgres import PGVectorStore

    class Stub(BaseEmbedding):
        def _get_text_embedding(self, text: str) -> list[float]:
            return embed([text])[0]

        def _get_text_embeddings(self, texts: list[str]) -> list[list[float]]:
            return embed(texts)

        def _get_query_embedding(self, query: str) -> list[float]:
            return embed([query])[0]

        async def _aget_query_embedding(self, query: str) -> list[float]:
            return embed([query])[0]

    def work() -> None:
        parts = psycopg.conninfo.conninfo_to_dict(url)
        host = str(parts["host"])
        dsn = f"postgres@/{parts['dbname']}?host={host}"
        store = PGVectorStore(
            connection_string=f"postgresql+psycopg2://{dsn}",
            async_connection_string=f"postgresql+asyncpg://{dsn}",
            table_name="docs",
            embed_dim=DIMENSIONS,
        )
        kept = state / "docstore.json"
        docstore = (
            SimpleDocumentStore.from_persist_path(str(kept))
            if kept.exists()
            else SimpleDocumentStore()
        )
        pipeline = IngestionPipeline(
            transformations=[SentenceSplitter(chunk_size=256, chunk_overlap=20), Stub()],
            vector_store=store,
            docstore=docstore,
            docstore_strategy=DocstoreStrategy.UPSERTS_AND_DELETE,
        )
        documents = SimpleDirectoryReader(str(folder), filename_as_id=True).load_data()
        for document in documents:
            document.set_content(document.text.replace("\x00", ""))
        pipeline.run(documents=documents)
        docstore.persist(str(kept))

    return work


def _haystack(folder: Path, url: str, _state: Path) -> Callable[[], None]:
    """PyPDFToDocument, DocumentSplitter, DocumentWriter that overwrites; nothing is remembered."""
    from haystack import Document, Pipeline, component
    from haystack.components.converters import PyPDFToDocument
    from haystack.components.preprocessors import DocumentCleaner, DocumentSplitter
    from haystack.components.writers import DocumentWriter
    from haystack.document_stores.types import DuplicatePolicy
    from haystack.utils import Secret
    from haystack_integrations.document_stores.pgvector import PgvectorDocumentStore

    @component
    class Stub:
        @component.output_types(documents=list[Document])
        def run(self, documents: list[Document]) -> dict[str, Any]:
            vectors = embed([document.content or "" for document in documents])
            for document, vector in zip(documents, vectors, strict=True):
                document.embedding = vector
                document.content = (document.content or "").replace("\x00", "")
            return {"documents": documents}

    def work() -> None:
        store = PgvectorDocumentStore(
            connection_string=Secret.from_token(url), embedding_dimension=DIMENSIONS
        )
        pipeline = Pipeline()
        pipeline.add_component("read", PyPDFToDocument())
        pipeline.add_component("clean", DocumentCleaner())
        pipeline.add_component("split", DocumentSplitter(split_by="word", split_length=150))
        pipeline.add_component("embed", Stub())
        pipeline.add_component("write", DocumentWriter(store, policy=DuplicatePolicy.OVERWRITE))
        names = ("read", "clean", "split", "embed", "write")
        for first, second in itertools.pairwise(names):
            pipeline.connect(first, second)
        pipeline.run({"read": {"sources": sorted(folder.glob("*.pdf"))}})

    return work


def _cocoindex(folder: Path, url: str, state: Path) -> Callable[[], None]:
    """Files walked, pypdf, RecursiveSplitter, memoised functions, rows declared in a table."""
    os.environ["COCOINDEX_DB"] = str(state / "cocoindex.db")
    import io
    from collections.abc import AsyncIterator
    from dataclasses import dataclass
    from typing import Annotated

    import asyncpg
    import cocoindex as coco
    import numpy as np
    from cocoindex.connectors import localfs, postgres
    from cocoindex.ops.text import RecursiveSplitter
    from cocoindex.resources.file import PatternFilePathMatcher
    from cocoindex.resources.id import IdGenerator
    from cocoindex.resources.schema import VectorSchema
    from numpy.typing import NDArray
    from pypdf import PdfReader

    pool_key = coco.ContextKey[asyncpg.Pool]("benchmark_db")
    splitter = RecursiveSplitter()

    @dataclass
    class Row:
        id: int
        filename: str
        text: str
        embedding: Annotated[NDArray, VectorSchema(dtype=np.dtype(np.float32), size=DIMENSIONS)]

    @coco.lifespan
    async def lifespan(builder: coco.EnvironmentBuilder) -> AsyncIterator[None]:
        async with await asyncpg.create_pool(url) as pool:
            builder.provide(pool_key, pool)
            yield

    @coco.fn(memo=True)
    async def embedded(text: str) -> list[float]:
        return embed([text])[0]

    @coco.fn
    async def declare(chunk: Any, filename: str, ids: IdGenerator, table: Any) -> None:
        vector = np.array(await embedded(chunk.text), dtype=np.float32)
        table.declare_row(row=Row(await ids.next_id(chunk.text), filename, chunk.text, vector))

    @coco.fn(memo=True)
    async def process(file: Any, table: Any) -> None:
        reader = PdfReader(io.BytesIO(await file.read()))
        text = "\n\n".join(page.extract_text() for page in reader.pages).replace("\x00", "")
        chunks = splitter.split(text, chunk_size=CHUNK_LETTERS, chunk_overlap=100)
        await coco.map(declare, chunks, str(file.file_path.path), IdGenerator(), table)

    @coco.fn
    async def app_main(sourcedir: Path) -> None:
        table = await postgres.mount_table_target(
            pool_key,
            table_name="docs",
            table_schema=await postgres.TableSchema.from_class(Row, primary_key=["id"]),
        )
        files = localfs.walk_dir(
            sourcedir, path_matcher=PatternFilePathMatcher(included_patterns=["**/*.pdf"])
        )
        await coco.mount_each(process, files.items(), table)

    app = coco.App(coco.AppConfig(name="benchmark"), app_main, sourcedir=folder)

    def work() -> None:
        async def update() -> None:
            await app.update()

        asyncio.run(update())

    return work


ENGINES: dict[str, Callable[[Path, str, Path], Callable[[], None]]] = {
    "langchain": _langchain,
    "llamaindex": _llamaindex,
    "haystack": _haystack,
    "cocoindex": _cocoindex,
}

if __name__ == "__main__":
    main()
