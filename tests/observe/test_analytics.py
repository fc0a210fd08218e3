"""Storage analytics as a whole: from requests to entities and files, with a clock that the tests set."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

import orjson
import pytest

from rowkey.model.entity import split_entities
from rowkey.model.key_range import WHOLE_TABLE
from rowkey.observe import analytics as module
from rowkey.observe.analytics import Analytics
from rowkey.observe.metrics_tables import HOUR_TABLES, MINUTE_TABLES, ensure_metrics_tables
from rowkey.observe.transaction import Outcome
from rowkey.store.interface import Scan
from rowkey.store.memory.store import MemoryStore
from tests.observe.samples import (
    ACCOUNT,
    DAY,
    HOUR,
    MINUTE,
    NOON,
    SECOND,
    logging_section,
    metrics_section,
    transaction,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

    from rowkey.observe.transaction import Transaction
    from rowkey.store.interface import Store


class Clock:
    """Ticks that stand still."""

    def __init__(self) -> None:
        self.now = NOON

    def __call__(self) -> int:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def analytics(store: Store, clock: Clock, tmp_path: Path) -> Analytics:
    return Analytics(store, [ACCOUNT], tmp_path, now=clock)


async def switch_on(store: Store, **sections: str) -> Mapping[str, str]:
    """The service properties after these sections are set."""
    await store.set_properties(ACCOUNT, sections)
    return await store.get_properties(ACCOUNT)


async def record(analytics: Analytics, store: Store, *transactions: Transaction) -> None:
    """Record requests as the service does."""
    properties = await store.get_properties(ACCOUNT)
    for each in transactions:
        if analytics.is_on(ACCOUNT, properties):
            analytics.record(each)


async def rows(store: Store, name: str) -> dict[tuple[str, str], dict[str, object]]:
    """A metrics table's entities by key."""
    table = await store.find_table(ACCOUNT, name)
    if table is None:
        return {}
    page = await store.scan(table, Scan([WHOLE_TABLE], bytes_max=10**7, seconds_max=60))
    entities = [orjson.loads(text) for text in split_entities(page.text)]
    return {(entity["PartitionKey"], entity["RowKey"]): entity for entity in entities}


async def requests(store: Store, name: str) -> dict[tuple[str, str], str]:
    """TotalRequests by key."""
    return {key: str(entity["TotalRequests"]) for key, entity in (await rows(store, name)).items()}


def logged(folder: Path) -> list[str]:
    """All lines of the request log, by file and in order."""
    return [line for path in sorted(folder.glob("logs/**/*.log")) for line in path.read_text().splitlines()]


async def until(condition: Callable[[], bool]) -> None:
    """Wait for something that happens in the background."""
    async with asyncio.timeout(10):
        while not condition():  # noqa: ASYNC110 - nobody else tells
            await asyncio.sleep(0.01)


async def test_nothing_is_recorded_unless_the_properties_ask_for_it(analytics: Analytics, store: Store) -> None:
    assert not analytics.is_on(ACCOUNT, await store.get_properties(ACCOUNT))
    off = await switch_on(
        store,
        Logging=logging_section(read=False, write=False, delete=False),
        HourMetrics=metrics_section("HourMetrics", is_enabled=False),
        Cors="<Cors />",
    )
    assert not analytics.is_on(ACCOUNT, off)
    await analytics.flush()
    assert await store.list_tables(ACCOUNT, "", 10) == []


async def test_requests_are_counted_for_hour_minute_and_operation(analytics: Analytics, store: Store) -> None:
    await switch_on(store, HourMetrics=metrics_section("HourMetrics"), MinuteMetrics=metrics_section("MinuteMetrics"))
    await record(
        analytics,
        store,
        transaction("GetEntity"),
        transaction("GetEntity", started=NOON + MINUTE),
        transaction("InsertEntity", started=NOON + MINUTE, outcome=Outcome.CLIENT_OTHER_ERROR),
        transaction("InsertEntity", started=NOON + HOUR, grant_kind="sas"),
    )
    await analytics.flush()
    assert await requests(store, HOUR_TABLES[0]) == {
        ("20260301T1200", "user;All"): "3",
        ("20260301T1200", "user;QueryEntity"): "2",
        ("20260301T1200", "user;InsertEntity"): "1",
        ("20260301T1300", "user;All"): "1",
        ("20260301T1300", "user;InsertEntity"): "1",
    }
    assert await requests(store, MINUTE_TABLES[0]) == {
        ("20260301T1200", "user;All"): "1",
        ("20260301T1200", "user;QueryEntity"): "1",
        ("20260301T1201", "user;All"): "2",
        ("20260301T1201", "user;QueryEntity"): "1",
        ("20260301T1201", "user;InsertEntity"): "1",
        ("20260301T1300", "user;All"): "1",
        ("20260301T1300", "user;InsertEntity"): "1",
    }
    hour = (await rows(store, HOUR_TABLES[0]))["20260301T1200", "user;All"]
    assert (hour["Success"], hour["ClientOtherError"], hour["PercentSuccess"]) == ("2", "1", pytest.approx(200 / 3))
    assert (hour["TotalIngress"], hour["TotalEgress"]) == ("330", "660")
    assert hour["AverageE2ELatency"] == hour["AverageServerLatency"] == 5.0  # of the successes


