"""The chat model: messages in, a whole or a streamed reply out, every token counted."""

from __future__ import annotations

import threading
import time
from collections.abc import Generator, Iterator, Sequence
from contextlib import closing, contextmanager

from rag_pipeline.chat.endpoint import Endpoint
from rag_pipeline.chat.messages import ChatReply, Message
from rag_pipeline.chat.protocol import Assembly, Json, RequestForm, filtered_reply
from rag_pipeline.chat.server_sent_events import event_data
from rag_pipeline.chat.text_stream import ChatStream
from rag_pipeline.errors import ChatError
from rag_pipeline.remote import (
    GaveUpFault,
    HttpFault,
    Patience,
    RefusedFault,
    TransientFault,
    send_with_retries,
)
from rag_pipeline.settings import ChatSettings
from rag_pipeline.usage import Usage, UsageMeter

END_OF_STREAM = "[DONE]"
TOO_LONG_HINT = "give the model less to read, lower chat.max_tokens, or take a longer context"


def create_chat(settings: ChatSettings) -> ChatModel | None:
    """Return the chat model, or None if none is set. Nothing is sent yet.

    Raises `ProviderError` if OpenAI's endpoint has no key.
    """
    return ChatModel(settings) if settings.model else None


class ChatModel:
    """One model at one endpoint; safe to use from several threads.

    Every reply is whole or says why not (`ChatReply.finish_reason`, `refusal`). Errors are a
    `ProviderError` if every question would fail (key, quota, model, address), and a `ChatError` if
    only this one did. Too many requests, server errors and lost connections are retried for
    `deadline_seconds`, counted from the moment a request gets its turn.
    """

    def __init__(self, settings: ChatSettings) -> None:
        # Imported here, because requests takes a third of a second to load.
        from rag_pipeline.chat.connection import Connection

        self._endpoint = Endpoint.of(settings)
        self._connection = Connection(self._endpoint)
        self._form = RequestForm(settings, self._endpoint.provider)
        self._deadline = settings.deadline_seconds
        self._turns = threading.BoundedSemaphore(settings.max_concurrent_requests)
        self._meter = UsageMeter()

    @property
    def name(self) -> str:
        """Provider and model, as in prices: `openai/gpt-5-mini`."""
        return f"{self._endpoint.provider}/{self._endpoint.model}"

    def complete(self, messages: Sequence[Message]) -> ChatReply:
        """Ask and wait for the whole reply."""
        stream = ChatStream(self._answer(messages, streamed=False))
        for _ in stream:
            pass
        return stream.reply

    def stream(self, messages: Sequence[Message]) -> ChatStream:
        """Ask for a reply that comes piece by piece; the deadline applies to the last piece.

        A connection that breaks after the first piece is an error and not retried.
        """
        return ChatStream(self._answer(messages, streamed=True))

    def take_usage(self) -> list[Usage]:
        """Return the usage since the last call; a reply that broke off counts as a request."""
        return self._meter.take()

    def _answer(
        self, messages: Sequence[Message], *, streamed: bool
    ) -> Generator[str, None, ChatReply]:
        """Yield the text of one reply as it arrives, and return the reply."""
        with self._turn():
            try:
                begun = send_with_retries(
                    lambda seconds: self._begin(messages, streamed, seconds),
                    Patience(self._deadline),
                )
            except GaveUpFault as fault:
                raise ChatError(str(fault), hint=self._next_step(fault)) from fault.last
            if isinstance(begun, ChatReply):
                return begun
            first, rest = begun
            with closing(rest):
                yield first
                return (yield from rest)

    def _begin(
        self, messages: Sequence[Message], streamed: bool, seconds: float
    ) -> ChatReply | tuple[str, Generator[str, None, ChatReply]]:
        """Send a request; return its first piece with the rest to come, or a reply without text.

        Up to here a request can be repeated: nothing has been handed out yet.
        """
        end = time.monotonic() + seconds
        while True:
            body = self._form.write(messages, streamed=streamed)
            attempt = self._attempt(body, end - time.monotonic())
            try:
                return next(attempt), attempt
            except StopIteration as ended:
                reply: ChatReply = ended.value
                return reply
            except HttpFault as fault:
                if self._form.adapt(body, fault):
                    continue
                if filtered := filtered_reply(self._endpoint, fault):
                    return filtered
                meaning = fault.meaning(self._endpoint.service)
                if isinstance(meaning, RefusedFault):
                    hint = TOO_LONG_HINT if meaning.too_long else self._settings_hint
                    raise ChatError(str(meaning), hint=hint) from fault
                raise meaning from fault

    def _attempt(self, body: Json, seconds: float) -> Generator[str, None, ChatReply]:
        """Send one request and yield what arrives; a fault after the first piece is final."""
        given: list[str] = []
        with self._connection.post(body, seconds) as pieces:
            assembly = Assembly(self._endpoint)
            try:
                if not body.get("stream"):
                    assembly.add(b"".join(pieces), whole=True)
                    assembly.rest()
                    reply = assembly.reply()
                    yield reply.text
                    return reply
                for data in event_data(pieces):
                    if data == END_OF_STREAM:
                        break
                    if text := assembly.add(data):
                        given.append(text)
                        yield text
                if text := assembly.rest():
                    given.append(text)
                    yield text
                return assembly.reply()
            except (HttpFault, TransientFault) as fault:
                if not given:
                    raise
                if assembly.is_ended and isinstance(fault, TransientFault):
                    if text := assembly.rest():
                        yield text
                    return assembly.reply()  # the connection broke after the last word
                raise _broken_off(str(fault), given) from fault
            finally:
                self._meter.add(assembly.usage)

    def _next_step(self, fault: GaveUpFault) -> str:
        if fault.is_late:
            return "raise chat.deadline_seconds, or lower chat.max_concurrent_requests"
        is_unreachable = fault.last.is_unreachable
        return self._endpoint.start_hint if is_unreachable else self._settings_hint

    @property
    def _settings_hint(self) -> str:
        return self._endpoint.service.settings_hint

    @contextmanager
    def _turn(self) -> Iterator[None]:
        """Take a turn; a stream that nobody reads to its end must not block others for ever."""
        if not self._turns.acquire(timeout=self._deadline):
            raise ChatError(
                f"no turn came within {self._deadline:g} s",
                hint="close streams that are not read to their end, ask fewer questions at once, "
                "or raise chat.max_concurrent_requests",
            )
        try:
            yield
        finally:
            self._turns.release()


def _broken_off(reason: str, given: list[str]) -> ChatError:
    text = "".join(given)
    return ChatError(
        f"the answer broke off after {len(text)} characters: {reason}",
        hint="ask again; the text so far is not the whole answer",
        text=text,
    )
