"""Indexes come by themselves for what is filtered on again and again, and for nothing else."""

from __future__ import annotations

import asyncio
import logging
from typing import TYPE_CHECKING

import pytest

from rowkey.model.edm import EdmType
from rowkey.odata.ast import And, Comparison, Constant, Filter, Not, Or
from rowkey.store.auto_index import INDEXES_MAX, SECONDS_MAX, TIMES_MIN, AutoIndexStore, comparisons_to_index
from rowkey.store.embedded.store import EmbeddedStore
from rowkey.store.testing.indexes import ready
from rowkey.store.testing.samples import ACCOUNT, boolean, insert, int32, scan_page, string

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Sequence
    from pathlib import Path

    from rowkey.store.interface import Table

ENTITIES = 12_000
"""Not many more than a page must look at."""
EMAIL = Comparison("Email", "eq", string("7"))
COMMON = Comparison("Kind", "eq", string("common"))
RARE = Comparison("Number", "gt", int32(ENTITIES - 5))


@pytest.mark.parametrize(
    ("predicate", "expected"),
    [
        (EMAIL, [EMAIL]),
        (And((EMAIL, RARE)), [EMAIL]),
        (And((RARE, Not(EMAIL))), [RARE]),
        (Or((EMAIL, RARE)), [EMAIL, RARE]),
        (Or((EMAIL, Not(RARE))), []),
        (And((Or((EMAIL, RARE)), Comparison("A", "ne", int32(1)))), [EMAIL]),
        (Comparison("Flag", "eq", boolean(True)), []),
        (Comparison("PartitionKey", "ne", string("a")), []),
        (Comparison("Flag", "eq", Constant(EdmType.BOOLEAN, True)), []),
    ],
)
def test_comparisons_that_an_index_could_answer(predicate: Filter, expected: list[Comparison]) -> None:
    assert comparisons_to_index(predicate) == expected


class Clock:
    seconds = 0.0

    def __call__(self) -> float:
        return self.seconds


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
async def store(tmp_path: Path, clock: Clock) -> AsyncIterator[AutoIndexStore]:
    store = AutoIndexStore(EmbeddedStore.open(tmp_path / "data"), clock)
    yield store
    await store.close()


async def filled(store: AutoIndexStore) -> Table:
    table = await store.create_table(ACCOUNT, "things")
    for start in range(0, ENTITIES, 100):
        numbers = range(start, start + 100)
        await store.write(
            table,
            [
                insert(
                    "p", f"{n:05}", Email=string(str(n)), Number=int32(n), Kind=string(["common", "x"][n % 500 == 0])
                )
                for n in numbers
            ],
        )
    return table


async def ask(store: AutoIndexStore, table: Table, predicate: Filter, times: int) -> None:
    for _ in range(times):
        await scan_page(store, table, predicate=predicate)


async def names(store: AutoIndexStore, table: Table, *, seconds: float = 0.5) -> Sequence[str]:
    """The indexes there are once there was time to add one."""
    await asyncio.sleep(seconds)
    return [index.name for index in await ready(store, table)]


async def test_an_index_is_added_for_what_is_asked_again_and_again(
    store: AutoIndexStore, caplog: pytest.LogCaptureFixture
) -> None:
    table = await filled(store)
    await ask(store, table, EMAIL, TIMES_MIN - 1)
    assert await names(store, table) == []
    with caplog.at_level(logging.INFO):
        await ask(store, table, EMAIL, 1)
        assert await names(store, table) == ["Email"]
    assert "an index is added on Email of things (account)" in caplog.text
    assert "rowkey index drop things Email" in caplog.text
    await store.drop_index(table, "Email")
    await ask(store, table, EMAIL, TIMES_MIN)
    assert await names(store, table) == []


async def test_what_is_asked_now_and_then_is_forgotten(store: AutoIndexStore, clock: Clock) -> None:
    table = await filled(store)
    for _ in range(TIMES_MIN + 3):
        clock.seconds += SECONDS_MAX / (TIMES_MIN - 2)
        await ask(store, table, EMAIL, 1)
    assert await names(store, table) == []


async def test_a_common_value_is_worth_no_index(store: AutoIndexStore, caplog: pytest.LogCaptureFixture) -> None:
    """Here the other condition is what is rare, and it cannot have an index."""
    table = await filled(store)
    with caplog.at_level(logging.INFO):
        await ask(store, table, And((COMMON, Not(Comparison("Number", "ge", int32(0))))), TIMES_MIN)
        assert await names(store, table) == []
    assert "many have what is asked for" in caplog.text


async def test_a_table_gets_no_more_than_a_few(store: AutoIndexStore, caplog: pytest.LogCaptureFixture) -> None:
    table = await filled(store)
    for number in range(INDEXES_MAX):
        await store.add_index(table, f"A{number}")
    await ask(store, table, EMAIL, TIMES_MIN)
    assert "Email" not in await names(store, table)
    assert f"has {INDEXES_MAX} indexes" in caplog.text


async def test_small_tables_get_none(store: AutoIndexStore) -> None:
    table = await store.create_table(ACCOUNT, "small")
    await store.write(table, [insert("p", str(number), Email=string("x")) for number in range(100)])
    await ask(store, table, EMAIL, 2 * TIMES_MIN)
    assert await names(store, table, seconds=0.1) == []
