"""Stores with bugs, of the kinds that real ones have had: what a checker must find before it is believed."""

from __future__ import annotations

import asyncio
import random
from typing import TYPE_CHECKING

from rowkey.errors import EntityAlreadyExists, UpdateConditionNotSatisfied
from rowkey.model.writes import Condition, Mode, Write
from rowkey.store.memory.store import MemoryStore

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rowkey.model.entity import Entity, Key
    from rowkey.store.interface import Table


class SlowStore(MemoryStore):
    """A store without bugs whose verbs take a while, so that calls overlap."""

    def __init__(self) -> None:
        super().__init__()
        self.chance = random.Random(7)

    async def pause(self) -> None:
        await asyncio.sleep(self.chance.choice([0, 0.0002, 0.0005]))

    async def get(self, table: Table, key: Key) -> str | None:
        await self.pause()
        text = await super().get(table, key)
        await self.pause()
        return text

    async def write(self, table: Table, writes: Sequence[Write]) -> Sequence[Entity | None]:
        await self.pause()
        entities = await super().write(table, writes)
        await self.pause()
        return entities

    async def write_now(self, table: Table, writes: Sequence[Write]) -> Sequence[Entity | None]:
        """A write that is right, for the stores below to do something wrong around it."""
        return await MemoryStore.write(self, table, writes)


def loosened(write: Write) -> Write:
    """The write without its condition."""
    return write if write.mode is Mode.DELETE else Write(write.mode, write.key, write.members, Condition.ANY)


class LostUpdate(SlowStore):
    """The condition is checked, and after a while the write is done, whatever happened in between."""

    async def write(self, table: Table, writes: Sequence[Write]) -> Sequence[Entity | None]:
        (write,) = writes
        if isinstance(write.condition, int) and write.mode is not Mode.DELETE:
            current = self._contents_of(table).entities.get(write.key)
            if current is not None and current.timestamp == write.condition:
                await self.pause()
                return await self.write_now(table, [loosened(write)])
        return await super().write(table, writes)


class StaleRead(SlowStore):
    """Now and then a read comes from a copy that has not caught up."""

    def __init__(self) -> None:
        super().__init__()
        self._copies: dict[Key, str | None] = {}

    async def get(self, table: Table, key: Key) -> str | None:
        text = await super().get(table, key)
        stale = self._copies.get(key, text)
        self._copies[key] = text
        return stale if self.chance.random() < 0.2 else text


class EtagReuse(SlowStore):
    """The clock of ETags starts anew when an entity is deleted."""

    async def write(self, table: Table, writes: Sequence[Write]) -> Sequence[Entity | None]:
        entities = await super().write(table, writes)
        if writes[0].mode is Mode.DELETE:
            self._latest = 0
            self._now = lambda: 1000
        return entities


class LostWrite(SlowStore):
    """Now and then a write is confirmed and undone, as after a crash without a sync."""

    async def write(self, table: Table, writes: Sequence[Write]) -> Sequence[Entity | None]:
        contents = self._contents_of(table)
        before = contents.entities.get(writes[0].key)
        entities = await super().write(table, writes)
        if before is not None and entities[0] is not None and self.chance.random() < 0.1:
            contents.put(writes[0].key, before)
        return entities


class DirtyRead(SlowStore):
    """A write is visible before it is decided, and may then be undone."""

    async def write(self, table: Table, writes: Sequence[Write]) -> Sequence[Entity | None]:
        (write,) = writes
        contents = self._contents_of(table)
        before = contents.entities.get(write.key)
        if write.mode is Mode.DELETE or before is None:
            return await super().write(table, writes)
        await self.write_now(table, [loosened(write)])
        await self.pause()
        contents.put(write.key, before)
        return await super().write(table, writes)


class DoubleInsert(SlowStore):
    """Of two inserts at once both are confirmed: each looked before the other had written."""

    async def write(self, table: Table, writes: Sequence[Write]) -> Sequence[Entity | None]:
        (write,) = writes
        if write.condition is not Condition.ABSENT:
            return await super().write(table, writes)
        if write.key in self._contents_of(table).entities:
            raise EntityAlreadyExists(index=0)
        await self.pause()
        return await self.write_now(table, [loosened(write)])


class IgnoredMatch(SlowStore):
    """If-Match is not looked at in a merge."""

    async def write(self, table: Table, writes: Sequence[Write]) -> Sequence[Entity | None]:
        (write,) = writes
        if write.mode is Mode.MERGE and write.key in self._contents_of(table).entities:
            return await super().write(table, [loosened(write)])
        return await super().write(table, writes)


class Resurrection(SlowStore):
    """What was deleted comes back a little later."""

    async def write(self, table: Table, writes: Sequence[Write]) -> Sequence[Entity | None]:
        (write,) = writes
        contents = self._contents_of(table)
        before = contents.entities.get(write.key)
        entities = await super().write(table, writes)
        if write.mode is Mode.DELETE and before is not None:
            await self.pause()
            if write.key not in contents.entities:
                contents.put(write.key, before)
        return entities


class FalseRefusal(SlowStore):
    """A write happens, and its client is told that the ETag did not match, as when a server repeats what it did."""

    async def write(self, table: Table, writes: Sequence[Write]) -> Sequence[Entity | None]:
        entities = await super().write(table, writes)
        if isinstance(writes[0].condition, int) and self.chance.random() < 0.3:
            raise UpdateConditionNotSatisfied(index=0)
        return entities


class LateRepeat(SlowStore):
    """A replace is done twice: when it is confirmed, and once more when another has written."""

    async def write(self, table: Table, writes: Sequence[Write]) -> Sequence[Entity | None]:
        entities = await super().write(table, writes)
        if writes[0].condition is Condition.EXISTS and writes[0].mode is Mode.SET:
            asyncio.get_running_loop().call_later(0.001, self._repeat, table, writes[0])
        return entities

    def _repeat(self, table: Table, write: Write) -> None:
        contents = self._contents_of(table)
        if write.key in contents.entities:
            contents.entities[write.key] = contents.entities[write.key]._replace(
                text=_text_of(write, contents.entities)
            )


def _text_of(write: Write, entities: dict[Key, Entity]) -> str:
    text = entities[write.key].text
    return text[: text.index('"Value"')] + write.members["Value"] + "}"


class TornBatch(SlowStore):
    """A transaction is applied one entity after the other, with a pause in between."""

    async def write(self, table: Table, writes: Sequence[Write]) -> Sequence[Entity | None]:
        entities: list[Entity | None] = []
        for write in writes:
            entities += await self.write_now(table, [write])
            await asyncio.sleep(0)
        return entities


OF_SINGLE_ENTITIES = [
    LostUpdate,
    StaleRead,
    EtagReuse,
    LostWrite,
    DirtyRead,
    DoubleInsert,
    IgnoredMatch,
    Resurrection,
    FalseRefusal,
    LateRepeat,
]
