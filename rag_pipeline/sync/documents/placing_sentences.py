"""Contextual retrieval: a sentence by the chat model that places each chunk in its document.

Asked for once: what a document's chunks were told is kept beside its other artifacts, under keys of
everything that the reply depends on.
"""

from __future__ import annotations

import json
from concurrent.futures import ThreadPoolExecutor, as_completed
from typing import cast

import pandas as pd

from rag_pipeline.chat import ChatModel, Message, create_chat
from rag_pipeline.chat.messages import Role
from rag_pipeline.chunking.chunk_contexts import (
    add_contexts,
    context_key,
    context_messages,
    parse_context,
)
from rag_pipeline.chunking.task import CountTokens
from rag_pipeline.errors import ChatError, ContextError, SettingsError
from rag_pipeline.frames import SECTION
from rag_pipeline.settings import ChatSettings
from rag_pipeline.store.artifacts import ArtifactStore, contexts_key

KEPT_TOGETHER = 20
"""Answers after which they are written down: a crash loses as many at most."""


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
) -> pd.DataFrame:
    """Return the chunks with their contexts; what was answered is kept as it comes.

    `body` is the document's text. A chunk that the model has nothing to say about keeps its trail
    alone. Raises `ContextError` where chunks got no answer this time, and `ProviderError` where the
    service refuses everything.
    """
    model = f"{chat.name}@{settings.temperature}"
    path = f"{contexts_key(source_hash)}/contexts.json"
    kept: dict[str, str] = json.loads(artifacts.get(path) or b"{}")
    rows = list(zip(chunks["breadcrumb_trail"], chunks["content"], chunks["kind"], strict=True))
    keys = [context_key(model, source_hash, trail, content) for trail, content, _ in rows]
    missing = [i for i, key in enumerate(keys) if key not in kept and rows[i][2] != SECTION]
    failures: list[str] = []
    threads = ThreadPoolExecutor(settings.max_concurrent_requests)
    try:
        asked = {threads.submit(_ask, chat, body, title, rows[i][:2]): keys[i] for i in missing}
        for number, future in enumerate(as_completed(asked), start=1):
            answer = future.result()
            if isinstance(answer, ChatError):
                failures.append(answer.message)
            else:
                kept[asked[future]] = answer
            if number % KEPT_TOGETHER == 0:
                _keep(artifacts, path, kept)
    finally:
        threads.shutdown(cancel_futures=True)
        if missing:
            _keep(artifacts, path, kept)
    if failures:
        raise ContextError(
            f"{len(failures)} of its chunks got no context ({failures[0]})",
            hint="the next sync asks for these alone",
        )
    contexts = [
        kept.get(key) or None if kind != SECTION else None
        for key, (_, _, kind) in zip(keys, rows, strict=True)
    ]
    return add_contexts(chunks, contexts, count_tokens)


def _keep(artifacts: ArtifactStore, path: str, kept: dict[str, str]) -> None:
    artifacts.put(path, json.dumps(kept, ensure_ascii=False).encode())


def _ask(chat: ChatModel, body: str, title: str | None, text: tuple[str, str]) -> str | ChatError:
    """Return a chunk's context, empty where the model has none to give."""
    trail, content = text
    asked = context_messages(body, trail, content, title=title)
    messages = [Message(cast(Role, message["role"]), message["content"]) for message in asked]
    try:
        return parse_context(chat.complete(messages).text) or ""
    except ChatError as error:
        return error
