"""The conformance suite of stores: whoever writes a store runs it, and passes it.

    from rowkey.store.testing import StoreConformance


    class TestMyStore(StoreConformance):
        @pytest.fixture
        async def store(self, clock):
            store = await MyStore.connect(now=clock)
            yield CheckedStore(store)
            await store.close()

Each test gets an empty store from the fixture `store`, which the subclass defines. `clock` is the suite's own: a clock
that stands still until a test moves it, in either direction. A store that takes no clock leaves it aside.

A store that keeps things beyond its own life also subclasses `DurabilityConformance`, one that several processes share
also `SharingConformance`, and every store runs the state machine of `rowkey.store.testing.machine`, which compares it
with the memory store.

Needs pytest and pytest-asyncio; `machine` needs hypothesis.
"""

import pytest

pytest.register_assert_rewrite(
    f"{__name__}.concurrency",
    f"{__name__}.durability",
    f"{__name__}.indexes",
    f"{__name__}.machine",
    f"{__name__}.predicates",
    f"{__name__}.samples",
    f"{__name__}.scans",
    f"{__name__}.settings",
    f"{__name__}.shapes",
    f"{__name__}.sharing",
    f"{__name__}.tables",
    f"{__name__}.writes",
)

# Only what is imported after the call above explains its failed assertions.
from rowkey.store.testing.concurrency import ConcurrencyConformance  # noqa: E402
from rowkey.store.testing.durability import DurabilityConformance  # noqa: E402
from rowkey.store.testing.indexes import IndexConformance  # noqa: E402
from rowkey.store.testing.predicates import PredicateConformance  # noqa: E402
from rowkey.store.testing.samples import FixedClock  # noqa: E402
from rowkey.store.testing.scans import ScanConformance  # noqa: E402
from rowkey.store.testing.settings import SettingsConformance  # noqa: E402
from rowkey.store.testing.shapes import ShapeConformance  # noqa: E402
from rowkey.store.testing.sharing import SharingConformance  # noqa: E402
from rowkey.store.testing.tables import TableConformance  # noqa: E402
from rowkey.store.testing.writes import WriteConformance  # noqa: E402

__all__ = ["DurabilityConformance", "FixedClock", "SharingConformance", "StoreConformance"]


class StoreConformance(
    TableConformance,
    WriteConformance,
    ScanConformance,
    ShapeConformance,
    PredicateConformance,
    IndexConformance,
    SettingsConformance,
    ConcurrencyConformance,
):
    """Everything that the interface promises; needs a fixture `store` (see the module)."""

    @pytest.fixture
    def clock(self) -> FixedClock:
        """The clock of the store under test."""
        return FixedClock()
