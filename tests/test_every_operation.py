"""Every operation, in every payload format, with every kind of authorisation: served, or refused as the service does.

What these tests show makes the first table of `docs/compatibility-matrix.md`. A case is left out only where the service
has no such thing: Atom ends with version 2015-12-11, and so it is asked for with 2015-07-08, the newest that signatures
for accounts and Atom have in common; bearer tokens begin with 2017-11-09 and never meet it. The service runs in this
process, on a store in memory; signatures and tokens are real.
"""

from __future__ import annotations

import base64
import hmac
import json
import re
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from typing import TYPE_CHECKING
from urllib.parse import parse_qs
from xml.etree import ElementTree

import pytest

from rowkey.auth.authority import KnownIssuer, TokenAuthority
from rowkey.auth.token import read_issuer
from rowkey.config import DEVELOPMENT_ACCOUNT, EVERYBODY_ELSE, Bearer, Role, Settings
from rowkey.router import ROUTES
from rowkey.service import Service
from rowkey.store.memory.store import MemoryStore
from rowkey.wire.request import Request, Response
from tests.auth.conftest import account_sas, query_of, table_sas
from tests.compatibility import PLAIN_HTTP
from tests.conftest import TokenIssuer

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

ACCOUNT = DEVELOPMENT_ACCOUNT.name
MODERN, LAST_WITH_ATOM, BEARER_SINCE = "2019-02-02", "2015-07-08", "2017-11-09"
NOW = datetime.now(UTC)
LIMITS = {"st": f"{NOW - timedelta(days=1):%Y-%m-%dT%H:%M:%SZ}", "se": f"{NOW + timedelta(days=1):%Y-%m-%dT%H:%M:%SZ}"}


# ---------------------------------------------------------------- formats


@dataclass(frozen=True)
class Payload:
    """A format: how it is asked for, and its Content-Type in answers and in requests."""

    name: str
    accept: str
    answered: str
    content_type: str
    version: str = MODERN

    def write(self, properties: Mapping[str, str]) -> bytes:
        """A body with these properties."""
        if self.name != "Atom":
            return json.dumps(properties).encode()
        elements = "".join(f"<d:{name}>{value}</d:{name}>" for name, value in properties.items())
        return (
            f'<entry xmlns="{ATOM}" xmlns:d="{DATA}" xmlns:m="{METADATA}"><content type="application/xml">'
            f"<m:properties>{elements}</m:properties></content></entry>"
        ).encode()


ATOM = "http://www.w3.org/2005/Atom"
DATA = "http://schemas.microsoft.com/ado/2007/08/dataservices"
METADATA = f"{DATA}/metadata"


def in_json(level: str) -> Payload:
    """JSON with metadata of some level."""
    kind = f"application/json;odata={level}metadata"
    return Payload(f"JSON {level} metadata", kind, f"{kind};streaming=true;charset=utf-8", "application/json")


JSON = tuple(in_json(level) for level in ("no", "minimal", "full"))
IN_ATOM = Payload(
    *("Atom", "application/atom+xml", "application/atom+xml;type={};charset=utf-8", "application/atom+xml"),
    LAST_WITH_ATOM,
)
IN_XML = Payload("XML", "application/xml", "application/xml", "application/xml")
ODATA = (*JSON, IN_ATOM)


def read(payload: Payload, response: Response) -> list[dict[str, str]]:
    """The entities or tables in an answer, which must have the format and the metadata that were asked for."""
    if payload is IN_ATOM:
        root = ElementTree.fromstring(response.body)
        assert response.header("Content-Type") == payload.answered.format(root.tag.removeprefix(f"{{{ATOM}}}"))
        found = root.iter(f"{{{METADATA}}}properties")
        return [{element.tag.removeprefix(f"{{{DATA}}}"): element.text or "" for element in one} for one in found]
    assert response.header("Content-Type") == payload.answered
    body = json.loads(response.body)
    items: list[dict[str, str]] = body.get("value", [body])
    assert ("odata.metadata" in body) is ("nometadata" not in payload.accept)
    assert all(("odata.type" in item) is ("fullmetadata" in payload.accept) for item in items)
    return [{name: value for name, value in item.items() if "odata." not in name} for item in items]


