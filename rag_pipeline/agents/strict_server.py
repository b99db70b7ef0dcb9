"""The SDK's server, except that it refuses arguments that a tool does not have.

The SDK ignores them: an agent that misspells a filter would search everything and not notice.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from difflib import get_close_matches
from typing import Any

from mcp.server.mcpserver import Context, MCPServer
from mcp.server.mcpserver.exceptions import ToolError
from mcp_types import CallToolResult, InputRequiredResult
from pydantic import ValidationError

from rag_pipeline.serve.problems import invalid_values


class StrictServer(MCPServer[Any]):
    """A server whose errors name what is unknown, what is known, and what may have been meant."""

    async def call_tool(
        self, name: str, arguments: dict[str, Any], context: Context[Any, Any] | None = None
    ) -> CallToolResult | InputRequiredResult:
        """Call a tool. Raises `ToolError` for what the agent can correct."""
        schemas = {tool.name: tool.input_schema for tool in await self.list_tools()}
        _check_names("tool", [name], schemas)
        _check_names(f"argument of {name}", arguments, schemas[name].get("properties", {}))
        try:
            return await super().call_tool(name, arguments, context)
        except ToolError as error:
            if isinstance(error.__cause__, ValidationError):
                wrong = invalid_values(error.__cause__.errors())
                raise ToolError(f"{name}: {'; '.join(wrong)}") from error
            raise


def _check_names(what: str, given: Iterable[str], known: Mapping[str, object]) -> None:
    """Raise `ToolError` if a name is not known."""
    wrong = []
    for name in given:
        if name in known:
            continue
        near = get_close_matches(name.lower(), known, n=1)
        meant = f" (did you mean {near[0]}?)" if near else ""
        wrong.append(f"{name[:100]!r} is no {what}{meant}")
    if wrong:
        raise ToolError(f"{'; '.join(wrong)}; known: {', '.join(known)}")
