"""The PostgreSQL store keeps the contract of `store/interface.py`, over a real server."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from hypothesis import settings

from rowkey.store.checked import CheckedStore
from rowkey.store.postgres.store import PostgresStore
from rowkey.store.testing import DurabilityConformance, SharingConformance, StoreConformance
from rowkey.store.testing.machine import ReopeningStoreMachine
from tests.postgres import Postgres, empty

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path

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
        return opener(empty_database)


class TestFrontEnds(SharingConformance):
    @pytest.fixture
    def open_store(self, empty_database: str) -> OpenStore:
        return opener(empty_database)


def opener(url: str) -> OpenStore:
    async def open_store() -> Store:
        return CheckedStore(await PostgresStore.open(url))

    return open_store


class PostgresStoreMachine(ReopeningStoreMachine):
    """Each run of the machine has the database for itself; reopened, the store has what it had."""

    url: str
    server: Postgres

    async def open_store(self, folder: Path) -> Store:
        used = folder / "used"
        if not used.exists():
            used.touch()
            empty(self.server, self.url)
        return CheckedStore(await PostgresStore.open(self.url))


TestPostgresStoreMachine = PostgresStoreMachine.TestCase
TestPostgresStoreMachine.settings = settings(max_examples=15, stateful_step_count=40, deadline=None)


@pytest.fixture(scope="module", autouse=True)
def machine_database(postgres: Postgres, database: str) -> None:
    """Where the machine finds its database: it takes no fixtures."""
    PostgresStoreMachine.url, PostgresStoreMachine.server = database, postgres
