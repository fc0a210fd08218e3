"""A large body on its way to a client, a piece in each turn of the event loop: others are answered in between.

The kernel copies a page of a megabyte for up to two milliseconds; and what a client does not take yet need not wait in
the transport.
"""

import asyncio
from collections.abc import Callable

_PIECE_BYTES = 128 * 1024


class LargeBody:
    """Writes `body` from the next turn on, and calls `sent` when the transport has taken all of it and would take more.

    Meanwhile nothing else may be written, and the transport's `pause_writing` and `resume_writing` are for this class.
    """

    __slots__ = ("_is_due", "_is_paused", "_left", "_loop", "_sent", "_transport", "size")

    def __init__(
        self, body: bytes, transport: asyncio.WriteTransport, sent: Callable[[], None], loop: asyncio.AbstractEventLoop
    ) -> None:
        self.size = len(body)
        """Bytes in all, which stay in memory until the last of them has left."""
        self._left = memoryview(body)
        self._transport = transport
        self._sent = sent
        self._loop = loop
        self._is_paused = self._is_due = False
        self._take_turn()

    @property
    def left(self) -> int:
        """Bytes that have not been written."""
        return len(self._left)

    def pause(self) -> None:
        """The transport takes no more for now."""
        self._is_paused = True

    def resume(self) -> None:
        """It does again."""
        self._is_paused = False
        self._take_turn()

    def write_rest(self) -> None:
        """Leave the rest to the transport, which is about to be closed."""
        rest, self._left = self._left, self._left[:0]
        self._transport.write(rest)

    def _take_turn(self) -> None:
        if not self._is_due:
            self._is_due = True
            self._loop.call_soon(self._write_piece)

    def _write_piece(self) -> None:
        self._is_due = False
        if self._is_paused or self._transport.is_closing():
            return
        if not self._left:
            self._sent()
            return
        piece, self._left = self._left[:_PIECE_BYTES], self._left[_PIECE_BYTES:]
        self._transport.write(piece)
        self._take_turn()
