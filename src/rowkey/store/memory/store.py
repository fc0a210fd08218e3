"""The store in memory: the model that every other store is compared with, and a store for tests that need no disk.

Simple before fast: for each table a dict of entities and the sorted list of their keys. No verb suspends but a scan
that takes long, which goes on with a copy of what it began with: so each of them sees and leaves one moment.
"""

import asyncio
from bisect import bisect_left, insort
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import chain
from time import monotonic
from types import MappingProxyType

import orjson

from rowkey.errors import ResourceNotFound, ServiceError, TableAlreadyExists, TableNotFound
from rowkey.model.datetimes import now_ticks
from rowkey.model.entity import Entity, Key
from rowkey.model.key_range import KeyRange, key_order
from rowkey.model.shape import shape_text
from rowkey.model.writes import Write, apply_write
from rowkey.odata.evaluator import compile_filter
from rowkey.store.interface import NO_SECTIONS, Index, Page, Scan, Table

_TURN_SECONDS = 0.002
"""How long a scan keeps everybody else from the event loop."""


class MemoryStore:
    """A `Store` that forgets everything with the process; `now` is its clock, in ticks."""

    def __init__(self, now: Callable[[], int] = now_ticks) -> None:
        self._now = now
        self._latest = 0
        self._identities = 0
        self._tables: dict[tuple[str, str], Table] = {}
        self._contents: dict[int, _Contents] = {}
        self._properties: dict[str, Mapping[str, str]] = {}

    async def create_table(self, account: str, name: str) -> Table:
        if (account, name.lower()) in self._tables:
            raise TableAlreadyExists
        self._identities += 1
        table = Table(account, name, self._identities, self._next_moment())
        self._tables[account, name.lower()] = table
        self._contents[table.identity] = _Contents()
        return table

    async def delete_table(self, account: str, name: str) -> None:
        table = self._tables.pop((account, name.lower()), None)
        if table is None:
            raise ResourceNotFound
        del self._contents[table.identity]

    async def find_table(self, account: str, name: str) -> Table | None:
        return self._tables.get((account, name.lower()))

    async def list_tables(self, account: str, start: str, limit: int) -> Sequence[Table]:
        names = sorted(name for owner, name in self._tables if owner == account and name >= start)
        return [self._tables[account, name] for name in names[:limit]]

    async def get(self, table: Table, key: Key) -> str | None:
        entity = self._contents_of(table).entities.get(key)
        return None if entity is None else entity.text

    async def write(self, table: Table, writes: Sequence[Write]) -> Sequence[Entity | None]:
        contents = self._contents_of(table)
        now = self._next_moment()
        results: list[Entity | None] = []
        for index, write in enumerate(writes):
            try:
                results.append(apply_write(contents.entities.get(write.key), write, now))
            except ServiceError as error:
                error.index = index
                raise
        for write, entity in zip(writes, results, strict=True):
            contents.put(write.key, entity)
        return results

    async def scan(self, table: Table, scan: Scan) -> Page:
        contents = self._contents_of(table)
        entities, keys = contents.entities, contents.keys_within(scan.ranges)
        matches = None if scan.predicate is None else compile_filter(scan.predicate)
        now = monotonic()
        deadline, turn_end = now + scan.seconds_max, now + _TURN_SECONDS
        texts: list[str] = []
        size = 0
        key = next(keys, None)
        while key is not None:
            text = entities[key].text
            if matches is None or matches(orjson.loads(text)):
                texts.append(shape_text(text, scan.shape))
                size += len(text)
            # The first entity has been looked at, so a scan comes to its end with any limits.
            key, now = next(keys, None), monotonic()
            if len(texts) >= scan.limit or size >= scan.bytes_max or now >= deadline:
                break
            if now >= turn_end:
                if entities is contents.entities:
                    entities, keys = entities.copy(), iter(list(keys))
                await asyncio.sleep(0)
                turn_end = monotonic() + _TURN_SECONDS
        return Page(",".join(texts), len(texts), key)

    async def get_policies(self, table: Table) -> str:
        return self._contents_of(table).policies

    async def set_policies(self, table: Table, text: str) -> None:
        self._contents_of(table).policies = text

    async def add_index(self, table: Table, name: str) -> bool:
        indexes = self._contents_of(table).indexes
        is_new = name not in indexes
        indexes.add(name)
        return is_new

    async def drop_index(self, table: Table, name: str) -> None:
        indexes = self._contents_of(table).indexes
        if name not in indexes:
            raise ResourceNotFound
        indexes.remove(name)

    async def list_indexes(self, table: Table) -> Sequence[Index]:
        contents = self._contents_of(table)
        entities = [orjson.loads(entity.text) for entity in contents.entities.values()]
        return [Index(name, True, sum(name in entity for entity in entities)) for name in sorted(contents.indexes)]

    async def get_properties(self, account: str) -> Mapping[str, str]:
        return self._properties.get(account, NO_SECTIONS)

    async def set_properties(self, account: str, sections: Mapping[str, str]) -> None:
        self._properties[account] = MappingProxyType({**self._properties.get(account, NO_SECTIONS), **sections})

    async def close(self) -> None:
        self._tables.clear()
        self._contents.clear()
        self._properties.clear()

    def _contents_of(self, table: Table) -> "_Contents":
        contents = self._contents.get(table.identity)
        if contents is None:
            raise TableNotFound
        return contents

    def _next_moment(self) -> int:
        """Ticks that only grow, also while the clock stands or goes back: no ETag returns after a deletion."""
        self._latest = max(self._now(), self._latest + 1)
        return self._latest


class _Contents:
    """What belongs to one table: its entities, their keys in the order of results, its policies, its indexes."""

    def __init__(self) -> None:
        self.entities: dict[Key, Entity] = {}
        self.policies = ""
        self.indexes: set[str] = set()
        self._keys: list[Key] = []

    def put(self, key: Key, entity: Entity | None) -> None:
        """Let `entity` be what is stored under `key`, nothing where it is None."""
        if entity is None:
            del self.entities[key]
            del self._keys[self._position(key)]
            return
        if key not in self.entities:
            insort(self._keys, key, key=key_order)
        self.entities[key] = entity

    def keys_within(self, ranges: Sequence[KeyRange]) -> Iterator[Key]:
        """The keys, in order, as far as they stay what they are meanwhile."""
        spans = (
            range(self._position(start), len(self._keys) if end is None else self._position(end))
            for start, end in ranges
        )
        return map(self._keys.__getitem__, chain.from_iterable(spans))

    def _position(self, key: Key) -> int:
        return bisect_left(self._keys, key_order(key), key=key_order)
