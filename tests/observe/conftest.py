"""The stores that analytics is tested with."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from rowkey.store.checked import CheckedStore
from rowkey.store.embedded.store import EmbeddedStore
from rowkey.store.memory.store import MemoryStore

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path

    from rowkey.store.interface import Store


@pytest.fixture(params=["memory", "embedded"])
async def store(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[Store]:
    """A store that is held to its word."""
    inner = MemoryStore() if request.param == "memory" else EmbeddedStore.open(tmp_path / "data")
    yield CheckedStore(inner)
    await inner.close()
