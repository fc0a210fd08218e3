"""Writing: an entity group transaction as one call of the function `rowkey.write`.

What a write does is `apply_write`. Most writes can be composed without a look at what is stored: the condition says
what must be there, and the function verifies it where the entities are. A merge needs the stored properties: they are
read, merged here, and written on the condition that nobody has written them meanwhile; else it begins anew.

The text that is stored states its own timestamp, which the database chooses: one clock for all front ends, or else an
entity that is deleted through one and inserted through another could have an earlier timestamp than before. So a text
is sent in the pieces around the two places where it stands, and put together again here when the timestamp is known.

Single writes that need no look go together with others: `singles.py`.
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING

import asyncpg

from rowkey.errors import ServiceError
from rowkey.model.entity import Entity
from rowkey.model.writes import Condition, Mode, Write
from rowkey.store.key_code import code_of
from rowkey.store.postgres import statements
from rowkey.store.postgres.composing import (
    ABSENT,
    Pieces,
    Stamp,
    compose,
    compose_unseen,
    condition_of,
    read_verdict,
    ticks_after,
)
from rowkey.store.postgres.failures import CONDITION_FAILED, RACED, SEGMENT_GONE, SegmentGone

if TYPE_CHECKING:
    from rowkey.store.postgres.session import Session


class EntityGroup:
    """The writes of one transaction; `run` may be called again until it returns."""

    def __init__(
        self, segment: int, partition_key: bytes, writes: Sequence[Write], *, is_sharded: bool = False
    ) -> None:
        self._segment = segment
        self._partition_key = partition_key
        self._writes = writes
        self._row_keys = [code_of(write.key.row_key) for write in writes]
        self._order = sorted(range(len(writes)), key=self._row_keys.__getitem__)
        self._must_look = any(write.mode is Mode.MERGE for write in writes)
        self._alike = None if self._must_look or is_sharded else _common_condition(writes)
        self._ticks_min = max(ticks_after(write) for write in writes)

    @property
    def keys(self) -> list[tuple[int, bytes, bytes]]:
        """The places that it writes."""
        return [(self._segment, self._partition_key, row_key) for row_key in self._row_keys]

    async def run(self, session: "Session") -> list[Entity | None]:
        """Apply the writes; raises what `apply_write` raises, or SegmentGone."""
        while True:
            current = await self._look(session) if self._must_look else None
            pieces = self._compose(current)
            ticks = await self._write(session, current, pieces)
            if ticks is not None:
                stamp = Stamp(ticks)
                return [stamp.entity(item) for item in pieces]

    async def _look(self, session: "Session") -> dict[bytes, Entity]:
        """What is stored of the entities to be written, by row key."""
        rows = await session.read(statements.GET_CURRENT, self._segment, self._partition_key, self._row_keys)
        if not rows:
            raise SegmentGone
        return {row_key: Entity(ticks, body.decode("ascii")) for row_key, ticks, body in rows if ticks is not None}

    def _compose(self, current: dict[bytes, Entity] | None) -> list[Pieces | None]:
        """The texts after the writes, as what is stored or else the conditions have it."""
        pieces: list[Pieces | None] = []
        for write, row_key in zip(self._writes, self._row_keys, strict=True):
            try:
                pieces.append(compose_unseen(write) if current is None else compose(write, current.get(row_key)))
            except ServiceError as error:
                error.index = len(pieces)
                raise
        return pieces

    async def _write(
        self, session: "Session", current: dict[bytes, Entity] | None, pieces: Sequence[Pieces | None]
    ) -> int | None:
        """Store the entities; returns their timestamp, None where it must be begun anew."""
        row_keys = [self._row_keys[position] for position in self._order]
        ordered = [pieces[position] for position in self._order]
        heads, tails = [item and item.head for item in ordered], [item and item.tail for item in ordered]
        place = self._segment, self._partition_key, row_keys
        try:
            if self._alike is not None:
                condition, self._alike = self._alike, None
                written: int | None = await session.write(
                    statements.WRITE_ALIKE, *place, condition, heads, tails, self._ticks_min
                )
                return written
            ticks: int = await session.write(
                statements.WRITE,
                *place,
                [self._condition(position, current) for position in self._order],
                heads,
                tails,
                self._ticks_min,
            )
        except asyncpg.PostgresError as error:
            if error.sqlstate == SEGMENT_GONE:
                raise SegmentGone from None
            if error.sqlstate == RACED:
                self._ticks_min = int(error.args[0]) + 1
                return None
            if error.sqlstate != CONDITION_FAILED:
                raise
            refusal = self._read_refusal(error.args[0], has_looked=current is not None)
            if refusal is None:
                return None
            raise refusal from None
        return ticks

    def _condition(self, position: int, current: dict[bytes, Entity] | None) -> int:
        """What the function verifies: the write's own condition, or that a merge still has what it was made of."""
        write = self._writes[position]
        if write.mode is Mode.MERGE and current is not None:
            before = current.get(self._row_keys[position])
            return ABSENT if before is None else before.timestamp
        return condition_of(write)

    def _read_refusal(self, message: str, *, has_looked: bool) -> ServiceError | None:
        """The error of the first write that failed, None where it was a merge that was overtaken."""
        words = message.split()
        verdicts = {
            self._order[int(number) - 1]: int(verdict) for number, verdict in zip(words[::2], words[1::2], strict=True)
        }
        index = min(verdicts)
        if self._writes[index].mode is Mode.MERGE and has_looked:
            return None
        return read_verdict(self._writes[index], verdicts[index], index)


def _common_condition(writes: Sequence[Write]) -> int | None:
    """What all of the writes ask for, if it is nothing or that the entity is absent, and all of them store one."""
    condition = writes[0].condition
    if condition is not Condition.ANY and condition is not Condition.ABSENT:
        return None
    is_common = all(write.condition is condition and write.mode is Mode.SET for write in writes)
    return condition_of(writes[0]) if is_common else None
