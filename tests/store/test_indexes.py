"""Indexes of the embedded store on disk: they agree with the entities at every moment, whatever ends the process."""

from __future__ import annotations

import asyncio
import random
import subprocess
import sys
import time
from pathlib import Path

import apsw
import pytest

from rowkey.errors import ServiceError
from rowkey.model.entity import Key
from rowkey.odata.ast import Comparison
from rowkey.store.embedded.index_check import find_index_faults
from rowkey.store.embedded.store import EmbeddedStore
from rowkey.store.interface import Index, Store, Table
from rowkey.store.testing.indexes import ready
from rowkey.store.testing.samples import ACCOUNT, fill, insert, int32, merge, replace, scan_keys, string

ENTITIES = 5000
ROUNDS = 4


def faults(folder: Path) -> list[str]:
    """Where indexes and entities differ in a folder that nobody has open."""
    connection = apsw.Connection(str(folder / "rowkey.db"), flags=apsw.SQLITE_OPEN_READONLY)
    found = list(find_index_faults(connection))
    connection.close()
    return found


def count(folder: Path, sql: str) -> int:
    connection = apsw.Connection(str(folder / "rowkey.db"), flags=apsw.SQLITE_OPEN_READONLY)
    number: int = connection.execute(sql).get
    connection.close()
    return number


async def make_table(store: Store, entities: int = ENTITIES) -> Table:
    table = await store.create_table(ACCOUNT, "things")
    await fill(store, table, "p", [f"{number:05}" for number in range(entities)], A=int32(1))
    return table


async def found_table(store: Store) -> Table:
    table = await store.find_table(ACCOUNT, "things")
    assert table is not None
    return table


async def test_an_index_whose_building_was_interrupted_is_finished_at_the_next_start(tmp_path: Path) -> None:
    store = EmbeddedStore.open(tmp_path)
    table = await make_table(store)
    await store.add_index(table, "A")
    await store.close()
    assert count(tmp_path, "SELECT count(*) FROM property_index WHERE built IS NOT NULL") == 1
    assert count(tmp_path, "SELECT count(*) FROM index_entry") < ENTITIES
    assert faults(tmp_path) == []
    store = EmbeddedStore.open(tmp_path)
    table = await found_table(store)
    await store.write(table, [merge("p", "00000", A=int32(2)), merge("p", "04999", A=int32(2))])
    assert await ready(store, table) == [Index("A", True, ENTITIES)]
    assert len(await scan_keys(store, table, predicate=Comparison("A", "eq", int32(2)))) == 2
    await store.close()
    assert faults(tmp_path) == []


async def test_a_complete_index_is_there_after_a_restart(tmp_path: Path) -> None:
    store = EmbeddedStore.open(tmp_path)
    table = await make_table(store, 300)
    await store.add_index(table, "A")
    await ready(store, table)
    await store.close()
    store = EmbeddedStore.open(tmp_path)
    table = await found_table(store)
    assert await store.list_indexes(table) == [Index("A", True, 300)]
    assert not await store.add_index(table, "A")
    await store.write(table, [replace("p", "00007", B=int32(1)), insert("p", "x", A=int32(7))])
    assert await scan_keys(store, table, predicate=Comparison("A", "eq", int32(7))) == [Key("p", "x")]
    await store.close()
    assert faults(tmp_path) == []


async def test_what_a_dropped_index_held_is_removed(tmp_path: Path) -> None:
    """Also what the index of a deleted table held, and after a restart in between."""
    store = EmbeddedStore.open(tmp_path)
    table = await make_table(store)
    for name in ("A", "RowKey"):
        await store.add_index(table, name)
    await ready(store, table)
    await store.drop_index(table, "A")
    await store.delete_table(ACCOUNT, "things")
    await store.close()
    assert count(tmp_path, "SELECT count(*) FROM index_entry") > 0
    store = EmbeddedStore.open(tmp_path)
    for _ in range(6000):
        if count(tmp_path, "SELECT count(*) FROM property_index") == 0:
            break
        await asyncio.sleep(0.01)
    await store.close()
    assert count(tmp_path, "SELECT count(*) FROM property_index") == 0
    assert count(tmp_path, "SELECT count(*) FROM index_entry") == 0


