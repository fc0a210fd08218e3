"""What a store promises of tables: names, order, and that a deleted table is gone at once."""

import asyncio
import time

import pytest

from rowkey.errors import ResourceNotFound, TableAlreadyExists, TableNotFound
from rowkey.model.entity import Key
from rowkey.store.interface import Store
from rowkey.store.testing.samples import ACCOUNT, FixedClock, fill, insert, replace, scan_keys, scan_page, write_one


class TableConformance:
    """Needs a fixture `store`: an empty store."""

    pytestmark = pytest.mark.asyncio

    async def test_a_new_store_has_no_tables(self, store: Store) -> None:
        assert list(await store.list_tables(ACCOUNT, "", 1000)) == []
        assert await store.find_table(ACCOUNT, "things") is None

    async def test_a_created_table_is_found_in_any_letter_case_and_keeps_its_own(self, store: Store) -> None:
        table = await store.create_table(ACCOUNT, "TheThings")
        assert (table.account, table.name) == (ACCOUNT, "TheThings")
        assert await store.find_table(ACCOUNT, "TheThings") == table
        assert await store.find_table(ACCOUNT, "thethings") == table
        assert await store.find_table(ACCOUNT, "THETHINGS") == table

    async def test_a_table_knows_when_it_was_created(self, store: Store, clock: FixedClock) -> None:
        before = await store.create_table(ACCOUNT, "before")
        clock.ticks += 1_000_000
        after = await store.create_table(ACCOUNT, "after")
        assert before.created < after.created

    async def test_a_name_is_taken_in_every_letter_case(self, store: Store) -> None:
        table = await store.create_table(ACCOUNT, "Things")
        with pytest.raises(TableAlreadyExists):
            await store.create_table(ACCOUNT, "Things")
        with pytest.raises(TableAlreadyExists):
            await store.create_table(ACCOUNT, "tHINGS")
        assert list(await store.list_tables(ACCOUNT, "", 1000)) == [table]

    async def test_accounts_do_not_see_each_others_tables(self, store: Store) -> None:
        mine = await store.create_table("mine", "things")
        theirs = await store.create_table("theirs", "things")
        await write_one(store, mine, insert("p", "r"))
        assert mine.identity != theirs.identity
        assert list(await store.list_tables("mine", "", 1000)) == [mine]
        assert await scan_keys(store, theirs) == []
        await store.delete_table("theirs", "things")
        assert await scan_keys(store, mine) == [Key("p", "r")]

    async def test_tables_come_by_lower_case_name(self, store: Store) -> None:
        for name in ["beta", "Alpha", "alpha2", "ALPHA10", "Zeta", "gamma"]:
            await store.create_table(ACCOUNT, name)
        names = [table.name for table in await store.list_tables(ACCOUNT, "", 1000)]
        assert names == ["Alpha", "ALPHA10", "alpha2", "beta", "gamma", "Zeta"]

    async def test_a_list_begins_at_a_name_or_after_it_and_ends_with_the_limit(self, store: Store) -> None:
        for name in ["one", "Two", "three", "FOUR"]:
            await store.create_table(ACCOUNT, name)
        assert [table.name for table in await store.list_tables(ACCOUNT, "one", 2)] == ["one", "three"]
        assert [table.name for table in await store.list_tables(ACCOUNT, "one0", 2)] == ["three", "Two"]
        assert [table.name for table in await store.list_tables(ACCOUNT, "two", 2)] == ["Two"]
        assert list(await store.list_tables(ACCOUNT, "zzz", 2)) == []

    async def test_thousands_of_tables_are_listed_in_pages(self, store: Store) -> None:
        names = [f"Table{number:04}" for number in range(2500)]
        await asyncio.gather(*(store.create_table(ACCOUNT, name) for name in names))
        first = await store.list_tables(ACCOUNT, "", 1001)
        second = await store.list_tables(ACCOUNT, "table1001", 1001)
        third = await store.list_tables(ACCOUNT, "table2002", 1001)
        assert [table.name for table in (*first, *second, *third)] == names
        assert len({table.identity for table in (*first, *second, *third)}) == 2500

    async def test_only_one_of_many_creates_the_table(self, store: Store) -> None:
        spellings = ["things", "Things", "THINGS", "tHings", "thIngs"]
        results = await asyncio.gather(
            *(store.create_table(ACCOUNT, name) for name in spellings), return_exceptions=True
        )
        assert sum(isinstance(result, TableAlreadyExists) for result in results) == 4
        assert len(await store.list_tables(ACCOUNT, "", 1000)) == 1

    async def test_a_deleted_table_is_gone(self, store: Store) -> None:
        await store.create_table(ACCOUNT, "Things")
        await store.delete_table(ACCOUNT, "things")
        assert await store.find_table(ACCOUNT, "Things") is None
        assert list(await store.list_tables(ACCOUNT, "", 1000)) == []

    async def test_a_missing_table_cannot_be_deleted(self, store: Store) -> None:
        with pytest.raises(ResourceNotFound):
            await store.delete_table(ACCOUNT, "things")
        await store.create_table(ACCOUNT, "things")
        with pytest.raises(ResourceNotFound):
            await store.delete_table("other", "things")
        await store.delete_table(ACCOUNT, "things")
        with pytest.raises(ResourceNotFound):
            await store.delete_table(ACCOUNT, "things")

    async def test_no_verb_finds_a_deleted_table(self, store: Store) -> None:
        table = await store.create_table(ACCOUNT, "things")
        await write_one(store, table, insert("p", "r"))
        await store.delete_table(ACCOUNT, "things")
        with pytest.raises(TableNotFound):
            await store.get(table, Key("p", "r"))
        with pytest.raises(TableNotFound):
            await store.write(table, [replace("p", "r")])
        with pytest.raises(TableNotFound):
            await scan_page(store, table)

    async def test_a_table_created_again_is_another_and_empty(self, store: Store) -> None:
        old = await store.create_table(ACCOUNT, "Things")
        await fill(store, old, "p", ["a", "b", "c"])
        await store.delete_table(ACCOUNT, "things")
        new = await store.create_table(ACCOUNT, "thingS")
        assert new.name == "thingS"
        assert new.identity != old.identity
        assert await scan_keys(store, new) == []
        assert await store.get(new, Key("p", "a")) is None
        await write_one(store, new, insert("p", "a"))
        with pytest.raises(TableNotFound):
            await store.get(old, Key("p", "a"))

    async def test_identities_are_never_used_again(self, store: Store) -> None:
        identities = set()
        for _ in range(20):
            identities.add((await store.create_table(ACCOUNT, "things")).identity)
            await store.delete_table(ACCOUNT, "things")
        assert len(identities) == 20

    async def test_a_full_table_is_deleted_as_fast_as_an_empty_one(self, store: Store) -> None:
        """Deletion is a change of state; the time allowed would not do to remove the entities one by one."""
        table = await store.create_table(ACCOUNT, "things")
        neighbour = await store.create_table(ACCOUNT, "neighbour")
        await write_one(store, neighbour, insert("p", "r"))
        await fill(store, table, "p", [f"{number:05}" for number in range(20_000)])
        started = time.perf_counter()
        await store.delete_table(ACCOUNT, "things")
        new = await store.create_table(ACCOUNT, "things")
        assert await scan_keys(store, new) == []
        assert time.perf_counter() - started < 0.5
        assert await scan_keys(store, neighbour) == [Key("p", "r")]
