import pytest

from rag_pipeline.errors import ProviderError
from rag_pipeline.remote import HttpFault, RefusedFault, Service, TransientFault

SERVICE = Service("acme", "set ACME_KEY", "pay acme", "check the model")


@pytest.mark.parametrize(
    ("status", "message", "kind"),
    [
        (400, "the text is not accepted", RefusedFault),
        (413, "", RefusedFault),
        (422, "bad", RefusedFault),
        (408, "", TransientFault),
        (429, "slow down; see your plan and billing details", TransientFault),
        (429, "You have not added a payment method in the billing page", TransientFault),
        (500, "", TransientFault),
        (529, "", TransientFault),
        (400, "API key not valid. Please pass a valid API key.", ProviderError),
        (400, "This model does not support specifying dimensions.", ProviderError),
        (400, "Model acme-9 is not supported", ProviderError),
        (401, "", ProviderError),
        (402, "", ProviderError),
        (404, "", ProviderError),
    ],
)
def test_what_a_status_means(status: int, message: str, kind: type[Exception]) -> None:
    assert type(HttpFault(status, message).meaning(SERVICE)) is kind


def test_no_quota_is_fatal_and_names_the_fix() -> None:
    error = HttpFault(429, "You exceeded your quota", code="insufficient_quota").meaning(SERVICE)
    assert isinstance(error, ProviderError)
    assert error.hint == "pay acme"
    assert HttpFault(401, "no").meaning(SERVICE).hint == "set ACME_KEY"  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    "message",
    [
        "This model's maximum context length is 8192 tokens, however you requested 9000 tokens",
        "the input length exceeds the context length",
        "The max allowed tokens per submitted batch is 120000. Your batch has 130000 tokens.",
        "The input token count is 2049 but the token limit is 2048",
    ],
)
def test_a_text_that_is_too_long_is_told_from_a_bad_one(message: str) -> None:
    fault = HttpFault(400, message).meaning(SERVICE)
    assert isinstance(fault, RefusedFault)
    assert fault.too_long
    other = HttpFault(400, "the text is not accepted").meaning(SERVICE)
    assert isinstance(other, RefusedFault)
    assert not other.too_long
