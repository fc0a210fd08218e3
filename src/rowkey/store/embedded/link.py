"""The other end of a link: hands verbs that change something to the process that writes, and waits for its answers.

Many may be under way, and answers come in any order. All calls of one turn of the event loop leave in one frame. The
process at the other end may die and be replaced: what it had been given may or may not have happened (OutcomeUnknown),
and is not repeated; what was not given away yet waits for the new one, for a moment.
"""

import asyncio
from collections.abc import Callable
from typing import Any, NamedTuple, cast

from rowkey.store.embedded.frames import Answer, Call, FrameReader, unpack_error, write_frame
from rowkey.store.interface import OutcomeUnknown, StoreUnavailable

CALLS_MAX = 10_000
"""Calls that may be under way; as many connections may write at once. More are refused."""
ABSENCE_SECONDS_MAX = 2.0
"""How long calls wait for a process that writes; replacing one takes a fraction of it."""


class _UnderWay(NamedTuple):
    future: "asyncio.Future[Any]"
    read: Callable[[Any], Any] | None
    """Makes the verb's result of what was answered."""


class Link:
    """Calls of this process, over one connection after the other."""

    def __init__(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._transport: asyncio.WriteTransport | None = None
        self._is_paused = False
        self._is_flushing = False
        self._absence: asyncio.TimerHandle | None = None
        self._is_given_up = False
        self._numbers = 0
        self._waiting: list[Call] = []
        self._under_way: dict[int, _UnderWay] = {}
        self._idle: asyncio.Future[None] | None = None
        self._begin_absence()

    def end(self) -> asyncio.Protocol:
        """A protocol for a new connection to the process that writes."""
        return _End(self)

    def call(
        self, verb: str, arguments: tuple[Any, ...], read: Callable[[Any], Any] | None = None
    ) -> "asyncio.Future[Any]":
        """Have a verb done; raises StoreUnavailable, and the future has what the verb raises, or OutcomeUnknown."""
        if self._is_given_up or len(self._under_way) >= CALLS_MAX:
            raise StoreUnavailable
        self._numbers += 1
        future: asyncio.Future[Any] = self._loop.create_future()
        self._under_way[self._numbers] = _UnderWay(future, read)
        self._waiting.append((self._numbers, verb, arguments))
        if not self._is_flushing:
            self._is_flushing = True
            self._loop.call_soon(self._flush)
        return future

    async def close(self) -> None:
        """Wait for what is under way, and end the connection."""
        if self._under_way:
            self._idle = self._loop.create_future()
            await self._idle
        if self._absence is not None:
            self._absence.cancel()
        if self._transport is not None:
            self._transport.close()

    # ------------------------------------------------------------ what the connection tells

    def connected(self, transport: asyncio.WriteTransport) -> None:
        """There is a process that writes."""
        self._transport, self._is_paused, self._is_given_up = transport, False, False
        if self._absence is not None:
            self._absence.cancel()
        self._flush()

    def lost(self, transport: asyncio.WriteTransport | None) -> None:
        """The process that writes has ended."""
        if transport is not self._transport:
            return
        self._transport = None
        self._begin_absence()
        kept = {number for number, _, _ in self._waiting}
        for number in [number for number in self._under_way if number not in kept]:
            self._fail(number, OutcomeUnknown())

    def pause(self, is_paused: bool) -> None:
        """The process that writes does not keep up, or does again."""
        self._is_paused = is_paused
        if not is_paused:
            self._flush()

    def answered(self, answer: Answer) -> None:
        """A call has its verdict."""
        number, result, error = answer
        future, read = self._under_way.pop(number)
        if future.done():
            pass  # its client left
        elif error is not None:
            future.set_exception(unpack_error(error))
        else:
            future.set_result(result if read is None else read(result))
        self._note_idle()

    # ------------------------------------------------------------ steps

    def _flush(self) -> None:
        self._is_flushing = False
        if self._waiting and self._transport is not None and not self._is_paused:
            calls, self._waiting = self._waiting, []
            self._transport.write(write_frame(calls))

    def _begin_absence(self) -> None:
        self._absence = self._loop.call_later(ABSENCE_SECONDS_MAX, self._give_up)

    def _give_up(self) -> None:
        """Nobody has come who writes: refuse what waits, and what comes, until there is somebody."""
        self._is_given_up = True
        waiting, self._waiting = self._waiting, []
        for number, _, _ in waiting:
            self._fail(number, StoreUnavailable())

    def _fail(self, number: int, error: Exception) -> None:
        future = self._under_way.pop(number).future
        if not future.done():
            future.set_exception(error)
        self._note_idle()

    def _note_idle(self) -> None:
        if self._idle is not None and not self._under_way and not self._idle.done():
            self._idle.set_result(None)


class _End(asyncio.Protocol):
    """One connection of a link."""

    def __init__(self, link: Link) -> None:
        self._link = link
        self._frames = FrameReader()
        self._transport: asyncio.WriteTransport | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast(asyncio.WriteTransport, transport)
        self._link.connected(self._transport)

    def connection_lost(self, exc: Exception | None) -> None:
        self._link.lost(self._transport)

    def pause_writing(self) -> None:
        self._link.pause(True)

    def resume_writing(self) -> None:
        self._link.pause(False)

    def data_received(self, data: bytes) -> None:
        for answer in self._frames.feed(data):
            self._link.answered(answer)
