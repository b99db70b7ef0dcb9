"""OpenAI's chat completions: the request, and the reply put together from its parts."""

from __future__ import annotations

import codecs
import json
import logging
import re
from collections.abc import Mapping, Sequence
from typing import Any

from rag_pipeline.chat.chat_faults import Fault, Problem, RefusedRequest, problem_of
from rag_pipeline.chat.endpoint import Endpoint
from rag_pipeline.chat.messages import ChatReply, Message
from rag_pipeline.errors import ChatError
from rag_pipeline.settings import ChatSettings
from rag_pipeline.text import clean_text
from rag_pipeline.usage import Usage

Json = dict[str, Any]

log = logging.getLogger(__name__)

FILTERED = "the provider's content filter withheld the answer"
_LIMITS = ("max_tokens", "max_completion_tokens")
_UNSUPPORTED = re.compile(
    r"unsupported|not (be )?(supported|permitted|allowed)|not support|unrecognized|unknown"
    r"|unexpected|extra (inputs|fields)|only the default",
    re.IGNORECASE,
)


class RequestForm:
    """Writes requests, and learns which parameters the model does not take.

    Servers differ: OpenAI's reasoning models refuse `temperature` and `max_tokens`, others know
    no `max_completion_tokens` or `stream_options`.
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

    def adapt(self, body: Json, answer: RefusedRequest) -> bool:
        """Whether the request is to be sent again, without what was refused of `body`."""
        if answer.status not in (400, 422):
            return False
        names = [self._first_limit, "temperature", "stream_options"]
        refused = next((name for name in names if name in body and _names(answer, name)), None)
        if refused is None:
            return False
        if refused == self._first_limit:
            self._limit = _LIMITS[refused == _LIMITS[0]]
        elif refused not in self._refused:
            self._refused.add(refused)
            log.warning("%s does not take %s; it is left out", self._settings.model, refused)
        return True


def _names(answer: RefusedRequest, parameter: str) -> bool:
    """Whether a server says that it does not know a parameter, or not such a value."""
    problem = answer.problem
    if not _UNSUPPORTED.search(f"{problem.code} {problem.message}"):
        return False
    if problem.parameter:
        return problem.parameter == parameter
    return bool(re.search(rf"\b{parameter}\b", problem.message))


class Assembly:
    """Puts one reply together: from the chunks of a stream, or from a whole body as one chunk."""

    def __init__(self, endpoint: Endpoint) -> None:
        self._endpoint = endpoint
        self._text: list[str] = []
        self._refusal: list[str] = []
        self._finish_reason = ""
        self._choices = 0
        self._tokens = self._output_tokens = 0
        # As UTF-16, since JSON writes an emoji as two halves, and a chunk may end between them.
        self._letters = codecs.getincrementaldecoder("utf-16-le")("replace")

    @property
    def usage(self) -> Usage:
        """Tokens of this request, as far as the server has told."""
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
        """Whether the answer's end was seen; what may follow is its count of tokens."""
        return bool(self._finish_reason)

    def add(self, data: str | bytes, *, whole: bool = False) -> str:
        """Take the JSON of a chunk (or of the `whole` reply), and return the text that it adds.

        Raises `Fault` for what is no such JSON, `RefusedRequest` for an error in its place.
        """
        try:
            chunk = json.loads(data)
        except (ValueError, RecursionError) as error:
            raise self._malformed("what is no JSON") from error
        if not isinstance(chunk, dict):
            raise self._malformed("JSON of another shape")
        if chunk.get("error") or chunk.get("object") == "error":
            problem = problem_of(chunk, self._endpoint)
            raise RefusedRequest(_status_of(problem), problem)
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
            # A whole body without a reason is whole all the same: its length was checked.
            reason = choice.get("finish_reason") or ("stop" if whole else "")
            self._finish_reason = str(reason) or self._finish_reason
        self._text.append(text)
        return text

    def reply(self) -> ChatReply:
        """Return the reply, now that nothing more comes.

        Raises `Fault` where it did not reach its end, or holds nothing.
        """
        text = "".join(self._text)
        if not self._choices:
            raise self._malformed("no choice")
        if not self._finish_reason:
            raise Fault(f"{self._endpoint.provider} broke off before the end of the answer")
        refusal = clean_text("".join(self._refusal)).strip() or None
        if self._finish_reason == "content_filter":
            refusal = refusal or FILTERED
        if not text.strip() and refusal is None:
            if self._finish_reason == "length":
                raise ChatError(
                    f"{self._endpoint.model} used up all its tokens before the first word",
                    hint="raise chat.max_tokens: what a model thinks counts too",
                )
            raise self._malformed("an empty answer")
        return ChatReply(text, self._finish_reason, refusal, self.usage)

    def _count(self, usage: Any) -> None:
        if isinstance(usage, dict):  # some servers send it with every chunk, counted up
            self._tokens = _number(usage.get("prompt_tokens"))
            self._output_tokens = _number(usage.get("completion_tokens"))

    def _malformed(self, what: str) -> Fault:
        return Fault(f"{self._endpoint.provider} sent {what}", bad_reply=True)


def filtered_reply(endpoint: Endpoint, answer: RefusedRequest) -> ChatReply:
    """Return the reply to a question that the provider's filter stopped."""
    usage = Usage(endpoint.provider, endpoint.model, "chat")
    return ChatReply("", "content_filter", answer.problem.message or FILTERED, usage)


def _status_of(problem: Problem) -> int:
    """Return the HTTP status that an error within a reply stands for: its code, else 500."""
    status = int(problem.code) if problem.code.isdecimal() else 500
    return status if 400 <= status <= 599 else 500


def _dicts(items: Any) -> list[Mapping[str, Any]]:
    return [item for item in items if isinstance(item, dict)] if isinstance(items, list) else []


def _text_of(content: Any) -> str:
    """Return the text of a message: a string, nothing, or a list of parts."""
    if isinstance(content, str):
        return content
    return "".join(_text_of(part.get("text")) for part in _dicts(content))


def _number(value: Any) -> int:
    return value if isinstance(value, int) and value > 0 else 0
