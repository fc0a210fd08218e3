"""The PostgreSQL store keeps the contract of `store/interface.py`, over a real server."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from rowkey.store.checked import CheckedStore
from rowkey.store.postgres.store import PostgresStore
from rowkey.store.testing import DurabilityConformance, StoreConformance

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from rowkey.store.interface import Store
    from rowkey.store.testing.durability import OpenStore


class TestPostgresStore(StoreConformance):
    @pytest.fixture
    async def store(self, empty_database: str) -> AsyncIterator[Store]:
        store = await PostgresStore.open(empty_database)
        yield CheckedStore(store)
        await store.close()


class TestReopenedStore(DurabilityConformance):
    @pytest.fixture
    def open_store(self, empty_database: str) -> OpenStore:
        async def open_store() -> Store:
            return CheckedStore(await PostgresStore.open(empty_database))

        return open_store
