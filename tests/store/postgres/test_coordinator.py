"""What the PostgreSQL store makes of what a coordinator of Citus says: of its nodes, or of itself.

There is no Citus here: where a test wants the error of a node, a view of the segments raises it, in a function whose
name brings about the context that Citus gives to such an error.
"""

from __future__ import annotations

import asyncio
import time
from typing import TYPE_CHECKING

import asyncpg
import pytest

from rowkey.model.entity import Key
from rowkey.store.checked import CheckedStore
from rowkey.store.interface import OutcomeUnknown, StoreUnavailable
from rowkey.store.postgres.session import Session
from rowkey.store.postgres.store import PostgresStore
from rowkey.store.testing.samples import ACCOUNT, insert, scan_keys, write_one

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from rowkey.store.interface import Store
    from rowkey.store.postgres.session import Connection
    from tests.postgres import Postgres

LOST_WORKER = """
ALTER TABLE rowkey.segment RENAME TO segment_kept;
CREATE FUNCTION rowkey."while executing command on worker1:5432"(in_seg bigint)
RETURNS boolean LANGUAGE plpgsql AS $body$
BEGIN
    IF in_seg = {segment} THEN
        RAISE EXCEPTION USING ERRCODE = '{state}', MESSAGE = '{message}';
    END IF;
    RETURN true;
END
$body$;
CREATE VIEW rowkey.segment AS
SELECT * FROM rowkey.segment_kept WHERE rowkey."while executing command on worker1:5432"(seg);
"""
FOUND_WORKER = """
DROP VIEW rowkey.segment;
ALTER TABLE rowkey.segment_kept RENAME TO segment;
DROP FUNCTION rowkey."while executing command on worker1:5432";
"""
REFUSED = (
    "connection to the remote node rowkey@worker1:5432 failed with the following error: "
    'connection to server at "worker1" (10.0.0.1), port 5432 failed: Connection refused'
)
OURS = "FROM pg_stat_activity WHERE application_name = 'rowkey' AND datname = current_database()"
SESSIONS = f"SELECT pid {OURS}"
CANCEL_WAITING = f"SELECT pid, pg_cancel_backend(pid) {OURS} AND wait_event_type = 'Lock'"
TIMEOUTS = "SELECT name, setting FROM pg_settings WHERE name IN ('statement_timeout', 'transaction_timeout')"


@pytest.fixture
async def url(postgres: Postgres) -> str:
    """A database of its own."""
    return await asyncio.to_thread(postgres.new_database)


@pytest.fixture
async def admin(url: str) -> AsyncIterator[Connection]:
    """An administrator's connection to it; its schema says that Citus spreads it."""
    connection = await asyncpg.connect(url)
    await connection.execute("UPDATE rowkey.schema_version SET is_sharded = true")
    yield connection
    await connection.close()


@pytest.fixture
async def opened(url: str, admin: Connection) -> AsyncIterator[Store]:
    """A store on it."""
    opened = CheckedStore(await PostgresStore.open(url))
    yield opened
    await opened.close()


async def lose_worker(admin: Connection, segment: int, state: str, message: str) -> None:
    """Answer statements about a segment as a coordinator does that has lost the node with it."""
    await admin.execute(LOST_WORKER.format(segment=segment, state=state, message=message))


async def test_a_lost_worker_keeps_nobody_from_the_others(admin: Connection, opened: Store) -> None:
    """What waits for it has no connection meanwhile, and ends none, since the one to the coordinator is sound."""
    lost, sound = [await opened.create_table(ACCOUNT, name) for name in ("lost", "sound")]
    entities = {table.name: await write_one(opened, table, insert("p", "r")) for table in (lost, sound)}
    await asyncio.gather(*(scan_keys(opened, sound) for _ in range(4)))
    await lose_worker(admin, lost.identity, "08006", REFUSED)
    sessions = await admin.fetch(SESSIONS)
    waiting: list[asyncio.Future[object]] = []
    for _ in range(8):
        waiting.append(asyncio.ensure_future(opened.get(lost, Key("p", "r"))))
        waiting.append(asyncio.ensure_future(scan_keys(opened, lost)))
        waiting.append(asyncio.ensure_future(opened.write(lost, [insert("q", f"{len(waiting)}")])))
        await asyncio.sleep(0.05)
    started = time.monotonic()
    assert await opened.get(sound, Key("p", "r")) == entities["sound"].text
    assert await scan_keys(opened, sound) == [Key("p", "r")]
    await opened.write(sound, [insert("p", "s"), insert("p", "t")])
    assert time.monotonic() - started < 1
    assert not [waiter for waiter in waiting if waiter.done()]
    assert set(sessions) <= set(await admin.fetch(SESSIONS))
    await admin.execute(FOUND_WORKER)
    results = await asyncio.gather(*waiting)
    assert results[0] == entities["lost"].text
    assert len(await scan_keys(opened, lost)) == 9


