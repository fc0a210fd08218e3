"""The memory store keeps the contract of `store/interface.py`."""

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from hypothesis import settings

from rowkey.model.entity import Key
from rowkey.store.checked import CheckedStore
from rowkey.store.interface import Store
from rowkey.store.memory import store as memory
from rowkey.store.memory.store import MemoryStore
from rowkey.store.testing import FixedClock, StoreConformance
from rowkey.store.testing.machine import StoreMachine
from rowkey.store.testing.samples import ACCOUNT, delete, fill, insert, int32, keys_of, replace, scan_page


class TestMemoryStore(StoreConformance):
    @pytest.fixture
    async def store(self, clock: FixedClock) -> AsyncIterator[Store]:
        store = MemoryStore(now=clock)
        yield CheckedStore(store)
        await store.close()


class MemoryStoreMachine(StoreMachine):
    """The model against itself: that the machine plays by the rules."""

    async def open_store(self, folder: Path) -> Store:
        return CheckedStore(MemoryStore())


TestMemoryStoreMachine = MemoryStoreMachine.TestCase
TestMemoryStoreMachine.settings = settings(max_examples=50, stateful_step_count=50, deadline=None)


async def test_a_long_scan_lets_others_go_on_and_shows_the_moment_in_which_it_began(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(memory, "_TURN_SECONDS", 0.0)
    store = CheckedStore(MemoryStore())
    table = await store.create_table(ACCOUNT, "things")
    row_keys = [f"{number:02}" for number in range(100)]
    await fill(store, table, "p", row_keys, N=int32(1))
    scanning = asyncio.create_task(scan_page(store, table, limit=1000))
    await asyncio.sleep(0)
    await store.write(table, [delete("p", row_keys[0]), delete("p", row_keys[-2]), insert("p", "99a")])
    await store.write(table, [replace("p", row_keys[-1], N=int32(2))])
    assert [key.row_key for key in keys_of(await scan_page(store, table, limit=1))] == [row_keys[1]]
    await asyncio.sleep(0)
    await store.delete_table(ACCOUNT, "things")
    assert not scanning.done()
    page = await scanning
    assert keys_of(page) == [Key("p", row_key) for row_key in row_keys]
    assert '"N":2' not in page.text
