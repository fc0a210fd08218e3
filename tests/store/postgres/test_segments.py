"""A table of several segments is one table: cut as `docs/how-to/scale.md` says, by the statement that stands there."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

import asyncpg
import pytest

from rowkey.errors import TableNotFound
from rowkey.model.entity import Key
from rowkey.model.key_range import KeyRange
from rowkey.store.checked import CheckedStore
from rowkey.store.postgres.archive import DatabaseArchive
from rowkey.store.postgres.store import PostgresStore
from rowkey.store.testing.samples import (
    ACCOUNT,
    delete,
    fill,
    insert,
    int32,
    keys_of,
    merge,
    replace,
    scan_keys,
    scan_pages,
)
from rowkey.store.transfer import ArchivedTable

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from rowkey.store.interface import Store

PAGE = Path(__file__).parents[3] / "docs" / "how-to" / "scale.md"
PARTITIONS = [f"{letter}{number}" for letter in "adgmsz" for number in range(3)]


async def cut(url: str, key: str) -> None:
    """Cut the last segment of the table `things` at this partition key."""
    shown = re.search(r"```sql\n(DO .*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)
    assert shown is not None
    sql = shown[1].replace("'devstoreaccount1'", f"'{ACCOUNT}'").replace("'orders'", "'things'")
    connection = await asyncpg.connect(url)
    await connection.execute(sql.replace("'m'", f"'{key}'"))
    await connection.close()


@pytest.fixture
async def store(empty_database: str) -> AsyncIterator[Store]:
    """A store with a table `things` of four segments."""
    store = await PostgresStore.open(empty_database)
    table = await store.create_table(ACCOUNT, "things")
    for partition_key in PARTITIONS:
        await fill(store, table, partition_key, ["1", "2", "3"], A=int32(1))
    await store.close()
    for key in ("d1", "m", "s"):
        await cut(empty_database, key)
    store = await PostgresStore.open(empty_database)
    yield CheckedStore(store)
    await store.close()


async def test_every_verb_finds_the_segment(store: Store) -> None:
    table = await store.find_table(ACCOUNT, "things")
    assert table is not None
    for partition_key in [*PARTITIONS, "", "d", "d10", "m", "s", "zz"]:
        is_there = partition_key in PARTITIONS
        assert (await store.get(table, Key(partition_key, "2")) is not None) is is_there
        await store.write(table, [merge(partition_key, "2", B=int32(2)), replace(partition_key, "4")])
        assert '"B":2' in str(await store.get(table, Key(partition_key, "2")))
        await store.write(table, [delete(partition_key, "4")])
    assert len(await scan_keys(store, table)) == 3 * len(PARTITIONS) + 6


@pytest.mark.parametrize("limit", [1, 2, 7, 1000])
async def test_pages_come_in_order_through_all_segments(store: Store, limit: int) -> None:
    table = await store.find_table(ACCOUNT, "things")
    assert table is not None
    everything = [Key(partition_key, row_key) for partition_key in PARTITIONS for row_key in "123"]
    for ranges, expected in [
        ([KeyRange(Key("", ""), None)], everything),
        ([KeyRange(Key("d0", "2"), Key("s1", "3"))], [key for key in everything if ("d0", "2") <= key < ("s1", "3")]),
        (
            [
                KeyRange(Key("a0", "2"), Key("a0", "3")),
                KeyRange(Key("m0", ""), Key("m1", "")),
                KeyRange(Key("z", ""), None),
            ],
            [key for key in everything if key == ("a0", "2") or key.partition_key in ("m0", "z0", "z1", "z2")],
        ),
        ([KeyRange(Key("b", ""), Key("c", "")), KeyRange(Key("t", ""), Key("u", ""))], []),
    ]:
        pages = await scan_pages(store, table, ranges, limit=limit)
        assert [key for page in pages for key in keys_of(page)] == expected


async def test_the_whole_table_is_deleted(store: Store) -> None:
    table = await store.find_table(ACCOUNT, "things")
    assert table is not None
    await store.delete_table(ACCOUNT, "things")
    for partition_key in ("a0", "d2", "m0", "z0"):
        with pytest.raises(TableNotFound):
            await store.get(table, Key(partition_key, "1"))
        with pytest.raises(TableNotFound):
            await store.write(table, [insert(partition_key, "9")])


async def test_all_segments_are_copied(store: Store, empty_database: str) -> None:
    archive = await DatabaseArchive.open(empty_database)
    (table,) = await archive.read_tables()
    assert isinstance(table, ArchivedTable)
    found: list[Key] = []
    while entities := await archive.read_entities(table, found[-1] if found else None, 4):
        found += [entity.key for entity in entities]
    assert found == [Key(partition_key, row_key) for partition_key in PARTITIONS for row_key in "123"]
    assert await archive.last_key(table) == found[-1]
    await archive.close()
