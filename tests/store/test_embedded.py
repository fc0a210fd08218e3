"""The embedded store keeps the contract of `store/interface.py`, also over a restart."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from hypothesis import settings

from rowkey.store.checked import CheckedStore
from rowkey.store.embedded.folder import FolderError
from rowkey.store.embedded.store import EmbeddedStore
from rowkey.store.interface import Store
from rowkey.store.testing import DurabilityConformance, FixedClock, StoreConformance
from rowkey.store.testing.durability import OpenStore
from rowkey.store.testing.machine import ReopeningStoreMachine


class TestEmbeddedStore(StoreConformance):
    @pytest.fixture
    async def store(self, tmp_path: Path, clock: FixedClock) -> AsyncIterator[Store]:
        store = EmbeddedStore.open(tmp_path / "data", now=clock)
        yield CheckedStore(store)
        await store.close()


class TestReopenedStore(DurabilityConformance):
    @pytest.fixture
    def open_store(self, tmp_path: Path, clock: FixedClock) -> OpenStore:
        async def open_store() -> Store:
            return CheckedStore(EmbeddedStore.open(tmp_path / "data", now=clock))

        return open_store


class EmbeddedStoreMachine(ReopeningStoreMachine):
    async def open_store(self, folder: Path) -> Store:
        return CheckedStore(EmbeddedStore.open(folder / "data"))


TestEmbeddedStoreMachine = EmbeddedStoreMachine.TestCase
TestEmbeddedStoreMachine.settings = settings(max_examples=40, stateful_step_count=40, deadline=None)


async def test_a_folder_has_one_owner(tmp_path: Path) -> None:
    """Two processes that write one database would each believe their own catalogue of tables."""
    store = EmbeddedStore.open(tmp_path)
    with pytest.raises(FolderError, match="in use"):
        EmbeddedStore.open(tmp_path)
    await store.close()
    await EmbeddedStore.open(tmp_path).close()


async def test_a_file_is_no_data_folder(tmp_path: Path) -> None:
    (tmp_path / "data").write_text("not a folder")
    with pytest.raises(FolderError):
        EmbeddedStore.open(tmp_path / "data")
