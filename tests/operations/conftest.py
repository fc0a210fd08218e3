"""A service in this process, on a store in memory with a clock that stands still, and a client that signs."""

from __future__ import annotations

import base64
import hmac
import json
import re
from dataclasses import dataclass
from email.utils import formatdate
from typing import TYPE_CHECKING, Any, NoReturn

import pytest

from rowkey.auth.grants import OWNER
from rowkey.config import DEVELOPMENT_ACCOUNT, Settings
from rowkey.model.datetimes import parse_datetime
from rowkey.router import route
from rowkey.service import Service
from rowkey.store.memory.store import MemoryStore
from rowkey.wire.call import Call
from rowkey.wire.request import Request, Response
from rowkey.wire.target import ACCOUNT_ROOT, read_address, read_component, read_options, read_resource
from rowkey.wire.terms import read_terms

if TYPE_CHECKING:
    from collections.abc import Mapping

    from rowkey.operations.operation import Operation

ACCOUNT = DEVELOPMENT_ACCOUNT.name
HOST = "127.0.0.1:10002"
TABLES_MADE = parse_datetime("2026-08-03T10:15:30Z")
FIRST_WRITE = parse_datetime("2026-08-03T10:15:31.1234567Z")
OF_ATOM = {"x-ms-version": "2012-02-12", "accept": "application/atom+xml"}
COMMON = {"host": HOST, "x-ms-version": "2019-02-02", "accept": "application/json;odata=minimalmetadata"}

_ERROR = re.compile(
    rb'\{"odata\.error":\{"code":"(\w+)","message":\{"lang":"en-US","value":"(.*)\\nRequestId:([0-9a-f-]{36})'
    rb'\\nTime:\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{7}Z"\}\}\}'
)


@dataclass
class FixedClock:
    """A clock that stands where it is put; a store lets its own moments grow by one tick from there."""

    ticks: int = TABLES_MADE

    def __call__(self) -> int:
        return self.ticks


class Client:
    """Asks the service in this process; paths are those below the account."""

    def __init__(self, clock: FixedClock, store: MemoryStore, service: Service) -> None:
        self.clock = clock
        self.store = store
        self.service = service

    async def ask(
        self, method: str, path: str, body: Any = b"", headers: Mapping[str, str | None] | None = None
    ) -> Response:
        """The answer to a signed request; a header that is None is not sent, a body that is no bytes is JSON."""
        return await self.service.handle(signed(make_request(method, path, body, headers or {})))

    async def ask_in_atom(
        self, method: str, path: str, properties: str | None = None, headers: Mapping[str, str | None] | None = None
    ) -> Response:
        """The answer to a request of a version that knew Atom alone, with an entry of these properties as its body."""
        body = b"" if properties is None else entry(properties)
        kind = {"content-type": "application/atom+xml"} if body else {}
        return await self.ask(method, path, body, {**OF_ATOM, **kind, **(headers or {})})

    def decode(
        self, method: str, path: str, body: Any = b"", headers: Mapping[str, str | None] | None = None
    ) -> Operation:
        """The operation that a request asks for; raises what it is refused with."""
        call = self.call(method, path, body, headers)
        operation: Operation = route(call).decode(call)
        return operation

    def call(self, method: str, path: str, body: Any = b"", headers: Mapping[str, str | None] | None = None) -> Call:
        """What an operation is decoded from."""
        request = make_request(method, path, body, headers or {})
        address = read_address(request, frozenset({ACCOUNT}))
        options = read_options(address.query)
        terms = read_terms(request.header("x-ms-version"), request.header("accept"), options.get("$format"))
        resource = ACCOUNT_ROOT if method == "OPTIONS" else read_resource(address.path)
        if "comp" in options:
            resource = read_component(resource, options["comp"], options.get("restype"))
        return Call(
            request=request,
            method=method,
            address=address,
            resource=resource,
            options=options,
            version=terms.version,
            format=terms.format,
            grant=OWNER,
            request_id="",
            now=FIRST_WRITE,
            open_part=no_batch,
            decode=no_batch,
        )

    def refusal(self, response: Response) -> tuple[int, str, str]:
        """Status, code and text of an error, whose JSON must have the service's form to the byte."""
        match = _ERROR.fullmatch(response.body)
        assert match is not None, response.body
        assert match[3].decode() == response.header("x-ms-request-id")
        return response.status, match[1].decode(), json.loads(b'"%b"' % match[2])

    async def refused(
        self, method: str, path: str, body: Any = b"", headers: Mapping[str, str | None] | None = None
    ) -> tuple[int, str, str]:
        """Ask, and be refused."""
        return self.refusal(await self.ask(method, path, body, headers))


def entry(properties: str) -> bytes:
    """An entry in Atom with these properties."""
    return (
        "<entry xmlns='http://www.w3.org/2005/Atom' xmlns:d='http://schemas.microsoft.com/ado/2007/08/dataservices'"
        " xmlns:m='http://schemas.microsoft.com/ado/2007/08/dataservices/metadata'><content type='application/xml'>"
        f"<m:properties>{properties}</m:properties></content></entry>"
    ).encode()


def no_batch(*_: object) -> NoReturn:
    """Stands where a call can open the parts of a batch."""
    raise AssertionError("only the service opens the parts of a batch")


def make_request(method: str, path: str, body: Any, headers: Mapping[str, str | None]) -> Request:
    """A request as it arrives, not yet signed."""
    if not isinstance(body, bytes):
        body = json.dumps(body).encode()
    given = {name.lower(): value for name, value in headers.items()}
    kind = {"content-type": "application/json"} if body else {}
    sent = {name: value for name, value in {**COMMON, **kind, **given}.items() if value is not None}
    return Request(method, path if "://" in path else f"/{ACCOUNT}{path}", sent, body)


def signed(request: Request) -> Request:
    """The request with a date and the signature of Shared Key Lite."""
    date = formatdate(usegmt=True)
    _, is_absolute, rest = request.target.partition("://")
    path, _, query = (f"/{rest.partition('/')[2]}" if is_absolute else request.target).partition("?")
    resource = f"/{ACCOUNT}{path}" + "".join(f"?{option}" for option in query.split("&") if option[:5] == "comp=")
    digest = hmac.digest(DEVELOPMENT_ACCOUNT.keys[0], f"{date}\n{resource}".encode(), "sha256")
    signature = base64.b64encode(digest).decode()
    request.headers |= {"x-ms-date": date, "authorization": f"SharedKeyLite {ACCOUNT}:{signature}"}
    return request


@pytest.fixture
def clock() -> FixedClock:
    """Stands at the moment at which tables are made."""
    return FixedClock()


@pytest.fixture
def client(clock: FixedClock) -> Client:
    """A client of an account without tables."""
    store = MemoryStore(clock)
    return Client(clock, store, Service(Settings(data=None), store))


@pytest.fixture
async def orders(client: Client) -> Client:
    """A client of an account with the empty table Orders; the first write has the time FIRST_WRITE."""
    await client.store.create_table(ACCOUNT, "Orders")
    client.clock.ticks = FIRST_WRITE
    return client
