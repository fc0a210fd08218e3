"""Reading: points of one segment in one statement, pages of one segment in one moment."""

import asyncio
from collections.abc import Sequence
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
        self._loop = asyncio.get_running_loop()
        self._waiting: dict[int, list[_Point]] = {}

    def get(self, segment: int, partition_key: bytes, row_key: bytes) -> "asyncio.Future[str | None]":
        """The wire text of an entity; the future may raise SegmentGone."""
        point = _Point(partition_key, row_key, self._loop.create_future())
        waiting = self._waiting.get(segment)
        if waiting is None:
            self._waiting[segment] = [point]
            self._submit(segment)
        else:
            waiting.append(point)
        return point.future

    def _submit(self, segment: int) -> None:
        _Group(self, segment).submit(self._lane)

    def take(self, segment: int) -> "list[_Point]":
        """The points that wait now; those beyond what one statement reads get another one."""
        points = self._waiting.pop(segment)
        if len(points) > _TOGETHER_MAX:
            self._waiting[segment] = points[_TOGETHER_MAX:]
            self._submit(segment)
        return points[:_TOGETHER_MAX]


class _Point:
    """One entity that is asked for."""

    __slots__ = ("future", "partition_key", "row_key")

    def __init__(self, partition_key: bytes, row_key: bytes, future: "asyncio.Future[str | None]") -> None:
        self.partition_key = partition_key
        self.row_key = row_key
        self.future = future


class _Group:
    """The points of one segment that are read together; it takes them when its turn has come."""

    __slots__ = ("_points", "_reads", "_segment")

    def __init__(self, reads: PointReads, segment: int) -> None:
        self._reads = reads
        self._segment = segment
        self._points: list[_Point] | None = None

    def submit(self, lane: "Lane") -> None:
        lane.submit(self._read).add_done_callback(self._pass_on)

    async def _read(self, session: "Session") -> None:
        if self._points is None:
            self._points = self._reads.take(self._segment)
        points = self._points
        if len(points) == 1:
            rows = await session.read(statements.GET_ONE, self._segment, points[0].partition_key, points[0].row_key)
            found: Sequence[Any] = [(1, row[0]) for row in rows]
        else:
            found = await session.read(
                statements.GET_MANY,
                self._segment,
                [point.partition_key for point in points],
                [point.row_key for point in points],
            )
        if not found:
            raise SegmentGone
        for number, body in found:
            future = points[number - 1].future
            if not future.done():  # its client may have left
                future.set_result(None if body is None else body.decode("ascii"))

    def _pass_on(self, answer: "asyncio.Future[Any]") -> None:
        """Each point has an answer; where there is none, an error of its own."""
        error = answer.exception()
        if error is None:
            return
        points = self._points if self._points is not None else self._reads.take(self._segment)
        for point in points:
            if not point.future.done():
                point.future.set_exception(SegmentGone() if isinstance(error, SegmentGone) else StoreUnavailable())
