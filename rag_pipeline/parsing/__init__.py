"""Files to blocks: one parser per format, all give the same frame."""

from rag_pipeline.parsing.document import PARSER_VERSION, ParsedDocument, Parser, parse_pdf
from rag_pipeline.parsing.files import LocalParser, parse_file

__all__ = [
    "PARSER_VERSION",
    "LocalParser",
    "ParsedDocument",
    "Parser",
    "parse_file",
    "parse_pdf",
]
