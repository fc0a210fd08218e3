"""Accepting connections, watching over them, and stopping without losing what was accepted."""

import asyncio
import logging
import ssl

from rowkey.server.connection import Connection, Handler
from rowkey.server.limits import Limits
from rowkey.server.outbox import Outbox
from rowkey.server.tls import HANDSHAKE_SECONDS_MAX

log = logging.getLogger(__name__)

BACKLOG = 1024
"""Connections that may wait to be accepted; clients with large pools open them all at once."""
STOP_SECONDS_MAX = 5.0
SHUTDOWN_SECONDS_MAX = 1e6
"""The event loop would drop what a slow client has not read yet; `Connection.check_time` knows better when to."""


class Listener:
    """A port, and all connections that came through it."""

    def __init__(self, service: Handler, limits: Limits | None = None) -> None:
        self._service = service
        self._limits = limits or Limits()
        self._connections: set[Connection] = set()
        self._server: asyncio.Server | None = None
        self._sweep_handle: asyncio.TimerHandle | None = None
        self._empty: asyncio.Event | None = None
        self.port = 0
        """The port that was chosen, where port 0 was asked for."""

    async def start(self, host: str, port: int, tls: ssl.SSLContext | None = None) -> None:
        """Accept connections from now on, by TLS if so told; raises OSError where the address cannot be had."""
        loop = asyncio.get_running_loop()
        outbox = Outbox(loop)

        def connect() -> Connection:
            return Connection(
                self._service,
                self._limits,
                remember=self._remember,
                forget=self._forget,
                loop=loop,
                outbox=outbox,
            )

        self._server = await loop.create_server(
            connect,
            host,
            port,
            backlog=BACKLOG,
            ssl=tls,
            ssl_handshake_timeout=None if tls is None else HANDSHAKE_SECONDS_MAX,
            ssl_shutdown_timeout=None if tls is None else SHUTDOWN_SECONDS_MAX,
        )
        self.port = self._server.sockets[0].getsockname()[1]
        self._sweep_handle = loop.call_later(self._limits.sweep_seconds, self._sweep)

    async def stop(self, seconds_max: float = STOP_SECONDS_MAX) -> None:
        """Accept nothing more, answer what has been read, for `seconds_max` at most, and close every connection."""
        if self._server is None:
            return
        self._server.close()
        if self._sweep_handle is not None:
            self._sweep_handle.cancel()
        self._empty = asyncio.Event()
        for connection in tuple(self._connections):
            connection.finish()
        if not await self._wait_until_empty(seconds_max):
            log.warning("%d connections did not end in time and are cut off", len(self._connections))
            for connection in tuple(self._connections):
                connection.abort()
            await self._wait_until_empty(1)
        self._server = None

    async def _wait_until_empty(self, seconds_max: float) -> bool:
        assert self._empty is not None
        if self._connections:
            try:
                await asyncio.wait_for(self._empty.wait(), seconds_max)
            except TimeoutError:
                return False
        return True

    def _remember(self, connection: Connection) -> None:
        self._connections.add(connection)
        if self._empty is not None:  # its handshake was going on when the stop began
            connection.finish()

    def _forget(self, connection: Connection) -> None:
        self._connections.discard(connection)
        if self._empty is not None and not self._connections:
            self._empty.set()

    def _sweep(self) -> None:
        """Let every connection look at the clock."""
        seconds = self._limits.sweep_seconds
        for connection in tuple(self._connections):
            connection.check_time(seconds)
        self._sweep_handle = asyncio.get_running_loop().call_later(seconds, self._sweep)
