"""Access tokens: read from the environment or a file, compared in constant time."""

from __future__ import annotations

import hashlib
import hmac
import os
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from rag_pipeline.errors import SettingsError
from rag_pipeline.settings import TokenSettings

SHORTEST = 16
"""Minimum length of a token in characters; shorter ones can be guessed."""


@dataclass(frozen=True)
class Bearer:
    """Sender of a request: a name for notes and logs, and what they may read."""

    name: str
    principals: tuple[str, ...] | None
    """None means whatever the command line may read."""


class Tokens:
    """The accepted tokens; only their hashes are kept.

    Raises `SettingsError` for a token that is missing, too short, or a duplicate.
    """

    def __init__(self, settings: Iterable[TokenSettings], project_dir: Path) -> None:
        self._bearers: list[tuple[bytes, Bearer]] = []
        for one in settings:
            digest = _digest(_read(one, project_dir))
            if any(digest == known or one.name == bearer.name for known, bearer in self._bearers):
                raise SettingsError(
                    f"the token {one.name} is configured twice",
                    hint="give each its own name and value",
                )
            self._bearers.append((digest, Bearer(one.name, _as_tuple(one.principals))))

    def __bool__(self) -> bool:
        return bool(self._bearers)

    def bearer_of(self, token: str) -> Bearer | None:
        """Return the bearer of a token; compares all of them, so that timing reveals nothing."""
        digest = _digest(token)
        found = None
        for known, bearer in self._bearers:
            if hmac.compare_digest(known, digest):
                found = bearer
        return found


def _as_tuple(principals: Sequence[str] | None) -> tuple[str, ...] | None:
    return None if principals is None else tuple(principals)


def _digest(token: str) -> bytes:
    return hashlib.sha256(token.encode("utf-8", "surrogatepass")).digest()


def _read(one: TokenSettings, project_dir: Path) -> str:
    if one.token_env is not None:
        token = os.environ.get(one.token_env, "").strip()
        place = f"the environment variable {one.token_env}"
    else:
        path = (project_dir / (one.token_file or "")).expanduser()
        place = f"the file {path}"
        try:
            token = path.read_text(encoding="utf-8").strip()
        except (OSError, UnicodeDecodeError) as error:
            raise SettingsError(
                f"{place} of the token {one.name} cannot be read", hint="check serve.tokens"
            ) from error
    if len(token) < SHORTEST:
        raise SettingsError(
            f"{place} holds no token of at least {SHORTEST} characters",
            hint="create one: python -c 'import secrets; print(secrets.token_urlsafe(32))'",
        )
    return token
