"""What the PostgreSQL store says when the database fails it: nothing happened, or nobody knows; no false success."""

from __future__ import annotations

import asyncio
import time
from typing import TYPE_CHECKING

import asyncpg
import pytest

from rowkey.model.entity import Key
from rowkey.odata.parser import parse_filter
from rowkey.store.checked import CheckedStore
from rowkey.store.interface import OutcomeUnknown, StoreUnavailable
from rowkey.store.postgres import lane, pages, store, writer
from rowkey.store.postgres.store import PostgresStore
from rowkey.store.testing.samples import ACCOUNT, fill, insert, int32, merge, replace, scan_keys, write_one
from tests.postgres import Postgres

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from rowkey.store.interface import Store


@pytest.fixture
async def opened(own_postgres: Postgres) -> AsyncIterator[Store]:
    """A store on it."""
    opened = CheckedStore(await PostgresStore.open(await asyncio.to_thread(own_postgres.new_database)))
    yield opened
    await opened.close()


async def wait_for_nobody(server: Postgres) -> None:
    """Let every commit wait for a standby that does not exist."""
    await asyncio.to_thread(server.sql, "ALTER SYSTEM SET synchronous_standby_names = 'nobody'")
    await asyncio.to_thread(server.sql, "SELECT pg_reload_conf()")
    await asyncio.sleep(0.3)


async def wait_for_none(server: Postgres) -> None:
    """Let commits wait for nobody."""
    await asyncio.to_thread(server.sql, "ALTER SYSTEM RESET synchronous_standby_names")
    await asyncio.to_thread(server.sql, "SELECT pg_reload_conf()")
    await asyncio.sleep(0.3)


WAITING = "SELECT pid FROM pg_stat_activity WHERE wait_event = 'SyncRep'"


async def waiting_process(server: Postgres) -> str:
    """The process of the database that waits for a standby."""
    while not (found := (await asyncio.to_thread(server.sql, WAITING)).strip()):  # noqa: ASYNC110 - another process
        await asyncio.sleep(0.05)
    return found


@pytest.mark.parametrize("end", ["pg_cancel_backend", "pg_terminate_backend"])
async def test_a_commit_that_was_not_replicated_is_no_success(own_postgres: Postgres, opened: Store, end: str) -> None:
    """The database says success and a warning: the write is on its disk, and on no other."""
    table = await opened.create_table(ACCOUNT, "things")
    await wait_for_nobody(own_postgres)
    writing = asyncio.ensure_future(opened.write(table, [insert("p", "r")]))
    process = await waiting_process(own_postgres)
    await asyncio.to_thread(own_postgres.sql, f"SELECT {end}({process})")
    with pytest.raises(OutcomeUnknown):
        await writing
    await wait_for_none(own_postgres)
    assert await opened.get(table, Key("p", "r")) is not None


