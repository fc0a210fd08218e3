"""Each answer about a single entity is one that some order of all operations explains, also over crashes.

The checker (`linearizability.py`) is tested first: with histories whose verdict is plain, and with stores into which
bugs were planted.
"""

from __future__ import annotations

import asyncio
import itertools
import random
from typing import TYPE_CHECKING

import pytest

from rowkey.model.entity import Key
from rowkey.store.embedded.store import EmbeddedStore
from tests.torture.effort import SEED, rounds
from tests.torture.history import CLIENTS, StoreAsker, record
from tests.torture.linearizability import Operation, Seen, is_linearizable
from tests.torture.planted_bugs import OF_SINGLE_ENTITIES, SlowStore
from tests.torture.socket_client import SocketAsker

if TYPE_CHECKING:
    from pathlib import Path

    from rowkey.store.interface import Store
    from tests.conftest import ServerProcess

HISTORIES = rounds(24, 120)
KILLS = rounds(2, 10)
OPERATIONS = 8
"""Of each client, in one history."""


# ---------------------------------------------------------------- the checker

INSERT = Operation(0, "insert", 0, 1, "ok", value=1, etag="a")
READ = Operation(1, "get", 2, 3, "ok", seen=Seen("a", 1))
MISS = Operation(1, "get", 2, 3, "missing")


@pytest.mark.parametrize(
    "history",
    [
        [],
        [INSERT, READ],
        [INSERT, Operation(1, "get", 0.5, 3, "missing")],  # they overlap
        [Operation(0, "insert", 0, 1, "unknown", value=1), MISS],
        [Operation(0, "insert", 0, 1, "unknown", value=1), READ],
        [Operation(0, "insert", 0, 1, "unknown", value=1), MISS, Operation(1, "get", 4, 5, "ok", seen=Seen("a", 1))],
        [
            INSERT,
            Operation(1, "replace", 2, 5, "ok", value=2, match="a", etag="b"),
            Operation(2, "get", 3, 4, "ok", seen=Seen("a", 1)),
        ],
    ],
)
def test_what_some_order_explains_is_linearizable(history: list[Operation]) -> None:
    assert is_linearizable(history)


@pytest.mark.parametrize(
    "history",
    [
        [READ],
        [INSERT, MISS],
        [INSERT, Operation(1, "insert", 2, 3, "ok", value=2, etag="b")],
        [INSERT, Operation(1, "delete", 2, 3, "missing", match="*")],
        [INSERT, Operation(1, "replace", 2, 3, "changed", match="a", value=2)],
        [INSERT, Operation(1, "delete", 2, 3, "ok", match="a"), Operation(2, "insert", 4, 5, "ok", value=2, etag="a")],
        [Operation(0, "insert", 0, 1, "unknown", value=1), READ, Operation(1, "get", 4, 5, "missing")],
        [
            INSERT,
            Operation(1, "replace", 2, 6, "ok", value=2, match="a", etag="b"),
            Operation(2, "replace", 3, 5, "ok", value=3, match="a", etag="c"),
        ],
    ],
)
def test_what_no_order_explains_is_not_linearizable(history: list[Operation]) -> None:
    assert not is_linearizable(history)


async def histories_of(store: Store, count: int) -> list[list[Operation]]:
    """Histories of so many entities, one after the other."""
    table = await store.create_table("account", "Things")
    chance = random.Random(SEED)
    values = itertools.count(1)
    askers = [StoreAsker(store, table) for _ in range(CLIENTS)]
    return [await record([*askers], Key("p", f"{number}"), OPERATIONS, values, chance) for number in range(count)]


@pytest.mark.parametrize("buggy", OF_SINGLE_ENTITIES, ids=lambda store: store.__name__)
async def test_planted_bugs_are_found(buggy: type[SlowStore]) -> None:
    assert not all(map(is_linearizable, await histories_of(buggy(), 40)))


async def test_a_store_without_bugs_is_linearizable() -> None:
    assert all(map(is_linearizable, await histories_of(SlowStore(), 40)))


# ---------------------------------------------------------------- the server


async def test_the_embedded_store_is_linearizable(tmp_path: Path) -> None:
    store = EmbeddedStore.open(tmp_path)
    assert all(map(is_linearizable, await histories_of(store, HISTORIES)))
    await store.close()


def test_the_server_is_linearizable_also_when_it_is_killed(own_server: ServerProcess) -> None:
    histories = asyncio.run(record_over_sockets(own_server))
    unknown = sum(operation.answer == "unknown" for history in histories for operation in history)
    for number, history in enumerate(histories):
        assert is_linearizable(history), f"history {number} of seed {SEED}"
    count = sum(map(len, histories))
    print(f"{len(histories)} histories of {CLIENTS} clients, {count} operations, {KILLS} kills, {unknown} unanswered")
    assert unknown


async def record_over_sockets(process: ServerProcess) -> list[list[Operation]]:
    """Histories from a real server that is killed and started again meanwhile."""
    groups = 4
    chance = random.Random(SEED)
    values = itertools.count(1)
    askers = [[SocketAsker(process.server) for _ in range(CLIENTS)] for _ in range(groups)]
    await askers[0][0].create_table()
    histories: list[list[Operation]] = [[] for _ in range(HISTORIES)]

    async def play(group: int) -> None:
        for number in range(group, HISTORIES, groups):
            key = Key(f"p{group}", f"{number}")
            histories[number] = await record([*askers[group]], key, OPERATIONS, values, chance)

    async def kill() -> None:
        for _ in range(KILLS):
            await asyncio.sleep(chance.uniform(0.05, 0.3))
            await asyncio.to_thread(process.kill)
            await asyncio.to_thread(process.start)

    await asyncio.gather(kill(), *map(play, range(groups)))
    for group in askers:
        for asker in group:
            await asker.close()
    return histories
