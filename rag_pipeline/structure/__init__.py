"""Blocks to structure: every block gets a role, a level and a breadcrumb trail, by rules."""

from rag_pipeline.structure.infer import infer_structure
from rag_pipeline.structure.markdown_output import headings_of, to_markdown

__all__ = ["headings_of", "infer_structure", "to_markdown"]
