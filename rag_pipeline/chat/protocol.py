"""OpenAI's chat completions: the request, and the reply assembled from its parts."""

from __future__ import annotations

import codecs
import json
import logging
import re
from collections.abc import Mapping, Sequence
from typing import Any

from rag_pipeline.chat.endpoint import Endpoint
from rag_pipeline.chat.messages import ChatReply, Message
from rag_pipeline.chat.thinking import ThoughtFilter, answer_in
from rag_pipeline.errors import ChatError
from rag_pipeline.remote import HttpFault, ReplyFault, TransientFault
from rag_pipeline.settings import ChatSettings
from rag_pipeline.text import clean_text
from rag_pipeline.usage import Usage

Json = dict[str, object]

log = logging.getLogger(__name__)

FILTERED = "the provider's content filter withheld the answer"
_ANSWER_PARTS = ("text", "output_text")
_LIMITS = ("max_tokens", "max_completion_tokens")
_UNSUPPORTED = re.compile(
    r"unsupported|not (be )?(supported|permitted|allowed)|not support|unrecognized|unknown"
    r"|unexpected|extra (inputs|fields)|only the default",
    re.IGNORECASE,
)


class RequestForm:
    """Writes requests, and learns which parameters the model does not accept.

    Servers differ: OpenAI's reasoning models refuse `temperature` and `max_tokens`, others do not
    know `max_completion_tokens` or `stream_options`.
    """

    def __init__(self, settings: ChatSettings, provider: str) -> None:
        self._settings = settings
        self._limit = _LIMITS[provider == "openai"]
        self._first_limit = self._limit
        self._refused: set[str] = set()

    def write(self, messages: Sequence[Message], *, streamed: bool) -> Json:
        """Return the body of a request."""
        body: Json = {
            "model": self._settings.model,
            "messages": [
                {"role": message.role, "content": clean_text(message.content)}
                for message in messages
            ],
            "temperature": self._settings.temperature,
            self._limit: self._settings.max_tokens,
        }
        if streamed:
            body |= {"stream": True, "stream_options": {"include_usage": True}}
        return {name: value for name, value in body.items() if name not in self._refused}

    def adapt(self, body: Json, fault: HttpFault) -> bool:
        """Drop the parameter of `body` that was refused; True if a new request is worth sending."""
        if fault.status not in (400, 422):
            return False
        names = [self._first_limit, "temperature", "stream_options"]
        refused = next((name for name in names if name in body and _names(fault, name)), None)
        if refused is None:
            return False
        if refused == self._first_limit:
            self._limit = _LIMITS[refused == _LIMITS[0]]
        elif refused not in self._refused:
            self._refused.add(refused)
            log.warning("%s does not take %s; it is left out", self._settings.model, refused)
        return True


def _names(fault: HttpFault, parameter: str) -> bool:
    """Whether a server says that it does not support a parameter, or the value it has."""
    if not _UNSUPPORTED.search(f"{fault.code} {fault.message}"):
        return False
    if fault.parameter:
        return fault.parameter == parameter
    return bool(re.search(rf"\b{parameter}\b", fault.message))


