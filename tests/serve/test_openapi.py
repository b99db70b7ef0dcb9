"""Whatever the OpenAPI allows, and what it does not, is answered; nothing is a server's error."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import httpx
import pytest

pytest.importorskip("schemathesis", reason="schemathesis is not installed")

SCHEMATHESIS = str(Path(sys.executable).parent / "schemathesis")
CHECKS = (
    "not_a_server_error",
    "status_code_conformance",
    "content_type_conformance",
    "response_schema_conformance",
)


@pytest.mark.parametrize(
    ("paths", "phases", "examples"),
    [("--exclude-path-regex", "coverage,fuzzing", 5), ("--include-path-regex", "fuzzing", 8)],
)
def test_the_api_keeps_its_word(
    url: str, tmp_path: Path, paths: str, phases: str, examples: int
) -> None:
    """Each operation at the borders of its values, and by some drawn ones; the same every time.

    Answers are asked for less often: each reads the sentences of all that it found.
    """
    command = [SCHEMATHESIS, "run", f"{url}/api/openapi.json", paths, "/api/ask"]
    command += ["--phases", phases, "--checks", ",".join(CHECKS)]
    command += ["--max-examples", str(examples), "--generation-deterministic", "--seed", "1"]
    ran = subprocess.run(
        command,
        cwd=tmp_path,
        env={**os.environ, "NO_COLOR": "1"},
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
    )
    assert ran.returncode == 0, ran.stdout
    assert " passed" in ran.stdout


def test_every_operation_says_what_it_is_for(client: httpx.Client) -> None:
    described = client.get("/api/openapi.json").json()
    operations = [one for path in described["paths"].values() for one in path.values()]
    assert len(operations) == 13
    for operation in operations:
        assert operation["description"]
        assert "application/problem+json" in operation["responses"]["422"]["content"]
