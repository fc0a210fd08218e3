"""A real server is killed in the midst of mixed writes, again and again, and what it confirmed is there every time.

Clients write unique entities, merges, deletions, insertions of what was deleted, and transactions, over sockets. Each
keeps a ledger of what was confirmed, in this process, which is not the one that is killed. After each kill everything
is compared: nothing confirmed is lost, no transaction is torn, nothing deleted is back, no ETag comes twice.
"""

from __future__ import annotations

import asyncio
import random
from typing import TYPE_CHECKING

import pytest

from rowkey.store.interface import Table
from tests.torture.effort import SEED, rounds
from tests.torture.socket_client import TABLE, SocketStore
from tests.torture.workload import Client, faults_of, stored_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.conftest import ServerProcess

CLIENTS = 12
KILLS_OF_A_TABLE = 10
"""After which a new one is begun, so that reading it stays quick."""


@pytest.mark.parametrize(
    ("options", "kills"), [((), rounds(6, 200)), (("--workers", "3"), rounds(3, 60))], ids=["one process", "workers"]
)
def test_a_killed_server_has_what_it_confirmed(
    own_server_with: Callable[..., ServerProcess], options: tuple[str, ...], kills: int
) -> None:
    process = own_server_with(*options)
    confirmed, unsure = asyncio.run(kill_repeatedly(process, kills))
    print(f"{kills} kills of {' '.join(options) or 'one process'}: {confirmed} confirmed writes, {unsure} unanswered")
    assert confirmed > kills * CLIENTS


async def kill_repeatedly(process: ServerProcess, kills: int) -> tuple[int, int]:
    """How many writes were confirmed, and how many were cut off."""
    chance = random.Random(SEED)
    stores = [SocketStore(process.server) for _ in range(CLIENTS)]
    clients: list[Client] = []
    confirmed = unsure = 0
    for number in range(kills):
        if number % KILLS_OF_A_TABLE == 0:
            await stores[0].drop_table()
            await stores[0].create_table()
            clients = [Client(f"client-{which}-{number}") for which in range(CLIENTS)]
        confirmed += await write_and_kill(process, stores, clients, chance)
        await asyncio.to_thread(process.start)
        faults = faults_of(clients, stored_of(await stores[0].pages()))
        assert not faults, f"kill {number} of seed {SEED}: {faults[:5]}"
        unsure += sum(len(client.unsure) > 0 for client in clients)
    for store in stores:
        await store.close()
    return confirmed, unsure


async def write_and_kill(
    process: ServerProcess, stores: list[SocketStore], clients: list[Client], chance: random.Random
) -> int:
    """One round; how many writes were confirmed."""
    table = Table("", TABLE, 0, 0)  # the server's own matter
    confirmed = 0

    async def work(store: SocketStore, client: Client) -> None:
        nonlocal confirmed
        while await client.write(store, table, chance):
            confirmed += 1

    writing = [asyncio.create_task(work(*pair)) for pair in zip(stores, clients, strict=True)]
    await asyncio.sleep(chance.uniform(0.02, 0.4))
    process.kill()
    await asyncio.gather(*writing)
    return confirmed
