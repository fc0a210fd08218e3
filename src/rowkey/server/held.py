"""What the connections of a listener hold in memory for their clients, and who goes when it becomes too much.

Counted are large bodies, from their first bytes until their request is answered, and answers that the client does not
read. Small bodies are not: what a connection may hold of these is bounded by their size and the number of connections.
"""

from typing import Protocol

from rowkey.errors import ServerBusy


class Holder(Protocol):
    """A connection."""

    @property
    def waits_for_client(self) -> bool:
        """Whether it is the client's turn: to send the rest of a body, or to read an answer."""

    def abort(self) -> None:
        """Close at once."""


class Held:
    """Counts bytes by connection, in the order in which they began to hold some."""

    def __init__(self, bytes_max: int) -> None:
        self._bytes_max = bytes_max
        self._sizes: dict[Holder, int] = {}
        self.bytes = 0
        self.cut = 0
        """Connections that were cut off."""

    def hold(self, holder: Holder, size: int) -> None:
        """Count `size` bytes more for a connection.

        Where that is too much, those who have kept the server waiting for longest are cut off; raises ServerBusy where
        everything is held for requests that are being worked on.
        """
        self._sizes[holder] = self._sizes.get(holder, 0) + size
        self.bytes += size
        while self.bytes > self._bytes_max:
            slowest = next((other for other in self._sizes if other.waits_for_client and other is not holder), None)
            if slowest is None:
                self.release(holder)
                raise ServerBusy
            self.release(slowest)
            self.cut += 1
            slowest.abort()

    def release(self, holder: Holder) -> None:
        """Forget what was counted for a connection."""
        self.bytes -= self._sizes.pop(holder, 0)