def code_of(payload: Payload, response: Response) -> str:
    """The code of an error, which must have the format that was asked for."""
    kind = "application/xml" if payload in (IN_ATOM, IN_XML, IN_XML_OF_ATOM) else "application/json"
    assert (response.header("Content-Type") or "").startswith(kind)
    found = re.search(rb'"code":"(\w+)"|<(?:\w+:)?[Cc]ode>(\w+)<', response.body)
    assert found is not None
    return (found[1] or found[2]).decode()


# ---------------------------------------------------------------- authorisation


def sign(request: Request, scheme: str) -> Request:
    """The request with Shared Key or Shared Key Lite."""
    date = format_datetime(datetime.now(UTC), usegmt=True)
    path, _, query = request.target.partition("?")
    comp = parse_qs(query).get("comp")
    lines = [date, f"/{ACCOUNT}{path}" + (f"?comp={comp[0]}" if comp else "")]
    if scheme == "SharedKey":
        lines = [request.method, "", request.headers.get("content-type", ""), *lines]
    digest = hmac.digest(DEVELOPMENT_ACCOUNT.keys[0], "\n".join(lines).encode(), "sha256")
    credentials = f"{scheme} {ACCOUNT}:{base64.b64encode(digest).decode()}"
    return replace(request, headers={**request.headers, "x-ms-date": date, "authorization": credentials})


def add_sas(request: Request, options: Mapping[str, str]) -> Request:
    """The request with a shared access signature."""
    return replace(request, target=f"{request.target}{'&' if '?' in request.target else '?'}{query_of(options)}")


def with_table_sas(request: Request, _token: str) -> Request:
    version = request.headers["x-ms-version"]
    return add_sas(request, table_sas(ACCOUNT, sv=version, tn="Orders", sp="raud", **LIMITS))


def with_policy(request: Request, _token: str) -> Request:
    return add_sas(request, table_sas(ACCOUNT, sv=request.headers["x-ms-version"], tn="Orders", si="everything"))


def with_account_sas(request: Request, _token: str) -> Request:
    version = request.headers["x-ms-version"]
    return add_sas(request, account_sas(ACCOUNT, sv=version, ss="t", srt="sco", sp="rwdlacu", **LIMITS))


def with_token(request: Request, token: str) -> Request:
    return replace(request, headers={**request.headers, "authorization": f"Bearer {token}"}, is_secure=True)


KINDS: dict[str, Callable[[Request, str], Request]] = {
    "Shared Key": lambda request, _token: sign(request, "SharedKey"),
    "Shared Key Lite": lambda request, _token: sign(request, "SharedKeyLite"),
    "table SAS": with_table_sas,
    "SAS by policy": with_policy,
    "account SAS": with_account_sas,
    "bearer token": with_token,
    "anonymous": lambda request, _token: request,
}


def refusal(operation: Operation, kind: str, version: str) -> tuple[int, str] | None:
    """What the service refuses this kind of authorisation with, None where it can be granted the operation."""
    if kind == "anonymous" and operation.name != "Preflight Table Request":
        return (401, "NoAuthenticationInformation") if version >= BEARER_SINCE else (403, "AuthenticationFailed")
    if kind in ("table SAS", "SAS by policy") and not operation.is_on_entities:
        return 403, "AuthorizationFailure"
    if operation.name in ("Get Table ACL", "Set Table ACL"):
        return {"account SAS": (403, "AuthorizationFailure"), "bearer token": (404, "ResourceNotFound")}.get(kind)
    if operation.name == "Table Below Table":
        return 400, "PropertiesNeedValue" if operation.method == "POST" else "InvalidInput"
    return None


