"""The settings that apply to each document: the project's, with its source's overrides."""

from __future__ import annotations

from collections.abc import Iterable

from rag_pipeline.settings import Settings, SourceSettings
from rag_pipeline.store.documents import DocumentState
from rag_pipeline.sync.planning.fingerprints import stage_fingerprints
from rag_pipeline.sync.planning.plan import SyncPlan, sync_plan
from rag_pipeline.sync.sources.places import root_of


class Profiles:
    """Settings and fingerprints by source; a document with several files follows the first one's.

    Sources given on the command line use the project's settings.
    """

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        self._default = (settings, stage_fingerprints(settings))
        self._by_root: dict[str, tuple[Settings, dict[str, str]]] = {}
        for source in settings.sources:
            own = source_settings(settings, source)
            self._by_root[root_of(settings, source)] = (own, stage_fingerprints(own))

    def settings_of(self, state: DocumentState) -> Settings:
        """Return the settings for the document's stages."""
        return self._of(state)[0]

    def fingerprints_of(self, state: DocumentState) -> dict[str, str]:
        """Return the fingerprint that makes each stage of the document current."""
        return self._of(state)[1]

    def plan(self, states: Iterable[DocumentState]) -> SyncPlan:
        """Return the plan for these documents."""
        return sync_plan(states, self.fingerprints_of, self.settings.sync.quarantine_after)

    def _of(self, state: DocumentState) -> tuple[Settings, dict[str, str]]:
        root = state.roots[0] if state.roots else ""
        return self._by_root.get(root, self._default)


def source_settings(settings: Settings, source: SourceSettings) -> Settings:
    """Return the settings with a source's own parser and strategy, if it sets them."""
    update: dict[str, object] = {}
    if source.parser is not None:
        update["parsing"] = settings.parsing.model_copy(update={"parser": source.parser})
    if source.strategy is not None:
        update["chunking"] = settings.chunking.model_copy(update={"strategy": source.strategy})
    return settings.model_copy(update=update) if update else settings
