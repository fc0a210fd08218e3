"""A store wrapped for tests: what the interface does not promise becomes an AssertionError.

Both sides of the contract are checked. The store: errors, lengths, order, ranges, wire texts, arguments left alone,
properties that are there at once. The caller: ranges ascending and disjoint, writes to different entities of one
partition.
"""

import json
from collections.abc import Coroutine, Iterator, Mapping, Sequence
from contextlib import contextmanager
from itertools import pairwise
from types import MappingProxyType
from typing import TypeVar

import orjson

from rowkey.errors import (
    ConditionNotMet,
    EntityAlreadyExists,
    EntityTooLarge,
    ResourceNotFound,
    ServiceError,
    TableAlreadyExists,
    TableNotFound,
    TooManyProperties,
    UpdateConditionNotSatisfied,
)
from rowkey.model.datetimes import parse_datetime
from rowkey.model.entity import Entity, Key, compose_entity, members_of, wire_members
from rowkey.model.key_range import KeyRange, key_order
from rowkey.model.shape import WHOLE, Shape, shape_texts
from rowkey.model.writes import Mode, Write
from rowkey.store.interface import Index, OutcomeUnknown, Page, Scan, Store, StoreDamaged, StoreUnavailable, Table

T = TypeVar("T")

WRITE_ERRORS: tuple[type[ServiceError], ...] = (
    ConditionNotMet,
    EntityAlreadyExists,
    EntityTooLarge,
    ResourceNotFound,
    TooManyProperties,
    UpdateConditionNotSatisfied,
)
"""What `apply_write` raises; each comes with the index of the write."""


class CheckedStore:
    """The store `inner`, held to its word."""

    def __init__(self, inner: Store) -> None:
        self.inner = inner

    async def create_table(self, account: str, name: str) -> Table:
        with _only(TableAlreadyExists, OutcomeUnknown):
            table = await self.inner.create_table(account, name)
        assert (table.account, table.name) == (account, name)
        return table

    async def delete_table(self, account: str, name: str) -> None:
        with _only(ResourceNotFound, OutcomeUnknown):
            await self.inner.delete_table(account, name)

    async def find_table(self, account: str, name: str) -> Table | None:
        with _only():
            table = await self.inner.find_table(account, name)
        if table is not None:
            assert (table.account, table.name.lower()) == (account, name.lower())
        return table

    async def list_tables(self, account: str, start: str, limit: int) -> Sequence[Table]:
        with _only():
            tables = await self.inner.list_tables(account, start, limit)
        names = [table.name.lower() for table in tables]
        assert len(tables) <= limit
        assert {table.account for table in tables} <= {account}
        assert all(name >= start for name in names)
        assert all(name < following for name, following in pairwise(names))
        return tables

    async def get(self, table: Table, key: Key) -> str | None:
        with _only(TableNotFound):
            text = await self.inner.get(table, key)
        if text is not None:
            assert verify_wire_text(text)[0] == key
        return text

    async def write(self, table: Table, writes: Sequence[Write]) -> Sequence[Entity | None]:
        given = _copy_writes(writes)
        assert len({write.key.partition_key for write in writes}) <= 1, "one write is for one partition"
        assert len({write.key for write in writes}) == len(writes), "an entity is written twice at once"
        try:
            with _only(TableNotFound, OutcomeUnknown, *WRITE_ERRORS):
                results = await self.inner.write(table, writes)
        except WRITE_ERRORS as error:
            _verify_index(error, len(writes))
            raise
        finally:
            assert _copy_writes(writes) == given, "the arguments of a write were modified"
        assert len(results) == len(writes)
        for write, entity in zip(writes, results, strict=True):
            _verify_result(write, entity)
        return results

    async def scan(self, table: Table, scan: Scan) -> Page:
        given = tuple(scan.ranges)
        _verify_ranges(given)
        try:
            with _only(TableNotFound):
                page = await self.inner.scan(table, scan)
        finally:
            assert tuple(scan.ranges) == given, "the arguments of a scan were modified"
        assert page.count <= scan.limit
        if scan.shape == WHOLE:
            _verify_page(page, given)
        else:
            _verify_shaped_page(page, scan.shape)
        return page

    async def get_policies(self, table: Table) -> str:
        with _only(TableNotFound):
            text = await self.inner.get_policies(table)
        assert isinstance(text, str)
        return text

    async def set_policies(self, table: Table, text: str) -> None:
        with _only(TableNotFound, OutcomeUnknown):
            await self.inner.set_policies(table, text)

    async def add_index(self, table: Table, name: str) -> bool:
        with _only(TableNotFound, OutcomeUnknown):
            return await self.inner.add_index(table, name)

    async def drop_index(self, table: Table, name: str) -> None:
        with _only(ResourceNotFound, TableNotFound, OutcomeUnknown):
            await self.inner.drop_index(table, name)

    async def list_indexes(self, table: Table) -> Sequence[Index]:
        with _only(TableNotFound):
            indexes = await self.inner.list_indexes(table)
        assert all(index.name < following.name for index, following in pairwise(indexes))
        assert all(index.entries >= 0 for index in indexes)
        return indexes

    async def get_properties(self, account: str) -> Mapping[str, str]:
        with _only():
            sections = _at_once(self.inner.get_properties(account))
            assert _at_once(self.inner.get_properties(account)) is sections, "not the same object, and nothing was set"
        assert isinstance(sections, MappingProxyType), "whoever gets it could modify it"
        return sections

    async def set_properties(self, account: str, sections: Mapping[str, str]) -> None:
        given = dict(sections)
        try:
            with _only(OutcomeUnknown):
                await self.inner.set_properties(account, sections)
        finally:
            assert sections == given, "the sections given were modified"

    async def close(self) -> None:
        with _only():
            await self.inner.close()


