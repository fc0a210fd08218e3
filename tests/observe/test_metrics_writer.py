"""From counters to entities: nothing is lost and nothing counted twice, whatever the store says."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import orjson
import pytest

from rowkey.model.entity import Key
from rowkey.observe.metrics import Counters
from rowkey.observe.metrics_writer import ALL, MetricsWriter, Period
from rowkey.store.interface import OutcomeUnknown, StoreUnavailable
from rowkey.store.memory.store import MemoryStore
from tests.observe.samples import ACCOUNT

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rowkey.model.entity import Entity
    from rowkey.model.writes import Write
    from rowkey.store.interface import Store, Table

PERIOD = Period(ACCOUNT, "$MetricsHourPrimaryTransactionsTable", "20260301T1200")
OTHER = PERIOD._replace(partition_key="20260301T1300")


class FailingStore(MemoryStore):
    """Does what `plan` says with each write: True does it, an error raises it, a pair does it and raises then."""

    def __init__(self, *plan: Any) -> None:
        super().__init__()
        self.plan = list(plan)

    async def write(self, table: Table, writes: Sequence[Write]) -> Sequence[Entity | None]:
        step = self.plan.pop(0) if self.plan else True
        if isinstance(step, Exception):
            raise step
        results = await super().write(table, writes)
        if isinstance(step, tuple):
            raise step[1]
        return results


def successes(number: int) -> Counters:
    """That many requests of 10 bytes."""
    counters = Counters()
    counters.counts["Success"] = number
    counters.ingress = 10 * number
    return counters


async def stored(store: Store, period: Period = PERIOD, row_key: str = ALL) -> int | None:
    """The successes that an entity shows, None where there is none."""
    table = await store.find_table(period.account, period.table)
    text = None if table is None else await store.get(table, Key(period.partition_key, row_key))
    return None if text is None else int(orjson.loads(text)["Success"])


async def test_entities_are_made_and_added_to(store: Store) -> None:
    writer = MetricsWriter(store)
    writer.add(PERIOD, ALL, successes(2))
    writer.add(PERIOD, "user;QueryEntity", successes(2))
    await writer.flush()
    writer.add(PERIOD, ALL, successes(3))
    writer.add(PERIOD, ALL, successes(1))
    writer.add(OTHER, ALL, successes(7))
    await writer.flush()
    assert await stored(store) == 6
    assert await stored(store, row_key="user;QueryEntity") == 2
    assert await stored(store, OTHER) == 7


async def test_what_was_flushed_is_not_flushed_again(store: Store) -> None:
    writer = MetricsWriter(store)
    writer.add(PERIOD, ALL, successes(2))
    await writer.flush()
    await writer.flush()
    assert await stored(store) == 2


async def test_a_restart_goes_on_where_the_last_process_ended(store: Store) -> None:
    for _ in range(2):
        writer = MetricsWriter(store)
        writer.add(PERIOD, ALL, successes(2))
        await writer.flush()
    assert await stored(store) == 4


async def test_an_hour_without_requests_has_its_entity_and_keeps_it(store: Store) -> None:
    writer = MetricsWriter(store)
    writer.add(PERIOD, ALL, Counters())
    await writer.flush()
    assert await stored(store) == 0
    table = await store.find_table(PERIOD.account, PERIOD.table)
    assert table is not None
    before = await store.get(table, Key(PERIOD.partition_key, ALL))
    writer.add(PERIOD, ALL, Counters())
    await writer.flush()
    assert await store.get(table, Key(PERIOD.partition_key, ALL)) == before


async def test_what_the_store_did_not_take_waits(caplog: pytest.LogCaptureFixture) -> None:
    store = FailingStore(StoreUnavailable(), True)
    writer = MetricsWriter(store)
    writer.add(PERIOD, ALL, successes(2))
    writer.add(OTHER, ALL, successes(5))
    await writer.flush()
    assert (await stored(store), await stored(store, OTHER)) == (None, 5)
    assert "metrics of sally, 20260301T1200 wait for the next flush" in caplog.text
    writer.add(PERIOD, ALL, successes(1))
    await writer.flush()
    assert (await stored(store), await stored(store, OTHER)) == (3, 5)


async def test_a_failure_that_nobody_foresaw_loses_nothing() -> None:
    store = FailingStore(ValueError())
    writer = MetricsWriter(store)
    writer.add(PERIOD, ALL, successes(2))
    with pytest.raises(ValueError):
        await writer.flush()
    await writer.flush()
    assert await stored(store) == 2


@pytest.mark.parametrize(
    ("step", "is_done"), [(OutcomeUnknown(), False), ((True, OutcomeUnknown()), True)], ids=["not done", "done"]
)
@pytest.mark.parametrize("before", [0, 4])
async def test_a_write_of_unknown_outcome_is_looked_for(step: Any, is_done: bool, before: int) -> None:
    store = FailingStore(*([True] if before else []), step)
    writer = MetricsWriter(store)
    if before:
        writer.add(PERIOD, ALL, successes(before))
        await writer.flush()
    writer.add(PERIOD, ALL, successes(2))
    await writer.flush()
    assert await stored(store) == (before + 2 if is_done else before or None)
    writer.add(PERIOD, ALL, successes(1))  # what happens meanwhile counts too
    await writer.flush()
    assert await stored(store) == before + 3
    await writer.flush()
    assert await stored(store) == before + 3


async def test_two_unknown_outcomes_in_a_row() -> None:
    store = FailingStore(OutcomeUnknown(), OutcomeUnknown(), (True, OutcomeUnknown()))
    writer = MetricsWriter(store)
    writer.add(PERIOD, ALL, successes(2))
    for _ in range(4):
        await writer.flush()
    assert await stored(store) == 2


async def test_several_processes_add_to_the_same_entity() -> None:
    """One writes between the other's reading and writing, as often as there are attempts but one."""

    class BusyStore(MemoryStore):
        rounds = 4

        async def get(self, table: Table, key: Key) -> str | None:
            text = await super().get(table, key)
            if self.rounds:
                self.rounds -= 1
                rounds, self.rounds = self.rounds, 0
                other = MetricsWriter(self)
                other.add(PERIOD, ALL, successes(10))
                await other.flush()
                self.rounds = rounds
            return text

    store = BusyStore()
    writer = MetricsWriter(store)
    writer.add(PERIOD, ALL, successes(1))
    await writer.flush()
    await writer.flush()
    assert await stored(store) == 41


async def test_a_table_that_another_process_makes_at_the_same_time_is_used() -> None:
    class RacingStore(MemoryStore):
        async def create_table(self, account: str, name: str) -> Table:
            await super().create_table(account, name)
            return await super().create_table(account, name)

    store = RacingStore()
    writer = MetricsWriter(store)
    writer.add(PERIOD, ALL, successes(1))
    await writer.flush()
    assert await stored(store) == 1
