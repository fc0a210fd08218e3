"""The clock of ETags: no time is handed out twice, whatever the machine's clock does, also over restarts.

A timestamp is an entity's ETag. If the machine's clock went back while the server was down, an entity that is deleted
and inserted again could get an ETag that it had before, and a client that still holds the old one would overwrite what
it never saw. So the database says up to which time ETags may have been handed out, and the clock goes on from there.

The bound is one row. It is written by the same transaction that first uses a time beyond it, and set a second ahead, so
that it costs one page of the log a second at most. What was handed out and is on disk is therefore never beyond the
bound that is on disk; what is not on disk was never answered. A server that ends in order writes down where it stopped;
after a crash times may run ahead of the machine's clock, by a second at most.
"""

from collections.abc import Callable

import apsw

from rowkey.store.embedded import statements

RESERVED_TICKS = 10_000_000
"""How far ahead the bound is set: a second."""


class Clock:
    """Times for the transactions of the writing connection, on top of the machine's clock `now`."""

    def __init__(self, connection: apsw.Connection, now: Callable[[], int]) -> None:
        self._connection = connection
        self._now = now
        reserved: int = connection.execute(statements.GET_RESERVED).get
        self._reserved = self._last = self._written = reserved

    def tick(self) -> int:
        """A time after every one handed out before; only within a transaction of the writing connection."""
        self._last = max(self._now(), self._last + 1)
        if self._last > self._reserved:
            self._reserve(self._last + RESERVED_TICKS)
        return self._last

    def forget_uncommitted(self) -> None:
        """The transaction was rolled back, and perhaps a bound with it: the next time sets a new one."""
        self._reserved = 0

    def stop(self) -> None:
        """Write down the last time, so that the next clock goes on from there; outside of transactions."""
        if self._last != self._written:
            self._reserve(self._last)

    def _reserve(self, bound: int) -> None:
        self._connection.execute(statements.SET_RESERVED, (bound,))
        self._reserved = self._written = bound