# ---------------------------------------------------------------- the service


class Bench:
    """A service with the table Orders, an entity, a stored access policy and a CORS rule; and an issuer of tokens."""

    def __init__(self, issuer: TokenIssuer) -> None:
        settings = Bearer(issuer.url, roles={EVERYBODY_ELSE: Role.OWNER})
        known = KnownIssuer(read_issuer(issuer.url, json.dumps(issuer.key_set()).encode()))
        self.service = Service(Settings(data=None), MemoryStore(), bearer=TokenAuthority(settings, known))
        self.token = issuer.token()

    async def fill(self) -> None:
        """Put everything in, as the owner."""
        everything = SIGNED_IDENTIFIERS.format(name="everything")
        for method, path, payload, body in (
            ("POST", "/Tables", JSON[0], JSON[0].write({"TableName": "Orders"})),
            ("POST", "/Orders", JSON[0], JSON[0].write({**KEY, "Name": "Ada", "City": "Ur"})),
            ("PUT", "/Orders?comp=acl", IN_XML, everything.encode()),
            ("PUT", "/?restype=service&comp=properties", IN_XML, SERVICE_PROPERTIES.format(origin="*").encode()),
        ):
            assert (await self.ask_as_owner(method, path, payload, body)).status < 300

    async def ask_as_owner(self, method: str, path: str, payload: Payload, body: bytes = b"") -> Response:
        """The answer to a request with the account's key."""
        return await self.service.handle(sign(make_request(method, f"/{ACCOUNT}{path}", payload, body), "SharedKey"))


def make_request(method: str, target: str, payload: Payload, body: bytes) -> Request:
    """A request for an answer of this format, without credentials."""
    headers = {"host": "127.0.0.1:10002", "x-ms-version": payload.version, "accept": payload.accept}
    return Request(method, target, headers | ({"content-type": payload.content_type} if body else {}), body)


# ---------------------------------------------------------------- what an answer must show

Check = Callable[[Bench, Payload, Response], Awaitable[None]]


def shows(*expected: Mapping[str, str]) -> Check:
    """The answer has entities or tables with these properties, and no others."""

    async def check(bench: Bench, payload: Payload, response: Response) -> None:
        found = read(payload, response)
        assert [{name: value for name, value in one.items() if name != "Timestamp"} for one in found] == [*expected]

    return check


def leaves(path: str, expected: Mapping[str, str] | None) -> Check:
    """The answer is empty, and at that path there is now what is expected, in the same format, or nothing."""

    async def check(bench: Bench, payload: Payload, response: Response) -> None:
        assert response.body == b""
        found = await bench.ask_as_owner("GET", path, payload)
        if expected is None:
            assert (found.status, code_of(payload, found)) == (404, "ResourceNotFound")
        else:
            await shows(expected)(bench, payload, found)

    return check


def has_in_xml(name: str, text: str) -> Check:
    """The answer is XML, with an element of this name and text."""

    async def check(bench: Bench, payload: Payload, response: Response) -> None:
        assert (response.header("Content-Type") or "").startswith("application/xml")
        elements = ElementTree.fromstring(response.body.removeprefix(b"\xef\xbb\xbf")).iter()
        assert (name, text) in [(element.tag.rpartition("}")[2], element.text) for element in elements]

    return check


def leaves_in_xml(path: str, name: str, text: str) -> Check:
    """The answer is empty, and at that path there is now a document with an element of this name and text."""

    async def check(bench: Bench, payload: Payload, response: Response) -> None:
        assert response.body == b""
        await has_in_xml(name, text)(bench, payload, await bench.ask_as_owner("GET", path, payload))

    return check


