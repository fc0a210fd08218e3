"""Accepting connections, watching over them, and stopping without losing what was accepted."""

import asyncio
import logging
import socket
import ssl
import sys
import time
from collections.abc import Sequence
from typing import Any

from rowkey.server.connection import Connection
from rowkey.server.handler import Handler
from rowkey.server.held import Held
from rowkey.server.limits import Limits
from rowkey.server.outbox import Outbox
from rowkey.server.tls import HANDSHAKE_SECONDS_MAX
from rowkey.server.turned_away import TurnedAway

if sys.platform != "win32":
    import resource

log = logging.getLogger(__name__)

BACKLOG = 1024
"""Connections that may wait to be accepted; clients with large pools open them all at once."""
STOP_SECONDS_MAX = 5.0
COMPLAINT_SECONDS = 60.0
"""Between two lines in the log that say the same of many clients."""
FILES_RESERVED = 64
"""Files that a process needs besides its connections: the database, its log, threads' connections, certificates."""
SHUTDOWN_SECONDS_MAX = 1e6
"""The event loop would drop what a slow client has not read yet; `Connection.check_time` knows better when to."""


class Listener:
    """A port, and all connections that came through it."""

    def __init__(self, service: Handler, limits: Limits | None = None) -> None:
        self._service = service
        self._limits = limits or Limits()
        self._connections: set[Connection] = set()
        self._held = Held(self._limits.held_bytes_max)
        self._servers: list[asyncio.Server] = []
        self._sweep_handle: asyncio.TimerHandle | None = None
        self._complained = -COMPLAINT_SECONDS
        self._is_draining = False
        self._empty: asyncio.Event | None = None
        self.port = 0
        """The port that was chosen, where port 0 was asked for."""
        self.accepted = self.refused = 0
        """Connections that were served, and those that were answered 503 because there were too many."""

    @property
    def connections(self) -> int:
        """Connections that are open."""
        return len(self._connections)

    @property
    def cut(self) -> int:
        """Connections that were cut off because too much waited for their clients."""
        return self._held.cut

    async def start(
        self, host: str, port: int, tls: ssl.SSLContext | None = None, sockets: Sequence[socket.socket] = ()
    ) -> None:
        """Accept connections from now on, by TLS if so told; raises OSError where the address cannot be had.

        `sockets` that are bound already take the place of host and port.
        """
        loop = asyncio.get_running_loop()
        outbox = Outbox(loop)

        connections_max = min(self._limits.connections_max, files_max() - FILES_RESERVED)

        def connect() -> asyncio.Protocol:
            if len(self._connections) >= connections_max:
                self._turn_away(connections_max)
                return TurnedAway(self._service.refuse, loop, self._limits.linger_seconds)
            self.accepted += 1
            return Connection(
                self._service,
                self._limits,
                remember=self._remember,
                forget=self._forget,
                loop=loop,
                outbox=outbox,
                held=self._held,
            )

        places: list[dict[str, Any]] = [{"sock": bound} for bound in sockets] or [{"host": host, "port": port}]
        for place in places:
            server = await loop.create_server(
                connect,
                **place,
                backlog=BACKLOG,
                ssl=tls,
                ssl_handshake_timeout=None if tls is None else HANDSHAKE_SECONDS_MAX,
                ssl_shutdown_timeout=None if tls is None else SHUTDOWN_SECONDS_MAX,
            )
            self._servers.append(server)
        self.port = self._servers[0].sockets[0].getsockname()[1]
        self._sweep_handle = loop.call_later(self._limits.sweep_seconds, self._sweep)

    def _turn_away(self, connections_max: int) -> None:
        self.refused += 1
        now = time.monotonic()
        if now - self._complained > COMPLAINT_SECONDS:
            self._complained = now
            log.warning("there are %d connections, and no more are served: 503 for the others", connections_max)

    def drain(self) -> None:
        """Go on, and let each client go with its next answer: whoever stays until the stop may meet a closed door."""
        self._is_draining = True
        for connection in self._connections:
            connection.drain()

    async def stop(self, seconds_max: float = STOP_SECONDS_MAX) -> None:
        """Accept nothing more, answer what has been read, for `seconds_max` at most, and close every connection."""
        if not self._servers:
            return
        for server in self._servers:
            server.close()
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
        self._servers.clear()

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
        if self._is_draining:
            connection.drain()
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


def files_max() -> int:
    """How many files the process may have open, after it has asked for as many as it may get."""
    if sys.platform == "win32":
        return 1 << 20
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft != resource.RLIM_INFINITY and soft != hard:
        try:
            resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
            soft = hard
        except (OSError, ValueError):  # macOS says that the hard limit is infinite, and refuses it
            pass
    return 1 << 20 if soft == resource.RLIM_INFINITY else soft
