"""What is said to a chat model, and what comes back."""

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
    """An answer that came to its end, for better or worse; see `is_complete`."""

    text: str
    finish_reason: str
    """`stop`; `length`: cut at `chat.max_tokens`; `content_filter`: withheld, wholly or in part."""
    refusal: str | None
    """Why the model or its provider would not answer, in their words; None where they did."""
    usage: Usage
    """Tokens of this reply alone; zero where the server does not tell."""

    @property
    def is_complete(self) -> bool:
        """Whether `text` is the whole answer: not cut, not refused."""
        return self.finish_reason == "stop" and self.refusal is None
