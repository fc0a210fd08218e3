"""Turns of clients at a few threads: whoever asks for much waits behind his own, not before others."""

import asyncio
from collections import OrderedDict, deque
from collections.abc import Awaitable, Callable
from typing import TypeVar

from rowkey.store.interface import StoreUnavailable

T = TypeVar("T")

WAITING_MAX = 256
"""Of one client; the next is refused at once. At a tenth of a second each they take as long as clients wait for."""


class Turns:
    """Lets `at_once` pieces of work run; while more wait, clients take turns, each with its oldest."""

    def __init__(self, at_once: int) -> None:
        self._free = at_once
        self._waiting: OrderedDict[str, deque[asyncio.Future[None]]] = OrderedDict()

    @property
    def waiting(self) -> int:
        """How much waits."""
        return sum(map(len, self._waiting.values()))

    def is_awaited(self) -> bool:
        """Whether anything waits, so that what runs had better come to an end; any thread may ask.

        It may be the client's own: many share an address, behind a proxy or on one host, and none of them knows.
        """
        return bool(self._waiting)

    async def run(self, client: str, work: Callable[[], Awaitable[T]]) -> T:
        """What `work` returns, when it is the client's turn; raises StoreUnavailable where too much of his waits.

        The turn lasts as long as the work does: a thread goes on with it when the client has left.
        """
        if self._free:
            self._free -= 1
        else:
            await self._wait(client)
        working = asyncio.ensure_future(work())
        working.add_done_callback(lambda _: self._pass_on())
        return await asyncio.shield(working)

    async def _wait(self, client: str) -> None:
        queue = self._waiting.setdefault(client, deque())
        if len(queue) >= WAITING_MAX:
            raise StoreUnavailable
        turn = asyncio.get_running_loop().create_future()
        queue.append(turn)
        try:
            await turn
        except asyncio.CancelledError:
            if turn.done() and not turn.cancelled():  # it came, and nobody is there to take it
                self._pass_on()
            raise

    def _pass_on(self) -> None:
        """Give a turn that has ended to the client whose last one is longest ago."""
        while self._waiting:
            client, queue = self._waiting.popitem(last=False)
            turn = queue.popleft()
            if queue:
                self._waiting[client] = queue
            if not turn.done():
                turn.set_result(None)
                return
        self._free += 1
