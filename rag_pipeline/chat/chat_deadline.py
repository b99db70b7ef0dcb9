"""How long one answer is waited for: when to try again, and when to give up."""

from __future__ import annotations

import time

from rag_pipeline.chat.chat_faults import Fault
from rag_pipeline.chat.endpoint import Endpoint
from rag_pipeline.errors import ChatError
from rag_pipeline.remote import Patience

SHORTEST_WAIT_SECONDS = 0.1
BAD_REPLIES = 2
"""A reply of the wrong shape that comes again is no accident."""
UNREACHABLE_TRIES = 4
"""Some four seconds, enough for a restart: a server that was never started is told at once."""


class ChatPatience(Patience):
    """Counts the failures of one question, and tells the user when there are too many."""

    def __init__(self, endpoint: Endpoint, deadline: float) -> None:
        super().__init__(deadline)
        self._endpoint = endpoint
        self._bad_replies = self._unreachable = 0

    def wait(self, fault: Fault) -> None:
        """Sleep until the next try; raises `ChatError` where there is none."""
        asked = fault.retry_after
        delay = self.next_wait(None if asked is None else max(asked, SHORTEST_WAIT_SECONDS))
        self._bad_replies += fault.bad_reply
        self._unreachable += fault.unreachable
        if self._bad_replies >= BAD_REPLIES:
            raise ChatError(f"{fault} ({self.tried})", hint=self._endpoint.settings_hint) from fault
        if self._unreachable >= UNREACHABLE_TRIES:
            raise ChatError(f"{fault} ({self.tried})", hint=self._endpoint.start_hint) from fault
        if delay is None:
            raise ChatError(
                f"{fault} ({self})",
                hint="raise chat.deadline_seconds, or lower chat.max_concurrent_requests",
            ) from fault
        time.sleep(delay)
