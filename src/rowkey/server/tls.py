"""What the server shows to clients that come by TLS: its certificate, and which versions it speaks."""

import logging
import ssl
import time
from pathlib import Path

log = logging.getLogger(__name__)

HANDSHAKE_SECONDS_MAX = 10.0
"""asyncio's own is 60, in which somebody who says nothing holds a socket. nginx: 60; Kestrel and Go: 10."""
_CIPHERS = "ECDHE+AESGCM:ECDHE+CHACHA20"
"""Of TLS 1.2: forward secret and authenticated (AEAD), as RFC 9325 4.2 recommends, and Go and nginx's "modern" settings
have. Python's own list has CBC as well. TLS 1.3 has no others."""


_COMPLAINT_SECONDS = 60.0
"""Between two lines in the log about clients that do not speak TLS."""


class CertificateError(Exception):
    """A certificate or its key cannot be used; the text says why and what to do."""


def open_context(certificate: Path, key: Path) -> ssl.SSLContext:
    """TLS 1.2 and 1.3 with this certificate and modern ciphers, for HTTP/1.1; raises CertificateError."""
    for option, path in (("--cert", certificate), ("--key", key)):
        try:
            path.read_bytes()
        except OSError as error:
            raise CertificateError(f"{option} {path} cannot be read: {error.strerror}.") from None
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    context.minimum_version = ssl.TLSVersion.TLSv1_2
    context.set_ciphers(_CIPHERS)
    context.set_alpn_protocols(["http/1.1"])
    context.sslobject_class = _End
    try:
        context.load_cert_chain(certificate, key, password=_no_password)
    except _KeyIsEncrypted:
        raise CertificateError(
            f"--key {key} is protected with a password. Write it without one: openssl pkey -in {key} -out FILE"
        ) from None
    except ssl.SSLError as error:
        raise CertificateError(_explain(error, certificate, key)) from None
    return context


class _End(ssl.SSLObject):
    """The server's end of a connection; to http that comes to it TLS has no answer that its client would understand."""

    _complained = -_COMPLAINT_SECONDS

    def do_handshake(self) -> None:
        """Shake hands; the event loop says nothing of what goes wrong."""
        try:
            super().do_handshake()
        except ssl.SSLError as error:
            if error.reason == "HTTP_REQUEST" and time.monotonic() - _End._complained > _COMPLAINT_SECONDS:
                _End._complained = time.monotonic()
                log.warning("refused: a client speaks http where only https is; its URL should begin with https://")
            raise


class _KeyIsEncrypted(Exception):
    pass


def _no_password() -> str:
    """Called for a protected key; without it OpenSSL would ask at the terminal."""
    raise _KeyIsEncrypted


def _explain(error: ssl.SSLError, certificate: Path, key: Path) -> str:
    if error.reason == "KEY_VALUES_MISMATCH":
        return f"--key {key} is not the key of --cert {certificate}."
    return (
        f"--cert {certificate} and --key {key} cannot be used: {error.reason or error}. Both must be PEM files: the "
        "certificate, then those that vouch for it up to the root; and its private key."
    )
