"""Replies of any shape: understood, or a fault; never an accident."""

from __future__ import annotations

import json
from contextlib import suppress
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rag_pipeline.chat.endpoint import Endpoint
from rag_pipeline.chat.protocol import Assembly
from rag_pipeline.errors import ChatError, ProviderError
from rag_pipeline.remote import HttpFault, RefusedFault, ReplyFault, TransientFault

ENDPOINT = Endpoint("chat", "m", "http://127.0.0.1/v1", None)
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.text(max_size=3), inner),
    max_leaves=5,
)


def fields(*names: str, **known: st.SearchStrategy[Any]) -> st.SearchStrategy[dict[str, Any]]:
    """Objects with some of the fields, of which each has a good or a wild value."""
    optional = dict.fromkeys(names, VALUES)
    optional |= {name: good | VALUES for name, good in known.items()}
    return st.fixed_dictionaries({}, optional=optional)


MESSAGES = fields(content=st.text(), refusal=st.text(), role=st.just("assistant"))
CHOICES = fields(
    index=st.just(0), delta=MESSAGES, message=MESSAGES, finish_reason=st.sampled_from(["stop"])
)
BODIES = fields(
    choices=st.lists(CHOICES, max_size=2),
    usage=fields("prompt_tokens", "completion_tokens"),
    error=fields("message", "code", "type", "param"),
)

DETAILS = fields(detail=st.lists(fields("loc", "msg")))
ERRORS = VALUES | fields("error", "detail", "message") | DETAILS | st.binary()


@given(st.lists(BODIES | VALUES, max_size=4), st.booleans())
def test_any_json_is_a_reply_or_a_fault(bodies: list[Any], whole: bool) -> None:
    assembly = Assembly(ENDPOINT)
    texts = []
    for body in bodies:
        with suppress(ReplyFault, HttpFault):
            texts.append(assembly.add(json.dumps(body), whole=whole))
    with suppress(TransientFault, ChatError):
        reply = assembly.reply()
        assert reply.text == "".join(texts)
        assert reply.finish_reason
        assert reply.text.strip() or reply.refusal
    assert assembly.usage.tokens >= 0


@pytest.mark.parametrize("data", ["[" * 100_000, "", "\ufeff", "nan", "{'a': 1}"])
def test_what_is_no_json_is_a_fault(data: str) -> None:
    with pytest.raises(ReplyFault, match="no JSON"):
        Assembly(ENDPOINT).add(data)


@given(st.integers(300, 599), ERRORS)
def test_any_error_means_something(status: int, body: Any) -> None:
    fault = HttpFault.of_body(status, body)
    meaning = fault.meaning(ENDPOINT.service)
    assert isinstance(meaning, TransientFault | RefusedFault | ProviderError)
    assert len(fault.message) <= 300
