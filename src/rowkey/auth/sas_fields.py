"""What shared access signatures of both kinds have in common: their fields, how long and from where they are valid.

Every field of a signature is signed as it was before percent-encoding, in UTF-8. An empty field is an absent one: the
signed text cannot tell the two apart, so nobody may gain anything by adding or removing one.
"""

import binascii
import hmac
import ipaddress
import logging
import re
from collections.abc import Sequence
from datetime import date
from functools import lru_cache
from typing import NamedTuple, NoReturn

from rowkey.auth.shared_key import SigningKey
from rowkey.errors import AuthenticationFailed, AuthorizationProtocolMismatch, AuthorizationSourceIPMismatch
from rowkey.model.access_policy import parse_access_time
from rowkey.model.datetimes import format_datetime

log = logging.getLogger("rowkey.auth.sas")

ORIGIN_SINCE = "2015-04-05"
"""The first version with `sip` and `spr`, with account signatures, and with 403 for what is not permitted."""

_VERSION = re.compile(r"\d{4}-\d\d-\d\d", re.ASCII)
_CONTROL = re.compile(r"[\x00-\x1f]")


class SasFields(NamedTuple):
    """The query options of a signature under the protocol's own names, decoded; empty where they are absent."""

    sv: str = ""
    sp: str = ""
    st: str = ""
    se: str = ""
    sip: str = ""
    spr: str = ""
    sig: str = ""
    tn: str = ""
    si: str = ""
    spk: str = ""
    srk: str = ""
    epk: str = ""
    erk: str = ""
    ss: str = ""
    srt: str = ""
    ses: str = ""


class Conditions(NamedTuple):
    """When, how and from where a signature may be used; `start` and `expiry` in ticks, None for what it leaves open."""

    start: int | None
    expiry: int | None
    is_https_only: bool
    sources: "tuple[_Ip, _Ip] | None"

    def verify_origin(self, peer: str, is_secure: bool) -> None:
        """Raise AuthorizationProtocolMismatch or AuthorizationSourceIPMismatch for a connection that will not do."""
        if self.is_https_only and not is_secure:
            log.warning("refused: the shared access signature is for HTTPS alone (spr), and the request came over HTTP")
            raise AuthorizationProtocolMismatch
        if self.sources is not None:
            _verify_source(*self.sources, peer)


_Ip = ipaddress.IPv4Address | ipaddress.IPv6Address


def read_conditions(fields: SasFields, *, since: str) -> Conditions:
    """The conditions that the fields state; raises AuthenticationFailed for a field that is malformed.

    `since` is the first version that has signatures of this kind.
    """
    if any(map(_CONTROL.search, fields)):
        # Values with line feeds could make one signed text of two different sets of fields.
        refuse("a field has a control character")
    if not fields.sig:
        refuse("sig is missing")
    _verify_version(fields.sv, since)
    if fields.sv < ORIGIN_SINCE and (fields.sip or fields.spr):
        refuse("sip and spr are not signed in version %s; use sv=%s or newer", fields.sv, ORIGIN_SINCE)
    if fields.spr not in ("", "https", "https,http"):
        refuse("spr is %r, and can be 'https' or 'https,http'", fields.spr)
    return Conditions(
        _read_time("st", fields.st), _read_time("se", fields.se), fields.spr == "https", _read_sources(fields.sip)
    )


def _verify_version(version: str, since: str) -> None:
    try:
        if not _VERSION.fullmatch(version):
            raise ValueError
        date.fromisoformat(version)
    except ValueError:
        refuse("sv is %r, and must be a version such as 2019-02-02", version)
    if version < since:
        refuse("sv is %s, and signatures of this kind begin with %s", version, since)


def _read_time(name: str, text: str) -> int | None:
    try:
        return parse_access_time(text) if text else None
    except ValueError:
        refuse("%s is %r, and must be a date and time such as 2026-08-03T10:15:30Z", name, text)


def _read_sources(text: str) -> tuple[_Ip, _Ip] | None:
    """The first and the last address of `a` or `a-b`."""
    if not text:
        return None
    first, _, last = text.partition("-")
    try:
        sources = ipaddress.ip_address(first), ipaddress.ip_address(last or first)
        if not _is_between(*sources, sources[0]) or text.endswith("-"):
            raise ValueError
    except ValueError:
        refuse("sip is %r, and must be an IP address or two with a hyphen, the lower one first", text)
    return sources


def _is_between(first: _Ip, last: _Ip, address: _Ip) -> bool:
    """An address of the other IP version lies in no range."""
    return first.version == last.version == address.version and int(first) <= int(address) <= int(last)


def _verify_source(first: _Ip, last: _Ip, peer: str) -> None:
    host = peer.rpartition(":")[0].strip("[]")
    address = _read_peer(host)
    if address is None or not _is_between(first, last, address):
        log.warning(
            "refused: the shared access signature is for %s to %s (sip), and the request came from %s. "
            "Behind a proxy that is the proxy's address.",
            first,
            last,
            host or "an unknown address",
        )
        raise AuthorizationSourceIPMismatch(host)


@lru_cache(maxsize=1024)
def _read_peer(host: str) -> _Ip | None:
    """A peer's address; one of IPv4 that a socket for both shows as `::ffff:1.2.3.4` is the same as `1.2.3.4`."""
    try:
        address = ipaddress.ip_address(host)
    except ValueError:
        return None
    return getattr(address, "ipv4_mapped", None) or address


def verify_signature(text: str, signature: str, keys: Sequence[SigningKey]) -> None:
    """Raise AuthenticationFailed unless one of the keys signs the text so; every key is tried, in constant time.

    What the server signed is logged, so that a client's author can compare.
    """
    message, given = text.encode("utf-8"), signature.encode("utf-8")
    is_signed = False
    for key in keys:
        is_signed |= hmac.compare_digest(binascii.b2a_base64(key.sign_bytes(message), newline=False), given)
    if not is_signed:
        refuse("the signature does not match; the server signed %r", text)


def verify_interval(start: int | None, expiry: int, now: int) -> None:
    """Raise AuthenticationFailed unless `start` <= now < `expiry`."""
    if start is not None and now < start:
        refuse(
            "it is valid from %s on, and this server's clock says %s. Set the clock of one of the two.",
            format_datetime(start),
            format_datetime(now),
        )
    if now >= expiry:
        refuse(
            "it expired at %s, and this server's clock says %s. Make a new one.",
            format_datetime(expiry),
            format_datetime(now),
        )


def refuse(reason: str, *values: object) -> NoReturn:
    """Log why a signature is not accepted, and raise AuthenticationFailed, which says nothing of it."""
    log.warning("refused: shared access signature: " + reason, *values)
    raise AuthenticationFailed
