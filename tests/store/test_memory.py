"""The memory store keeps the contract of `store/interface.py`."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from hypothesis import settings

from rowkey.store.checked import CheckedStore
from rowkey.store.interface import Store
from rowkey.store.memory.store import MemoryStore
from rowkey.store.testing import FixedClock, StoreConformance
from rowkey.store.testing.machine import StoreMachine


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
