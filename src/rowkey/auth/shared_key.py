r"""Shared Key and Shared Key Lite: the client signs what it asks for with one of the account's keys.

    SharedKey       VERB \n Content-MD5 \n Content-Type \n Date \n CanonicalizedResource
    SharedKeyLite   Date \n CanonicalizedResource

Date is x-ms-date if sent, else Date, as it stands; CanonicalizedResource is a slash, the account, the path exactly as
sent (still percent-encoded; in path style it begins with the account again), and `?comp=` if the query has it.
Source: "Authorize with Shared Key" of the reference; the leniency about percent-encoding and the secondary is noted
where it is.
"""

import binascii
import hashlib
import hmac
import logging
import re
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC
from email.utils import parsedate_to_datetime
from functools import lru_cache
from urllib.parse import unquote

from rowkey.errors import AuthenticationFailed, InvalidAuthenticationInfo
from rowkey.wire.request import Request
from rowkey.wire.target import SECONDARY, Address

log = logging.getLogger(__name__)

SKEW_SECONDS_MAX = 15 * 60


class SigningKey:
    """One account key, made ready: an HMAC is two copies of half-finished hashes away."""

    __slots__ = ("_inner", "_outer")

    def __init__(self, key: bytes) -> None:
        block = (hashlib.sha256(key).digest() if len(key) > 64 else key).ljust(64, b"\0")
        self._inner = hashlib.sha256(block.translate(_INNER_PAD))
        self._outer = hashlib.sha256(block.translate(_OUTER_PAD))

    def sign(self, text: str) -> bytes:
        """HMAC-SHA256 (RFC 2104) of the text as the bytes that were sent.

        Headers were decoded as Latin-1, whatever the client encoded them in, and so go back to the same bytes; only a
        decoded query option can hold more than that.
        """
        try:
            return self.sign_bytes(text.encode("latin-1"))
        except UnicodeEncodeError:
            return self.sign_bytes(text.encode("utf-8"))

    def sign_bytes(self, message: bytes) -> bytes:
        """HMAC-SHA256 (RFC 2104) of a message."""
        inner = self._inner.copy()
        inner.update(message)
        outer = self._outer.copy()
        outer.update(inner.digest())
        return outer.digest()


_INNER_PAD = bytes(byte ^ 0x36 for byte in range(256))
_OUTER_PAD = bytes(byte ^ 0x5C for byte in range(256))


def read_signer(request: Request) -> str | None:
    """The account that a Shared Key Authorization header names, if it is one."""
    _, account = _read_credentials(request.headers.get("authorization", "").rpartition(":")[0])
    return account or None


@lru_cache(maxsize=256)
def _read_credentials(text: str) -> tuple[str, str]:
    """Scheme in lower case and account of `scheme account`; both empty where it is not Shared Key's."""
    scheme, _, account = text.strip().partition(" ")
    return (scheme.lower(), account.strip()) if scheme.lower() in ("sharedkey", "sharedkeylite") else ("", "")


def verify_shared_key(
    request: Request,
    address: Address,
    comp: str | None,
    keys: Mapping[str, Sequence[SigningKey]],
    unix_now: float,
) -> None:
    """Raise AuthenticationFailed unless the Authorization header signs this request.

    `comp` is the query option of that name, decoded. A header that is not of the form `scheme value` is
    InvalidAuthenticationInfo. What the server signed is logged, so that a client's author can compare, but for
    signatures of URLs, wherever a client may have put them.
    """
    headers = request.headers
    authorization = headers.get("authorization")
    if authorization is None:
        raise AuthenticationFailed
    credentials, _, signature = authorization.rpartition(":")
    scheme, account = _read_credentials(credentials)
    if not scheme:
        if " " not in authorization.strip():
            raise InvalidAuthenticationInfo
        if authorization.lower().startswith("bearer "):
            log.warning("refused: a bearer token, and no issuer is named: --oidc")
        else:
            log.warning("refused: Authorization is neither SharedKey nor SharedKeyLite account:signature")
        raise AuthenticationFailed
    if account != address.account:
        named = _without_signatures(account.partition(":")[0])
        log.warning("refused: the request is signed for account %r and addressed to %r", named, address.account)
        raise AuthenticationFailed
    date = headers.get("x-ms-date") or headers.get("date") or ""
    _verify_date(date, unix_now)
    is_lite = scheme == "sharedkeylite"
    text = _string_to_sign(request, address, comp, date, address.signed_path, is_lite=is_lite)
    if _is_signed(text, signature, keys[account]):
        return
    for path in _other_spellings(address):
        other = _string_to_sign(request, address, comp, date, path, is_lite=is_lite)
        if _is_signed(other, signature, keys[account]):
            return
    signed = _without_signatures(text)
    log.warning("refused: the signature does not match; the server signed %r for %s", signed, scheme)
    raise AuthenticationFailed


