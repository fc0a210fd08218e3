"""What a store promises when many use it at once: nothing lost, nothing half done, nobody left waiting."""

import asyncio
import random
from collections import Counter
from collections.abc import Awaitable
from contextlib import suppress

import orjson
import pytest

from rowkey.errors import EntityAlreadyExists, TableNotFound, UpdateConditionNotSatisfied
from rowkey.model.entity import Key
from rowkey.model.key_range import KeyRange, successor
from rowkey.model.writes import Mode, Write
from rowkey.store.checked import split_page, verify_wire_text
from rowkey.store.interface import Page, Store, Table
from rowkey.store.testing.samples import (
    ACCOUNT,
    delete,
    fill,
    insert,
    int32,
    members,
    merge,
    replace,
    scan_keys,
    scan_page,
    write_one,
)

WRITERS = 50
PATIENCE_SECONDS = 60.0


class ConcurrencyConformance:
    """Needs a fixture `store`: an empty store."""

    pytestmark = pytest.mark.asyncio

    async def test_increments_guarded_by_etags_lose_nothing(self, store: Store) -> None:
        table = await store.create_table(ACCOUNT, "things")
        await write_one(store, table, insert("p", "r", N=int32(0)))
        await _together(*(_increment(store, table) for _ in range(WRITERS)))
        assert await _numbers(store, table) == [WRITERS]

    async def test_only_one_of_many_inserts_the_entity(self, store: Store) -> None:
        table = await store.create_table(ACCOUNT, "things")
        results = await asyncio.gather(
            *(store.write(table, [insert("p", "r", N=int32(number))]) for number in range(WRITERS)),
            return_exceptions=True,
        )
        refused = [isinstance(result, EntityAlreadyExists) for result in results]
        assert refused.count(False) == 1
        assert await _numbers(store, table) == [refused.index(False)]

    async def test_one_failure_leaves_its_neighbours_alone(self, store: Store) -> None:
        """Stores commit what waits together; each request still has its own verdict."""
        table = await store.create_table(ACCOUNT, "things")
        await fill(store, table, "p", ["taken"])
        transactions = [
            [insert("p", f"{number:02}"), *([insert("p", "taken")] if number % 3 == 0 else [])] for number in range(60)
        ]
        results = await asyncio.gather(*(store.write(table, writes) for writes in transactions), return_exceptions=True)
        assert [isinstance(result, EntityAlreadyExists) for result in results] == [
            number % 3 == 0 for number in range(60)
        ]
        kept = [f"{number:02}" for number in range(60) if number % 3 != 0]
        assert [key.row_key for key in await scan_keys(store, table)] == [*kept, "taken"]

    async def test_everyone_reads_what_they_wrote(self, store: Store) -> None:
        table = await store.create_table(ACCOUNT, "things")
        await _together(*(_write_and_read(store, table, f"{number:02}") for number in range(WRITERS)))
        assert await scan_keys(store, table) == []

    async def test_a_page_is_one_moment(self, store: Store) -> None:
        """A transaction moves all entities from one number to the next: no page may show two numbers."""
        table = await store.create_table(ACCOUNT, "things")
        row_keys = [f"{number:02}" for number in range(100)]
        await fill(store, table, "p", row_keys, N=int32(0))
        seen: set[int] = set()

        async def write_on() -> None:
            for number in range(1, 51):
                await store.write(table, [replace("p", row_key, N=int32(number)) for row_key in row_keys])
                await asyncio.sleep(0)

        async def read_on() -> None:
            while 50 not in seen:
                (number,) = set(await _numbers(store, table))
                seen.add(number)
                await asyncio.sleep(0)

        await _together(write_on(), read_on(), read_on())

    async def test_a_transaction_is_seen_whole_or_not_at_all(self, store: Store) -> None:
        """One token is moved between two places by delete and insert; a page always shows exactly one of them."""
        table = await store.create_table(ACCOUNT, "things")
        await write_one(store, table, insert("p", "a"))
        moves = [[delete("p", "a"), insert("p", "z")], [delete("p", "z"), insert("p", "a")]] * 25

        async def move_on() -> None:
            for move in moves:
                await store.write(table, move)
                await asyncio.sleep(0)

        mover = asyncio.create_task(move_on())
        while not mover.done():
            assert (await scan_page(store, table)).count == 1
            await asyncio.sleep(0)
        await mover

    async def test_a_write_races_with_the_deletion_of_its_table(self, store: Store) -> None:
        table = await store.create_table(ACCOUNT, "things")
        results = await asyncio.gather(
            *(store.write(table, [insert("p", f"{number:02}")]) for number in range(25)),
            store.delete_table(ACCOUNT, "things"),
            *(store.write(table, [insert("p", f"{number:02}")]) for number in range(25, 50)),
            return_exceptions=True,
        )
        errors = [result for result in results if isinstance(result, BaseException)]
        assert {type(error) for error in errors} <= {TableNotFound}
        with pytest.raises(TableNotFound):
            await store.get(table, Key("p", "00"))
        new = await store.create_table(ACCOUNT, "things")
        assert await scan_keys(store, new) == []

    async def test_a_scan_races_with_the_deletion_of_its_table(self, store: Store) -> None:
        """It may see the table whole or not at all; what is half reclaimed is never shown."""
        for _ in range(5):
            table = await store.create_table(ACCOUNT, "things")
            await fill(store, table, "p", [f"{number:03}" for number in range(1000)])
            results = await asyncio.gather(
                *(scan_page(store, table) for _ in range(5)),
                store.delete_table(ACCOUNT, "things"),
                *(scan_page(store, table) for _ in range(5)),
                return_exceptions=True,
            )
            assert {type(result) for result in results if isinstance(result, BaseException)} <= {TableNotFound}
            assert {result.count for result in results if isinstance(result, Page)} <= {1000}

    async def test_a_caller_that_gives_up_neither_stops_nor_spoils_the_others(self, store: Store) -> None:
        """A client that leaves in mid-commit must not keep the answers of all others from them."""
        table = await store.create_table(ACCOUNT, "things")
        for attempt in range(10):
            writing = [
                asyncio.create_task(store.write(table, [insert(f"{attempt}", "a"), insert(f"{attempt}", "b")])),
                *(asyncio.create_task(store.write(table, [insert("p", f"{attempt}-{n}")])) for n in range(10)),
            ]
            for _ in range(attempt):
                await asyncio.sleep(0)
            writing[0].cancel()
            writing[1].cancel()
            await _together(*writing[2:])
            with suppress(asyncio.CancelledError):
                await writing[0]
            with suppress(asyncio.CancelledError):
                await writing[1]
        keys = set(await scan_keys(store, table))
        assert keys >= {Key("p", f"{attempt}-{number}") for attempt in range(10) for number in range(1, 10)}
        for attempt in range(10):
            assert len(keys & {Key(f"{attempt}", "a"), Key(f"{attempt}", "b")}) in (0, 2)

    async def test_transfers_between_entities_keep_the_books(self, store: Store) -> None:
        """Transfers between accounts, each reading two entities and writing both under their ETags."""
        table = await store.create_table(ACCOUNT, "things")
        row_keys = [f"{number}" for number in range(8)]
        await fill(store, table, "p", row_keys, N=int32(100))
        choose = random.Random(7)
        pairs = [choose.sample(row_keys, 2) for _ in range(100)]
        await _together(*(_transfer(store, table, source, target) for source, target in pairs))
        given, taken = Counter(source for source, _ in pairs), Counter(target for _, target in pairs)
        assert await _numbers(store, table) == [100 - given[row_key] + taken[row_key] for row_key in row_keys]


