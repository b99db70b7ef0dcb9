"""`python -m rag_pipeline.cli` is `rag`."""

from rag_pipeline.cli import main

if __name__ == "__main__":
    main()
