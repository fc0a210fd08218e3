"""Ways to sign a request, and the ways to tamper with one that is signed so."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from typing import TYPE_CHECKING, NamedTuple

from rowkey.model.rights import Right
from rowkey.wire.request import Request
from tests.auth.conftest import account_sas, query_of, table_sas, tampered
from tests.authorisation.operations import ENTITY_RIGHTS, MODERN
from tests.requests import ACCOUNT, add_sas, sign

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

TIME = datetime.now(UTC)
START, EXPIRY = (f"{TIME + timedelta(days=days):%Y-%m-%dT%H:%M:%SZ}" for days in (-1, 1))


class Kind(NamedTuple):
    """A way to sign requests, and the tampered forms of one that is signed so."""

    sign: Callable[[Request], Request]
    tamper: Callable[[Request], Iterator[tuple[str, Request]]]
    rights: frozenset[Right] = frozenset(Right)
    is_old: bool = False
    """What is not permitted is answered as if it were not there."""


def shared_key(scheme: str) -> Kind:
    """Shared Key or Shared Key Lite."""
    is_lite = scheme == "SharedKeyLite"

    def tamper(request: Request) -> Iterator[tuple[str, Request]]:
        headers = request.headers
        credentials, _, signature = headers["authorization"].rpartition(":")
        path, mark, query = request.target.partition("?")
        option = "&" if query else "?"
        earlier = format_datetime(datetime.now(UTC) - timedelta(seconds=90), usegmt=True)
        changes: dict[str, dict[str, str]] = {
            "date": {"x-ms-date": earlier},
            "stale date": {"x-ms-date": "Thu, 01 Jan 2015 00:00:00 GMT"},
            "no date": {"x-ms-date": ""},
            "account": {"authorization": f"{scheme} another:{signature}"},
            "no account": {"authorization": f"{scheme} :{signature}"},
            "scheme": {"authorization": f"{'SharedKey' if is_lite else 'SharedKeyLite'} {ACCOUNT}:{signature}"},
            "no signature": {"authorization": f"{credentials}:"},
            "no padding": {"authorization": f"{credentials}:{signature[:-1]}"},
        }
        for position in range(0, 43, 6):
            changes[f"signature at {position}"] = {"authorization": f"{credentials}:{flip(signature, position)}"}
        if not is_lite:
            changes["Content-Type"] = {"content-type": headers.get("content-type", "") + "x"}
            changes["Content-MD5"] = {"content-md5": "AAAAAAAAAAAAAAAAAAAAAA=="}
            for method in {"GET", "POST", "PUT", "MERGE", "PATCH", "DELETE"} - {request.method}:
                yield method, replace(request, method=method)
        for name, changed in changes.items():
            yield name, replace(request, headers={**headers, **changed})
        yield "longer path", replace(request, target=f"{path}x{mark}{query}")
        yield "slash", replace(request, target=f"{path}/{mark}{query}")
        yield "other table", replace(request, target=f"/{ACCOUNT}/Customers{mark}{query}")
        yield "comp", replace(request, target=f"{request.target}{option}comp=x")

    return Kind(lambda request: sign(request, scheme), tamper)


def flip(signature: str, position: int) -> str:
    """The signature with another letter there."""
    other = "A" if signature[position] != "A" else "B"
    return signature[:position] + other + signature[position + 1 :]


def sas(options: dict[str, str], rights: frozenset[Right], *, is_old: bool = False) -> Kind:
    """A shared access signature."""

    def tamper(request: Request) -> Iterator[tuple[str, Request]]:
        bare = replace(request, target=request.target.removesuffix(query_of(options))[:-1])
        for name, changed in tampered(options).items():
            yield name, add_sas(bare, changed)
        for position in range(0, 43, 6):
            yield f"sig at {position}", add_sas(bare, {**options, "sig": flip(options["sig"], position)})
        yield "no sig", bare
        yield "empty sig", add_sas(bare, {**options, "sig": ""})
        yield "user delegation", add_sas(bare, {**options, "skoid": "x"})
        yield "sp twice", replace(request, target=f"{request.target}&sp=raudx")

    return Kind(lambda request: add_sas(request, options), tamper, rights, is_old)


LIMITS = {"st": START, "se": EXPIRY}
RANGE = {"spk": "p", "srk": "a", "epk": "p", "erk": "z"}
ORIGIN = {"sip": "127.0.0.0-127.0.0.255", "spr": "https,http"}
KINDS = {
    "SharedKey": shared_key("SharedKey"),
    "SharedKeyLite": shared_key("SharedKeyLite"),
    "policy": sas(table_sas(ACCOUNT, sv=MODERN, tn="Orders", si="readers"), ENTITY_RIGHTS),
    "policy, old": sas(table_sas(ACCOUNT, sv="2013-08-15", tn="ORDERS", si="readers"), ENTITY_RIGHTS, is_old=True),
    **{
        f"table {version}": sas(
            table_sas(ACCOUNT, sv=version, sp="raud", tn="Orders", **LIMITS, **RANGE),
            ENTITY_RIGHTS,
            is_old=version < "2015-04-05",
        )
        for version in ("2013-08-15", "2014-02-14", "2015-02-21", "2015-04-05", "2026-02-06")
    },
    "table, every field": sas(
        table_sas(ACCOUNT, sv=MODERN, sp="raud", tn="oRDERS", **LIMITS, **RANGE, **ORIGIN), ENTITY_RIGHTS
    ),
    **{
        f"account {version}": sas(
            account_sas(ACCOUNT, sv=version, ss="t", srt="sco", sp="rwdlacu", **LIMITS),
            frozenset(Right) - {Right.ACCESS_POLICIES},
        )
        for version in ("2015-04-05", "2020-12-06")
    },
    "account, every field": sas(
        account_sas(ACCOUNT, sv="2026-02-06", ss="bfqt", srt="sco", sp="rwdlacup", ses="x", **LIMITS, **ORIGIN),
        frozenset(Right) - {Right.ACCESS_POLICIES},
    ),
}
