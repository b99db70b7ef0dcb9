"""Who may ask over the network, and what agents may do."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from pydantic import Field, model_validator

from rag_pipeline.settings.section import Section

TOKEN_PREFIX = "RAG_TOKEN_"
"""Variables that begin so hold tokens, and are no settings."""


class TokenSettings(Section):
    """A token of `rag serve` and `rag mcp --http`, and whom it stands for."""

    name: str = Field(
        pattern=r"^[A-Za-z0-9][A-Za-z0-9_-]{0,39}$", description="Name of the token in messages"
    )
    token_env: str | None = Field(
        default=None, description=f"Environment variable that holds it: `{TOKEN_PREFIX}…`"
    )
    token_file: Path | None = Field(
        default=None, description="File that holds it, for systems that hand secrets over as files"
    )
    principals: list[str] | None = Field(
        default=None,
        description="For whom its bearer reads (docs/security.md); unset = as on the command line",
    )

    @model_validator(mode="before")
    @classmethod
    def _no_token(cls, values: Any) -> Any:
        if isinstance(values, dict) and "token" in values:
            raise ValueError("a token is a secret: name its variable (token_env) or its file")
        return values

    @model_validator(mode="after")
    def _one_place(self) -> TokenSettings:
        if (self.token_env is None) == (self.token_file is None):
            raise ValueError("give token_env or token_file, and not both")
        return self


class ServeSettings(Section):
    """`rag serve`: the page and the API."""

    tokens: list[TokenSettings] = Field(
        default=[], description="Who may ask, as `[[serve.tokens]]`"
    )
    local_principals: list[str] | None = Field(
        default=None,
        description="For whom requests of this machine without a token read; unset = as on the "
        "command line",
    )
    allowed_hosts: list[str] = Field(
        default=[],
        description="Names under which the server is reached, where it is bound to more than this "
        "machine; none = any",
    )
    max_concurrent: int = Field(
        default=8,
        ge=1,
        le=100,
        description="Searches, lists and files at once; more of them wait. Answers by a chat model "
        "have turns of their own: chat.max_concurrent_requests",
    )


class McpSettings(Section):
    """`rag mcp`: tools for agents."""

    allow_remember: bool = Field(
        default=False,
        description="Offer the tool `remember`, which keeps notes of an agent as documents",
    )
