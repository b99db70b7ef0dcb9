"""Technical documents to a searchable Postgres knowledge base.

>>> from rag_pipeline import RagSystem                                # doctest: +SKIP
>>> rag = RagSystem()                                                 # doctest: +SKIP
>>> rag.add_directory("manuals")                                      # doctest: +SKIP
>>> print(rag.ask("How often must the oil be changed?").text)         # doctest: +SKIP
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from rag_pipeline.system import RagSystem

__all__ = ["RagSystem"]


def __getattr__(name: str) -> Any:
    """Import what is asked for only then: `rag --help` needs none of it."""
    if name == "RagSystem":
        from rag_pipeline.system import RagSystem

        return RagSystem
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
