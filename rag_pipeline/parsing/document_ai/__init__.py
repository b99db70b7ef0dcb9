"""Google Document AI: pages to replies, checked and kept; replies to the blocks frame."""

from rag_pipeline.parsing.document_ai.cache import MemoryReplies, ReplyCache
from rag_pipeline.parsing.document_ai.convert import to_blocks
from rag_pipeline.parsing.document_ai.parser import DocumentAiParser
from rag_pipeline.parsing.document_ai.source import is_readable

__all__ = ["DocumentAiParser", "MemoryReplies", "ReplyCache", "is_readable", "to_blocks"]