def shows_parts(*parts: tuple[int, Check]) -> Check:
    """The answer has these parts, of these statuses, which show what they must."""

    async def check(bench: Bench, payload: Payload, response: Response) -> None:
        assert (response.header("Content-Type") or "").startswith("multipart/mixed; boundary=batchresponse_")
        found = response.body.split(b"\r\nHTTP/1.1 ")[1:]
        for (status, check_part), text in zip(parts, found, strict=True):
            head, _, body = text.partition(b"\r\n\r\n")
            lines = head.decode().split("\r\n")
            headers = [(name, value.strip()) for name, _, value in (line.partition(":") for line in lines[1:])]
            inner = Response(int(lines[0][:3]), headers, body.partition(b"\r\n--")[0])
            assert inner.status == status
            await check_part(bench, payload, inner)

    return check


async def names_the_collection_of_tables(bench: Bench, payload: Payload, response: Response) -> None:
    if payload is IN_XML_OF_ATOM:
        await has_in_xml("title", "Tables")(bench, payload, response)
    else:
        assert response.header("Content-Type") == payload.answered
        body = json.loads(response.body)
        assert body["value"] == [{"name": "Tables", "url": "Tables"}]
        assert ("odata.metadata" in body) is ("nometadata" not in payload.accept)


async def names_the_table(bench: Bench, payload: Payload, response: Response) -> None:
    assert (response.header("Content-Type") or "").startswith("application/xml")
    names = [element.get("Name") for element in ElementTree.fromstring(response.body).iter()]
    assert "Orders" in names


async def allows_the_origin(bench: Bench, payload: Payload, response: Response) -> None:
    assert response.body == b""
    assert response.header("Access-Control-Allow-Origin") == "*"


# ---------------------------------------------------------------- operations


@dataclass(frozen=True)
class Operation:
    """A request for one operation, with the properties in its body, and what its success is."""

    name: str
    method: str
    path: str
    status: int
    check: Check
    body: Mapping[str, str] | str = ""
    headers: Mapping[str, str] = field(default_factory=dict)
    payloads: tuple[Payload, ...] = ODATA
    is_on_entities: bool = False
    variant: str = ""
    host: str = ACCOUNT
    """The account in the path, where it is that of the secondary."""

    def request(self, payload: Payload) -> Request:
        """The request in one format, without credentials."""
        body = self.body.encode() if isinstance(self.body, str) else payload.write(self.body)
        request = make_request(self.method, f"/{self.host}{self.path}", payload, body)
        return replace(request, headers={**request.headers, **self.headers})


@dataclass(frozen=True)
class Batch(Operation):
    """An entity group transaction of other operations."""

    parts: tuple[Operation, ...] = ()

    def request(self, payload: Payload) -> Request:
        """The batch, with all of its parts in one format."""
        parts = []
        for inner in (part.request(payload) for part in self.parts):
            lines = [f"{inner.method} http://{inner.headers['host']}{inner.target} HTTP/1.1"]
            lines += [f"{name}: {value}" for name, value in inner.headers.items() if name != "host"]
            head = "Content-Type: application/http\r\nContent-Transfer-Encoding: binary\r\n\r\n" + "\r\n".join(lines)
            parts.append(f"{head}\r\n\r\n".encode() + inner.body + b"\r\n")
        if self.parts[0].method != "GET":
            change_set = b"".join(b"--changeset\r\n" + part for part in parts) + b"--changeset--\r\n"
            parts = [b"Content-Type: multipart/mixed; boundary=changeset\r\n\r\n" + change_set]
        body = b"".join(b"--batch\r\n" + part for part in parts) + b"--batch--\r\n"
        request = make_request(self.method, f"/{ACCOUNT}{self.path}", payload, body)
        return replace(request, headers=request.headers | {"content-type": "multipart/mixed; boundary=batch"})


