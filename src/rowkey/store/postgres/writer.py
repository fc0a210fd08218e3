"""Writing: an entity group transaction as one call of the function `rowkey.write`.

What a write does is `apply_write`. Most writes can be composed without a look at what is stored: the condition says
what must be there, and the function verifies it where the entities are. A merge needs the stored properties: they are
read, merged here, and written on the condition that nobody has written them meanwhile; else it begins anew. A write
that would be refused for its size is treated alike, so that its condition is reported first, as the service does.

The text that is stored states its own timestamp, which the database chooses: one clock for all front ends, or else an
entity that is deleted through one and inserted through another could have an earlier timestamp than before. So a text
is sent in the pieces around the two places where it stands, and put together again here when the timestamp is known.
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
from rowkey.model.datetimes import format_datetime
from rowkey.model.entity import Entity
from rowkey.model.writes import Condition, Mode, Write, apply_write
from rowkey.store.key_code import code_of
from rowkey.store.postgres import statements
from rowkey.store.postgres.failures import CONDITION_FAILED, RACED, SEGMENT_GONE, SegmentGone

if TYPE_CHECKING:
    from rowkey.store.postgres.session import Session

_CODES = {Condition.ANY: -1, Condition.ABSENT: -2, Condition.EXISTS: -3, Condition.UNMEETABLE: -4}
_DELETE_CODES = {**_CODES, Condition.ANY: _CODES[Condition.EXISTS], Condition.ABSENT: _CODES[Condition.UNMEETABLE]}
"""What is not there cannot be deleted."""
_SUPPOSED = Entity(0, "")
"""Some entity, where a condition says that there is one."""
_SOME_TICKS = 1
"""A timestamp to compose texts with, before they have their own."""


class EntityGroup:
    """The writes of one transaction; `run` may be called again until it returns."""

    def __init__(self, segment: int, partition_key: bytes, writes: Sequence[Write]) -> None:
        self._segment = segment
        self._partition_key = partition_key
        self._writes = writes
        self._row_keys = [code_of(write.key.row_key) for write in writes]
        self._order = sorted(range(len(writes)), key=self._row_keys.__getitem__)
        self._must_look = any(write.mode is Mode.MERGE for write in writes)
        self._ticks_min = 1 + max((write.condition for write in writes if isinstance(write.condition, int)), default=0)

    @property
    def keys(self) -> list[tuple[int, bytes, bytes]]:
        """The places that it writes."""
        return [(self._segment, self._partition_key, row_key) for row_key in self._row_keys]

    async def run(self, session: "Session") -> list[Entity | None]:
        """Apply the writes; raises what `apply_write` raises, or SegmentGone."""
        while True:
            current = await self._look(session) if self._must_look else None
            try:
                texts = self._compose(current)
            except ServiceError:
                if current is not None:
                    raise
                self._must_look = True
                continue
            ticks = await self._write(session, current, texts)
            if ticks is not None:
                time = format_datetime(ticks)
                start = f"{_START}{time.replace(':', '%3A')}"
                return [
                    None if text is None else Entity(ticks, f"{start}{text.head}{time}{text.tail}") for text in texts
                ]

    async def _look(self, session: "Session") -> dict[bytes, Entity]:
        """What is stored of the entities to be written, by row key."""
        rows = await session.read(statements.GET_CURRENT, self._segment, self._partition_key, self._row_keys)
        if not rows:
            raise SegmentGone
        return {row_key: Entity(ticks, body.decode("ascii")) for row_key, ticks, body in rows if ticks is not None}

    def _compose(self, current: dict[bytes, Entity] | None) -> "list[_Text | None]":
        """The texts after the writes, as what is stored or else the conditions have it."""
        texts: list[_Text | None] = []
        for write, row_key in zip(self._writes, self._row_keys, strict=True):
            before = _supposed(write) if current is None else current.get(row_key)
            if current is None and write.condition is Condition.UNMEETABLE:
                texts.append(None)
                continue
            try:
                entity = apply_write(before, write, _SOME_TICKS)
            except ServiceError as error:
                error.index = len(texts)
                raise
            texts.append(None if entity is None else _Text(entity.text))
        return texts

    async def _write(
        self, session: "Session", current: dict[bytes, Entity] | None, texts: "Sequence[_Text | None]"
    ) -> int | None:
        """Store the entities; returns their timestamp, None where it must be begun anew."""
        ordered = [texts[position] for position in self._order]
        try:
            ticks: int = await session.write(
                statements.WRITE,
                self._segment,
                self._partition_key,
                [self._row_keys[position] for position in self._order],
                [self._condition(position, current) for position in self._order],
                [None if text is None else text.head.encode("ascii") for text in ordered],
                [None if text is None else text.tail.encode("ascii") for text in ordered],
                self._ticks_min,
            )
        except asyncpg.PostgresError as error:
            if error.sqlstate == SEGMENT_GONE:
                raise SegmentGone from None
            if error.sqlstate == RACED:
                self._ticks_min = int(str(error)) + 1
                return None
            if error.sqlstate != CONDITION_FAILED:
                raise
            verdict = self._read_verdict(str(error), has_looked=current is not None)
            if verdict is None:
                return None
            raise verdict from None
        return ticks

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


class _Text:
    """A wire text without its timestamp: what stands between the two places where that is, and what comes after.

    The function puts it together again in the database, and `EntityGroup.run` here.
    """

    __slots__ = ("head", "tail")

    def __init__(self, text: str) -> None:
        end = text.index("'", len(_START))
        time = text.index(_TIME, end) + len(_TIME)  # quotes within keys are escaped
        self.head = text[end:time]
        self.tail = text[text.index('"', time) :]


_START, _TIME = '{"odata.etag":"W/\\"datetime\'', ',"Timestamp":"'
