"""LangChain's recursive splitter with token lengths, in an environment of its own.

    python -m benchmarks.chunking_peer TARGET_TOKENS MODELS_DIR < texts.json

Texts (a JSON list) in, `{"chunks": [[…]], "seconds": CPU}` out; tokens of the local model.
Needs `pip install langchain-text-splitters pydantic-settings numpy`; exit status 3 says that it is
not installed.
"""

from __future__ import annotations

import importlib.util
import json
import sys
import time
from pathlib import Path

NOT_INSTALLED = 3
SEPARATORS = ["\n\n", "\n", ".", "?", "!", " ", ""]
"""Those of the published figures (Chroma 2024)."""


def main() -> None:
    """Split the texts from standard input."""
    if importlib.util.find_spec("langchain_text_splitters") is None:
        sys.exit(NOT_INSTALLED)
    from langchain_text_splitters import RecursiveCharacterTextSplitter

    from rag_pipeline.embedding import create_embedder
    from rag_pipeline.settings import EmbeddingSettings

    target, models = int(sys.argv[1]), Path(sys.argv[2])
    embedder = create_embedder(EmbeddingSettings(), models)
    splitter = RecursiveCharacterTextSplitter(
        chunk_size=target,
        chunk_overlap=0,
        separators=SEPARATORS,
        length_function=lambda text: embedder.count_tokens([text])[0],
    )
    texts = json.load(sys.stdin)
    embedder.count_tokens(["the tokenizer is loaded before the clock starts"])
    start = time.process_time()
    chunks = [splitter.split_text(text) for text in texts]
    seconds = time.process_time() - start
    json.dump({"chunks": chunks, "seconds": seconds}, sys.stdout)


if __name__ == "__main__":
    main()