async def test_a_request_counts_when_it_ended(analytics: Analytics, store: Store) -> None:
    await switch_on(store, MinuteMetrics=metrics_section("MinuteMetrics", include_apis=False))
    await record(analytics, store, transaction(started=NOON - SECOND, duration=2 * SECOND))
    await analytics.flush()
    assert await requests(store, MINUTE_TABLES[0]) == {("20260301T1200", "user;All"): "1"}


async def test_operations_are_counted_by_themselves_only_where_asked_for(analytics: Analytics, store: Store) -> None:
    await switch_on(store, HourMetrics=metrics_section("HourMetrics", include_apis=False))
    await record(analytics, store, transaction("GetEntity"))
    await analytics.flush()
    assert await requests(store, HOUR_TABLES[0]) == {("20260301T1200", "user;All"): "1"}
    assert await rows(store, MINUTE_TABLES[0]) == {}


async def test_requests_to_the_secondary_have_tables_of_their_own(analytics: Analytics, store: Store) -> None:
    await switch_on(
        store,
        HourMetrics=metrics_section("HourMetrics", include_apis=False),
        MinuteMetrics=metrics_section("MinuteMetrics", include_apis=False),
    )
    await record(analytics, store, transaction("GetEntity", is_secondary=True))
    await analytics.flush()
    assert await requests(store, HOUR_TABLES[0]) == {("20260301T1200", "user;All"): "0"}
    assert await requests(store, HOUR_TABLES[1]) == {("20260301T1200", "user;All"): "1"}
    assert await requests(store, MINUTE_TABLES[1]) == {("20260301T1200", "user;All"): "1"}


async def test_every_hour_has_its_entity(analytics: Analytics, store: Store, clock: Clock) -> None:
    """The reference: "even if no requests were made to the service". Minutes have none then."""
    await switch_on(store, HourMetrics=metrics_section("HourMetrics"), MinuteMetrics=metrics_section("MinuteMetrics"))
    for _ in range(4):
        await analytics.flush()
        clock.now += HOUR // 2
    assert await requests(store, HOUR_TABLES[0]) == {
        ("20260301T1200", "user;All"): "0",
        ("20260301T1300", "user;All"): "0",
    }
    assert await rows(store, MINUTE_TABLES[0]) == {}


async def test_requests_count_by_the_properties_of_their_time(analytics: Analytics, store: Store) -> None:
    await switch_on(store, HourMetrics=metrics_section("HourMetrics", include_apis=False))
    await record(analytics, store, transaction("GetEntity"), transaction("GetEntity"))
    await switch_on(store, HourMetrics=metrics_section("HourMetrics", is_enabled=False))
    await record(analytics, store, transaction("GetEntity"))
    await switch_on(store, HourMetrics=metrics_section("HourMetrics", include_apis=True))
    await record(analytics, store, transaction("GetEntity"))
    await analytics.flush()
    assert await requests(store, HOUR_TABLES[0]) == {
        ("20260301T1200", "user;All"): "3",
        ("20260301T1200", "user;QueryEntity"): "1",
    }


async def test_requests_are_logged(analytics: Analytics, store: Store, tmp_path: Path) -> None:
    await switch_on(store, Logging=logging_section(read=False))
    await record(analytics, store, transaction("GetEntity"), transaction("InsertEntity"), transaction("DeleteEntity"))
    await analytics.flush()
    assert [line.split(";")[2] for line in logged(tmp_path)] == ["InsertEntity", "DeleteEntity"]
    assert await store.list_tables(ACCOUNT, "", 10) == []


async def test_without_a_folder_there_is_no_log(clock: Clock, caplog: pytest.LogCaptureFixture) -> None:
    """Which is said once, when it is asked for."""
    store = MemoryStore()
    analytics = Analytics(store, [ACCOUNT], None, now=clock)
    await switch_on(store, Logging=logging_section())
    await record(analytics, store, transaction("GetEntity"), transaction("GetEntity"))
    await analytics.close()
    assert [entry.message for entry in caplog.records] == [
        "the service properties of sally ask for a log, but there is no data folder for it"
    ]


