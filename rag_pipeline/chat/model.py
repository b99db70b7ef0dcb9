"""The chat model: messages in, a whole or a streamed reply out, every token counted."""

from __future__ import annotations

import threading
from collections.abc import Generator, Iterator, Sequence
from contextlib import contextmanager

from rag_pipeline.chat.chat_deadline import ChatPatience
from rag_pipeline.chat.chat_faults import Fault, RefusedRequest, fault_of
from rag_pipeline.chat.endpoint import Endpoint
from rag_pipeline.chat.messages import ChatReply, Message
from rag_pipeline.chat.protocol import Assembly, Json, RequestForm, filtered_reply
from rag_pipeline.chat.server_sent_events import event_data
from rag_pipeline.chat.text_stream import ChatStream
from rag_pipeline.errors import ChatError
from rag_pipeline.settings import ChatSettings
from rag_pipeline.usage import Usage, UsageMeter

END_OF_STREAM = "[DONE]"


def create_chat(settings: ChatSettings) -> ChatModel | None:
    """Return the chat model, or None where none is set. Nothing is sent yet.

    Raises `ProviderError` where OpenAI's endpoint has no key.
    """
    return ChatModel(settings) if settings.model else None


class ChatModel:
    """One model at one endpoint; safe to use from several threads.

    Every reply is either whole, or says why not (`ChatReply.finish_reason`, `refusal`), or is an
    error: `ProviderError` where every question would fail (key, quota, model, address),
    `ChatError` where this one did. Too many requests, a server's errors and lost lines are tried
    again until `deadline_seconds` have passed, which begin when a request has its turn.
    """

    def __init__(self, settings: ChatSettings) -> None:
        # Here, since requests takes a third of a second to load, also where no chat is set.
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
        """Ask for a reply that comes piece by piece. The deadline is that of the last piece.

        What was given is given: a line that breaks after the first piece is an error, not tried
        again.
        """
        return ChatStream(self._answer(messages, streamed=True))

    def take_usage(self) -> list[Usage]:
        """Return what was used since the last call; what broke off counts as a request."""
        return self._meter.take()

    def _answer(
        self, messages: Sequence[Message], *, streamed: bool
    ) -> Generator[str, None, ChatReply]:
        """Yield the text of one reply as it comes, and return the reply; try until it works."""
        given: list[str] = []
        with self._turn():
            patience = ChatPatience(self._endpoint, self._deadline)
            while True:
                body = self._form.write(messages, streamed=streamed)
                try:
                    return (yield from self._attempt(body, patience.end, given))
                except RefusedRequest as answer:
                    if given:
                        raise _broken_off(str(answer), given) from answer
                    if self._form.adapt(body, answer):
                        continue
                    if answer.is_content_filter:
                        return filtered_reply(self._endpoint, answer)
                    fault = fault_of(self._endpoint, answer)
                except Fault as lost:
                    if given:
                        raise _broken_off(str(lost), given) from lost
                    fault = lost
                patience.wait(fault)

    def _attempt(self, body: Json, end: float, given: list[str]) -> Generator[str, None, ChatReply]:
        """Send one request; what is yielded is also noted in `given`."""
        with self._connection.post(body, end) as pieces:
            assembly = Assembly(self._endpoint)
            try:
                if not body.get("stream"):
                    text = assembly.add(b"".join(pieces), whole=True)
                    reply = assembly.reply()
                    yield text
                    return reply
                for data in event_data(pieces):
                    if data == END_OF_STREAM:
                        break
                    if text := assembly.add(data):
                        given.append(text)
                        yield text
                return assembly.reply()
            except Fault:
                if not assembly.is_ended or not given:
                    raise
                return assembly.reply()  # the line broke behind the last word
            finally:
                self._meter.add(assembly.usage)

    @contextmanager
    def _turn(self) -> Iterator[None]:
        """Hold one of the turns; a stream that nobody reads to its end must not block for ever."""
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
        hint="ask again; what came is no whole answer",
        text=text,
    )