KEY, NEW_KEY = {"PartitionKey": "p", "RowKey": "r"}, {"PartitionKey": "p", "RowKey": "new"}
ENTITY, NEW_ENTITY = "/Orders(PartitionKey='p',RowKey='r')", "/Orders(PartitionKey='p',RowKey='new')"
CHANGE = {"Name": "Ben"}
ANY = {"if-match": "*"}
PREFLIGHT = {"origin": "http://contoso.example", "access-control-request-method": "GET"}
SIGNED_IDENTIFIERS = (
    "<SignedIdentifiers><SignedIdentifier><Id>{name}</Id><AccessPolicy>"
    f"<Start>{LIMITS['st']}</Start><Expiry>{LIMITS['se']}</Expiry><Permission>raud</Permission>"
    "</AccessPolicy></SignedIdentifier></SignedIdentifiers>"
)
SERVICE_PROPERTIES = (
    "<StorageServiceProperties><Cors><CorsRule><AllowedOrigins>{origin}</AllowedOrigins>"
    "<AllowedMethods>GET</AllowedMethods><AllowedHeaders /><ExposedHeaders /><MaxAgeInSeconds>60</MaxAgeInSeconds>"
    "</CorsRule></Cors></StorageServiceProperties>"
)
IN_XML_OF_ATOM = replace(IN_XML, accept="application/atom+xml,application/xml", version=LAST_WITH_ATOM)
NO_BODY = replace(JSON[0], name="no body")


def on_entities(name: str, method: str, path: str, status: int, check: Check, **more: object) -> Operation:
    """An operation that a signature for a table can be granted."""
    return Operation(name, method, path, status, check, is_on_entities=True, **more)  # type: ignore[arg-type]


WHOLE, CHANGED = {**KEY, "Name": "Ada", "City": "Ur"}, {**KEY, **CHANGE}
GET_ENTITY = on_entities("Get Entity", "GET", ENTITY, 200, shows(WHOLE))
INSERT = on_entities("Insert Entity", "POST", "/Orders", 201, shows({**NEW_KEY, **CHANGE}), body={**NEW_KEY, **CHANGE})
UPDATE = on_entities("Update Entity", "PUT", ENTITY, 204, leaves(ENTITY, CHANGED), body=CHANGE, headers=ANY)
BATCH = Batch("Entity Group Transaction", "POST", "/$batch", 202, shows_parts(), is_on_entities=True)
OPERATIONS = (
    Operation("Query Tables", "GET", "/Tables", 200, shows({"TableName": "Orders"})),
    Operation("Create Table", "POST", "/Tables", 201, shows({"TableName": "New"}), body={"TableName": "New"}),
    Operation("Get Table", "GET", "/Tables('Orders')", 200, shows({"TableName": "Orders"})),
    Operation("Delete Table", "DELETE", "/Tables('Orders')", 204, leaves("/Tables('Orders')", None)),
    on_entities("Query Entities", "GET", "/Orders()", 200, shows(WHOLE)),
    GET_ENTITY,
    INSERT,
    UPDATE,
    *(
        on_entities(
            *("Merge Entity", method, ENTITY, 204, leaves(ENTITY, WHOLE | CHANGE)),
            body=CHANGE,
            headers=ANY,
            variant=method,
        )
        for method in ("MERGE", "PATCH")
    ),
    on_entities(
        "Insert Or Replace Entity", "PUT", NEW_ENTITY, 204, leaves(NEW_ENTITY, {**NEW_KEY, **CHANGE}), body=CHANGE
    ),
    *(
        on_entities(
            *("Insert Or Merge Entity", method, ENTITY, 204, leaves(ENTITY, WHOLE | CHANGE)),
            body=CHANGE,
            variant=method,
        )
        for method in ("MERGE", "PATCH")
    ),
    on_entities("Delete Entity", "DELETE", ENTITY, 204, leaves(ENTITY, None), headers=ANY),
    replace(
        BATCH,
        variant="change set",
        parts=(INSERT, UPDATE),
        check=shows_parts((201, INSERT.check), (204, UPDATE.check)),
    ),
    replace(BATCH, variant="query", parts=(GET_ENTITY,), check=shows_parts((200, GET_ENTITY.check))),
    on_entities(
        *("Table Below Table", "POST", "/Orders/Tables", 400, shows()), body={"TableName": "New"}, variant="POST"
    ),
    *(
        on_entities("Table Below Table", method, "/Orders/Tables('New')", 400, shows(), variant=method)
        for method in ("GET", "DELETE")
    ),
    Operation(
        *("Get Table Service Properties", "GET", "/?restype=service&comp=properties", 200),
        has_in_xml("AllowedOrigins", "*"),
        payloads=(IN_XML,),
    ),
    Operation(
        *("Set Table Service Properties", "PUT", "/?restype=service&comp=properties", 202),
        leaves_in_xml("/?restype=service&comp=properties", "AllowedOrigins", "http://contoso.example"),
        SERVICE_PROPERTIES.format(origin="http://contoso.example"),
        payloads=(IN_XML,),
    ),
    Operation(
        *("Get Table Service Stats", "GET", "/?restype=service&comp=stats", 200),
        has_in_xml("Status", "live"),
        payloads=(IN_XML,),
        host=f"{ACCOUNT}-secondary",
    ),
    Operation(*("Get Table ACL", "GET", "/Orders?comp=acl", 200), has_in_xml("Id", "everything"), payloads=(IN_XML,)),
    Operation(
        *("Set Table ACL", "PUT", "/Orders?comp=acl", 204),
        leaves_in_xml("/Orders?comp=acl", "Id", "readers"),
        SIGNED_IDENTIFIERS.format(name="readers"),
        payloads=(IN_XML,),
    ),
    Operation(
        *("Preflight Table Request", "OPTIONS", "/Orders", 200, allows_the_origin),
        headers=PREFLIGHT,
        payloads=(NO_BODY,),
    ),
    Operation(
        *("Get Service Document", "GET", "/", 200, names_the_collection_of_tables), payloads=(*JSON, IN_XML_OF_ATOM)
    ),
    Operation("Get Metadata", "GET", "/$metadata", 200, names_the_table, payloads=(IN_XML,)),
)


