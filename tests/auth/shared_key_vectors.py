"""Requests signed with Shared Key and Shared Key Lite, and what verifies them.

The vectors were made with the official Python package (the Lite column by the documented construction, checked against
the official JavaScript package); K and L are signatures that other clients had logged.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING

import pytest

from rowkey.auth.shared_key import SigningKey, verify_shared_key
from rowkey.wire.request import Request
from rowkey.wire.target import read_address, read_options
from tests.auth.conftest import KEYS as ACCOUNT_KEYS
from tests.auth.conftest import sign

if TYPE_CHECKING:
    from collections.abc import Mapping


DATE = "Mon, 03 Aug 2026 10:15:30 GMT"
NOW = datetime(2026, 8, 3, 10, 15, 30, tzinfo=UTC).timestamp()
KEYS = {account: (key,) for account, key in ACCOUNT_KEYS.items()}
CONTOSO = "contoso.table.core.windows.net"
LOCAL = "127.0.0.1:10002"


@dataclass(frozen=True)
class Vector:
    """A request, and the two signatures that are right for it."""

    method: str
    host: str
    target: str
    headers: Mapping[str, str]
    shared_key: str | None
    lite: str | None
    account: str = "contoso"
    date: str = DATE


VECTORS = {
    "A": Vector(
        "GET",
        CONTOSO,
        "/Tables",
        {},
        "1/hJSGekpRNzRdj7DUsHUBviQgknBzgjK8SQn2LWNyw=",
        "AlWRNkX/v0ogFAlej2pPLzlkP2ebrbflKXvd3iYC9Xk=",
    ),
    "B": Vector(
        "POST",
        CONTOSO,
        "/Orders",
        {"content-type": "application/json;odata=nometadata"},
        "lYfnrwugmaVlrSGPSp8cHQdEu69OJyVvEtpGy348Hgc=",
        "rNgvJmSOyvVMKiF1heTBbj2uPPdRvWJvcNHVN+CiIgs=",
    ),
    "C": Vector(
        "GET",
        CONTOSO,
        "/Orders()?$filter=PartitionKey%20eq%20'eu'&$top=5",
        {},
        "x7lviZhS2wk+7f+AUrvtG+Xd65TWUIyIN/Vjm5KpE88=",
        "pgDMkx9oHiKFCrUus0AO4yWY98iJXljU+yFrb45xHsE=",
    ),
    "D": Vector(
        "PUT",
        CONTOSO,
        "/Orders?comp=acl&timeout=20",
        {"content-type": "application/xml"},
        "vQQBVpy6V1U/VX0Irke8zMZhck9oer53Rml4f2E26n8=",
        "5TgyTOwnQ93AQIMDvQsX6BTKiNYb49Hfuj+x4JfKBRk=",
    ),
    "E": Vector(
        "PUT",
        CONTOSO,
        "/?restype=service&comp=properties",
        {"content-type": "application/xml"},
        "hTbDjmcjc84aHhNVRZa23B/IcLiz/01MTOeYWtK9vCU=",
        "DS7TKHDSZ91a6nPzL/SX/PXdxU2e3AUxTEzF8elcRAQ=",
    ),
    "F": Vector(
        "PATCH",
        CONTOSO,
        "/Orders(PartitionKey='eu',RowKey='caf%C3%A9%20%27%271%27%27')",
        {"content-type": "application/json"},
        "8ezoxo+shFvHWMx8bTCT21h1EXlDEk8xzg4qo3JIi/o=",
        "VdquNcHtHp5kC1rdh17/ii4DeLRG53vTaX5MJQs83cU=",
    ),
    "G": Vector(
        "GET",
        LOCAL,
        "/devstoreaccount1/Tables",
        {},
        "kZPlgs/ubkJnP4s4iSvywRiXJc2iCnk8PnK388ewtgE=",
        "naVJT1sZX4qKSh99q1eUfWsAQYb186caP6CK5p9YVJs=",
        "devstoreaccount1",
    ),
    "H": Vector(
        "POST",
        LOCAL,
        "/devstoreaccount1/$batch",
        {"content-type": "multipart/mixed; boundary=batch_1"},
        "+uzjbfngkslQEPdYQOGiNek1joO80EO23cqOfG7ZdFs=",
        "lKM3AbDJ7xw3QG22lgXBfS+xKJnJP5urq8K3giY3XEM=",
        "devstoreaccount1",
    ),
    "I": Vector(
        "GET",
        "contoso-secondary.table.core.windows.net",
        "/?restype=service&comp=stats",
        {},
        "CZmsGxv7WzUsyu58TnfAYP2rSWVUGV351NfFpB1EOUs=",
        "V04VgYWnSF7puFRHhE6KLDf68ZRU934ALvPk9SQpO9M=",
    ),
    "J": Vector(
        "GET",
        LOCAL,
        "/devstoreaccount1-secondary/?restype=service&comp=stats",
        {},
        "ghfQuH3RVE3Br7kICh3+PyzxnDsHwmvh02azaHR6RYM=",
        "25iTXxJ7NjXvxT3aVJr3+VqGidpjqpokRaTGNdvuRu0=",
        "devstoreaccount1",
    ),
    "K": Vector(
        "GET",
        LOCAL,
        "/devstoreaccount1/Todo?comp=acl",
        {"content-type": ""},
        "sUNi3ygCN1YCaUfjbsOZHy5ypoJMR7o6m1w0ods6Aiw=",
        None,
        "devstoreaccount1",
        "Thu, 24 Feb 2022 15:34:17 GMT",
    ),
    "L": Vector(
        "GET",
        LOCAL,
        "/devstoreaccount1/ArchiveStreamsTable()",
        {},
        None,
        "qfkZCLgrpopRpOwmPHNKfkG5lacg9vMF4/cxkUj2TU8=",
        "devstoreaccount1",
        "Wed, 29 Mar 2023 13:05:49 GMT",
    ),
}
SIGNED = [
    pytest.param(vector, scheme, signature, id=f"{name}-{scheme}")
    for name, vector in VECTORS.items()
    for scheme, signature in (("SharedKey", vector.shared_key), ("SharedKeyLite", vector.lite))
    if signature is not None
]


def request_of(vector: Vector, authorization: str | None) -> Request:
    """The request of a vector."""
    headers = {"host": vector.host, "x-ms-date": vector.date, **vector.headers}
    if authorization is not None:
        headers["authorization"] = authorization
    return Request(vector.method, vector.target, headers)


def verify(request: Request, keys: Mapping[str, tuple[bytes, ...]] = KEYS, now: float | None = None) -> None:
    """Raise unless the request is signed with one of the keys; `now` is the moment of its date if not given."""
    address = read_address(request, frozenset(keys))
    comp = read_options(address.query).get("comp")
    if now is None:
        now = (
            datetime.strptime(request.headers["x-ms-date"], "%a, %d %b %Y %H:%M:%S GMT").replace(tzinfo=UTC).timestamp()
        )
    signing_keys = {account: [SigningKey(key) for key in pair] for account, pair in keys.items()}
    verify_shared_key(request, address, comp, signing_keys, now)


def lite(resource: str, date: str, account: str = "contoso") -> str:
    """The Authorization header of Shared Key Lite."""
    return f"SharedKeyLite {account}:" + sign(f"{date}\n{resource}", account)


def signed(signed_path: str, *, target: str | None = None, host: str = CONTOSO, account: str = "contoso") -> Request:
    """A GET whose client signed `signed_path`, and which arrived with `target`."""
    headers = {"host": host, "x-ms-date": DATE}
    headers["authorization"] = lite(f"/{account}{signed_path}", DATE, account)
    return Request("GET", target or signed_path, headers)
