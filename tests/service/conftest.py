"""A service to ask."""

from __future__ import annotations

import pytest

from rowkey.config import Account, Settings
from rowkey.service import Service
from rowkey.store.memory.store import MemoryStore
from tests.service.asking import KEYS


@pytest.fixture
async def service() -> Service:
    """A service of two accounts, each with a table."""
    store = MemoryStore()
    for name in KEYS:
        await store.create_table(name, "Orders")
    return Service(Settings(data=None, accounts={name: Account(name, keys) for name, keys in KEYS.items()}), store)
