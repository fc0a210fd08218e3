"""Thousands of requests that are nearly right: each kind of signature, each operation, one thing changed.

A tampered request must be refused with the code that the service answers, and must leave everything as it was; the same
request untampered must pass, or be refused for what its signature does not permit. No operation escapes its permissions
or its range of keys by travelling in a batch. The service runs in this process, on a store in memory.
"""

from __future__ import annotations

import base64
import hmac
import json
import re
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from itertools import combinations
from typing import TYPE_CHECKING, NamedTuple

import pytest

from rowkey.config import DEVELOPMENT_ACCOUNT, Settings
from rowkey.model.access_policy import AccessPolicy
from rowkey.model.datetimes import parse_datetime
from rowkey.model.entity import Key
from rowkey.model.key_range import WHOLE_TABLE
from rowkey.model.rights import Right
from rowkey.payload.access_policies import write_policies
from rowkey.service import Service
from rowkey.store.interface import Scan
from rowkey.store.memory.store import MemoryStore
from rowkey.wire.request import Request, Response
from tests.auth.conftest import account_sas, query_of, table_sas, tampered

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

ACCOUNT = DEVELOPMENT_ACCOUNT.name
MODERN = "2019-02-02"
TIME = datetime.now(UTC)
START, EXPIRY = (f"{TIME + timedelta(days=days):%Y-%m-%dT%H:%M:%SZ}" for days in (-1, 1))
PEER = "127.0.0.1:50123"


# ---------------------------------------------------------------- operations


@dataclass(frozen=True)
class Operation:
    """A request for one operation, the right that it needs, and the status of its success."""

    method: str
    path: str
    right: Right
    status: int
    body: bytes = b""
    headers: Mapping[str, str] = field(default_factory=dict)
    inner: Operation | None = None
    """What a batch holds."""


ENTITY = "/Orders(PartitionKey='p',RowKey='r')"
NEW_ENTITY = "/Orders(PartitionKey='p',RowKey='n')"
JSON = {"content-type": "application/json"}
XML = {"content-type": "application/xml", "accept": "application/xml"}
ANY = {"if-match": "*"}
PROPERTIES = b'{"Name":"x"}'
POLICIES = b"<SignedIdentifiers><SignedIdentifier><Id>x</Id></SignedIdentifier></SignedIdentifiers>"
SERVICE_PROPERTIES = b"<StorageServiceProperties><Cors /></StorageServiceProperties>"

ON_ENTITIES = {
    "Query Entities": Operation("GET", "/Orders()", Right.QUERY, 200),
    "Get Entity": Operation("GET", ENTITY, Right.QUERY, 200),
    "Insert Entity": Operation(
        "POST", "/Orders", Right.INSERT, 201, b'{"PartitionKey":"p","RowKey":"n","Name":"x"}', JSON
    ),
    "Update Entity": Operation("PUT", ENTITY, Right.CHANGE, 204, PROPERTIES, {**JSON, **ANY}),
    "Merge Entity": Operation("MERGE", ENTITY, Right.CHANGE, 204, PROPERTIES, {**JSON, **ANY}),
    "Merge Entity (PATCH)": Operation("PATCH", ENTITY, Right.CHANGE, 204, PROPERTIES, {**JSON, **ANY}),
    "Insert Or Replace Entity": Operation("PUT", NEW_ENTITY, Right.UPSERT, 204, PROPERTIES, JSON),
    "Insert Or Merge Entity": Operation("PATCH", NEW_ENTITY, Right.UPSERT, 204, PROPERTIES, JSON),
    "Insert Or Merge Entity (there)": Operation("MERGE", ENTITY, Right.UPSERT, 204, PROPERTIES, JSON),
    "Delete Entity": Operation("DELETE", ENTITY, Right.DELETE, 204, headers=ANY),
}
ON_OTHERS = {
    "Query Tables": Operation("GET", "/Tables", Right.LIST_TABLES, 200),
    "Get Table": Operation("GET", "/Tables('Orders')", Right.LIST_TABLES, 200),
    "Create Table": Operation("POST", "/Tables", Right.CREATE_TABLE, 201, b'{"TableName":"Fresh"}', JSON),
    "Delete Table": Operation("DELETE", "/Tables('Orders')", Right.DELETE_TABLE, 204),
    "Get Table ACL": Operation("GET", "/Orders?comp=acl", Right.ACCESS_POLICIES, 200),
    "Set Table ACL": Operation("PUT", "/Orders?comp=acl", Right.ACCESS_POLICIES, 204, POLICIES, XML),
    "Get Service Properties": Operation("GET", "/?restype=service&comp=properties", Right.READ_SERVICE, 200),
    "Set Service Properties": Operation(
        "PUT", "/?restype=service&comp=properties", Right.WRITE_SERVICE, 202, SERVICE_PROPERTIES, XML
    ),
    "Get Service Stats": Operation("GET", "/?restype=service&comp=stats", Right.READ_SERVICE, 200),
}