async def test_a_commit_that_takes_too_long_is_not_cancelled(
    own_postgres: Postgres, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The connection is dropped; the database goes on, and what was written is there when the standby is."""
    monkeypatch.setattr(store, "_WRITE_SECONDS_MAX", 1.0)
    opened = await PostgresStore.open(await asyncio.to_thread(own_postgres.new_database))
    table = await opened.create_table(ACCOUNT, "things")
    await wait_for_nobody(own_postgres)
    with pytest.raises(OutcomeUnknown):
        await opened.write(table, [insert("p", "r")])
    assert await opened.get(table, Key("p", "r")) is None  # waits still, so nobody has seen it
    await wait_for_none(own_postgres)
    assert await opened.get(table, Key("p", "r")) is not None
    await opened.close()


async def test_what_waits_for_a_busy_database_is_refused_in_time(
    own_postgres: Postgres, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nothing can have happened to a write that was never sent."""
    monkeypatch.setattr(store, "_WRITE_SECONDS_MAX", 4.0)
    monkeypatch.setattr(lane, "PATIENCE_SECONDS", 1.0)
    opened = await PostgresStore.open(await asyncio.to_thread(own_postgres.new_database))
    table = await opened.create_table(ACCOUNT, "things")
    await wait_for_nobody(own_postgres)
    results = await asyncio.gather(
        *(opened.write(table, [insert("p", f"{number}"), insert("p", f"{number}b")]) for number in range(12)),
        return_exceptions=True,
    )
    assert [type(result) for result in results].count(OutcomeUnknown) == 8
    assert [type(result) for result in results].count(StoreUnavailable) == 4
    await wait_for_none(own_postgres)
    assert len(await scan_keys(opened, table)) == 16
    await opened.close()


async def test_a_restart_of_the_database_is_waited_for(own_postgres: Postgres, opened: Store) -> None:
    table = await opened.create_table(ACCOUNT, "things")
    entity = await write_one(opened, table, insert("p", "r", A=int32(1)))
    own_postgres.stop()
    reading = asyncio.ensure_future(opened.get(table, Key("p", "r")))
    writing = asyncio.ensure_future(opened.write(table, [insert("p", "s")]))
    await asyncio.sleep(0.3)
    await asyncio.to_thread(own_postgres.start)
    assert await reading == entity.text
    try:
        await writing
    except OutcomeUnknown:  # sent over a connection that had ended, and nobody had noticed
        pass
    await opened.write(table, [replace("p", "s")])
    assert await scan_keys(opened, table) == [Key("p", "r"), Key("p", "s")]


async def test_a_database_that_stays_away_is_given_up(
    own_postgres: Postgres, opened: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(lane, "PATIENCE_SECONDS", 1.0)
    table = await opened.create_table(ACCOUNT, "things")
    own_postgres.stop()
    started = time.monotonic()
    results = await asyncio.gather(
        opened.get(table, Key("p", "r")),
        opened.find_table(ACCOUNT, "others"),
        scan_keys(opened, table),
        opened.get_policies(table),
        *(opened.write(table, [insert("p", f"{number}")]) for number in range(20)),
        return_exceptions=True,
    )
    assert {type(result) for result in results} <= {StoreUnavailable, OutcomeUnknown}
    assert [type(result) for result in results[:4]] == [StoreUnavailable] * 4
    assert time.monotonic() - started < 5
    await asyncio.to_thread(own_postgres.start)


async def test_whether_the_database_can_be_reached_is_known_without_a_write(own_postgres: Postgres) -> None:
    """A load balancer sends nothing to a server that is not ready, so no write would ever find out."""
    opened = await PostgresStore.open(await asyncio.to_thread(own_postgres.new_database))
    assert await opened.ask_for_trouble() is None
    own_postgres.stop()
    assert await opened.ask_for_trouble() == "the database cannot be reached"
    await asyncio.to_thread(own_postgres.start)
    while await opened.ask_for_trouble() is not None:  # it takes its time to answer
        pass
    await opened.close()


async def test_deadlocks_are_tried_again(own_postgres: Postgres, opened: Store) -> None:
    """Another program has locked what a transaction needs, in the other order; the database ends one of them."""
    table = await opened.create_table(ACCOUNT, "things")
    await opened.write(table, [insert("p", "1"), insert("p", "2")])
    url = opened.inner._points._url  # type: ignore[attr-defined]
    other = await asyncpg.connect(url)
    await other.execute("SET deadlock_timeout = '60s'; BEGIN")
    await other.execute("SELECT FROM rowkey.entity WHERE rk = '2' FOR UPDATE")
    writing = asyncio.ensure_future(opened.write(table, [replace("p", "1"), replace("p", "2")]))
    await asyncio.sleep(0.2)
    locking = asyncio.ensure_future(other.execute("SELECT FROM rowkey.entity WHERE rk = '1' FOR UPDATE"))
    await locking  # the store's transaction was ended, after a second, and has begun anew
    await other.execute("COMMIT")
    await other.close()
    assert len(await writing) == 2


async def test_merges_that_another_front_end_overtakes_begin_anew(
    own_postgres: Postgres, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Both properties are there in the end, though each merge was made without the other's."""
    url = await asyncio.to_thread(own_postgres.new_database)
    one, two = await PostgresStore.open(url), await PostgresStore.open(url)
    table = await one.create_table(ACCOUNT, "things")
    await write_one(one, table, insert("p", "r"))
    look = writer.EntityGroup._look
    looked: list[int] = []

    async def look_and_be_overtaken(group: writer.EntityGroup, session: object) -> object:
        found = await look(group, session)  # type: ignore[arg-type]
        looked.append(len(looked))
        if len(looked) == 1:
            await two.write(table, [merge("p", "r", B=int32(2))])
        return found

    monkeypatch.setattr(writer.EntityGroup, "_look", look_and_be_overtaken)
    entity = await write_one(one, table, merge("p", "r", A=int32(1)))
    assert '"A":1,"B":2' in entity.text
    assert await two.get(table, Key("p", "r")) == entity.text
    assert len(looked) == 3
    await one.close()
    await two.close()


async def test_a_page_that_fails_midway_leaves_its_connection_usable(
    own_postgres: Postgres, opened: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Filters that look at much run in a transaction; one that was cancelled in it is run again, and those after it."""
    monkeypatch.setattr(pages, "_CHUNK_ENTITIES", 100)
    table = await opened.create_table(ACCOUNT, "things")
    await fill(opened, table, "p", [f"{number:03}" for number in range(300)], A=int32(1))
    url = opened.inner._points._url  # type: ignore[attr-defined]
    other = await asyncpg.connect(url)
    filter_all = pages.PageScan._filter_all
    cancelled: list[int] = []

    async def filter_and_be_cancelled(scan: pages.PageScan, *arguments: object) -> object:
        if len(cancelled) == 4:
            return await filter_all(scan, *arguments)  # type: ignore[arg-type]
        await other.execute("BEGIN; LOCK TABLE rowkey.entity")
        filtering = asyncio.ensure_future(filter_all(scan, *arguments))  # type: ignore[arg-type]
        while not (found := await other.fetch(BLOCKED)):  # noqa: ASYNC110 - another process
            await asyncio.sleep(0.01)
        cancelled.extend(row["pid"] for row in found)
        await other.execute("COMMIT")
        return await filtering

    monkeypatch.setattr(pages.PageScan, "_filter_all", filter_and_be_cancelled)
    for _ in range(4):
        assert await scan_keys(opened, table, predicate=parse_filter("A eq 2")) == []
    assert len(cancelled) == 4
    assert "idle in transaction" not in await asyncio.to_thread(own_postgres.sql, "SELECT state FROM pg_stat_activity")
    await other.close()


BLOCKED = """
SELECT pid, pg_cancel_backend(pid) FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND application_name = 'rowkey'
"""


async def test_a_statement_whose_plan_has_changed_is_prepared_anew(own_postgres: Postgres, opened: Store) -> None:
    """The database refuses it with a code that has other meanings too."""
    table = await opened.create_table(ACCOUNT, "things")
    database = opened.inner._points._url.rpartition("/")[2]  # type: ignore[attr-defined]
    assert await opened.list_tables(ACCOUNT, "", 10) == [table]
    alter = "ALTER TABLE rowkey.table_of_account ALTER COLUMN name TYPE varchar(63)"
    await asyncio.to_thread(own_postgres.sql, alter, database)
    assert await opened.list_tables(ACCOUNT, "", 10) == [table]
