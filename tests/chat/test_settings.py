"""The section `chat`: off by default, no secrets in files, no key to strangers."""

from __future__ import annotations

from pathlib import Path

import pytest
from pydantic import SecretStr, ValidationError

from rag_pipeline.chat import create_chat
from rag_pipeline.errors import ProviderError, SettingsError
from rag_pipeline.settings import ChatSettings, Settings, chat_provider


def load(folder: Path, text: str) -> ChatSettings:
    (folder / "rag.toml").write_text(text, encoding="utf-8")
    return Settings.load(folder).chat


def test_there_is_no_chat_unless_a_model_is_set(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-1")
    assert create_chat(load(tmp_path, "")) is None


def test_an_address_without_a_model_is_a_mistake(tmp_path: Path) -> None:
    with pytest.raises(SettingsError, match="base_url needs a model"):
        load(tmp_path, '[chat]\nbase_url = "http://localhost:11434/v1"\n')


def test_the_key_is_refused_in_the_file(tmp_path: Path) -> None:
    with pytest.raises(SettingsError, match="RAG_CHAT__API_KEY"):
        load(tmp_path, '[chat]\nmodel = "m"\napi_key = "sk-1"\n')


@pytest.mark.parametrize(
    ("base_url", "key"),
    [
        ("", "sk-openai"),
        ('base_url = "https://eu.api.openai.com/v1"', "sk-openai"),
        ('base_url = "http://localhost:11434/v1"', None),
        ('base_url = "https://api.openai.com.example.org/v1"', None),
        ('base_url = "http://api.openai.com/v1"', None),
    ],
)
def test_the_openai_key_goes_to_openai_only(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, base_url: str, key: str | None
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-openai")
    settings = load(tmp_path, f'[chat]\nmodel = "m"\n{base_url}\n')
    assert settings.api_key == (SecretStr(key) if key else None)


def test_our_own_variable_goes_first(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-openai")
    monkeypatch.setenv("RAG_CHAT__API_KEY", "sk-ours")
    settings = load(tmp_path, '[chat]\nmodel = "m"\n')
    assert settings.api_key == SecretStr("sk-ours")
    assert "sk-ours" not in repr(settings)


def test_openai_without_a_key_names_the_variable() -> None:
    with pytest.raises(ProviderError, match="OPENAI_API_KEY"):
        create_chat(ChatSettings(model="gpt-5-mini"))


def test_a_key_that_no_header_takes_is_not_quoted() -> None:
    with pytest.raises(ProviderError) as caught:
        create_chat(ChatSettings(model="m", api_key=SecretStr("sk-se\ncret")))
    assert "cret" not in str(caught.value)


@pytest.mark.parametrize(
    "url", ["localhost:11434", "ftp://host/v1", "http://kim:pw@host/v1", "http://host/v1?key=1"]
)
def test_addresses_are_checked(url: str) -> None:
    with pytest.raises(ValidationError):
        ChatSettings(model="m", base_url=url)


@pytest.mark.parametrize(
    ("url", "provider"),
    [
        (None, "openai"),
        ("https://api.openai.com/v1", "openai"),
        ("http://192.168.0.7:11434/v1", "ollama"),
        ("http://localhost:8000/v1", "chat"),
    ],
)
def test_providers_are_told_by_their_address(url: str | None, provider: str) -> None:
    assert chat_provider(url) == provider
