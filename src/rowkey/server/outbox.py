"""Answers of one turn of the event loop, sent together at its end.

A busy server reads many requests in a turn. Written one by one between them, the answers would each wake a client
that sleeps, at the price of an interrupt of another core, and drag the kernel's code through the caches that the next
request needs; together they cost little more than half (`docs/adr/0003-answers-leave-together.md`).
"""

import asyncio

_WAITING_BYTES_MAX = 1 << 20
"""With more than this waiting, a turn's answers leave before its end."""


class Outbox:
    """Bytes on their way to transports, in the order in which they were handed over."""

    __slots__ = ("_bytes", "_loop", "_waiting")

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self._loop = loop
        self._waiting: list[tuple[asyncio.WriteTransport, bytes]] = []
        self._bytes = 0

    def send(self, transport: asyncio.WriteTransport, data: bytes) -> None:
        """Write `data` at the end of this turn."""
        if not self._waiting:
            self._loop.call_soon(self.flush)
        self._waiting.append((transport, data))
        self._bytes += len(data)
        if self._bytes > _WAITING_BYTES_MAX:
            self.flush()

    def flush(self) -> None:
        """Write what waits; called before anything that must not overtake it."""
        waiting, self._waiting, self._bytes = self._waiting, [], 0
        for transport, data in waiting:
            transport.write(data)
