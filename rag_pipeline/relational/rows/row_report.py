"""What a sync of one relational source did."""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass
class RelationalReport:
    """Root rows and chunks, by what became of them."""

    source: str
    rows: int = 0
    """Root rows looked at."""
    unchanged: int = 0
    new: int = 0
    changed: int = 0
    deleted: int = 0
    kept: int = 0
    """Stored rows that stay although the root table is suddenly empty."""
    chunks: int = 0
    """Written, embedded or not."""
    embedded: int = 0
    """Texts that no vector was cached for."""
    duplicates: int = 0
    """Chunks left out, because another row's chunk says the same."""
    tokens: int = 0
    """Sent to a service."""
    failures: list[str] = field(default_factory=list)
    """Rows that could not be embedded, and why; what was stored of them stays."""
    notes: list[str] = field(default_factory=list)
    error: str | None = None
    """Why the source could not be read to its end; what landed before stays."""
    seconds: float = 0.0

    def counts(self) -> dict[str, float]:
        """Return the numbers by the names that people read."""
        return {
            "rows": self.rows,
            "new": self.new,
            "changed": self.changed,
            "deleted": self.deleted,
            "kept though gone": self.kept,
            "unchanged": self.unchanged,
            "chunks written": self.chunks,
            "texts embedded": self.embedded,
            "duplicates left out": self.duplicates,
            "tokens sent": self.tokens,
            "seconds": round(self.seconds, 2),
        }

    @property
    def why(self) -> str | None:
        """Why the source, or some of its rows, failed; None where nothing did."""
        if self.error is None and self.failures:
            more = len(self.failures) - 1
            return self.failures[0] + (f" (and {more} rows more)" if more else "")
        return self.error
