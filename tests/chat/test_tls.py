"""The same over TLS: the deadline ends a read there too, and certificates are checked."""

from __future__ import annotations

import datetime
import ipaddress
import ssl
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec

from rag_pipeline.chat import ChatModel, create_chat
from rag_pipeline.errors import ChatError, ProviderError
from rag_pipeline.settings import ChatSettings
from tests.chat.chat_server import Answer, ChatServer, chunk
from tests.chat.conftest import QUESTION


@pytest.fixture(scope="module")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A certificate for 127.0.0.1, which only who is given the file trusts."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "127.0.0.1")])
    now = datetime.datetime.now(datetime.UTC)
    certificate = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(1)
        .not_valid_before(now - datetime.timedelta(days=1))
        .not_valid_after(now + datetime.timedelta(days=1))
        .add_extension(
            x509.SubjectAlternativeName([x509.IPAddress(ipaddress.ip_address("127.0.0.1"))]),
            critical=False,
        )
        .sign(key, hashes.SHA256())
    )
    file = tmp_path_factory.mktemp("tls") / "server.pem"
    file.write_bytes(
        key.private_bytes(
            serialization.Encoding.PEM,
            serialization.PrivateFormat.PKCS8,
            serialization.NoEncryption(),
        )
        + certificate.public_bytes(serialization.Encoding.PEM)
    )
    return file


@pytest.fixture
def secure_server(certificate: Path) -> Iterator[ChatServer]:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate)
    with ChatServer(context).serving() as server:
        yield server


def chat_at(server: ChatServer, deadline: float) -> ChatModel:
    chat = create_chat(ChatSettings(model="m", base_url=server.url, deadline_seconds=deadline))
    assert chat is not None
    return chat


def test_replies_and_deadlines(
    secure_server: ChatServer, certificate: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("REQUESTS_CA_BUNDLE", str(certificate))
    assert chat_at(secure_server, 60).complete(QUESTION).text == "Open the valve."
    pieces = [chunk(content="a"), chunk(content="b")]
    secure_server.answers = [Answer(pieces=pieces, dribble=True)]
    given: list[str] = []
    began = time.monotonic()
    with pytest.raises(ChatError, match="too slow") as caught:
        given.extend(chat_at(secure_server, 1).stream(QUESTION))
    assert 0.95 < time.monotonic() - began < 30
    assert given == ["a", "b"][: len(given)]
    assert caught.value.text == "".join(given)


def test_a_certificate_that_nobody_trusts(secure_server: ChatServer) -> None:
    with pytest.raises(ProviderError, match="REQUESTS_CA_BUNDLE"):
        chat_at(secure_server, 60).complete(QUESTION)
