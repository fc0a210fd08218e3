"""A stand-in for the service behind real connections on a real port, and a client that speaks bytes."""

from __future__ import annotations

import asyncio
import json
import ssl
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

import pytest
import uvloop

from rowkey.server.certificate import keep_certificate
from rowkey.server.limits import Limits
from rowkey.server.listener import Listener
from rowkey.server.tls import open_context
from rowkey.wire.request import Request, Response
from tests.server.worker_clients import WORKERS, one_of_each
from tests.server.worker_clients import Client as WorkerClient

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable, Coroutine, Iterator
    from contextlib import AbstractAsyncContextManager
    from pathlib import Path

    from rowkey.errors import ServiceError
    from tests.conftest import ServerProcess

READ_SECONDS_MAX = 10


class EchoService:
    """Answers with what it was asked, in JSON; some targets are special.

    `/wait` suspends until `go` is set, `/large` answers with 8 MiB, `/status/N` with that status, `/raise` breaks the
    promise not to raise.
    """

    def __init__(self) -> None:
        self.go = asyncio.Event()
        self.begun: list[str] = []
        self.ended: list[str] = []

    async def handle(self, request: Request) -> Response:
        """Answer a request."""
        self.begun.append(request.target)
        if request.target.startswith("/wait"):
            await self.go.wait()
        elif request.target.startswith("/sleep"):
            await asyncio.sleep(0)
        elif request.target == "/raise":
            raise ZeroDivisionError
        self.ended.append(request.target)
        if request.target.startswith("/large"):
            return Response(200, [], b"x" * (8 << 20))
        status = int(request.target.removeprefix("/status/")) if request.target.startswith("/status/") else 200
        echo = {
            "method": request.method,
            "target": request.target,
            "headers": request.headers,
            "body": request.body.decode("latin-1"),
            "peer": request.peer,
            "is_secure": request.is_secure,
        }
        return Response(status, [("Content-Type", "application/json")], json.dumps(echo).encode())

    def refuse(self, refusal: ServiceError, request: Request | None = None) -> Response:
        """Answer what did not become a request."""
        return Response(refusal.status, [("x-ms-error-code", refusal.code)], refusal.text.encode())


class Client:
    """One connection, from the other end."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.reader = reader
        self.writer = writer

    async def send(self, *parts: bytes) -> None:
        """Send bytes, each part in a packet of its own."""
        for part in parts:
            self.writer.write(part)
            await self.writer.drain()
            await asyncio.sleep(0.005 if len(parts) > 1 else 0)

    async def answer(self, *, to: str = "GET") -> Response:
        """Read one answer."""
        head = (await self._within(self.reader.readuntil(b"\r\n\r\n"))).decode("latin-1")
        status_line, *lines = head.removesuffix("\r\n\r\n").split("\r\n")
        headers = [(name, value) for name, _, value in (line.partition(": ") for line in lines)]
        _, status, phrase = status_line.split(" ", 2)
        response = Response(int(status), headers, b"", phrase)
        length = int(response.header("Content-Length") or 0)
        if to != "HEAD" and response.status >= 200:
            response.body = await self._within(self.reader.readexactly(length))
        return response

    async def rest(self) -> bytes:
        """Everything until the server closes."""
        return await self._within(self.reader.read())

    async def is_closed(self) -> bool:
        """Whether the server ends the connection now, without another byte."""
        return not await self.rest()

    async def close(self) -> None:
        """End the connection."""
        self.writer.close()
        try:
            await self.writer.wait_closed()
        except OSError:
            pass

    @staticmethod
    async def _within(reading: Coroutine[None, None, bytes]) -> bytes:
        return await asyncio.wait_for(reading, READ_SECONDS_MAX)


class House:
    """A running listener and its stand-in service."""

    def __init__(self, service: EchoService, listener: Listener, trust: ssl.SSLContext | None) -> None:
        self.service = service
        self.listener = listener
        self.trust = trust
        self.clients: list[Client] = []

    async def connect(self) -> Client:
        """A new connection, by TLS if the listener speaks it."""
        client = Client(*await asyncio.open_connection("127.0.0.1", self.listener.port, limit=1 << 25, ssl=self.trust))
        self.clients.append(client)
        return client


@asynccontextmanager
async def open_house(limits: Limits | None = None, *, folder: Path | None = None) -> AsyncIterator[House]:
    """Listen on a free port; by TLS, with a certificate that is kept in the folder, if there is one."""
    service = EchoService()
    context = trust = None
    if folder is not None:
        certificate, key = keep_certificate(folder, "127.0.0.1")
        context = open_context(certificate, key)
        trust = ssl.create_default_context(cafile=str(certificate))
    house = House(service, Listener(service, limits), trust)
    await house.listener.start("127.0.0.1", 0, context)
    try:
        yield house
    finally:
        service.go.set()
        for client in house.clients:
            await client.close()
        await house.listener.stop()


@pytest.fixture
async def house() -> AsyncIterator[House]:
    """A listener with the limits that a server has."""
    async with open_house() as house:
        yield house


@pytest.fixture
async def secure_house(tmp_path: Path) -> AsyncIterator[House]:
    """The same by TLS."""
    async with open_house(folder=tmp_path) as house:
        yield house


@pytest.fixture
def house_with() -> Callable[..., AbstractAsyncContextManager[House]]:
    """A way to a listener with limits of one's own."""
    return open_house


@pytest.fixture
def workers(own_server_with: Callable[..., ServerProcess]) -> ServerProcess:
    """A server with several workers."""
    return own_server_with("--workers", str(WORKERS))


@pytest.fixture
def clients(workers: ServerProcess) -> Iterator[list[WorkerClient]]:
    """A client of each worker; a table `Things` is there."""
    clients = one_of_each(workers.server, WORKERS)
    assert clients[0].ask("POST", "/Tables", '{"TableName":"Things"}')[0] == 201
    yield clients
    for client in clients:
        client.close()


def pytest_asyncio_loop_factories(
    config: pytest.Config, item: pytest.Item
) -> dict[str, Callable[[], asyncio.AbstractEventLoop]]:
    """Run every test of this room on both event loops; they differ in what a transport may be asked."""
    return {"asyncio": asyncio.SelectorEventLoop, "uvloop": uvloop.new_event_loop}