async def test_what_is_too_old_is_removed(analytics: Analytics, store: Store, clock: Clock, tmp_path: Path) -> None:
    """Whether or not the metrics or the log are still switched on."""
    await switch_on(
        store,
        Logging=logging_section(),
        HourMetrics=metrics_section("HourMetrics"),
        MinuteMetrics=metrics_section("MinuteMetrics"),
    )
    for age in (20 * DAY, 9 * DAY, 5 * DAY, 0):
        clock.now = NOON - age
        await record(analytics, store, transaction("GetEntity", started=clock.now))
        await record(analytics, store, transaction("GetEntity", started=clock.now, is_secondary=True))
        await analytics.flush()
    await analytics.retain()
    assert len(await rows(store, HOUR_TABLES[1])) == 8
    await switch_on(
        store,
        Logging=logging_section(read=False, write=False, delete=False, days=10),
        HourMetrics=metrics_section("HourMetrics", is_enabled=False, days=7),
        MinuteMetrics=metrics_section("MinuteMetrics", days=1),
    )
    await analytics.retain()
    for name in HOUR_TABLES:
        assert {key[0] for key in await rows(store, name)} == {"20260224T1200", "20260301T1200"}
    for name in MINUTE_TABLES:
        assert {key[0] for key in await rows(store, name)} == {"20260301T1200"}
    assert sorted({line[4:14] for line in logged(tmp_path)}) == ["2026-02-20", "2026-02-24", "2026-03-01"]


async def test_much_that_is_too_old_is_removed_step_by_step(analytics: Analytics, store: Store) -> None:
    await switch_on(store, MinuteMetrics=metrics_section("MinuteMetrics"))
    old = NOON - 3 * DAY
    await record(analytics, store, *(transaction("GetEntity", started=old + number * MINUTE) for number in range(200)))
    await record(analytics, store, transaction("GetEntity"))
    await analytics.flush()
    assert len(await rows(store, MINUTE_TABLES[0])) == 402
    await switch_on(store, MinuteMetrics=metrics_section("MinuteMetrics", days=1))
    await analytics.retain()
    assert len(await rows(store, MINUTE_TABLES[0])) == 2


async def test_what_was_recorded_is_kept_when_the_server_stops(
    analytics: Analytics, store: Store, tmp_path: Path
) -> None:
    await switch_on(store, Logging=logging_section(), HourMetrics=metrics_section("HourMetrics", include_apis=False))
    analytics.start()
    await record(analytics, store, transaction("GetEntity"))
    await analytics.close()
    assert await requests(store, HOUR_TABLES[0]) == {("20260301T1200", "user;All"): "1"}
    assert len(logged(tmp_path)) == 1


async def test_in_the_background_logs_are_written_soon_and_metrics_with_the_minute(
    analytics: Analytics, store: Store, clock: Clock, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "_TEND_SECONDS", 0.01)
    await switch_on(store, Logging=logging_section(), HourMetrics=metrics_section("HourMetrics"))
    analytics.start()
    await record(analytics, store, transaction("GetEntity"))
    await until(lambda: bool(logged(tmp_path)))
    assert await rows(store, HOUR_TABLES[0]) == {}
    clock.now += MINUTE
    async with asyncio.timeout(10):
        while not await rows(store, HOUR_TABLES[0]):  # noqa: ASYNC110 - nobody else tells
            await asyncio.sleep(0.01)
    await analytics.close()


async def test_trouble_in_the_background_is_logged_and_not_the_end(
    clock: Clock, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    class BrokenStore(MemoryStore):
        is_broken = True

        async def find_table(self, account: str, name: str) -> None:
            if self.is_broken:
                raise ValueError("broken")
            return await super().find_table(account, name)  # type: ignore[return-value]

    monkeypatch.setattr(module, "_TEND_SECONDS", 0.01)
    store = BrokenStore()
    analytics = Analytics(store, [ACCOUNT], None, now=clock)
    await switch_on(store, HourMetrics=metrics_section("HourMetrics", include_apis=False, days=1))
    analytics.start()
    await record(analytics, store, transaction("GetEntity"))
    clock.now += MINUTE
    await until(lambda: "analytics failed" in caplog.text)
    store.is_broken = False
    await analytics.close()
    assert await requests(store, HOUR_TABLES[0]) == {("20260301T1200", "user;All"): "1"}


async def test_tables_are_there_as_soon_as_metrics_are_switched_on(store: Store) -> None:
    """And it does not matter how often."""
    sections = {"HourMetrics": metrics_section("HourMetrics"), "Cors": "<Cors />"}
    for _ in range(2):
        await ensure_metrics_tables(store, ACCOUNT, sections)
        assert [table.name for table in await store.list_tables(ACCOUNT, "", 10)] == sorted(HOUR_TABLES)
    await ensure_metrics_tables(store, ACCOUNT, {"MinuteMetrics": metrics_section("MinuteMetrics")})
    await ensure_metrics_tables(store, ACCOUNT, {"HourMetrics": metrics_section("HourMetrics", is_enabled=False)})
    assert len(await store.list_tables(ACCOUNT, "", 10)) == 4
