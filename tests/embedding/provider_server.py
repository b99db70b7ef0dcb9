"""A local server that answers like OpenAI, Voyage, Vertex AI and Ollama, with faults on demand.

Every text has one vector, made from its hash, so that a test can tell which vector is whose.
"""

from __future__ import annotations

import base64
import hashlib
import json
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from tests.servers import Handler, LocalServer

Json = dict[str, Any]


def vector_of(text: str, dimensions: int) -> np.ndarray:
    """The vector that the server sends for a text; not normalised."""
    data = hashlib.shake_256(text.encode()).digest(dimensions)
    return np.frombuffer(data, np.uint8).astype(np.float32) - 127.5


def chunk_vector(chunk: str, group: list[str], dimensions: int) -> np.ndarray:
    """The vector of a chunk among its neighbours."""
    return vector_of("\x1f".join([chunk, *group]), dimensions)


@dataclass
class Request:
    """What was asked for."""

    path: str
    headers: dict[str, str]
    body: Json
    texts: list[str]


@dataclass
class Answer:
    """How one request is answered: as it should be, but for what is set here."""

    status: int = 200
    message: str = "injected"
    code: str | None = None
    headers: dict[str, str] = field(default_factory=dict)
    delay: float = 0.0
    """Seconds; the end of the test, or of the server, ends them."""
    company: int = 1
    """Requests that must have run at once before this one is answered."""
    cut: bool = False
    change: Callable[[list[Any]], list[Any]] | None = None
    """Changes the list of items (with index, where the API has one) before it is sent."""


class ProviderServer(LocalServer):
    """Answers with `answers` first, one a request, then with `always`."""

    def __init__(self) -> None:
        server = self

        class ProviderHandler(Handler):
            def answer(self, data: bytes) -> None:
                answer, status = Answer(), 200
                if self.headers["Content-Type"] == "application/x-www-form-urlencoded":
                    body = server.token()
                else:
                    answer, status, body = server.answer(
                        self.path.split("?")[0], dict(self.headers), json.loads(data)
                    )
                headers = {"Content-Type": "application/json", **answer.headers}
                self.send(status, headers, json.dumps(body).encode(), cut=answer.cut)

        super().__init__(ProviderHandler)
        self.reset()

    def reset(self) -> None:
        """Forget what was asked, and answer well."""
        self._end_all()
        self.requests: list[Request] = []
        self.answers: list[Answer] = []
        self.always = Answer()
        self.refuse: Callable[[str], bool] = lambda text: False
        self.refusal = "this text is not accepted"
        self.poison: Callable[[str], bool] = lambda text: False
        """Texts whose vectors are NaN."""
        self.dimensions = 64

    @property
    def sent(self) -> list[str]:
        """All texts that were asked for, in the order of their arrival."""
        return [text for request in self.requests for text in request.texts]

    def token(self) -> Json:
        """Answer like Google's token server."""
        return {"access_token": "local-token", "expires_in": 3600, "token_type": "Bearer"}

    def answer(self, path: str, headers: dict[str, str], body: Json) -> tuple[Answer, int, Json]:
        texts = _texts(path, body)
        with self._lock:
            self.requests.append(Request(path, headers, body, texts))
            answer = self.answers.pop(0) if self.answers else self.always
        with self._counted():
            self._wait_for_company(answer.company)
            self.ended.wait(answer.delay)
        if answer.status != 200:
            return answer, answer.status, _error(path, answer.status, answer.message, answer.code)
        if any(map(self.refuse, texts)):
            return answer, 400, _error(path, 400, self.refusal, None)
        return answer, 200, self._reply(path, body, texts, answer)

    def _reply(self, path: str, body: Json, texts: list[str], answer: Answer) -> Json:
        change = answer.change or (lambda items: items)
        encoded = body.get("encoding_format") == "base64"
        total = sum(len(text) // 4 + 1 for text in texts)

        def item(index: int, vector: np.ndarray) -> Json:
            data = base64.b64encode(vector.astype("<f4").tobytes()).decode()
            embedding = data if encoded else vector.tolist()
            return {"object": "embedding", "index": index, "embedding": embedding}

        if path.endswith("/contextualizedembeddings"):
            groups = [
                {
                    "object": "list",
                    "index": number,
                    "data": change(
                        [item(i, self._chunk(chunk, group)) for i, chunk in enumerate(group)]
                    ),
                }
                for number, group in enumerate(body["inputs"])
            ]
            return {
                "object": "list",
                "data": change(groups),
                "model": body["model"],
                "usage": {"total_tokens": total},
            }
        vectors = [self._vector(text) for text in texts]
        if path.endswith("/embeddings"):
            data = change([item(i, vector) for i, vector in enumerate(vectors)])
            usage = {"prompt_tokens": total, "total_tokens": total}
            return {"object": "list", "data": data, "model": body["model"], "usage": usage}
        plain = change([vector.tolist() for vector in vectors])
        if path.endswith("/api/embed"):
            return {"model": body["model"], "embeddings": plain, "prompt_eval_count": total}
        if path.endswith(":predict"):
            statistics = {"truncated": False, "token_count": 3}
            return {
                "predictions": [
                    {"embeddings": {"values": values, "statistics": statistics}} for values in plain
                ]
            }
        assert path.endswith(":embedContent"), path
        return {"embedding": {"values": plain[0]} if plain else {}, "truncated": False}

    def _vector(self, text: str) -> np.ndarray:
        vector = vector_of(text, self.dimensions)
        return vector * np.nan if self.poison(text) else vector

    def _chunk(self, chunk: str, group: list[str]) -> np.ndarray:
        vector = chunk_vector(chunk, group, self.dimensions)
        return vector * np.nan if self.poison(chunk) else vector


def _texts(path: str, body: Json) -> list[str]:
    if path.endswith("/contextualizedembeddings"):
        return [chunk for group in body["inputs"] for chunk in group]
    if path.endswith(":predict"):
        return [instance["content"] for instance in body["instances"]]
    if path.endswith(":embedContent"):
        return [part["text"] for part in body["content"]["parts"]]
    return list(body["input"])


def _error(path: str, status: int, message: str, code: str | None) -> Json:
    if "voyage" in path:
        return {"detail": f"{message} {code or ''}".strip()}
    if ":" in path:
        return {"error": {"code": status, "message": f"{message} {code or ''}", "status": "X"}}
    if path.endswith("/api/embed"):
        return {"error": f"{message} {code or ''}".strip()}
    return {"error": {"message": message, "type": "x", "param": None, "code": code}}