def _at_once(verb: Coroutine[None, None, T]) -> T:
    """What a verb returns that must not suspend."""
    try:
        verb.send(None)
    except StopIteration as finished:
        result: T = finished.value
        return result
    verb.close()
    raise AssertionError("the verb suspended")


@contextmanager
def _only(*promised: type[ServiceError]) -> Iterator[None]:
    """Let errors of these exact types pass, and those that every verb may raise."""
    try:
        yield
    except Exception as error:
        if type(error) in (StoreDamaged, StoreUnavailable, *promised):
            raise
        raise AssertionError(f"the interface does not promise {error!r}") from error


def _copy_writes(writes: Sequence[Write]) -> list[object]:
    return [(write.mode, write.key, tuple(write.members.items()), write.condition) for write in writes]


def _verify_index(error: ServiceError, count: int) -> None:
    assert error.index is not None, f"{error!r} does not say which write failed"
    assert 0 <= error.index < count


def _verify_result(write: Write, entity: Entity | None) -> None:
    if entity is None or write.mode is Mode.DELETE:
        assert entity is None, "a deletion returned an entity"
        assert write.mode is Mode.DELETE, "a write returned no entity"
        return
    assert verify_wire_text(entity.text) == (write.key, entity.timestamp)
    stored = members_of(entity.text)
    if write.mode is Mode.SET:
        assert list(stored.items()) == list(write.members.items())
    assert stored.items() >= write.members.items()
    if isinstance(write.condition, int):
        assert entity.timestamp > write.condition, "a timestamp did not grow"


def _verify_ranges(ranges: Sequence[KeyRange]) -> None:
    for start, end in ranges:
        assert end is None or key_order(start) <= key_order(end), "a range ends before it starts"
    for (_, end), (start, _) in pairwise(ranges):
        assert end is not None, "ranges overlap"
        assert key_order(end) <= key_order(start), "ranges overlap or are not in order"


def _verify_page(page: Page, ranges: Sequence[KeyRange]) -> None:
    texts = split_page(page.text)
    assert ",".join(texts) == page.text, "entities are joined by single commas"
    assert len(texts) == page.count
    keys = [verify_wire_text(text)[0] for text in texts]
    assert all(is_within(key, ranges) for key in keys), "an entity outside of the ranges"
    assert all(key_order(key) < key_order(following) for key, following in pairwise(keys)), "not in order"
    if page.next_key is not None:
        assert ranges, "nothing to scan, and yet it would go on"
        looked_at = keys[-1] if keys else ranges[0].start
        assert key_order(page.next_key) > key_order(looked_at), "the scan would not get on"


def _verify_shaped_page(page: Page, shape: Shape) -> None:
    texts = split_page(page.text)
    assert ",".join(texts) == page.text, "entities are joined by single commas"
    assert len(texts) == page.count
    if not shape.has_control:
        assert shape_texts(page.text, shape._replace(names=None)) == page.text, "control information is shown"
    if shape.names is not None:
        names = {name for text in texts for name in orjson.loads(text) if "@" not in name and name != "odata.etag"}
        assert names <= set(shape.names), "a property is shown that was not selected"


def verify_wire_text(text: str) -> tuple[Key, int]:
    """Key and timestamp of an entity's wire text; AssertionError unless `compose_entity` would write it so."""
    assert text.isascii(), text
    try:
        values = orjson.loads(text)
    except orjson.JSONDecodeError as error:
        raise AssertionError(f"not JSON: {text}") from error
    assert list(values)[:4] == ["odata.etag", "PartitionKey", "RowKey", "Timestamp"], text
    key = Key(values["PartitionKey"], values["RowKey"])
    timestamp = parse_datetime(values["Timestamp"])
    assert text == compose_entity(key, timestamp, members_of(text)).text
    assert all(member.value == member.value.strip() for member in wire_members(text)), text
    return key, timestamp


def split_page(text: str) -> list[str]:
    """The texts of entities that a page's text joins by commas."""
    texts: list[str] = []
    position = 0
    while position < len(text):
        try:
            _, end = _DECODER.raw_decode(text, position)
        except json.JSONDecodeError as error:
            raise AssertionError(f"not JSON: {text[position:]}") from error
        texts.append(text[position:end])
        position = end + 1
    return texts


_DECODER = json.JSONDecoder()


def is_within(key: Key, ranges: Sequence[KeyRange]) -> bool:
    """Whether one of the ranges contains the key."""
    place = key_order(key)
    return any(key_order(start) <= place and (end is None or place < key_order(end)) for start, end in ranges)
