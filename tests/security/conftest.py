"""Two stores of the same folders: one with another group's documents, one that never had them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from rag_pipeline.settings import Settings
from rag_pipeline.system import RagSystem
from tests.conftest import fresh_database, make_settings

OURS = ("user:kim", "group:service")
"""Principals that may read the public documents and the service group's."""
PUBLIC_MANUAL = """\
# Compressor QV-40

## Maintenance

Replace the oil filter QF-1142/B every 2000 hours. Tighten the filter to 35 Nm.

## Messages

Error code E-07 means that the airend temperature is above 110 °C. Clean the cooler.
"""
SERVICE_MANUAL = """\
# Service bulletin

## Airend

The airend of the compressor is exchanged after 24000 hours. Order the airend AX-2200 in time.

## Cooler

Flush the cooler with clean water. The pressure must not exceed 4 bar.
"""
SALES_MANUAL = """\
# Quotation for Zanzibar

## Discounts

The filter QF-1142/B is sold to Zanzibar at 61 percent. The airend of the compressor costs 8800.

## Penalties

Late delivery of the airend QX-9900/S costs a zanzibarian penalty of 9 guilders an hour.
"""
SECRETS = ("zanzibar", "quotation", "qx-9900", "guilder", "sales", "margin")
"""What may stand in nothing that others see: words, names, paths, tags, readers."""


@dataclass
class Stores:
    """Both knowledge bases, opened without restriction, and their settings."""

    full: RagSystem
    without: RagSystem
    settings: Settings

    @property
    def ours(self) -> RagSystem:
        """The full one as our group sees it."""
        return self.full.reading_as(OURS)


def write_folders(folder: Path) -> dict[str, Path]:
    """Write a folder a group; `shared.md` lies in two of them."""
    folders = {name: folder / name for name in ("open", "service", "sales")}
    for place in folders.values():
        place.mkdir(parents=True)
    (folders["open"] / "qv40.md").write_text(PUBLIC_MANUAL, encoding="utf-8")
    (folders["service"] / "bulletin.md").write_text(SERVICE_MANUAL, encoding="utf-8")
    (folders["sales"] / "quotation.md").write_text(SALES_MANUAL, encoding="utf-8")
    shared = "# Tools\n\nThe torque wrench belongs to the workshop. Calibrate it each year.\n"
    (folders["service"] / "shared.md").write_text(shared, encoding="utf-8")
    (folders["sales"] / "shared-sales.md").write_text(shared, encoding="utf-8")
    return folders


@pytest.fixture(scope="session")
def stores(
    server_url: str, models_dir: Path, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Stores]:
    """The two stores; tests only read them."""
    folder = tmp_path_factory.mktemp("security")
    folders = write_folders(folder / "documents")
    with fresh_database(server_url) as full_url, fresh_database(server_url) as without_url:
        settings = make_settings(folder / "full", full_url, models_dir)
        other = make_settings(folder / "without", without_url, models_dir)
        with (
            RagSystem(settings.project_dir, database_url=settings.database_url) as full,
            RagSystem(other.project_dir, database_url=other.database_url) as without,
        ):
            # Theirs first: whatever is global would show them.
            full.add_directory(folders["sales"], readers=["group:sales"], tags=["margin"])
            for system in (full, without):
                system.add_directory(folders["open"])
                system.add_directory(folders["service"], readers=["group:service", "user:lee"])
            yield Stores(full, without, settings)
