"""What a store promises when several processes share it: each sees at once what was answered to the others.

Here the processes are stores that are open at the same time, each of which knows only what it was told itself.
"""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from time import monotonic

import orjson
import pytest

from rowkey.errors import EntityAlreadyExists, TableAlreadyExists, TableNotFound, UpdateConditionNotSatisfied
from rowkey.model.entity import Key
from rowkey.model.writes import Mode, Write
from rowkey.store.checked import verify_wire_text
from rowkey.store.interface import Store, Table
from rowkey.store.testing.durability import OpenStore
from rowkey.store.testing.samples import (
    ACCOUNT,
    delete,
    insert,
    int32,
    members,
    merge,
    replace,
    scan_keys,
    scan_page,
    write_one,
)

CLIENTS = 8
INCREMENTS = 40
NEWS_SECONDS_MAX = 30.0
"""How long the service takes until all of its machines know of new service properties."""


class SharingConformance:
    """Needs a fixture `open_store` that opens the same place with each call, also while it is open elsewhere."""

    pytestmark = pytest.mark.asyncio

    async def test_a_created_table_is_found_at_once(self, open_store: OpenStore) -> None:
        async with both(open_store) as (one, two):
            assert await two.find_table(ACCOUNT, "things") is None
            table = await one.create_table(ACCOUNT, "Things")
            assert await two.find_table(ACCOUNT, "things") == table
            assert list(await two.list_tables(ACCOUNT, "", 10)) == [table]
            with pytest.raises(TableAlreadyExists):
                await two.create_table(ACCOUNT, "things")

    async def test_writes_are_read_at_once(self, open_store: OpenStore) -> None:
        async with both(open_store) as (one, two):
            table = await one.create_table(ACCOUNT, "things")
            for number in range(50):
                written = await write_one(one, table, replace("p", "r", N=int32(number)))
                assert await two.get(table, Key("p", "r")) == written.text
                assert (await scan_page(two, table)).text == written.text
                written = await write_one(two, table, merge("p", "r", M=int32(number)))
                assert await one.get(table, Key("p", "r")) == written.text

    async def test_a_deleted_table_is_gone_at_once(self, open_store: OpenStore) -> None:
        async with both(open_store) as (one, two):
            table = await one.create_table(ACCOUNT, "things")
            await write_one(two, table, insert("p", "r"))
            assert await two.find_table(ACCOUNT, "things") == table
            await one.delete_table(ACCOUNT, "things")
            with pytest.raises(TableNotFound):
                await two.get(table, Key("p", "r"))
            with pytest.raises(TableNotFound):
                await scan_page(two, table)
            with pytest.raises(TableNotFound):
                await two.write(table, [insert("p", "s")])
            assert await two.find_table(ACCOUNT, "things") is None

    async def test_a_table_made_anew_is_the_one_that_counts(self, open_store: OpenStore) -> None:
        """Whoever was shown the old one is told so by the verb, and shown the new one from then on."""
        async with both(open_store) as (one, two):
            old = await one.create_table(ACCOUNT, "things")
            for number in range(10):
                await write_one(one, old, insert("p", "r", N=int32(number)))
                found = await two.find_table(ACCOUNT, "things")
                await one.delete_table(ACCOUNT, "things")
                new = await one.create_table(ACCOUNT, "things")
                found = await two.find_table(ACCOUNT, "things")
                assert found in (old, new)
                if found == old:
                    with pytest.raises(TableNotFound):
                        await two.get(old, Key("p", "r"))
                assert await two.find_table(ACCOUNT, "things") == new
                assert await two.get(new, Key("p", "r")) is None
                old = new

    async def test_policies_are_seen_at_once(self, open_store: OpenStore) -> None:
        """A signature whose policy was taken away must not be good for anything, wherever it is shown."""
        async with both(open_store) as (one, two):
            table = await one.create_table(ACCOUNT, "things")
            for number in range(10):
                await one.set_policies(table, str(number))
                assert await two.get_policies(table) == str(number)
            await one.delete_table(ACCOUNT, "things")
            with pytest.raises(TableNotFound):
                await two.get_policies(table)

    async def test_properties_are_seen_before_long(self, open_store: OpenStore) -> None:
        async with both(open_store) as (one, two):
            await one.set_properties(ACCOUNT, {"Cors": "1"})
            await one.set_properties("other", {"Logging": "2"})
            deadline = monotonic() + NEWS_SECONDS_MAX
            while (await two.get_properties(ACCOUNT), await two.get_properties("other")) != (
                {"Cors": "1"},
                {"Logging": "2"},
            ):
                assert monotonic() < deadline
                await asyncio.sleep(0.01)
            await two.set_properties(ACCOUNT, {"Logging": "3"})
            assert await two.get_properties(ACCOUNT) == {"Cors": "1", "Logging": "3"}

    async def test_only_one_inserts_the_entity(self, open_store: OpenStore) -> None:
        async with both(open_store) as stores:
            table = await stores[0].create_table(ACCOUNT, "things")
            for row in range(20):
                results = await asyncio.gather(
                    *(stores[n % 2].write(table, [insert("p", f"{row}", N=int32(n))]) for n in range(CLIENTS)),
                    return_exceptions=True,
                )
                assert sum(isinstance(result, EntityAlreadyExists) for result in results) == CLIENTS - 1

    async def test_increments_guarded_by_etags_lose_nothing(self, open_store: OpenStore) -> None:
        async with both(open_store) as stores:
            table = await stores[0].create_table(ACCOUNT, "things")
            await write_one(stores[0], table, insert("p", "r", N=int32(0)))
            await asyncio.gather(*(_count(stores[client % 2], table) for client in range(CLIENTS)))
            for store in stores:
                text = await store.get(table, Key("p", "r"))
                assert text is not None
                assert orjson.loads(text)["N"] == CLIENTS * INCREMENTS

    async def test_transactions_that_meet_keep_each_other_whole(self, open_store: OpenStore) -> None:
        """Each writes one number to all entities, in an order of its own: afterwards all have the same."""
        async with both(open_store) as stores:
            table = await stores[0].create_table(ACCOUNT, "things")
            row_keys = [f"{number:02}" for number in range(20)]
            for _ in range(10):
                await asyncio.gather(
                    *(
                        stores[n % 2].write(
                            table, [replace("p", key, N=int32(n)) for key in row_keys[:: 1 if n % 4 < 2 else -1]]
                        )
                        for n in range(CLIENTS)
                    )
                )
                text = (await scan_page(stores[0], table)).text
                assert len({entity["N"] for entity in orjson.loads(f"[{text}]")}) == 1

    async def test_timestamps_grow_through_all_of_them(self, open_store: OpenStore) -> None:
        async with both(open_store) as stores:
            table = await stores[0].create_table(ACCOUNT, "things")
            timestamps = []
            for number in range(40):
                timestamps.append((await write_one(stores[number % 2], table, replace("p", "r"))).timestamp)
                if number % 3 == 0:
                    await stores[number // 2 % 2].write(table, [delete("p", "r")])
            assert timestamps == sorted(set(timestamps))
            assert await scan_keys(stores[0], table) == []


@asynccontextmanager
async def both(open_store: OpenStore) -> AsyncIterator[tuple[Store, Store]]:
    """Two stores on one place, closed even if the test fails."""
    one, two = await open_store(), await open_store()
    try:
        yield one, two
    finally:
        await one.close()
        await two.close()


async def _count(store: Store, table: Table) -> None:
    """Add one so many times, each time to what is there."""
    done = 0
    while done < INCREMENTS:
        text = await store.get(table, Key("p", "r"))
        assert text is not None
        more = members(N=int32(orjson.loads(text)["N"] + 1))
        try:
            await store.write(table, [Write(Mode.MERGE, Key("p", "r"), more, verify_wire_text(text)[1])])
        except UpdateConditionNotSatisfied:
            continue
        done += 1