def in_batch(operation: Operation, *more: Operation) -> Operation:
    """The operation as the only one of a batch, or with others after it in its change set."""
    parts = []
    for part in (operation, *more):
        lines = [f"{part.method} http://127.0.0.1:10002/{ACCOUNT}{part.path} HTTP/1.1"]
        lines += [f"{name}: {value}" for name, value in {"accept": MODERN_ACCEPT, **part.headers}.items()]
        head = "Content-Type: application/http\r\nContent-Transfer-Encoding: binary\r\n\r\n" + "\r\n".join(lines)
        parts.append(f"{head}\r\n\r\n".encode() + part.body)
    if operation.method != "GET":
        change_set = b"".join(b"--changeset\r\n%b\r\n" % part for part in parts) + b"--changeset--\r\n"
        parts = [b"Content-Type: multipart/mixed; boundary=changeset\r\n\r\n" + change_set]
    body = b"".join(b"--batch\r\n%b\r\n" % part for part in parts) + b"--batch--\r\n"
    headers = {"content-type": "multipart/mixed; boundary=batch"}
    return Operation("POST", "/$batch", operation.right, 202, body, headers, operation)


MODERN_ACCEPT = "application/json;odata=minimalmetadata"
BATCHES = {f"batch of {name}": in_batch(operation) for name, operation in ON_ENTITIES.items()}
OPERATIONS = ON_ENTITIES | BATCHES | ON_OTHERS


def request_for(operation: Operation, version: str = MODERN) -> Request:
    """The request, not yet signed."""
    headers = {"host": "127.0.0.1:10002", "x-ms-version": version, "accept": MODERN_ACCEPT, **operation.headers}
    return Request(operation.method, f"/{ACCOUNT}{operation.path}", headers, operation.body, peer=PEER)


# ---------------------------------------------------------------- signatures


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

    def sign(request: Request) -> Request:
        date = format_datetime(datetime.now(UTC), usegmt=True)
        path, _, query = request.target.partition("?")
        comp = re.search(r"comp=\w+", query)
        resource = f"/{ACCOUNT}{path}" + (f"?{comp[0]}" if comp else "")
        lines = [date, resource]
        if not is_lite:
            lines = [request.method, "", request.headers.get("content-type", ""), *lines]
        digest = hmac.digest(DEVELOPMENT_ACCOUNT.keys[0], "\n".join(lines).encode(), "sha256")
        signature = base64.b64encode(digest).decode()
        headers = {**request.headers, "x-ms-date": date, "authorization": f"{scheme} {ACCOUNT}:{signature}"}
        return replace(request, headers=headers)

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

    return Kind(sign, tamper)


def flip(signature: str, position: int) -> str:
    """The signature with another letter there."""
    other = "A" if signature[position] != "A" else "B"
    return signature[:position] + other + signature[position + 1 :]


def sas(options: dict[str, str], rights: frozenset[Right], *, is_old: bool = False) -> Kind:
    """A shared access signature."""

    def sign(request: Request, options: dict[str, str] = options) -> Request:
        mark = "&" if "?" in request.target else "?"
        return replace(request, target=f"{request.target}{mark}{query_of(options)}")

    def tamper(request: Request) -> Iterator[tuple[str, Request]]:
        bare = replace(request, target=request.target.removesuffix(query_of(options))[:-1])
        for name, changed in tampered(options).items():
            yield name, sign(bare, changed)
        for position in range(0, 43, 6):
            yield f"sig at {position}", sign(bare, {**options, "sig": flip(options["sig"], position)})
        yield "no sig", bare
        yield "empty sig", sign(bare, {**options, "sig": ""})
        yield "user delegation", sign(bare, {**options, "skoid": "x"})
        yield "sp twice", replace(request, target=f"{request.target}&sp=raudx")

    return Kind(sign, tamper, rights, is_old)