class Assembly:
    """Assembles one reply from the chunks of a stream, or from a whole body as one chunk."""

    def __init__(self, endpoint: Endpoint) -> None:
        self._endpoint = endpoint
        self._text: list[str] = []
        self._refusal: list[str] = []
        self._finish_reason = ""
        self._choices = 0
        self._tokens = self._output_tokens = 0
        # UTF-16, because JSON writes an emoji as two halves, and a chunk may end between them.
        self._letters = codecs.getincrementaldecoder("utf-16-le")("replace")
        self._thoughts = ThoughtFilter()

    @property
    def usage(self) -> Usage:
        """Tokens of this request, as far as the server has reported them."""
        return Usage(
            self._endpoint.provider,
            self._endpoint.model,
            "chat",
            requests=1,
            tokens=self._tokens,
            output_tokens=self._output_tokens,
        )

    @property
    def is_ended(self) -> bool:
        """Whether the end of the answer was seen; only a token count may follow."""
        return bool(self._finish_reason)

    def add(self, data: str | bytes, *, whole: bool = False) -> str:
        """Take the JSON of a chunk (or of the `whole` reply), and return the text that it adds.

        What the model thinks is left out. Raises `ReplyFault` for anything else, and `HttpFault`
        for an error in its place.
        """
        try:
            chunk = json.loads(data)
        except (ValueError, RecursionError) as error:
            raise self._malformed("what is no JSON") from error
        if not isinstance(chunk, dict):
            raise self._malformed("JSON of another shape")
        if chunk.get("error") or chunk.get("object") == "error":
            raise HttpFault.of_body(None, chunk, key=self._endpoint.key)
        self._count(chunk.get("usage"))
        text = ""
        for choice in _dicts(chunk.get("choices")):
            if choice.get("index", 0) != 0:
                continue
            self._choices += 1
            message = choice.get("message" if whole else "delta")
            if isinstance(message, dict):
                text += self._letters.decode(
                    _text_of(message.get("content")).encode("utf-16-le", "surrogatepass")
                ).replace("\0", "")
                self._refusal.append(_text_of(message.get("refusal")))
            # A whole body is complete even without a reason: its length was checked.
            reason = choice.get("finish_reason") or ("stop" if whole else "")
            self._finish_reason = str(reason) or self._finish_reason
        return self._added(self._thoughts.add(text))

    def rest(self) -> str:
        """Return the text that was held back, once nothing more comes."""
        return self._added(self._thoughts.rest())

    def _added(self, text: str) -> str:
        self._text.append(text)
        return text

    def reply(self) -> ChatReply:
        """Return the reply, once nothing more comes.

        Raises `TransientFault` if it did not reach its end or is empty.
        """
        text = answer_in("".join(self._text))
        if not self._choices:
            raise self._malformed("no choice")
        if not self._finish_reason:
            provider = self._endpoint.provider
            raise TransientFault(f"{provider} broke off before the end of the answer")
        refusal = clean_text("".join(self._refusal)).strip() or None
        if self._finish_reason == "content_filter":
            refusal = refusal or FILTERED
        if not text.strip() and refusal is None:
            if self._finish_reason == "length":
                raise ChatError(
                    f"{self._endpoint.model} used up all its tokens before the first word",
                    hint="raise chat.max_tokens: a model's thinking counts too",
                )
            if self._thoughts.has_thought:
                raise ChatError(
                    f"{self._endpoint.model} thought, and wrote no answer", hint="ask again"
                )
            raise self._malformed("an empty answer")
        return ChatReply(text, self._finish_reason, refusal, self.usage)

    def _count(self, usage: object) -> None:
        if isinstance(usage, dict):  # some servers send it with every chunk, counted up
            self._tokens = _number(usage.get("prompt_tokens"))
            self._output_tokens = _number(usage.get("completion_tokens"))

    def _malformed(self, what: str) -> ReplyFault:
        return ReplyFault(f"{self._endpoint.provider} sent {what}")


def filtered_reply(endpoint: Endpoint, fault: HttpFault) -> ChatReply | None:
    """Return the reply if the provider's filter stopped the question itself, as Azure's does."""
    if fault.status != 400 or fault.code not in ("content_filter", "content_policy"):
        return None
    usage = Usage(endpoint.provider, endpoint.model, "chat")
    return ChatReply("", "content_filter", fault.message or FILTERED, usage)


def _dicts(items: object) -> list[Mapping[str, Any]]:
    return [item for item in items if isinstance(item, dict)] if isinstance(items, list) else []


def _text_of(content: object) -> str:
    """Return the text of a message, which is a string, a list of parts, or missing.

    Parts of other types, such as `thinking` and `reasoning`, are not the answer.
    """
    if isinstance(content, str):
        return content
    parts = [part for part in _dicts(content) if part.get("type", "text") in _ANSWER_PARTS]
    return "".join(_text_of(part.get("text")) for part in parts)


def _number(value: object) -> int:
    return value if isinstance(value, int) and value > 0 else 0