def _without_signatures(text: str) -> str:
    return _URL_SIGNATURE.sub(r"\1XXXXX", text)


_URL_SIGNATURE = re.compile(
    r"((?:(?<![A-Za-z0-9])|(?<=%[0-9A-Fa-f]{2}))(?:s|%73)(?:i|%69)(?:g|%67)(?:=|%3D))[^&\s\"']+", re.IGNORECASE
)
"""`sig` of a shared access signature, percent-encoded or not, and what follows up to the next option."""


def _is_signed(text: str, signature: str, keys: Sequence[SigningKey]) -> bool:
    """Whether one of the keys signs the text so; every key is tried, in constant time."""
    given = signature.strip().encode("utf-8")
    is_signed = False
    for key in keys:
        is_signed |= hmac.compare_digest(binascii.b2a_base64(key.sign(text), newline=False), given)
    return is_signed


def _string_to_sign(
    request: Request, address: Address, comp: str | None, date: str, path: str, *, is_lite: bool
) -> str:
    resource = f"/{address.account}{path}" if comp is None else f"/{address.account}{path}?comp={comp}"
    if is_lite:
        return f"{date}\n{resource}"
    headers = request.headers
    return f"{request.method}\n{headers.get('content-md5', '')}\n{headers.get('content-type', '')}\n{date}\n{resource}"


def _other_spellings(address: Address) -> Iterator[str]:
    """Paths that a client may have signed although another one arrived.

    HTTP libraries and proxies decode or encode what clients signed; and clients disagree on whether the secondary in
    path style is signed with its suffix (the Python SDK) or without (the service).
    """
    path = address.signed_path
    if address.is_secondary and address.is_path_style:
        path = path.replace(SECONDARY, "", 1)
        yield path
        yield f"/{address.account}{address.path}"  # the same SDK's later releases, which name the account twice
    plain = _UNRESERVED_ESCAPE.sub(lambda match: unquote(match[0]), path)
    yield plain
    yield _PUNCTUATION_ESCAPE.sub(lambda match: unquote(match[0]), plain)
    yield _PUNCTUATION.sub(lambda match: f"%{ord(match[0]):02X}", plain)


_UNRESERVED_ESCAPE = re.compile(r"%(?:2[DEde]|3[0-9]|4[1-9A-Fa-f]|5[0-9AaFf]|6[1-9A-Fa-f]|7[0-9AaEe])")
_PUNCTUATION = re.compile(r"['(),=$!*:@]")
_PUNCTUATION_ESCAPE = re.compile(r"%(?:2[14789ACac]|3[ADad]|40)")


def _verify_date(date: str, unix_now: float) -> None:
    """Raise unless the request was dated within fifteen minutes of now, in either direction."""
    moment = _parse_date(date)
    if moment is None:
        log.warning("refused: neither x-ms-date nor Date is a date: %r", _without_signatures(date))
        raise AuthenticationFailed
    if abs(unix_now - moment) > SKEW_SECONDS_MAX:
        log.warning(
            "refused: the request is dated %s, more than fifteen minutes from this server's clock. "
            "Set the clock of one of the two.",
            _without_signatures(date),
        )
        raise AuthenticationFailed


@lru_cache(maxsize=256)
def _parse_date(text: str) -> float | None:
    """Unix time of an HTTP date in any of the forms of RFC 9110, of which one names no zone; None for other text."""
    try:
        moment = parsedate_to_datetime(text)
        return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp()
    except (ValueError, OverflowError, IndexError, TypeError):
        return None
