"""The primary is killed in the midst of writing and its synchronous standby is promoted: nothing answered is lost.

The front end is not restarted. ROWKEY_FAILOVERS asks for more than one round, in which the primary before is made anew
as a standby of the one that took over; `make failover` does two.
"""

from __future__ import annotations

import asyncio
import itertools
import os
import time
from collections import defaultdict
from typing import TYPE_CHECKING

import pytest

from rowkey.model.entity import Key
from rowkey.store.checked import CheckedStore, split_page, verify_wire_text
from rowkey.store.interface import OutcomeUnknown, StoreUnavailable
from rowkey.store.postgres.schema import init
from rowkey.store.postgres.store import PostgresStore
from rowkey.store.testing.samples import ACCOUNT, insert, int32, scan_pages, string
from tests.postgres import SUPERUSER, Postgres

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rowkey.store.interface import Store, Table

ROUNDS = int(os.environ.get("ROWKEY_FAILOVERS", "1"))
WRITERS = 8
BATCH_SIZE = 20
SECONDS_BEFORE_KILL = 1.5
SECONDS_AFTER_PROMOTION_MAX = 5.0
SECONDS_AFTERWARDS = 1.0


@pytest.fixture
def pair() -> Iterator[list[Postgres]]:
    """A primary that waits for its standby, and the standby, both running."""
    servers = [Postgres(), Postgres({"synchronous_standby_names": "''"})]
    try:
        servers[0].init()
        servers[0].start()
        servers[1].copy_of(servers[0], "standby")
        servers[1].start()
        wait_for_standbys(servers[0])
        yield servers
    finally:
        for server in servers:
            server.close()


def wait_for_standbys(primary: Postgres) -> None:
    """From now on every commit is on both disks before it is answered."""
    primary.sql("ALTER SYSTEM SET synchronous_standby_names = '*'")
    primary.sql("SELECT pg_reload_conf()")
    deadline = time.monotonic() + 30
    while primary.sql("SELECT count(*) FROM pg_stat_replication WHERE sync_state = 'sync'").strip() != "1":
        assert time.monotonic() < deadline, "the standby does not follow"
        time.sleep(0.05)


async def test_no_answered_write_is_lost_in_a_failover(pair: list[Postgres]) -> None:
    primary, standby = pair
    hosts = ",".join(f"127.0.0.1:{server.port}" for server in pair)
    url = f"postgresql://{SUPERUSER}@{hosts}/postgres?target_session_attrs=read-write"
    await init(url, is_sharded=False)
    store = CheckedStore(await PostgresStore.open(url))
    table = await store.create_table(ACCOUNT, "ledger")
    answered: dict[Key, str] = {}
    for round_number in range(ROUNDS):
        if round_number:
            primary, standby = standby, await make_anew(primary, standby)
        await write_through_failover(store, table, primary, standby, f"{round_number}", answered)
    await verify(store, table, answered)
    await store.close()


async def make_anew(old: Postgres, primary: Postgres) -> Postgres:
    """The server that was killed, as a standby of the one that took over."""

    def copy() -> None:
        old.clear()
        old.copy_of(primary, "standby")
        old.start()
        wait_for_standbys(primary)

    await asyncio.to_thread(copy)
    return old


async def write_through_failover(
    store: Store, table: Table, primary: Postgres, standby: Postgres, name: str, answered: dict[Key, str]
) -> None:
    """Write before, during and after; the first write after the promotion is answered soon."""
    stop = asyncio.Event()
    moments: list[float] = []
    writers = [
        asyncio.create_task(write_on(store, table, f"{name}-{number}", stop, moments, answered))
        for number in range(WRITERS)
    ]
    await asyncio.sleep(SECONDS_BEFORE_KILL)
    before = len(answered)
    assert before > WRITERS
    primary.kill()
    await asyncio.to_thread(standby.promote)
    promoted = time.monotonic()
    while not (moments and moments[-1] > promoted):
        assert time.monotonic() < promoted + SECONDS_AFTER_PROMOTION_MAX, "the store does not find the new primary"
        await asyncio.sleep(0.05)
    await asyncio.sleep(SECONDS_AFTERWARDS)
    stop.set()
    await asyncio.gather(*writers)
    assert len(answered) > before


async def write_on(
    store: Store, table: Table, name: str, stop: asyncio.Event, moments: list[float], answered: dict[Key, str]
) -> None:
    """Insert entities, alone and by twenty, each time under new keys; what was answered goes into the ledger."""
    for number in itertools.count():
        if stop.is_set():
            return
        size = 1 if number % 3 else BATCH_SIZE
        partition_key = f"{name}-{number:06}"
        text = string(f"{partition_key};" * 50)
        writes = [insert(partition_key, f"{n:02}", Size=int32(size), Text=text) for n in range(size)]
        try:
            entities = await store.write(table, writes)
        except (StoreUnavailable, OutcomeUnknown):
            continue
        moments.append(time.monotonic())
        for write, entity in zip(writes, entities, strict=True):
            assert entity is not None
            answered[write.key] = entity.text


async def verify(store: Store, table: Table, answered: dict[Key, str]) -> None:
    """What was answered is there byte for byte; what was not is there whole, or not at all."""
    stored: dict[Key, str] = {}
    partitions: defaultdict[str, int] = defaultdict(int)
    for page in await scan_pages(store, table):
        for text in split_page(page.text):
            key, _ = verify_wire_text(text)
            stored[key] = text
            partitions[key.partition_key] += 1
    lost = {key for key, text in answered.items() if stored.get(key) != text}
    assert not lost
    assert set(partitions.values()) <= {1, BATCH_SIZE}