ENTITY_RIGHTS = frozenset({Right.QUERY, Right.INSERT, Right.CHANGE, Right.UPSERT, Right.DELETE})
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
CASES = [
    (kind, name, tamper)
    for kind, value in KINDS.items()
    for name, operation in OPERATIONS.items()
    for tamper, _ in value.tamper(value.sign(request_for(operation)))
]


# ---------------------------------------------------------------- the service


class Answer(NamedTuple):
    """Status and, for an error, code; of the part where a batch has one."""

    status: int
    code: str = ""


class Bench:
    """A service with the table Orders and one entity in it."""

    def __init__(self) -> None:
        self.store = MemoryStore()
        self.service = Service(Settings(data=None), self.store)

    async def fill(self, *keys: Key) -> Bench:
        """Make the table, its policies and entities with these keys."""
        table = await self.store.create_table(ACCOUNT, "Orders")
        await self.store.create_table(ACCOUNT, "Customers")
        start, expiry = parse_datetime(START), parse_datetime(EXPIRY)
        policies = [AccessPolicy("readers", start, expiry, "raud"), AccessPolicy("writers", start, expiry, "raud")]
        await self.store.set_policies(table, write_policies(policies))
        owner = KINDS["SharedKey"]
        for key in keys:
            body = json.dumps({"PartitionKey": key.partition_key, "RowKey": key.row_key}).encode()
            request = request_for(replace(ON_ENTITIES["Insert Entity"], body=body))
            assert (await self.service.handle(owner.sign(request))).status == 201
        return self

    async def ask(self, request: Request) -> Answer:
        """The answer to a request."""
        return read_answer(await self.service.handle(request))

    async def contents(self) -> object:
        """Everything that is stored."""
        tables = await self.store.list_tables(ACCOUNT, "", 100)
        scan = Scan([WHOLE_TABLE], bytes_max=10**9, seconds_max=10)
        return [
            (table, await self.store.get_policies(table), await self.store.scan(table, scan)) for table in tables
        ], await self.store.get_properties(ACCOUNT)


def read_answer(response: Response) -> Answer:
    """What an answer says; that of a batch is its only, or last, part's."""
    body = response.body
    status = response.status
    if status == 202 and body.startswith(b"--batch"):
        status = int(re.findall(rb"\r\nHTTP/1\.1 (\d{3}) ", body)[-1])
    code = re.search(rb'"code":"(\w+)"|<(?:m:)?code>(\w+)<', body) if status >= 400 else None
    return Answer(status, (code[1] or code[2]).decode() if code else "")


def expected(kind: Kind, operation: Operation) -> Answer:
    """The answer to an untampered request."""
    if operation.right in kind.rights:
        return Answer((operation.inner or operation).status)
    return Answer(404, "ResourceNotFound") if kind.is_old else Answer(403, "AuthorizationFailure")


# ---------------------------------------------------------------- tests


def test_there_are_thousands_of_cases() -> None:
    assert len(CASES) >= 2000
    assert len(set(CASES)) == len(CASES)


@pytest.mark.parametrize("name", OPERATIONS)
@pytest.mark.parametrize("kind", KINDS)
class TestEveryOperation:
    async def test_untampered_request_passes_or_is_refused_for_what_it_asks(self, kind: str, name: str) -> None:
        bench = await Bench().fill(Key("p", "r"))
        before = await bench.contents()
        wanted = expected(KINDS[kind], OPERATIONS[name])
        assert await bench.ask(KINDS[kind].sign(request_for(OPERATIONS[name]))) == wanted
        if wanted.code:
            assert await bench.contents() == before

    async def test_each_tampered_request_is_refused_and_changes_nothing(self, kind: str, name: str) -> None:
        bench = await Bench().fill(Key("p", "r"))
        before = await bench.contents()
        request = KINDS[kind].sign(request_for(OPERATIONS[name]))
        for tamper, changed in KINDS[kind].tamper(request):
            assert await bench.ask(changed) == (403, "AuthenticationFailed"), tamper
        assert await bench.contents() == before


TABLE_LETTERS = {
    Right.QUERY: "r",
    Right.INSERT: "a",
    Right.CHANGE: "u",
    Right.UPSERT: "au",
    Right.DELETE: "d",
}


