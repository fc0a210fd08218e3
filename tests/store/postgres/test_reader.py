"""Points that are read together: whatever their number and order, each has its own answer."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

import pytest

from rowkey.errors import TableNotFound
from rowkey.model.entity import Key
from rowkey.store.checked import CheckedStore, verify_wire_text
from rowkey.store.interface import StoreUnavailable
from rowkey.store.postgres import lane, reader, statements
from rowkey.store.postgres.session import Session
from rowkey.store.postgres.store import PostgresStore
from rowkey.store.testing.samples import ACCOUNT, fill, int32

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from rowkey.store.interface import Store, Table

PARTITIONS = ["b", "a", "é"]
ROWS = [f"{number:03}" for number in range(reader._TOGETHER_MAX)]


@pytest.fixture
async def store(empty_database: str) -> AsyncIterator[Store]:
    store = await PostgresStore.open(empty_database)
    yield CheckedStore(store)
    await store.close()


@pytest.fixture
async def table(store: Store) -> Table:
    """A table with entities in three partitions."""
    table = await store.create_table(ACCOUNT, "things")
    for partition_key in PARTITIONS:
        await fill(store, table, partition_key, ROWS, A=int32(1))
    return table


@pytest.fixture
def statements_read(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The statements that were sent from now on."""
    sent: list[str] = []
    read = Session.read

    async def note(session: Session, sql: str, *arguments: object) -> object:
        sent.append(sql)
        return await read(session, sql, *arguments)

    monkeypatch.setattr(Session, "read", note)
    return sent


async def test_each_point_of_a_turn_has_its_own_answer(store: Store, table: Table, statements_read: list[str]) -> None:
    """Out of order, some twice, some missing, and more of them than one statement reads."""
    keys = [Key(partition_key, row_key) for row_key in reversed(ROWS) for partition_key in PARTITIONS]
    keys = [*keys, Key("a", "missing"), Key("c", "000"), *keys[:5]]
    texts = await asyncio.gather(*(store.get(table, key) for key in keys))
    for key, text in zip(keys, texts, strict=True):
        if key.row_key in ROWS and key.partition_key in PARTITIONS:
            assert text is not None
            assert verify_wire_text(text)[0] == key
        else:
            assert text is None
    assert statements_read == [statements.GET_MANY] * 4


async def test_a_point_alone_is_read_alone(store: Store, table: Table, statements_read: list[str]) -> None:
    assert await store.get(table, Key("a", "missing")) is None
    assert await store.get(table, Key("a", "001")) is not None
    assert statements_read == [statements.GET_ONE] * 2


async def test_a_client_that_leaves_takes_no_answer_from_others(store: Store, table: Table) -> None:
    reading = [asyncio.ensure_future(store.get(table, Key("a", row_key))) for row_key in ROWS[:5]]
    await asyncio.sleep(0)
    reading[1].cancel()
    results = await asyncio.gather(*reading, return_exceptions=True)
    assert isinstance(results.pop(1), asyncio.CancelledError)
    assert [verify_wire_text(str(text))[0].row_key for text in results] == [ROWS[0], *ROWS[2:5]]


async def test_points_of_a_table_that_another_deletes_are_all_refused(
    store: Store, table: Table, empty_database: str
) -> None:
    other = await PostgresStore.open(empty_database)
    await other.delete_table(ACCOUNT, "things")
    await other.close()
    results = await asyncio.gather(
        *(store.get(table, Key("a", row_key)) for row_key in ROWS[:5]), return_exceptions=True
    )
    assert [type(result) for result in results] == [TableNotFound] * 5


async def test_points_that_wait_in_vain_are_refused_and_the_next_ones_are_read(
    store: Store, table: Table, monkeypatch: pytest.MonkeyPatch
) -> None:
    """While every connection is busy for longer than anybody is kept waiting; a group of points must not stay open."""
    monkeypatch.setattr(lane, "PATIENCE_SECONDS", 0.1)
    busy = asyncio.Event()
    points: lane.Lane = store.inner._points  # type: ignore[attr-defined]

    async def keep_busy(_session: Session) -> None:
        await busy.wait()

    keeping = [points.submit(keep_busy) for _ in points._workers]
    await asyncio.sleep(0)
    results = await asyncio.gather(
        *(store.get(table, Key("a", row_key)) for row_key in ROWS[:5]), return_exceptions=True
    )
    assert [type(result) for result in results] == [StoreUnavailable] * 5
    busy.set()
    await asyncio.gather(*keeping)
    assert await store.get(table, Key("a", ROWS[0])) is not None
