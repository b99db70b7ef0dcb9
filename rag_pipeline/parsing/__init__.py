"""Files to blocks: one parser per format, all give the same frame."""

from rag_pipeline.parsing.contract import ParsedDocument, Parser
from rag_pipeline.parsing.local_parser import LocalParser, parse_file
from rag_pipeline.parsing.pdf.pdf_parser import parse_pdf

__all__ = [
    "LocalParser",
    "ParsedDocument",
    "Parser",
    "parse_file",
    "parse_pdf",
]
