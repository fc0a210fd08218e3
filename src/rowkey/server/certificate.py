"""A certificate of the server's own making, for `--tls auto`. Nobody vouches for it: clients must be told to trust it.

It is kept, so that clients need to be told once, and made anew when it is about to expire or lacks a name. That of the
machine alone may be missing: a container has another one each time that it is made.
"""

import ipaddress
import os
import socket
from collections.abc import Iterable
from datetime import UTC, datetime, timedelta
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

VALID = timedelta(days=365)
"""Under the 398 days that browsers and Apple's libraries accept."""
RENEWED = timedelta(days=30)
"""How long before its end a certificate is made anew."""
SKEW = timedelta(hours=1)
"""A client's clock may be behind."""

LOCAL_NAMES = ("localhost", "*.localhost", "*.table.localhost", "127.0.0.1", "::1")


def keep_certificate(folder: Path, host: str, *, now: datetime | None = None) -> tuple[Path, Path]:
    """The files `cert.pem` and `key.pem` in `folder`, made where they are missing, unfit or about to expire.

    `host` is a name that clients use besides the local ones and the machine's. Raises OSError.
    """
    now = now or datetime.now(UTC)
    certificate_path, key_path = folder / "cert.pem", folder / "key.pem"
    names = _names(*LOCAL_NAMES, host)
    if not _is_fit(certificate_path, key_path, names, now):
        certificate, key = make_certificate(_names(*names, socket.gethostname()), now)
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        _write(key_path, key, mode=0o600)
        _write(certificate_path, certificate, mode=0o644)
    return certificate_path, key_path


def make_certificate(names: Iterable[str], now: datetime) -> tuple[bytes, bytes]:
    """A self-signed certificate for these host names and addresses, and its key, both in PEM."""
    key = ec.generate_private_key(ec.SECP256R1())
    subject = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "Rowkey on this machine")])
    key_id = x509.SubjectKeyIdentifier.from_public_key(key.public_key())
    usage = x509.KeyUsage(
        digital_signature=True,
        content_commitment=False,
        key_encipherment=False,
        data_encipherment=False,
        key_agreement=False,
        key_cert_sign=False,
        crl_sign=False,
        encipher_only=False,
        decipher_only=False,
    )
    certificate = (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(subject)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - SKEW)
        .not_valid_after(now + VALID)
        .add_extension(x509.SubjectAlternativeName([_general_name(name) for name in names]), critical=False)
        .add_extension(x509.BasicConstraints(ca=False, path_length=None), critical=True)
        .add_extension(usage, critical=True)
        .add_extension(x509.ExtendedKeyUsage([ExtendedKeyUsageOID.SERVER_AUTH]), critical=False)
        .add_extension(key_id, critical=False)
        .add_extension(x509.AuthorityKeyIdentifier.from_issuer_subject_key_identifier(key_id), critical=False)
        .sign(key, hashes.SHA256())
    )
    return certificate.public_bytes(serialization.Encoding.PEM), key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )


def _names(*names: str) -> list[str]:
    """Those of the names that clients may call the server by, each once."""
    return [name for name in dict.fromkeys(map(str.lower, names)) if _is_name(name)]


def _is_name(name: str) -> bool:
    """Whether a certificate can say it: an address that is one of a machine's, or a host name in ASCII."""
    if name in ("0.0.0.0", "::"):
        return False
    return ":" in name or (name.isascii() and 0 < len(name) < 254 and "_" not in name and " " not in name)


def _general_name(name: str) -> x509.GeneralName:
    try:
        return x509.IPAddress(ipaddress.ip_address(name))
    except ValueError:
        return x509.DNSName(name)


def _is_fit(certificate_path: Path, key_path: Path, names: list[str], now: datetime) -> bool:
    """Whether the files belong together, last, and have every name."""
    try:
        certificate = x509.load_pem_x509_certificate(certificate_path.read_bytes())
        key = serialization.load_pem_private_key(key_path.read_bytes(), password=None)
        said = certificate.extensions.get_extension_for_class(x509.SubjectAlternativeName).value
    except (FileNotFoundError, ValueError, TypeError, x509.ExtensionNotFound):
        return False
    return (
        certificate.public_key() == key.public_key()
        and certificate.not_valid_before_utc <= now < certificate.not_valid_after_utc - RENEWED
        and {_general_name(name) for name in names} <= set(said)
    )


def _write(path: Path, data: bytes, *, mode: int) -> None:
    """Whole or not at all; nobody else can read a key even for a moment."""
    temporary = path.with_name(f"{path.name}.new")
    temporary.unlink(missing_ok=True)
    with os.fdopen(os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, mode), "wb") as file:
        file.write(data)
    temporary.replace(path)
