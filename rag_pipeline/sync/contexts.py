"""Contextual retrieval: a sentence by the chat model that places each chunk in its document.

Asked for once: what a document's chunks were told is kept beside its other artifacts, under keys of
everything that the reply depends on.
"""

from __future__ import annotations

import json
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import cast

import pandas as pd

from rag_pipeline.chat import ChatModel, Message, create_chat
from rag_pipeline.chat.messages import Role
from rag_pipeline.chunking.contexts import (
    add_contexts,
    context_key,
    context_messages,
    parse_context,
)
from rag_pipeline.chunking.tokens import CountTokens
from rag_pipeline.errors import ChatError, SettingsError
from rag_pipeline.frames import SECTION
from rag_pipeline.settings import ChatSettings
from rag_pipeline.store.artifacts import ArtifactStore


def contexts_key(source_hash: str) -> str:
    """Return the folder of a document's contexts in the artifact store."""
    return f"contexts/{source_hash}"


def open_chat(settings: ChatSettings) -> ChatModel:
    """Return the chat model. Raises `SettingsError` where the settings name none."""
    chat = create_chat(settings)
    if chat is None:
        raise SettingsError(
            "chunking.llm_context needs a chat model", hint="set [chat] base_url and model"
        )
    return chat


def place_in_document(
    chunks: pd.DataFrame,
    body: str,
    title: str | None,
    source_hash: str,
    chat: ChatModel,
    settings: ChatSettings,
    artifacts: ArtifactStore,
    count_tokens: CountTokens,
) -> tuple[pd.DataFrame, list[str]]:
    """Return the chunks with their contexts, and warnings about those that got none.

    `body` is the document's text. A chunk that the model does not answer for keeps its trail alone.
    Raises `ProviderError` where the service refuses everything.
    """
    model = f"{chat.name}@{settings.temperature}"
    path = f"{contexts_key(source_hash)}/contexts.json"
    kept: dict[str, str] = json.loads(artifacts.get(path) or b"{}")
    rows = list(zip(chunks["breadcrumb_trail"], chunks["content"], chunks["kind"], strict=True))
    keys = [context_key(model, source_hash, trail, content) for trail, content, _ in rows]
    missing = [i for i, key in enumerate(keys) if key not in kept and rows[i][2] != SECTION]
    failures: list[str] = []
    try:
        with ThreadPoolExecutor(settings.max_concurrent_requests) as threads:
            ask = partial(_ask, chat, body, title)
            texts = [rows[i][:2] for i in missing]
            for i, answer in zip(missing, threads.map(ask, texts), strict=True):
                if isinstance(answer, ChatError):
                    failures.append(answer.message)
                else:
                    kept[keys[i]] = answer
    finally:
        if missing:
            artifacts.put(path, json.dumps(kept, ensure_ascii=False).encode())
    contexts = [
        kept.get(key) or None if kind != SECTION else None
        for key, (_, _, kind) in zip(keys, rows, strict=True)
    ]
    warnings = []
    if failures:
        warnings.append(f"{len(failures)} chunks have no context ({failures[0]})")
    return add_contexts(chunks, contexts, count_tokens), warnings


def _ask(chat: ChatModel, body: str, title: str | None, text: tuple[str, str]) -> str | ChatError:
    """Return a chunk's context, empty where the model has none to give."""
    trail, content = text
    asked = context_messages(body, trail, content, title=title)
    messages = [Message(cast(Role, message["role"]), message["content"]) for message in asked]
    try:
        return parse_context(chat.complete(messages).text) or ""
    except ChatError as error:
        return error