@pytest.mark.parametrize("letters", ["".join(some) for count in range(1, 5) for some in combinations("raud", count)])
class TestPermissions:
    """Of a table's signature: alone, in a batch, and behind an operation that is permitted."""

    @pytest.mark.parametrize("name", ON_ENTITIES | BATCHES)
    @pytest.mark.parametrize("version", ["2013-08-15", MODERN])
    @pytest.mark.parametrize("is_policy", [True, False])
    async def test_permission(self, name: str, letters: str, version: str, is_policy: bool) -> None:
        bench = await Bench().fill(Key("p", "r"))
        fields = {"sp": letters, **LIMITS}
        if is_policy:
            fields = {"si": "some"}
            table = await bench.store.find_table(ACCOUNT, "Orders")
            assert table is not None
            limits = parse_datetime(START), parse_datetime(EXPIRY)
            await bench.store.set_policies(table, write_policies([AccessPolicy("some", *limits, letters)]))
        kind = sas(table_sas(ACCOUNT, sv=version, tn="Orders", **fields), ENTITY_RIGHTS)
        before = await bench.contents()
        operation = OPERATIONS[name]
        answer = await bench.ask(kind.sign(request_for(operation)))
        if set(TABLE_LETTERS[operation.right]) <= set(letters):
            assert answer == ((operation.inner or operation).status, "")
        else:
            code = "AuthorizationPermissionMismatch" if version == MODERN else "ResourceNotFound"
            assert answer == (403 if version == MODERN else 404, code)
            assert await bench.contents() == before

    @pytest.mark.parametrize("name", [name for name, one in ON_ENTITIES.items() if one.method != "GET"])
    @pytest.mark.parametrize("other", ["Insert Entity", "Update Entity", "Insert Or Merge Entity", "Delete Entity"])
    async def test_second_operation_of_a_change_set(self, name: str, other: str, letters: str) -> None:
        """Both are asked about, and all or nothing is done."""
        bench = await Bench().fill(Key("p", "r"), Key("p", "s"))
        first = ON_ENTITIES[other]
        if other != "Insert Entity":
            first = replace(first, path="/Orders(PartitionKey='p',RowKey='s')")
        else:
            first = replace(first, body=b'{"PartitionKey":"p","RowKey":"t"}')
        second = ON_ENTITIES[name]
        kind = sas(table_sas(ACCOUNT, sv=MODERN, tn="Orders", sp=letters, **LIMITS), ENTITY_RIGHTS)
        before = await bench.contents()
        response = await bench.service.handle(kind.sign(request_for(in_batch(first, second))))
        needed = set(TABLE_LETTERS[first.right]) | set(TABLE_LETTERS[second.right])
        if needed <= set(letters):
            assert read_answer(response).status < 300
            return
        assert read_answer(response) == (403, "AuthorizationPermissionMismatch")
        index = 1 if set(TABLE_LETTERS[first.right]) <= set(letters) else 0
        assert f'"value":"{index}:This request is not authorized'.encode() in response.body
        assert await bench.contents() == before


@pytest.mark.parametrize("name", OPERATIONS)
@pytest.mark.parametrize("resource_types", ["s", "c", "o", "sc", "so", "co"])
async def test_account_signature_without_a_resource_type(name: str, resource_types: str) -> None:
    bench = await Bench().fill(Key("p", "r"))
    fields = {"sv": MODERN, "ss": "t", "srt": resource_types, "sp": "rwdlacu", **LIMITS}
    operation = OPERATIONS[name]
    answer = await bench.ask(sas(account_sas(ACCOUNT, **fields), frozenset()).sign(request_for(operation)))
    needed = "o" if operation.right in ENTITY_RIGHTS else "s" if "SERVICE" in operation.right.name else "c"
    if operation.right is Right.ACCESS_POLICIES:
        assert answer == (403, "AuthorizationFailure")
    elif needed in resource_types:
        assert answer == ((operation.inner or operation).status, "")
    else:
        assert answer == (403, "AuthorizationResourceTypeMismatch")