async def test_jobs_that_wait_for_another_attempt_are_finished_before_the_store_is_closed(
    url: str, admin: Connection
) -> None:
    opened = CheckedStore(await PostgresStore.open(url))
    table = await opened.create_table(ACCOUNT, "things")
    await lose_worker(admin, table.identity, "08006", REFUSED)
    reading = asyncio.ensure_future(opened.get(table, Key("p", "r")))
    await asyncio.sleep(0.2)
    closing = asyncio.ensure_future(opened.close())
    await asyncio.sleep(0.2)
    assert not closing.done()
    await admin.execute(FOUND_WORKER)
    assert await reading is None
    await closing


@pytest.mark.parametrize(
    ("state", "message", "outcome"),
    [
        ("08006", "could not establish any connections to the node worker1:5432 after 2000 ms", None),
        ("08006", REFUSED, None),
        ("57014", "canceling statement due to statement timeout", None),
        ("XX000", "could not find valid entry for shard 102040", None),
        ("42P01", 'relation "rowkey.entity_102040" does not exist', None),
        ("08006", REFUSED.replace("connection to server at", "server closed the connection: "), OutcomeUnknown),
        ("XX000", "server closed the connection unexpectedly", OutcomeUnknown),
        ("57P01", "terminating connection due to administrator command", OutcomeUnknown),
        ("0A000", "this is not supported on distributed tables", StoreUnavailable),
        ("42P01", 'relation "rowkey.entity" does not exist', StoreUnavailable),
    ],
)
async def test_what_a_coordinator_says_of_a_write(
    admin: Connection,
    opened: Store,
    caplog: pytest.LogCaptureFixture,
    state: str,
    message: str,
    outcome: type[Exception] | None,
) -> None:
    """What cannot have happened is tried again; what may have is not; what will not be otherwise is refused at once."""
    table = await opened.create_table(ACCOUNT, "things")
    await lose_worker(admin, table.identity, state, message)
    writing = asyncio.ensure_future(opened.write(table, [insert("p", "r")]))
    await asyncio.wait([writing], timeout=0.3 if outcome is None else 5)
    assert writing.done() == (outcome is not None)
    await admin.execute(FOUND_WORKER)
    if outcome is None:
        await writing
        assert not caplog.records
    else:
        with pytest.raises(outcome):
            await writing
        assert message in caplog.text
    assert (await opened.get(table, Key("p", "r")) is None) == (outcome is not None)


@pytest.mark.parametrize("is_sharded", [False, True])
async def test_a_write_that_is_cancelled(url: str, admin: Connection, *, is_sharded: bool) -> None:
    """One database has undone it, so it is done again. A coordinator does not know whether the worker has done it."""
    await admin.execute("UPDATE rowkey.schema_version SET is_sharded = $1", is_sharded)
    opened = await PostgresStore.open(url)
    table = await opened.create_table(ACCOUNT, "things")
    await admin.execute("BEGIN; LOCK TABLE rowkey.entity")
    writing = asyncio.ensure_future(opened.write(table, [insert("p", "r")]))
    while not await admin.fetch(CANCEL_WAITING):  # noqa: ASYNC110 - another process
        await asyncio.sleep(0.01)
    await admin.execute("COMMIT")
    if is_sharded:
        with pytest.raises(OutcomeUnknown):
            await writing
    else:
        await writing
    assert (await opened.get(table, Key("p", "r")) is None) == is_sharded
    await opened.close()


@pytest.mark.parametrize(("is_sharded", "milliseconds"), [(False, "3600000"), (True, "0")])
async def test_a_coordinator_waits_for_its_workers(
    url: str, admin: Connection, *, is_sharded: bool, milliseconds: str
) -> None:
    """What the database sets as the time that a statement may take would cancel a write that a worker is committing."""
    await admin.execute("UPDATE rowkey.schema_version SET is_sharded = $1", is_sharded)
    names = [name for name, _ in await admin.fetch(TIMEOUTS)]
    for name in names:
        await admin.execute(f"ALTER DATABASE {url.rpartition('/')[2]} SET {name} = '1h'")
    session = await Session.open(url)
    assert [tuple(row) for row in await session.read(TIMEOUTS)] == [(name, milliseconds) for name in names]
    await session.close()
