"""Reading: points of one segment in one statement, pages of one segment in one moment."""

import asyncio
from typing import TYPE_CHECKING, Any

from rowkey.store.interface import StoreUnavailable
from rowkey.store.postgres import statements
from rowkey.store.postgres.failures import SegmentGone

if TYPE_CHECKING:
    from rowkey.store.postgres.lane import Lane
    from rowkey.store.postgres.session import Session

_TOGETHER_MAX = 256
"""Points that one statement reads."""


class PointReads:
    """Gathers the points that are asked for while all connections are busy, and at least within one turn of the loop.

    A statement costs the database about as much for one point as for several, so that a busy front end needs few.
    """

    def __init__(self, lane: "Lane") -> None:
        self._lane = lane
        self._open: dict[int, _Group] = {}

    def get(self, segment: int, partition_key: bytes, row_key: bytes) -> "asyncio.Future[str | None]":
        """The wire text of an entity; the future may raise SegmentGone."""
        group = self._open.get(segment)
        if group is None:
            group = self._open[segment] = _Group(self, segment)
            self._lane.submit(group.read).add_done_callback(group.pass_on)
        return group.add(partition_key, row_key)

    def shut(self, segment: int, group: "_Group") -> None:
        """Let a group have no more points; the next one begins another."""
        if self._open.get(segment) is group:
            del self._open[segment]


class _Group:
    """The points of one segment that are read together; others may join until its turn has come, or it is full."""

    __slots__ = ("_answers", "_loop", "_partition_keys", "_reads", "_row_keys", "_segment")

    def __init__(self, reads: PointReads, segment: int) -> None:
        self._reads = reads
        self._segment = segment
        self._loop = asyncio.get_running_loop()
        self._partition_keys: list[bytes] = []
        self._row_keys: list[bytes] = []
        self._answers: list[asyncio.Future[str | None]] = []

    def add(self, partition_key: bytes, row_key: bytes) -> "asyncio.Future[str | None]":
        """Take one more point."""
        answer: asyncio.Future[str | None] = self._loop.create_future()
        self._partition_keys.append(partition_key)
        self._row_keys.append(row_key)
        self._answers.append(answer)
        if len(self._answers) == _TOGETHER_MAX:
            self._reads.shut(self._segment, self)
        return answer

    async def read(self, session: "Session") -> None:
        """Read the points; may be called again until it returns."""
        self._reads.shut(self._segment, self)
        if len(self._answers) == 1:
            place = self._segment, self._partition_keys[0], self._row_keys[0]
            found = await session.read(statements.GET_ONE, *place)
        else:
            found = await session.read(statements.GET_MANY, self._segment, self._partition_keys, self._row_keys)
        if not found:
            raise SegmentGone
        for answer, (body,) in zip(self._answers, found, strict=True):
            if not answer.done():  # its client may have left
                answer.set_result(None if body is None else body.decode("ascii"))

    def pass_on(self, outcome: "asyncio.Future[Any]") -> None:
        """Each point has an answer; where there is none, an error of its own."""
        self._reads.shut(self._segment, self)
        error = outcome.exception()
        if error is None:
            return
        for answer in self._answers:
            if not answer.done():
                answer.set_exception(SegmentGone() if isinstance(error, SegmentGone) else StoreUnavailable())