@pytest.mark.parametrize("name", OPERATIONS)
class TestRefusedBeforePermissions:
    """Protocol, source and service, alone and in a batch; the batch itself is refused, and nothing in it is read."""

    @pytest.mark.parametrize(
        ("fields", "code"),
        [
            ({"spr": "https", "sip": "10.0.0.1"}, "AuthorizationProtocolMismatch"),
            ({"sip": "10.0.0.1"}, "AuthorizationSourceIPMismatch"),
        ],
    )
    async def test_table_signature(self, name: str, fields: dict[str, str], code: str) -> None:
        options = table_sas(ACCOUNT, sv=MODERN, tn="Customers", sp="r", **LIMITS, **fields)
        await self.refused(name, options, code)

    @pytest.mark.parametrize(
        ("fields", "code"),
        [
            ({"spr": "https", "sip": "10.0.0.1"}, "AuthorizationProtocolMismatch"),
            ({"sip": "10.0.0.1"}, "AuthorizationSourceIPMismatch"),
            ({}, "AuthorizationServiceMismatch"),
        ],
    )
    async def test_account_signature(self, name: str, fields: dict[str, str], code: str) -> None:
        options = account_sas(ACCOUNT, sv=MODERN, ss="b", srt="s", sp="x", **LIMITS, **fields)
        await self.refused(name, options, code)

    async def refused(self, name: str, options: dict[str, str], code: str) -> None:
        """Ask, and be refused."""
        bench = await Bench().fill(Key("p", "r"))
        before = await bench.contents()
        request = sas(options, frozenset()).sign(request_for(OPERATIONS[name]))
        assert await bench.ask(request) == (403, code)
        assert await bench.contents() == before


@pytest.mark.parametrize("name", ON_ENTITIES | BATCHES)
@pytest.mark.parametrize("table", ["Customers", "Order", "Missing"])
async def test_signature_for_another_table(name: str, table: str) -> None:
    bench = await Bench().fill(Key("p", "r"))
    options = table_sas(ACCOUNT, sv=MODERN, tn=table, sp="raud", **LIMITS)
    request = sas(options, frozenset()).sign(request_for(OPERATIONS[name]))
    assert await bench.ask(request) == (403, "AuthorizationFailure")


# ---------------------------------------------------------------- ranges of keys

KEYS = [Key(partition, row) for partition in ("a", "b", "c") for row in ("1", "2", "3")]
BOUNDS: dict[str, tuple[dict[str, str], Callable[[str, str], bool]]] = {
    "spk": ({"spk": "b"}, lambda pk, rk: pk >= "b"),
    "epk": ({"epk": "b"}, lambda pk, rk: pk <= "b"),
    "spk srk": ({"spk": "b", "srk": "2"}, lambda pk, rk: (pk, rk) >= ("b", "2")),
    "epk erk": ({"epk": "b", "erk": "2"}, lambda pk, rk: (pk, rk) <= ("b", "2")),
    "one partition": ({"spk": "b", "epk": "b"}, lambda pk, rk: pk == "b"),
    "one entity": ({"spk": "b", "srk": "2", "epk": "b", "erk": "2"}, lambda pk, rk: (pk, rk) == ("b", "2")),
    "over partitions": (
        {"spk": "a", "srk": "2", "epk": "c", "erk": "2"},
        lambda pk, rk: ("a", "2") <= (pk, rk) <= ("c", "2"),
    ),
    "between keys": ({"spk": "b", "srk": "10", "epk": "b", "erk": "29"}, lambda pk, rk: (pk, rk) == ("b", "2")),
    "nothing": ({"spk": "c", "epk": "a"}, lambda pk, rk: False),
    "nothing there": ({"spk": "bb", "epk": "bz"}, lambda pk, rk: False),
}


def at(operation: Operation, key: Key) -> Operation:
    """The operation on the entity with this key."""
    if operation.method == "POST":
        body = json.dumps({"PartitionKey": key.partition_key, "RowKey": key.row_key}).encode()
        return replace(operation, body=body)
    return replace(operation, path=f"/Orders(PartitionKey='{key.partition_key}',RowKey='{key.row_key}')")


