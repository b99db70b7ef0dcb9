"""Whatever the OpenAPI allows, and what it does not, is answered; nothing is a server's error."""

from __future__ import annotations

from typing import Any

import pytest
import schemathesis
from hypothesis import HealthCheck, settings
from schemathesis.checks import not_a_server_error
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    response_schema_conformance,
    status_code_conformance,
)

CHECKS = [
    not_a_server_error,
    status_code_conformance,
    content_type_conformance,
    response_schema_conformance,
]
EXAMPLES = 15
"""Of each operation; the same every time."""


@pytest.fixture
def described(url: str) -> Any:
    return schemathesis.openapi.from_url(f"{url}/api/openapi.json")


api = schemathesis.pytest.from_fixture("described")


@api.parametrize()
@settings(
    max_examples=EXAMPLES, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck)
)
def test_the_api_keeps_its_word(case: Any) -> None:
    case.call_and_validate(checks=CHECKS, timeout=60)
