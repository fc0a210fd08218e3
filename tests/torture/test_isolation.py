"""Transactions and scans beside each other: nobody reads half of a transaction, and no scan misses what is there.

Money is moved inside a partition, in transactions, and readers add it up; entities come and go between others that
stay, and every scan shows those that stay, once and in order. With clocks that jump to and fro.
"""

from __future__ import annotations

import asyncio
import random
from itertools import pairwise
from typing import TYPE_CHECKING

import orjson
import pytest

from rowkey.errors import ResourceNotFound, UpdateConditionNotSatisfied
from rowkey.model.datetimes import now_ticks, parse_datetime
from rowkey.model.entity import Key
from rowkey.model.key_range import WHOLE_TABLE, key_order
from rowkey.model.writes import Mode, Write
from rowkey.odata.parser import parse_filter
from rowkey.store.checked import split_page
from rowkey.store.embedded.store import EmbeddedStore
from rowkey.store.memory.store import MemoryStore
from rowkey.store.testing.samples import delete, insert, int32, members, replace, rest_of, scan_page, string
from tests.torture.effort import SEED, rounds
from tests.torture.planted_bugs import TornBatch

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path

    from rowkey.store.interface import Store, Table

ACCOUNTS = [f"account-{number:02}" for number in range(12)]
START = 100
TRANSFERS = rounds(150, 3000)
SCANS = rounds(15, 200)
STAYING = [f"{number:05}" for number in range(0, 3000, 10)]


def jumping_clock() -> int:
    """A clock that is up to a day off."""
    return now_ticks() + random.Random(now_ticks()).randrange(-(10**12), 10**12)


@pytest.fixture
async def store(tmp_path: Path) -> AsyncIterator[Store]:
    store = EmbeddedStore.open(tmp_path / "data", now=jumping_clock)
    yield store
    await store.close()


# ---------------------------------------------------------------- money


async def move_money(store: Store, transfers: int) -> list[int]:
    """Move money between accounts of a partition; returns the sums that readers saw meanwhile."""
    table = await store.create_table("bank", "Accounts")
    await store.write(table, [insert("p", account, Amount=int32(START)) for account in ACCOUNTS])
    sums: list[int] = []
    workers = [move(store, table, random.Random(SEED + number), transfers // 4) for number in range(4)]
    moving = asyncio.gather(*workers)
    while not moving.done():
        page = await scan_page(store, table)
        sums.append(sum(orjson.loads(text)["Amount"] for text in split_page(page.text)))
        await asyncio.sleep(0)
    await moving
    return sums


async def move(store: Store, table: Table, chance: random.Random, transfers: int) -> None:
    """Read two accounts, and write both on the condition that neither has changed."""
    done = 0
    while done < transfers:
        keys = [Key("p", account) for account in chance.sample(ACCOUNTS, 2)]
        read = [orjson.loads(await store.get(table, key) or "{}") for key in keys]
        amount = chance.randrange(1, 10)
        writes = [
            Write(Mode.SET, key, members(Amount=int32(values["Amount"] + change)), parse_datetime(values["Timestamp"]))
            for key, values, change in zip(keys, read, (-amount, amount), strict=True)
        ]
        try:
            await store.write(table, writes)
        except UpdateConditionNotSatisfied:
            await asyncio.sleep(0)
            continue
        done += 1


async def test_no_page_shows_half_of_a_transaction(store: Store) -> None:
    sums = await move_money(store, TRANSFERS)
    print(f"{TRANSFERS} transfers, {len(sums)} sums")
    assert set(sums) == {START * len(ACCOUNTS)}


async def test_torn_transactions_would_be_seen() -> None:
    assert set(await move_money(TornBatch(), 40)) != {START * len(ACCOUNTS)}


async def test_the_memory_store_is_isolated_too() -> None:
    assert set(await move_money(MemoryStore(jumping_clock), 100)) == {START * len(ACCOUNTS)}


# ---------------------------------------------------------------- scans under writes


@pytest.mark.parametrize("filter_text", ["", "Kind eq 'staying' or Kind eq 'passing'"])
async def test_a_scan_shows_what_stays_once_and_in_order(store: Store, filter_text: str) -> None:
    table = await store.create_table("a", "Things")
    for start in range(0, len(STAYING), 100):
        await store.write(table, [insert("p", key, Kind=string("staying")) for key in STAYING[start : start + 100]])
    predicate = parse_filter(filter_text) if filter_text else None
    disturbing = [asyncio.create_task(disturb(store, table, random.Random(SEED + n))) for n in range(3)]
    for number in range(SCANS):
        keys: list[Key] = []
        ranges = [WHOLE_TABLE]
        while ranges:
            page = await scan_page(store, table, ranges, limit=1 + number * 7 % 90, predicate=predicate)
            keys += [Key("p", orjson.loads(text)["RowKey"]) for text in split_page(page.text)]
            ranges = [] if page.next_key is None else rest_of(ranges, page.next_key)
            await asyncio.sleep(0)
        assert all(key_order(one) < key_order(other) for one, other in pairwise(keys))
        assert set(STAYING) <= {key.row_key for key in keys}
    for task in disturbing:
        task.cancel()
    await asyncio.gather(*disturbing, return_exceptions=True)


async def disturb(store: Store, table: Table, chance: random.Random) -> None:
    """Insert, change and delete entities between those that stay, and rewrite those that stay."""
    while True:
        row_key = f"{chance.randrange(3000):05}"
        if row_key in STAYING:
            await store.write(table, [replace("p", row_key, Kind=string("staying"), Text=string("x" * 500))])
        elif chance.random() < 0.5:
            await store.write(table, [replace("p", row_key, Kind=string("passing"))])
        else:
            try:
                await store.write(table, [delete("p", row_key)])
            except ResourceNotFound:
                pass


# ---------------------------------------------------------------- clocks


async def test_no_etag_comes_twice_although_the_clock_goes_back(tmp_path: Path) -> None:
    """Over restarts, with the clock set back before each, and for entities that are deleted and inserted again."""
    latest = 0
    for hour in range(10, 0, -1):
        store = EmbeddedStore.open(tmp_path, now=lambda hour=hour: hour * 36_000_000_000)  # type: ignore[misc]
        table = await store.find_table("a", "Things") or await store.create_table("a", "Things")
        for _ in range(20):
            (entity,) = await store.write(table, [insert("p", "r")])
            assert entity is not None
            assert entity.timestamp > latest
            latest = entity.timestamp
            await store.write(table, [delete("p", "r")])
        await store.close()


async def test_times_run_ahead_by_a_second_at_most_after_a_crash(tmp_path: Path) -> None:
    """And not at all after a server that was stopped."""
    at = 10**15
    store = EmbeddedStore.open(tmp_path / "data", now=lambda: at)
    table = await store.create_table("a", "Things")
    await store.write(table, [insert("p", "r")])
    (tmp_path / "crashed").mkdir()
    for file in (tmp_path / "data").iterdir():
        (tmp_path / "crashed" / file.name).write_bytes(file.read_bytes())
    await store.close()
    for name, ahead_max in (("data", 10), ("crashed", 10_000_010)):
        store = EmbeddedStore.open(tmp_path / name, now=lambda: at)
        (entity,) = await store.write(table, [replace("p", "r")])
        assert entity is not None
        assert at < entity.timestamp <= at + ahead_max
        await store.close()
