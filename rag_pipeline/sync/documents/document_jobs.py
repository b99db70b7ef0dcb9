"""Documents to process, and what became of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from mimetypes import guess_type
from typing import TYPE_CHECKING

from rag_pipeline.parsing.signatures import PDF_MIME
from rag_pipeline.settings import Settings
from rag_pipeline.store.documents import DocumentState
from rag_pipeline.sync.documents.stage_tasks import StageReport
from rag_pipeline.sync.planning.fingerprints import EMBEDDINGS, STAGES
from rag_pipeline.sync.planning.plan import failed_for_good, first_stale_stage
from rag_pipeline.sync.planning.profiles import Profiles
from rag_pipeline.sync.sources.places import file_name, kind_of

if TYPE_CHECKING:
    from rag_pipeline.store.landing import Compared


@dataclass(frozen=True)
class Outcome:
    """The result for one document: stages done, stages that were current, or an error."""

    source_hash: str
    name: str
    fingerprints: dict[str, str] = field(default_factory=dict)
    """Of its stages; empty if the document is unknown."""
    done: list[StageReport] = field(default_factory=list)
    reused: list[str] = field(default_factory=list)
    failed_stage: str | None = None
    error: str | None = None
    compared: Compared | None = None
    """What stayed of its chunks, where it was landed."""


@dataclass
class DocumentJob:
    """A document being processed."""

    state: DocumentState
    settings: Settings
    fingerprints: dict[str, str]
    wanted: tuple[str, ...]
    todo: tuple[str, ...]
    attempts: int = 0
    compared: Compared | None = None

    @property
    def source_hash(self) -> str:
        """The document's key."""
        return self.state.source_hash

    @property
    def name(self) -> str:
        """The first file's name without line breaks and escapes, safe for logs and messages."""
        return file_name(self.state.uris[0])

    @property
    def root(self) -> str | None:
        """The source root of the first file."""
        return self.state.roots[0] if self.state.roots else None

    @property
    def is_elsewhere(self) -> bool:
        """Whether no file of the document is on this machine."""
        return all(kind_of(uri) != "local" for uri in self.state.uris)

    @property
    def is_sent_whole(self) -> bool:
        """Whether Document AI reads it, by its settings and the name of a file.

        Which pages the parser "auto" sends is known only when they have been read on this machine.
        """
        kinds = {guess_type(uri)[0] or "" for uri in self.state.uris}
        is_sent = any(kind == PDF_MIME or kind.startswith("image/") for kind in kinds)
        return is_sent and self.settings.parsing.parser == "document_ai"

    @property
    def lacks_only_vectors(self) -> bool:
        """Whether its chunks are in the store as they should be, and some have no vector."""
        is_current = all(
            self.state.fingerprints.get(one) == self.fingerprints[one] for one in STAGES
        )
        return EMBEDDINGS in self.todo and is_current and self.state.has_chunks

    def outcome(self, reports: list[StageReport]) -> Outcome:
        """Return the outcome of a success: stages that were not done were current."""
        done = {item.stage for item in reports}
        reused = [stage for stage in self.wanted if stage not in done]
        return Outcome(
            self.source_hash, self.name, self.fingerprints, reports, reused, compared=self.compared
        )

    def failure(self, stage: str, error: str, reports: list[StageReport]) -> Outcome:
        """Return the outcome of a failure at `stage`."""
        reused = [name for name in self.wanted if name not in self.todo]
        return Outcome(
            self.source_hash, self.name, self.fingerprints, reports, reused, stage, error
        )

    def made_with(self, reports: list[StageReport]) -> dict[str, str]:
        """Return the fingerprints of the stages done."""
        return {item.stage: self.fingerprints[item.stage] for item in reports}


def document_jobs(
    profiles: Profiles,
    states: Sequence[DocumentState],
    source_hashes: Sequence[str],
    wanted: tuple[str, ...],
) -> tuple[list[DocumentJob], list[Outcome]]:
    """Return the jobs for the wanted stages, and the outcomes of documents that are not tried.

    These are documents without a file, and those in quarantine unless asked for alone.
    """
    known = {state.source_hash: state for state in states}
    jobs: list[DocumentJob] = []
    outcomes: list[Outcome] = []
    for source_hash in source_hashes:
        state = known.get(source_hash)
        if state is None:
            gone = "the file is gone; materialize `sources` to update the partitions"
            outcomes.append(
                Outcome(source_hash, source_hash[:12], failed_stage=wanted[0], error=gone)
            )
            continue
        fingerprints = profiles.fingerprints_of(state)
        job = DocumentJob(
            state,
            profiles.settings_of(state),
            fingerprints,
            wanted,
            _todo(state, wanted, fingerprints),
        )
        if len(source_hashes) > 1 and failed_for_good(
            state, fingerprints, profiles.settings.sync.quarantine_after
        ):
            stage = state.failure_stage if state.failure_stage in wanted else wanted[-1]
            reason = f"{state.failure_reason} (failed before, not tried again)"
            outcomes.append(
                Outcome(source_hash, job.name, fingerprints, failed_stage=stage, error=reason)
            )
        else:
            jobs.append(job)
    return jobs, outcomes


def _todo(
    state: DocumentState, wanted: tuple[str, ...], fingerprints: dict[str, str]
) -> tuple[str, ...]:
    """Return the wanted stages from the first stale one on."""
    first = first_stale_stage(state, fingerprints)
    if first is None:
        return ()
    return tuple(stage for stage in wanted if STAGES.index(stage) >= STAGES.index(first))
