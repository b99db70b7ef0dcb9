"""A provider's own key goes to the provider alone."""

from __future__ import annotations

from pathlib import Path

import pytest

from rag_pipeline.settings import Settings


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
