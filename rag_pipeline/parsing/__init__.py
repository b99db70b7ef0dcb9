"""Files to blocks: one parser per format, all give the same frame."""

from rag_pipeline.parsing.document import (
    PARSER_VERSION,
    LocalParser,
    ParsedDocument,
    Parser,
    parse_file,
)

__all__ = ["PARSER_VERSION", "LocalParser", "ParsedDocument", "Parser", "parse_file"]
