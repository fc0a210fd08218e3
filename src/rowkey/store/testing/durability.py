"""What a store promises that outlives its process: all that it acknowledged is there when it opens again."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager

import pytest

from rowkey.errors import TableNotFound, UpdateConditionNotSatisfied
from rowkey.model.entity import Key
from rowkey.model.writes import Condition, Mode, Write
from rowkey.odata.ast import Comparison
from rowkey.store.interface import Index, Store
from rowkey.store.testing.indexes import ready
from rowkey.store.testing.samples import (
    ACCOUNT,
    CONSTANTS,
    ODD_KEYS,
    FixedClock,
    delete,
    fill,
    insert,
    int32,
    member,
    members,
    replace,
    scan_keys,
    scan_pages,
    write_one,
)

OpenStore = Callable[[], Awaitable[Store]]


class DurabilityConformance:
    """Needs a fixture `open_store` that opens the same place with each call, and `clock`, its clock if it takes one."""

    pytestmark = pytest.mark.asyncio

    @pytest.fixture
    def clock(self) -> FixedClock:
        """The clock of the store under test."""
        return FixedClock()

    async def test_tables_and_entities_are_there_again_byte_for_byte(self, open_store: OpenStore) -> None:
        properties = {f"P{number}": member(f"P{number}", constant) for number, constant in enumerate(CONSTANTS)}
        async with _opened(open_store) as store:
            table = await store.create_table(ACCOUNT, "Things")
            empty = await store.create_table("other", "Empty")
            entity = await write_one(store, table, Write(Mode.SET, Key("p", "r"), properties, Condition.ABSENT))
            for partition_key in ODD_KEYS:
                await fill(store, table, partition_key, ODD_KEYS[::5], A=int32(1))
            before = await scan_pages(store, table)
        async with _opened(open_store) as store:
            assert list(await store.list_tables(ACCOUNT, "", 1000)) == [table]
            assert list(await store.list_tables("other", "", 1000)) == [empty]
            assert await store.find_table(ACCOUNT, "things") == table
            assert await store.get(table, Key("p", "r")) == entity.text
            assert await scan_pages(store, table) == before

    async def test_deletions_are_kept(self, open_store: OpenStore) -> None:
        async with _opened(open_store) as store:
            table = await store.create_table(ACCOUNT, "things")
            gone = await store.create_table(ACCOUNT, "gone")
            await fill(store, table, "p", ["a", "b", "c"])
            await fill(store, gone, "p", ["a", "b", "c"])
            await store.write(table, [delete("p", "b")])
            await store.delete_table(ACCOUNT, "gone")
        async with _opened(open_store) as store:
            assert await scan_keys(store, table) == [Key("p", "a"), Key("p", "c")]
            assert await store.find_table(ACCOUNT, "gone") is None
            with pytest.raises(TableNotFound):
                await store.get(gone, Key("p", "a"))

    async def test_what_a_deleted_table_held_never_comes_back(self, open_store: OpenStore) -> None:
        """The store is closed while it still reclaims the space, several times."""
        async with _opened(open_store) as store:
            table = await store.create_table(ACCOUNT, "things")
            await fill(store, table, "p", [f"{number:05}" for number in range(10_000)])
            await store.delete_table(ACCOUNT, "things")
        async with _opened(open_store) as store:
            assert list(await store.list_tables(ACCOUNT, "", 1000)) == []
            new = await store.create_table(ACCOUNT, "things")
            assert await scan_keys(store, new) == []
        async with _opened(open_store) as store:
            assert await store.find_table(ACCOUNT, "things") == new
            assert await scan_keys(store, new) == []

    async def test_settings_are_there_again(self, open_store: OpenStore) -> None:
        async with _opened(open_store) as store:
            table = await store.create_table(ACCOUNT, "things")
            gone = await store.create_table(ACCOUNT, "gone")
            await store.set_policies(table, "first")
            await store.set_policies(table, "<Id>'\U0001f600'</Id>\r\n")
            await store.set_policies(gone, "gone")
            await store.set_properties(ACCOUNT, {"Cors": "<Cors />", "Logging": "first"})
            await store.set_properties("other", {"Cors": "other"})
        async with _opened(open_store) as store:
            assert await store.get_policies(table) == "<Id>'\U0001f600'</Id>\r\n"
            assert await store.get_properties(ACCOUNT) == {"Cors": "<Cors />", "Logging": "first"}
            assert await store.get_properties("other") == {"Cors": "other"}
            await store.set_properties(ACCOUNT, {"Logging": "second"})
            await store.delete_table(ACCOUNT, "gone")
        async with _opened(open_store) as store:
            new = await store.create_table(ACCOUNT, "gone")
            assert await store.get_policies(new) == ""
            assert await store.get_properties(ACCOUNT) == {"Cors": "<Cors />", "Logging": "second"}

    async def test_indexes_are_there_again(self, open_store: OpenStore) -> None:
        async with _opened(open_store) as store:
            table = await store.create_table(ACCOUNT, "things")
            await fill(store, table, "p", [f"{number:04}" for number in range(1000)], A=int32(1))
            for name in ("A", "B", "gone"):
                await store.add_index(table, name)
            await store.drop_index(table, "gone")
        async with _opened(open_store) as store:
            assert await ready(store, table) == [Index("A", True, 1000), Index("B", True, 0)]
            await store.write(table, [replace("p", "0007", A=int32(2), B=int32(2))])
            await store.drop_index(table, "B")
        async with _opened(open_store) as store:
            assert await ready(store, table) == [Index("A", True, 1000)]
            assert await scan_keys(store, table, predicate=Comparison("A", "eq", int32(2))) == [Key("p", "0007")]

    async def test_identities_are_not_used_again(self, open_store: OpenStore) -> None:
        identities = set()
        for _ in range(5):
            async with _opened(open_store) as store:
                identities.add((await store.create_table(ACCOUNT, "things")).identity)
                await store.delete_table(ACCOUNT, "things")
        assert len(identities) == 5

    async def test_timestamps_grow_although_the_clock_went_back(self, open_store: OpenStore, clock: FixedClock) -> None:
        async with _opened(open_store) as store:
            table = await store.create_table(ACCOUNT, "things")
            before = await write_one(store, table, insert("p", "r"))
        clock.ticks -= 36_000_000_000
        async with _opened(open_store) as store:
            after = await write_one(store, table, replace("p", "r"))
            assert after.timestamp > before.timestamp
            with pytest.raises(UpdateConditionNotSatisfied):
                await store.write(table, [Write(Mode.SET, Key("p", "r"), {}, before.timestamp)])

    async def test_closing_finishes_what_was_accepted(self, open_store: OpenStore) -> None:
        async with _opened(open_store) as store:
            table = await store.create_table(ACCOUNT, "things")
            writing = [asyncio.create_task(store.write(table, [insert("p", f"{n:02}")])) for n in range(50)]
            await asyncio.sleep(0)
        await asyncio.gather(*writing)
        async with _opened(open_store) as store:
            assert len(await scan_keys(store, table)) == 50

    async def test_what_was_acknowledged_last_counts(self, open_store: OpenStore) -> None:
        async with _opened(open_store) as store:
            table = await store.create_table(ACCOUNT, "things")
        for number in range(5):
            async with _opened(open_store) as store:
                entity = await write_one(store, table, replace("p", "r", N=int32(number)))
                kept = await write_one(
                    store, table, Write(Mode.MERGE, Key("p", "r"), members(M=int32(number)), entity.timestamp)
                )
            async with _opened(open_store) as store:
                assert await store.get(table, Key("p", "r")) == kept.text


@asynccontextmanager
async def _opened(open_store: OpenStore) -> AsyncIterator[Store]:
    store = await open_store()
    try:
        yield store
    finally:
        await store.close()
