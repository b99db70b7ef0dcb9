"""Blocks to structure: every block gets a role, a level and a breadcrumb trail, by rules."""

from rag_pipeline.structure.infer import STRUCTURE_VERSION, infer_structure

__all__ = ["STRUCTURE_VERSION", "infer_structure"]
