"""Indexes as they are kept: written with each entity, built in the background, removed in the background.

An index is a line of `property_index`, and an entry of `index_entry` for each entity that has the property. A new one
is built from the first key of its table on, in small steps with a transaction each, and its *watermark* says how far
that has come: entities before it have their entries, and each write of one keeps them so, in the transaction that
writes the entity. What is written behind the watermark is left to the builder, who will come by. When there is nothing
left to build there is no watermark, and queries may use the index (`candidates.py`). So a server that ends in between
goes on where it was, and an index and its table agree at every moment.
"""

import logging
from collections.abc import Callable, Sequence
from typing import NamedTuple

import apsw
import orjson

from rowkey.model.entity import Entity
from rowkey.store.embedded import statements
from rowkey.store.embedded.key_code import after_table, table_prefix
from rowkey.store.embedded.value_code import write_value
from rowkey.store.interface import Index

log = logging.getLogger(__name__)

_BUILT_AT_ONCE, _BUILT_BYTES = 256, 512 * 1024
"""Entities that are read for one step of building, a few milliseconds; writes wait for a step at most."""
_REMOVED_AT_ONCE = 1000
"""Entries that are removed in one step."""


class PropertyIndex(NamedTuple):
    """An index of a table on the property `name`; `built` is its watermark, None where it is complete."""

    identity: int
    table: int
    name: str
    built: bytes | None


class Indexes:
    """The indexes of all tables, as they are committed. It belongs to the thread that applies writes."""

    def __init__(self, connection: apsw.Connection) -> None:
        self._connection = connection
        self._of_tables: dict[int, tuple[PropertyIndex, ...]] = {}
        for row in connection.execute(statements.LIST_ALL_INDEXES):
            self.put(PropertyIndex(*row))

    def of(self, table: int) -> Sequence[PropertyIndex]:
        """Those of the table with this identity."""
        return self._of_tables.get(table, ())

    def has(self, index: PropertyIndex) -> bool:
        """Whether the index is still there, whatever its watermark."""
        return any(other.identity == index.identity for other in self.of(index.table))

    def unfinished(self) -> list[PropertyIndex]:
        """Those that are still to be built."""
        return [index for indexes in self._of_tables.values() for index in indexes if index.built is not None]

    def put(self, index: PropertyIndex) -> None:
        """Know of a committed index, or of its new watermark."""
        others = (other for other in self.of(index.table) if other.identity != index.identity)
        self._of_tables[index.table] = (*others, index)

    def forget(self, index: PropertyIndex) -> None:
        """Know no longer of an index whose end is committed."""
        left = tuple(other for other in self.of(index.table) if other.identity != index.identity)
        if left:
            self._of_tables[index.table] = left
        else:
            self._of_tables.pop(index.table, None)

    # ------------------------------------------------------------ within the writer's transaction

    def add(self, table: int, name: str) -> PropertyIndex | None:
        """A new index with nothing in it; None where the table has one on that property."""
        if self.find(table, name) is not None:
            return None
        first = table_prefix(table)
        identity: int = self._connection.execute(statements.ADD_INDEX, (table, name, first)).get
        return PropertyIndex(identity, table, name, first)

    def drop(self, table: int, name: str) -> PropertyIndex | None:
        """Mark an index as dropped; None where there is none on that property."""
        index = self.find(table, name)
        if index is not None:
            self._connection.execute(statements.MARK_INDEX_DROPPED, (index.identity,))
        return index

    def find(self, table: int, name: str) -> PropertyIndex | None:
        """The index on that property, as the open transaction has it."""
        row = self._connection.execute(statements.FIND_INDEX, (table, name)).get
        return None if row is None else PropertyIndex(*row)

    def replace_entries(
        self, indexes: Sequence[PropertyIndex], code: bytes, before: Entity | None, after: Entity | None
    ) -> None:
        """Let the entries of the entity with this key be those of `after`, and no longer those of `before`."""
        old = None if before is None else orjson.loads(before.text)
        new = None if after is None else orjson.loads(after.text)
        for index in indexes:
            if index.built is not None and code >= index.built:
                continue
            old_value = None if old is None else write_value(old, index.name)
            new_value = None if new is None else write_value(new, index.name)
            if old_value == new_value:
                continue
            if old_value is not None:
                self._connection.execute(statements.REMOVE_ENTRY, (index.identity, old_value, code))
            if new_value is not None:
                self._connection.execute(statements.ADD_ENTRY, (index.identity, new_value, code))


class Build:
    """The building of an index: `step` again and again in a transaction of its own, `committed` after each."""

    def __init__(
        self, connection: apsw.Connection, index: PropertyIndex, publish: Callable[[PropertyIndex], None]
    ) -> None:
        self._connection = connection
        self._index = index
        self._publish = publish

    def step(self) -> bool:
        """Make the next entries; returns whether there is more to do."""
        identity, table, name, _ = self._index
        execute = self._connection.execute
        built: bytes | None = execute(statements.GET_BUILT, (identity,)).get
        if built is None:  # dropped
            return False
        end = after_table(table_prefix(table))
        count, size, _ = execute(statements.MEASURE, (built, end, _BUILT_AT_ONCE)).get
        if count and size > _BUILT_BYTES:
            count = max(1, count * _BUILT_BYTES // size)
        watermark: bytes | None = None
        if count:
            ids, last, texts = execute(statements.READ_STEP, (built, end, count)).get
            entities = zip(orjson.loads(ids), orjson.loads(texts), strict=True)
            found = ((entity, write_value(values, name)) for entity, values in entities)
            entries = [[entity, value.hex()] for entity, value in found if value is not None]
            execute(statements.ADD_ENTRIES, (identity, orjson.dumps(entries).decode("ascii")))
            watermark = last + b"\0"
        execute(statements.SET_BUILT, (watermark, identity))
        self._index = self._index._replace(built=watermark)
        return watermark is not None

    def committed(self) -> None:
        """The last step is on disk."""
        self._publish(self._index)


def list_indexes(connection: apsw.Connection, table: int) -> list[Index]:
    """The indexes of the table with this identity."""
    rows = connection.execute(statements.LIST_INDEXES, (table,))
    return [Index(name, bool(is_ready), entries) for name, is_ready, entries in rows]


def removal(connection: apsw.Connection, index: int) -> Callable[[], bool]:
    """Background work: remove the entries of a dropped index, step by step."""

    def step() -> bool:
        before = connection.total_changes()
        connection.execute(statements.REMOVE_ENTRIES, (index, _REMOVED_AT_ONCE))
        if connection.total_changes() > before:
            return True
        connection.execute(statements.FORGET_INDEX, (index,))
        return False

    return step