async def _together(*awaitables: Awaitable[object]) -> None:
    """Run all; the first failure ends it, and so does waiting for too long."""
    async with asyncio.timeout(PATIENCE_SECONDS):
        await asyncio.gather(*awaitables)


async def _numbers(store: Store, table: Table) -> list[int]:
    """The property N of all entities, as one page shows them."""
    return [orjson.loads(text)["N"] for text in split_page((await scan_page(store, table)).text)]


async def _increment(store: Store, table: Table) -> None:
    while True:
        try:
            await store.write(table, [await _added(store, table, "r", 1)])
        except UpdateConditionNotSatisfied:
            continue
        return


async def _write_and_read(store: Store, table: Table, row_key: str) -> None:
    key = Key("p", row_key)
    only = [KeyRange(key, Key("p", successor(row_key)))]
    for number in range(10):
        entity = await write_one(store, table, merge("p", row_key, N=int32(number)))
        assert await store.get(table, key) == entity.text
        assert (await scan_page(store, table, only)).text == entity.text
    await store.write(table, [delete("p", row_key)])
    assert await store.get(table, key) is None
    assert (await scan_page(store, table, only)).count == 0


async def _transfer(store: Store, table: Table, source: str, target: str) -> None:
    while True:
        try:
            await store.write(table, [await _added(store, table, source, -1), await _added(store, table, target, 1)])
        except UpdateConditionNotSatisfied:
            continue
        return


async def _added(store: Store, table: Table, row_key: str, amount: int) -> Write:
    """The write that adds `amount` to an entity's number, if nobody else writes it first."""
    key = Key("p", row_key)
    text = await store.get(table, key)
    assert text is not None
    number = members(N=int32(orjson.loads(text)["N"] + amount))
    return Write(Mode.MERGE, key, number, verify_wire_text(text)[1])
