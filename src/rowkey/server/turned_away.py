"""A connection more than there may be: it is told so, and ends."""

import asyncio
from collections.abc import Callable
from typing import cast

from rowkey.errors import ServerBusy, ServiceError
from rowkey.server.reader import CLOSE
from rowkey.server.sockets import format_peer
from rowkey.server.writer import format_head
from rowkey.wire.request import Request, Response


class TurnedAway(asyncio.Protocol):
    """Answers 503 to whatever comes, without reading it, and closes within `seconds`.

    The answer is there at once. What the client sends is taken off the socket until then, since closing with bytes
    unread would reset the connection, and the client might never see why.
    """

    def __init__(
        self, refuse: Callable[[ServiceError, Request], Response], loop: asyncio.AbstractEventLoop, seconds: float
    ) -> None:
        self._refuse = refuse
        self._loop = loop
        self._seconds = seconds

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        transport = cast(asyncio.Transport, transport)
        unread = Request("", "", {}, peer=format_peer(transport.get_extra_info("peername")))
        response = self._refuse(ServerBusy(), unread)
        transport.write(format_head(response, CLOSE) + response.body)
        if transport.can_write_eof():
            transport.write_eof()
        self._loop.call_later(self._seconds, transport.abort)

    def eof_received(self) -> bool:
        """The client ends in its turn."""
        return False
