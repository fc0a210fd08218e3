"""Writing: an entity group transaction as one call of the function `rowkey.write`.

What a write does is `apply_write`. Most writes can be composed without a look at what is stored: the condition says
what must be there, and the function verifies it where the entities are. A merge needs the stored properties: they are
read, merged here, and written on the condition that nobody has written them meanwhile; else it begins anew. A write
that would be refused for its size is treated alike, so that its condition is reported first, as the service does.

The text that is stored states its own timestamp, so that is chosen here: a time after every one handed out before, and
after those that the conditions name. Another front end's clock may be ahead; then the function names the later
timestamp, and the next attempt is after it.
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING

import asyncpg

from rowkey.errors import (
    ConditionNotMet,
    EntityAlreadyExists,
    ResourceNotFound,
    ServiceError,
    UpdateConditionNotSatisfied,
)
from rowkey.model.entity import Entity
from rowkey.model.writes import Condition, Mode, Write, apply_write
from rowkey.store.key_code import code_of
from rowkey.store.postgres import statements
from rowkey.store.postgres.clock import Clock
from rowkey.store.postgres.failures import CONDITION_FAILED, RACED, SEGMENT_GONE, SegmentGone

if TYPE_CHECKING:
    from rowkey.store.postgres.session import Session

_CODES = {Condition.ANY: -1, Condition.ABSENT: -2, Condition.EXISTS: -3, Condition.UNMEETABLE: -4}
_DELETE_CODES = {**_CODES, Condition.ANY: _CODES[Condition.EXISTS], Condition.ABSENT: _CODES[Condition.UNMEETABLE]}
"""What is not there cannot be deleted."""
_SUPPOSED = Entity(0, "")
"""Some entity, where a condition says that there is one."""


class EntityGroup:
    """The writes of one transaction; `run` may be called again until it returns."""

    def __init__(self, segment: int, partition_key: bytes, writes: Sequence[Write], clock: Clock) -> None:
        self._segment = segment
        self._partition_key = partition_key
        self._writes = writes
        self._clock = clock
        self._row_keys = [code_of(write.key.row_key) for write in writes]
        self._order = sorted(range(len(writes)), key=self._row_keys.__getitem__)
        self._must_look = any(write.mode is Mode.MERGE for write in writes)

    @property
    def keys(self) -> list[tuple[int, bytes, bytes]]:
        """The places that it writes."""
        return [(self._segment, self._partition_key, row_key) for row_key in self._row_keys]

    async def run(self, session: "Session") -> list[Entity | None]:
        """Apply the writes; raises what `apply_write` raises, or SegmentGone."""
        while True:
            current = await self._look(session) if self._must_look else None
            ticks = self._choose_ticks(current)
            try:
                entities = self._compose(current, ticks)
            except ServiceError:
                if current is not None:
                    raise
                self._must_look = True
                continue
            if await self._write(session, current, entities, ticks):
                return entities

    async def _look(self, session: "Session") -> dict[bytes, Entity]:
        """What is stored of the entities to be written, by row key."""
        rows = await session.read(statements.GET_CURRENT, self._segment, self._partition_key, self._row_keys)
        if not rows:
            raise SegmentGone
        return {row_key: Entity(ticks, body.decode("ascii")) for row_key, ticks, body in rows if ticks is not None}

    def _choose_ticks(self, current: dict[bytes, Entity] | None) -> int:
        ticks = self._clock.tick()
        for write in self._writes:
            if isinstance(write.condition, int):
                ticks = max(ticks, write.condition + 1)
        if current is not None:
            ticks = max(ticks, *(entity.timestamp + 1 for entity in current.values()), 0)
        return ticks

    def _compose(self, current: dict[bytes, Entity] | None, ticks: int) -> list[Entity | None]:
        """The entities after the writes, as what is stored or else the conditions have it."""
        entities: list[Entity | None] = []
        for write, row_key in zip(self._writes, self._row_keys, strict=True):
            before = _supposed(write) if current is None else current.get(row_key)
            if current is None and write.condition is Condition.UNMEETABLE:
                entities.append(None)
                continue
            try:
                entities.append(apply_write(before, write, ticks))
            except ServiceError as error:
                error.index = len(entities)
                raise
        return entities

    async def _write(
        self,
        session: "Session",
        current: dict[bytes, Entity] | None,
        entities: Sequence[Entity | None],
        ticks: int,
    ) -> bool:
        """Store the entities; False where it must be begun anew."""
        row_keys = [self._row_keys[position] for position in self._order]
        conditions = [self._condition(position, current) for position in self._order]
        bodies = [None if (entity := entities[n]) is None else entity.text.encode("ascii") for n in self._order]
        try:
            await session.write(
                statements.WRITE, self._segment, self._partition_key, row_keys, conditions, bodies, ticks
            )
        except asyncpg.PostgresError as error:
            if error.sqlstate == SEGMENT_GONE:
                raise SegmentGone from None
            if error.sqlstate == RACED:
                self._clock.advance(int(str(error)))
                return False
            if error.sqlstate != CONDITION_FAILED:
                raise
            verdict = self._read_verdict(str(error), has_looked=current is not None)
            if verdict is None:
                return False
            raise verdict from None
        return True

    def _condition(self, position: int, current: dict[bytes, Entity] | None) -> int:
        """What the function verifies: the write's own condition, or that a merge still has what it was made of."""
        write = self._writes[position]
        if write.mode is Mode.MERGE and current is not None:
            before = current.get(self._row_keys[position])
            return _CODES[Condition.ABSENT] if before is None else before.timestamp
        if isinstance(write.condition, int):
            return write.condition
        return (_DELETE_CODES if write.mode is Mode.DELETE else _CODES)[write.condition]

    def _read_verdict(self, message: str, *, has_looked: bool) -> ServiceError | None:
        """The error of the first write that failed, None where it was a merge that was overtaken."""
        words = message.split()
        failures = {self._order[int(number) - 1]: found for number, found in zip(words[::2], words[1::2], strict=True)}
        index = min(failures)
        write, found = self._writes[index], failures[index]
        if write.mode is Mode.MERGE and has_looked:
            return None
        if found == "absent":
            return ResourceNotFound(index=index)
        if write.condition is Condition.UNMEETABLE:
            return ConditionNotMet(index=index)
        if found == "changed":
            return UpdateConditionNotSatisfied(index=index)
        return EntityAlreadyExists(index=index)


def _supposed(write: Write) -> Entity | None:
    """A state in which the condition holds."""
    if isinstance(write.condition, int):
        return Entity(write.condition, "")
    if write.mode is Mode.DELETE:
        return _SUPPOSED
    return _SUPPOSED if write.condition is Condition.EXISTS else None
