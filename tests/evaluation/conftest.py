"""The knowledge base and the chat server of the answers' tests."""

from tests.answering.conftest import base, project, server, short_waits

__all__ = ["base", "project", "server", "short_waits"]