def exists(operation: Operation, payload: Payload, kind: str) -> bool:
    """Whether there is such a case by the service's own rules."""
    if operation.name == "Preflight Table Request":
        return kind == "anonymous"
    return kind != "bearer token" or payload.version >= BEARER_SINCE


CASES = [
    pytest.param(
        operation,
        payload,
        kind,
        id=f"{operation.name} {operation.variant}, {payload.name}, {kind}".replace(" ,", ","),
        marks=pytest.mark.proves(
            client=PLAIN_HTTP,
            operation=operation.name,
            variant=operation.variant,
            format=payload.name,
            authorisation=kind,
            state="refused" if refusal(operation, kind, payload.version) else "served",
        ),
    )
    for operation in OPERATIONS
    for payload in operation.payloads
    for kind in KINDS
    if exists(operation, payload, kind)
]


# ---------------------------------------------------------------- tests


@pytest.fixture(scope="module")
def token_issuer() -> Iterator[TokenIssuer]:
    """One issuer for all tests of this file."""
    issuer = TokenIssuer()
    yield issuer
    issuer.close()


@pytest.mark.parametrize(("operation", "payload", "kind"), CASES)
async def test_an_operation_is_served_or_refused_as_by_the_service(
    token_issuer: TokenIssuer, operation: Operation, payload: Payload, kind: str
) -> None:
    bench = Bench(token_issuer)
    await bench.fill()
    response = await bench.service.handle(KINDS[kind](operation.request(payload), bench.token))
    refused = refusal(operation, kind, payload.version)
    if refused is None:
        assert response.status == operation.status, response.body
        await operation.check(bench, payload, response)
    else:
        assert (response.status, code_of(payload, response)) == refused


def test_every_operation_has_its_cases() -> None:
    """None that the router knows is forgotten."""
    routed = {(route.operation.__name__, route.method) for route in ROUTES}
    assert {(operation.name.replace(" ", ""), operation.method) for operation in OPERATIONS} == routed
