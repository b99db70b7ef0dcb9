"""Messages to a chat model, and its reply."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from rag_pipeline.usage import Usage

Role = Literal["system", "user", "assistant"]


@dataclass(frozen=True)
class Message:
    """One turn of a conversation."""

    role: Role
    content: str


@dataclass(frozen=True)
class ChatReply:
    """An answer that reached its end, complete or not; see `is_complete`."""

    text: str
    finish_reason: str
    """`stop`; `length`: cut at `chat.max_tokens`; `content_filter`: withheld, at least in part."""
    refusal: str | None
    """Why the model or its provider would not answer, in their words; None if they did."""
    usage: Usage
    """Tokens of this reply alone; zero if the server does not report them."""

    @property
    def is_complete(self) -> bool:
        """Whether `text` is the whole answer: not cut, not refused."""
        return self.finish_reason == "stop" and self.refusal is None
