"""A provider's own key goes to the provider alone."""

from __future__ import annotations

import traceback
from pathlib import Path

import pytest

from rag_pipeline.embedding.remote.key_hiding import key_hidden
from rag_pipeline.errors import ProviderError
from rag_pipeline.remote import HttpFault, Service
from rag_pipeline.settings import Settings

SERVICE = Service("openai", "check the key", "add credit", "check the model")


def test_another_server_does_not_get_the_provider_s_key(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "own")
    monkeypatch.setenv("RAG_EMBEDDING__PROVIDER", "openai")
    key = Settings.load(tmp_path).embedding.api_key
    assert key is not None
    assert key.get_secret_value() == "own"
    monkeypatch.setenv("RAG_EMBEDDING__BASE_URL", "http://localhost:8000/v1")
    assert Settings.load(tmp_path).embedding.api_key is None
    monkeypatch.setenv("RAG_EMBEDDING__API_KEY", "meant")
    key = Settings.load(tmp_path).embedding.api_key
    assert key is not None
    assert key.get_secret_value() == "meant"


def refuse(status: int, said: str, key: str) -> None:
    try:
        raise ValueError(f"header {key}")
    except ValueError as error:
        with key_hidden(key):
            raise HttpFault(status, said).meaning(SERVICE) from error


@pytest.mark.parametrize(("status", "before"), [(401, ""), (500, ""), (400, "x" * 280)])
def test_a_key_that_a_server_repeats_is_in_no_message_and_no_cause(
    status: int, before: str
) -> None:
    key = "sk-secret-0123456789"
    with pytest.raises(Exception, match=f"answered {status}.*key .*\\*\\*\\*") as caught:
        refuse(status, f"{before} key {key} is wrong", key)
    assert "sk-sec" not in "".join(traceback.format_exception(caught.value))


def test_a_cause_without_the_key_stays() -> None:
    with pytest.raises(ProviderError) as caught, key_hidden("sk-secret-0123456789"):
        raise ProviderError("refused") from ValueError("its reason")
    assert str(caught.value.__cause__) == "its reason"