@pytest.mark.parametrize("bounds", BOUNDS)
class TestKeyRanges:
    @pytest.mark.parametrize("version", ["2013-08-15", MODERN])
    @pytest.mark.parametrize("is_in_batch", [False, True])
    @pytest.mark.parametrize("name", [name for name in ON_ENTITIES if name != "Query Entities"])
    async def test_one_entity(self, name: str, bounds: str, is_in_batch: bool, version: str) -> None:
        """Each key, there or not, within the range or outside."""
        fields, is_within = BOUNDS[bounds]
        refusal = (403, "AuthorizationFailure") if version == MODERN else (404, "ResourceNotFound")
        kind = sas(table_sas(ACCOUNT, sv=version, sp="raud", tn="Orders", **LIMITS, **fields), ENTITY_RIGHTS)
        for key in KEYS:
            there = [] if name == "Insert Entity" else KEYS
            bench = await Bench().fill(*there)
            before = await bench.contents()
            operation = at(ON_ENTITIES[name], key)
            answer = await bench.ask(kind.sign(request_for(in_batch(operation) if is_in_batch else operation)))
            if is_within(*key):
                assert answer == (operation.status, ""), key
            else:
                assert answer == refusal, key
                assert await bench.contents() == before, key

    @pytest.mark.parametrize("name", ["Insert Entity", "Update Entity", "Insert Or Merge Entity", "Delete Entity"])
    async def test_one_of_several_in_a_change_set(self, name: str, bounds: str) -> None:
        """All or nothing."""
        fields, is_within = BOUNDS[bounds]
        kind = sas(table_sas(ACCOUNT, sv=MODERN, sp="raud", tn="Orders", **LIMITS, **fields), ENTITY_RIGHTS)
        for partition in ("a", "b", "c"):
            bench = await Bench().fill(*([] if name == "Insert Entity" else KEYS))
            before = await bench.contents()
            keys = [Key(partition, row) for row in ("2", "1", "3")]
            operations = [at(ON_ENTITIES[name], key) for key in keys]
            response = await bench.service.handle(kind.sign(request_for(in_batch(*operations))))
            outside = [index for index, key in enumerate(keys) if not is_within(*key)]
            if not outside:
                assert read_answer(response).status < 300
            else:
                assert read_answer(response) == (403, "AuthorizationFailure")
                assert f'"value":"{outside[0]}:This request is not authorized'.encode() in response.body
                assert await bench.contents() == before

    @pytest.mark.parametrize("is_in_batch", [False, True])
    @pytest.mark.parametrize(
        "query",
        [
            "",
            "$filter=PartitionKey%20eq%20'b'",
            "$filter=PartitionKey%20ge%20'a'%20and%20RowKey%20le%20'2'",
            "$filter=not%20(PartitionKey%20eq%20'b')",
            "$filter=RowKey%20eq%20'2'%20or%20PartitionKey%20eq%20'c'",
            "$filter=PartitionKey%20eq%20'c'%20and%20RowKey%20eq%20'3'",
            "$select=RowKey",
            # Tokens that point before every range: 1!4!YQ-- is `a`, 1!4!MQ-- is `1`.
            "NextPartitionKey=1!4!YQ--&NextRowKey=1!4!MQ--",
            "NextPartitionKey=1!4!YQ--",
        ],
    )
    async def test_queries_find_only_what_is_within(self, query: str, bounds: str, is_in_batch: bool) -> None:
        fields, is_within = BOUNDS[bounds]
        bench = await Bench().fill(*KEYS)
        operation = replace(ON_ENTITIES["Query Entities"], path=f"/Orders()?{query}")
        everything = keys_in(await bench.service.handle(KINDS["SharedKey"].sign(request_for(operation))))
        kind = sas(table_sas(ACCOUNT, sv=MODERN, sp="raud", tn="Orders", **LIMITS, **fields), ENTITY_RIGHTS)
        response = await bench.service.handle(kind.sign(request_for(in_batch(operation) if is_in_batch else operation)))
        found = keys_in(response)
        if "select" in query:
            assert len(found) == sum(is_within(*key) for key in KEYS)
        else:
            assert found == [key for key in everything if is_within(*key)]

    @pytest.mark.parametrize("top", [1, 2])
    async def test_pages_stay_within(self, top: int, bounds: str) -> None:
        fields, is_within = BOUNDS[bounds]
        bench = await Bench().fill(*KEYS)
        kind = sas(table_sas(ACCOUNT, sv=MODERN, sp="r", tn="Orders", **LIMITS, **fields), ENTITY_RIGHTS)
        found: list[Key] = []
        token = ""
        for _ in range(len(KEYS) + 1):
            operation = replace(ON_ENTITIES["Query Entities"], path=f"/Orders()?$top={top}{token}")
            response = await bench.service.handle(kind.sign(request_for(operation)))
            found += keys_in(response)
            next_keys = {
                name: response.header(f"x-ms-continuation-{name}") for name in ("NextPartitionKey", "NextRowKey")
            }
            token = "".join(f"&{name}={value}" for name, value in next_keys.items() if value)
            if not token:
                break
        assert found == [key for key in KEYS if is_within(*key)]


def keys_in(response: Response) -> list[Key]:
    """The keys in a feed, also one that is a batch's only part."""
    assert read_answer(response).status == 200, response.body
    (feed,) = re.findall(rb'\{"odata\.metadata".*\}', response.body)
    return [Key(entity.get("PartitionKey", ""), entity["RowKey"]) for entity in json.loads(feed)["value"]]
