"""Chat: one model behind any endpoint that speaks OpenAI's protocol (OpenAI, Ollama, vLLM, …)."""

from rag_pipeline.chat.messages import ChatReply, Message
from rag_pipeline.chat.model import ChatModel, create_chat
from rag_pipeline.chat.text_stream import ChatStream

__all__ = ["ChatModel", "ChatReply", "ChatStream", "Message", "create_chat"]
