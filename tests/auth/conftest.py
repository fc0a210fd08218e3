"""Shared access signatures made here, by the rules of the reference and not by the code that they test."""

from __future__ import annotations

import base64
import hmac
from typing import TYPE_CHECKING
from urllib.parse import quote

from rowkey.auth.sas import read_sas
from rowkey.auth.shared_key import SigningKey
from rowkey.errors import ServiceError
from rowkey.model.datetimes import parse_datetime
from rowkey.wire.target import read_options

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from rowkey.model.access_policy import AccessPolicy
    from rowkey.model.rights import Grant, Right

CONTOSO_KEY = bytes(range(64))
DEVELOPMENT_KEY = base64.b64decode(
    "Eby8vdM02xNOcqFlqUwJPLlmEtlCDXJ1OUzFT50uSRZ6IFsuFq2UVErCz4I6tq/K1SZFPTOtr/KBHBeksoGMGw=="
)
KEYS = {"contoso": CONTOSO_KEY, "devstoreaccount1": DEVELOPMENT_KEY}
START, EXPIRY = "2026-08-01T00:00:00Z", "2026-09-01T00:00:00Z"
NOW = parse_datetime("2026-08-03T10:15:30Z")
PEER = "203.0.113.7:50123"

# The signed fields, and another value for each, which would be acceptable by itself.
OTHER_VALUES = {
    "sp": "ra",
    "st": "2026-07-31T00:00:00Z",
    "se": "2099-09-02T00:00:00Z",
    "si": "writers",
    "sip": "0.0.0.0-255.255.255.255",
    "spr": "https,http",
    "sv": "2018-03-28",
    "spk": "0",
    "srk": "0",
    "epk": "z",
    "erk": "z",
    "tn": "Customers",
    "ss": "bt",
    "srt": "sc",
    "ses": "another",
}
TABLE_FIELDS = ("sp", "st", "se", "si", "sip", "spr", "sv", "spk", "srk", "epk", "erk", "tn")
ACCOUNT_FIELDS = ("sp", "ss", "srt", "st", "se", "sip", "spr", "sv", "ses")


def table_sas(account: str = "contoso", **fields: str) -> dict[str, str]:
    """The options of a signature for a table: `fields` and what signs them."""
    name = f"/{account}/{fields['tn'].lower()}"
    if fields["sv"] >= "2015-02-21":
        name = "/table" + name
    origin = ("sip", "spr") if fields["sv"] >= "2015-04-05" else ()
    values = [fields.get(field, "") for field in ("sp", "st", "se")]
    values += [name]
    values += [fields.get(field, "") for field in ("si", *origin, "sv", "spk", "srk", "epk", "erk")]
    return {**fields, "sig": sign("\n".join(values), account)}


def account_sas(account: str = "contoso", **fields: str) -> dict[str, str]:
    """The options of a signature for an account: `fields` and what signs them."""
    scope = ("ses",) if fields["sv"] >= "2020-12-06" else ()
    names = ("sp", "ss", "srt", "st", "se", "sip", "spr", "sv", *scope)
    lines = [account, *(fields.get(name, "") for name in names)]
    return {**fields, "sig": sign("".join(f"{line}\n" for line in lines), account)}


def sign(text: str, account: str) -> str:
    """The signature of a text with an account's key."""
    return base64.b64encode(hmac.digest(KEYS[account], text.encode(), "sha256")).decode()


def tampered(options: Mapping[str, str]) -> dict[str, dict[str, str]]:
    """The options of a signature with one field changed, removed or added, by what was done."""
    results = {}
    for name, other in OTHER_VALUES.items():
        if name not in options:
            results[f"{name} added"] = {**options, name: other}
            continue
        value = options[name]
        results[f"{name} changed"] = {**options, name: other if other != value else other[:-1]}
        results[f"{name} longer"] = {**options, name: value + "x"}
        results[f"{name} removed"] = {key: kept for key, kept in options.items() if key != name}
        results[f"{name} empty"] = {**options, name: ""}
        if name != "tn" and value.swapcase() != value:
            results[f"{name} in other letter case"] = {**options, name: value.swapcase()}
    return results


def query_of(options: Mapping[str, str]) -> str:
    """The options as they stand in a URL."""
    return "&".join(f"{name}={quote(value, safe='')}" for name, value in options.items())


def verify(
    options: Mapping[str, str] | str,
    policies: Sequence[AccessPolicy] = (),
    *,
    account: str = "contoso",
    keys: Sequence[bytes] | None = None,
    now: int = NOW,
    peer: str = PEER,
    is_secure: bool = True,
) -> Grant:
    """The grant for a request with these options, or this query; raises what the service refuses it with."""
    signing_keys = [SigningKey(key) for key in (keys or [KEYS[account]])]
    sas = read_sas(read_options(options if isinstance(options, str) else query_of(options)))
    return sas.verify(account, signing_keys, policies, now=now, peer=peer, is_secure=is_secure)


def refusal(grant: Grant, right: Right, table: str = "Orders") -> type[ServiceError] | None:
    """What the grant raises, None if nothing."""
    try:
        grant.permit(right, table)
    except ServiceError as error:
        return type(error)
    return None
