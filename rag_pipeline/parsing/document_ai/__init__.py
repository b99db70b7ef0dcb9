"""Google Document AI: from pages to checked, stored replies, and from these to the blocks frame."""

from rag_pipeline.parsing.document_ai.convert.replies_to_blocks import to_blocks
from rag_pipeline.parsing.document_ai.document_ai_parser import DocumentAiParser
from rag_pipeline.parsing.document_ai.service.reply_cache import MemoryReplies, ReplyCache
from rag_pipeline.parsing.document_ai.service.sent_file import is_readable

__all__ = ["DocumentAiParser", "MemoryReplies", "ReplyCache", "is_readable", "to_blocks"]
