"""Single writes, several of one segment in one call: they share the way to the database and a commit.

A single write that fails has changed nothing, so it needs no transaction of its own: each has its own verdict, and its
neighbours never know. Few calls are under way at once; what arrives meanwhile makes up the next one.
"""

import asyncio
from collections import defaultdict
from typing import TYPE_CHECKING, Any

from rowkey.model.entity import Entity
from rowkey.model.writes import Mode, Write
from rowkey.store.key_code import code_of
from rowkey.store.postgres import statements
from rowkey.store.postgres.composing import (
    Pieces,
    Stamp,
    compose_unseen,
    condition_of,
    is_overtaken,
    read_verdict,
    ticks_after,
)
from rowkey.store.postgres.failures import SegmentGone

if TYPE_CHECKING:
    from rowkey.store.postgres.lane import Lane
    from rowkey.store.postgres.session import Session

_TOGETHER_MAX = 64
_UNDER_WAY_MAX = 3
"""Calls for one segment: while one waits for the disk, the next is on its way, and one more is sent."""


class Single:
    """A write that needs no look at what is stored; the future has its entity in a list of one."""

    __slots__ = ("_segment", "future", "partition_key", "pieces", "row_key", "ticks_min", "write")

    def __init__(self, segment: int, partition_key: bytes, write: Write, pieces: Pieces | None) -> None:
        self._segment = segment
        self.partition_key = partition_key
        self.row_key = code_of(write.key.row_key)
        self.write = write
        self.pieces = pieces
        self.ticks_min = ticks_after(write)
        self.future: asyncio.Future[list[Entity | None]] = asyncio.get_running_loop().create_future()

    @property
    def place(self) -> tuple[int, bytes, bytes]:
        """What it writes; also the order in which calls lock entities."""
        return self._segment, self.partition_key, self.row_key

    @classmethod
    def of(cls, segment: int, partition_key: bytes, write: Write) -> "Single | None":
        """The write as one of these, None where it needs a look."""
        if write.mode is Mode.MERGE:
            return None
        return cls(segment, partition_key, write, compose_unseen(write))


class SingleWrites:
    """Gathers single writes by segment."""

    def __init__(self, lane: "Lane") -> None:
        self._lane = lane
        self._waiting: defaultdict[int, list[Single]] = defaultdict(list)
        self._under_way: defaultdict[int, int] = defaultdict(int)

    def add(self, single: Single) -> "asyncio.Future[list[Entity | None]]":
        """Apply a write; its future may raise SegmentGone."""
        segment = single.place[0]
        self._waiting[segment].append(single)
        if self._under_way[segment] < _UNDER_WAY_MAX and len(self._waiting[segment]) == 1:
            self._submit(segment)
        return single.future

    def take(self, segment: int) -> list[Single]:
        """The writes that wait now, in the order of their keys."""
        waiting = self._waiting.pop(segment, [])
        if len(waiting) > _TOGETHER_MAX:
            self._waiting[segment] = waiting[_TOGETHER_MAX:]
        return sorted(waiting[:_TOGETHER_MAX], key=lambda single: single.place)

    def end(self, segment: int) -> None:
        """A call is over: begin another one if there are writes for it."""
        self._under_way[segment] -= 1
        if self._waiting.get(segment):
            self._submit(segment)
        elif not self._under_way[segment]:
            del self._under_way[segment]

    def _submit(self, segment: int) -> None:
        self._under_way[segment] += 1
        call = _Call(self, segment)
        self._lane.submit(call.run).add_done_callback(call.end)


class _Call:
    """One call of the function, for the writes that wait when its turn has come."""

    def __init__(self, writes: SingleWrites, segment: int) -> None:
        self._writes = writes
        self._segment = segment
        self._singles: list[Single] | None = None

    async def run(self, session: "Session") -> None:
        if self._singles is None:
            self._singles = self._writes.take(self._segment)
        singles = self._singles
        if not singles:
            return
        verdicts = await session.write(
            statements.WRITE_EACH,
            self._segment,
            [single.partition_key for single in singles],
            [single.row_key for single in singles],
            [condition_of(single.write) for single in singles],
            [single.pieces and single.pieces.head for single in singles],
            [single.pieces and single.pieces.tail for single in singles],
            max(single.ticks_min for single in singles),
        )
        if verdicts is None:
            raise SegmentGone
        stamp = Stamp(max(*verdicts, 1))
        for single, verdict in zip(singles, verdicts, strict=True):
            if verdict > 0:
                single.future.set_result([stamp.entity(single.pieces)])
            elif is_overtaken(verdict):
                single.ticks_min = 1 - verdict
                self._writes.add(single)
            else:
                single.future.set_exception(read_verdict(single.write, verdict, 0))

    def end(self, answer: "asyncio.Future[Any]") -> None:
        """Every write has its verdict, or the error of the call."""
        error = answer.exception()
        if error is not None:
            singles = self._singles if self._singles is not None else self._writes.take(self._segment)
            for single in singles:
                if not single.future.done():
                    single.future.set_exception(type(error)())
        self._writes.end(self._segment)