async def test_an_index_is_built_although_writes_never_end(tmp_path: Path) -> None:
    store = EmbeddedStore.open(tmp_path)
    table = await make_table(store)
    is_over = False

    async def write_on(partition_key: str) -> None:
        number = 0
        while not is_over:
            number += 1
            await store.write(table, [replace(partition_key, f"{number % 50:05}", A=int32(number))])

    writers = [asyncio.create_task(write_on(f"q{number}")) for number in range(8)]
    await store.add_index(table, "A")
    await ready(store, table)
    is_over = True
    await asyncio.gather(*writers)
    await store.close()
    assert faults(tmp_path) == []


async def test_a_difference_is_found(tmp_path: Path) -> None:
    store = EmbeddedStore.open(tmp_path)
    table = await make_table(store, 10)
    await store.add_index(table, "A")
    await ready(store, table)
    await store.close()
    connection = apsw.Connection(str(tmp_path / "rowkey.db"))
    connection.execute("DELETE FROM index_entry WHERE key IN (SELECT key FROM index_entry LIMIT 2)")
    assert list(find_index_faults(connection)) == ["the index on A of things lacks the entries of 2 entities"]
    connection.execute("INSERT INTO index_entry SELECT identity, x'00', x'00' FROM property_index")
    assert "the index on A of things has 1 entries that are of no entity" in list(find_index_faults(connection))
    connection.close()


CHILD = """
import asyncio, sys
from pathlib import Path
from tests.store.test_indexes import write_until_killed
asyncio.run(write_until_killed(Path(sys.argv[1]), int(sys.argv[2])))
"""


async def write_until_killed(folder: Path, seed: int) -> None:
    """In a process of its own: writes, indexes that come and go, and no end."""
    store = EmbeddedStore.open(folder)
    table = await store.find_table(ACCOUNT, "things") or await make_table(store)
    print("begun", flush=True)

    async def write_on(partition_key: str, randomness: random.Random) -> None:
        while True:
            keys = sorted({f"{randomness.randrange(ENTITIES):05}" for _ in range(20)})
            verb = randomness.choice([merge, replace])
            some = {"A": int32(randomness.randrange(50)), "B": string(str(randomness.random()))}
            await store.write(table, [verb(partition_key, key, **some) for key in keys])

    async def index_on(randomness: random.Random) -> None:
        while True:
            name = randomness.choice(["A", "B", "Timestamp"])
            try:
                await (store.drop_index if randomness.random() < 0.3 else store.add_index)(table, name)
            except ServiceError:
                pass
            await asyncio.sleep(0.02)

    writers = [write_on(key, random.Random(f"{seed}{key}")) for key in ("p", "p", "q", "r")]
    await asyncio.gather(index_on(random.Random(seed)), *writers)


@pytest.mark.skipif(sys.platform == "win32", reason="there is no such kill")
def test_indexes_and_entities_agree_after_a_kill(tmp_path: Path) -> None:
    """In the midst of writing, of building and of dropping."""
    for seed in range(ROUNDS):
        command = [sys.executable, "-c", CHILD, str(tmp_path / "data"), str(seed)]
        child = subprocess.Popen(command, stdout=subprocess.PIPE, cwd=Path(__file__).parent.parent.parent)
        assert child.stdout is not None
        assert child.stdout.readline() == b"begun\n"
        time.sleep(0.3 + 0.15 * seed)
        child.kill()
        child.communicate()
        assert asyncio.run(verify_folder(tmp_path / "data")) == []


async def verify_folder(folder: Path) -> list[str]:
    """What a server finds after a crash, and once it has finished what was begun."""
    found = faults(folder)
    store = EmbeddedStore.open(folder)
    await ready(store, await found_table(store))
    await store.close()
    return found + faults(folder)
