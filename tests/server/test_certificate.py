"""The certificate of `--tls auto`: who can be told to trust it, and when it is made anew."""

from __future__ import annotations

import socket
import ssl
import stat
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

import pytest
from cryptography import x509
from cryptography.hazmat.primitives.asymmetric import ec

from rowkey.server.certificate import LOCAL_NAMES, RENEWED, VALID, keep_certificate, make_certificate

if TYPE_CHECKING:
    from pathlib import Path


def names_of(path: Path) -> set[str]:
    """What a certificate is for."""
    said = x509.load_pem_x509_certificate(path.read_bytes()).extensions.get_extension_for_class(
        x509.SubjectAlternativeName
    )
    addresses = said.value.get_values_for_type(x509.IPAddress)
    return {*said.value.get_values_for_type(x509.DNSName), *(str(address) for address in addresses)}


def test_certificate_is_modern_and_for_this_machine(tmp_path: Path) -> None:
    path, key_path = keep_certificate(tmp_path / "tls", "0.0.0.0")
    certificate = x509.load_pem_x509_certificate(path.read_bytes())
    public = certificate.public_key()
    assert isinstance(public, ec.EllipticCurvePublicKey)
    assert public.curve.name == "secp256r1"
    assert names_of(path) == {*LOCAL_NAMES, socket.gethostname().lower()}
    assert timedelta(days=360) < certificate.not_valid_after_utc - datetime.now(UTC) < timedelta(days=398)
    assert stat.S_IMODE(key_path.stat().st_mode) == 0o600
    assert stat.S_IMODE((tmp_path / "tls").stat().st_mode) == 0o700
    assert sorted(file.name for file in (tmp_path / "tls").iterdir()) == ["cert.pem", "key.pem"]


@pytest.mark.parametrize(
    ("host", "name"), [("192.0.2.7", "192.0.2.7"), ("2001:db8::7", "2001:db8::7"), ("Tables.Example", "tables.example")]
)
def test_host_is_one_of_its_names(tmp_path: Path, host: str, name: str) -> None:
    path, _ = keep_certificate(tmp_path, host)
    assert names_of(path) == {*LOCAL_NAMES, socket.gethostname().lower(), name}


def test_certificate_is_kept(tmp_path: Path) -> None:
    path, key_path = keep_certificate(tmp_path, "")
    before = path.read_bytes(), key_path.read_bytes()
    keep_certificate(tmp_path, "")
    keep_certificate(tmp_path, "127.0.0.1")
    assert (path.read_bytes(), key_path.read_bytes()) == before


def test_certificate_is_kept_when_the_machine_has_another_name(tmp_path: Path) -> None:
    """As a container has each time that it is made, on a volume that stays."""
    path, key_path = keep_certificate(tmp_path, "")
    certificate, key = make_certificate([*LOCAL_NAMES, "machine-of-yesterday", "tables.example.com"], datetime.now(UTC))
    path.write_bytes(certificate)
    key_path.write_bytes(key)
    keep_certificate(tmp_path, "0.0.0.0")
    keep_certificate(tmp_path, "Tables.example.com")
    assert path.read_bytes() == certificate
    keep_certificate(tmp_path, socket.gethostname())
    assert names_of(path) == {*LOCAL_NAMES, socket.gethostname().lower()}


def test_certificate_is_made_anew(tmp_path: Path) -> None:
    """When it nears its end, when a clock was wrong, when it lacks a name, and when a file is lost or broken."""
    now = datetime.now(UTC)
    path, key_path = keep_certificate(tmp_path, "", now=now)

    def is_new(host: str = "", *, at: datetime = now) -> bool:
        before = path.read_bytes() if path.exists() else b""
        keep_certificate(tmp_path, host, now=at)
        return path.read_bytes() != before

    assert not is_new(at=now + VALID - RENEWED - timedelta(minutes=1))
    assert is_new(at=now + VALID - RENEWED + timedelta(minutes=1))
    assert is_new(at=now)  # the one of the line before is not valid yet
    assert is_new("192.0.2.7")
    assert not is_new()
    for file in (path, key_path):
        file.unlink()
        assert is_new()
        file.write_text("broken")
        assert is_new()
    other = keep_certificate(tmp_path / "other", "")
    key_path.write_bytes(other[1].read_bytes())
    assert is_new()
    assert stat.S_IMODE(key_path.stat().st_mode) == 0o600


@pytest.mark.parametrize("strict", [ssl.VerifyFlags(0), ssl.VERIFY_X509_STRICT | ssl.VERIFY_X509_PARTIAL_CHAIN])
@pytest.mark.parametrize("name", ["localhost", "127.0.0.1", "::1", "contoso.table.localhost"])
def test_client_that_trusts_it_verifies_it(tmp_path: Path, name: str, strict: ssl.VerifyFlags) -> None:
    """Also as strictly as Python does from 3.13 on."""
    path, key_path = keep_certificate(tmp_path, "")
    trust = ssl.create_default_context(cafile=str(path))
    trust.verify_flags |= strict
    server = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    server.load_cert_chain(path, key_path)
    shake_hands(trust, server, name)
    with pytest.raises(ssl.SSLCertVerificationError, match=r"not valid for|mismatch"):
        shake_hands(trust, server, "elsewhere.example")
    with pytest.raises(ssl.SSLCertVerificationError, match="self-signed"):
        shake_hands(ssl.create_default_context(), server, name)


def shake_hands(client: ssl.SSLContext, server: ssl.SSLContext, name: str) -> None:
    """A handshake in memory."""
    to_server, to_client = ssl.MemoryBIO(), ssl.MemoryBIO()
    ends = [
        client.wrap_bio(to_client, to_server, server_hostname=name),
        server.wrap_bio(to_server, to_client, server_side=True),
    ]
    for _ in range(5):
        for end in ends:
            try:
                end.do_handshake()
            except ssl.SSLWantReadError:
                pass
    assert ends[0].version() == "TLSv1.3"
