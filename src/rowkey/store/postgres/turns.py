"""Writes of the same entities, one after another: each has its turn when those before it are done.

Two writes of one entity would wait for each other inside the database, each holding a connection that others could use,
and a merge would read what the one before it is about to change. Writes of different entities never wait here.
"""

import asyncio
from collections.abc import Callable, Hashable, Iterable


class Turn:
    """A write that waits for others, or for which others wait."""

    __slots__ = ("begin", "followers", "keys", "waiting")

    def __init__(self, keys: tuple[Hashable, ...], begin: Callable[["Turn"], None]) -> None:
        self.keys = keys
        self.begin = begin
        self.waiting = 0
        self.followers: list[Turn] = []


class Turns:
    """Who is next, by key. A turn takes its place with all of its keys at once, so no two wait for each other."""

    def __init__(self) -> None:
        self._last: dict[Hashable, Turn] = {}
        self._rest: asyncio.Future[None] | None = None

    def take(self, keys: Iterable[Hashable], begin: Callable[[Turn], None]) -> None:
        """Call `begin` as soon as no earlier turn has any of these keys; it must see to it that `end` is called."""
        turn = Turn(tuple(keys), begin)
        for key in turn.keys:
            earlier = self._last.get(key)
            self._last[key] = turn
            if earlier is not None:
                earlier.followers.append(turn)
                turn.waiting += 1
        if not turn.waiting:
            begin(turn)

    def end(self, turn: Turn) -> None:
        """A turn is over: let those begin that waited for it alone."""
        for key in turn.keys:
            if self._last.get(key) is turn:
                del self._last[key]
        for follower in turn.followers:
            follower.waiting -= 1
            if not follower.waiting:
                follower.begin(follower)
        if self._rest is not None and not self._last and not self._rest.done():
            self._rest.set_result(None)

    async def rest(self) -> None:
        """Return when no turn is left."""
        if self._last:
            self._rest = asyncio.get_running_loop().create_future()
            await self._rest
