"""The power goes at any moment, and everything that was confirmed is there afterwards.

The disk is simulated (`disk.py`): what was not synced is lost, kept or torn, sector by sector and in any order, and so
are names of files. With `synchronous = NORMAL` the same test must find losses, or it would prove nothing.
"""

from __future__ import annotations

import asyncio
import itertools
import random
from contextlib import suppress
from typing import TYPE_CHECKING

import apsw
import pytest

from rowkey.errors import ServiceError
from rowkey.model.datetimes import now_ticks
from rowkey.store.embedded import statements, writer
from rowkey.store.embedded.folder import FolderError
from rowkey.store.embedded.mark import MARK_NAME
from rowkey.store.embedded.store import EmbeddedStore
from tests.torture.disk import Disk, failure, mounted
from tests.torture.effort import SEED, rounds
from tests.torture.workload import ACCOUNT, Client, faults_of, read_stored

if TYPE_CHECKING:
    from pathlib import Path

CUTS = rounds(12, 200)
CLIENTS = 6
pytestmark = [
    # apsw reports what a disk without power answers while connections are closed, where SQLite itself does not mind.
    pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"),
]
CALLS_MAX = 900
"""A cut comes before one of so many calls to the disk."""


@pytest.fixture(autouse=True)
def short_log(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the log be folded often, so that cuts also come in the midst of that."""
    monkeypatch.setattr(writer, "_LOG_PAGES_MAX", 25)


def test_nothing_confirmed_is_lost_when_the_power_goes(tmp_path: Path) -> None:
    confirmed = 0
    for number in range(CUTS):
        faults, count = asyncio.run(live_through_a_cut(tmp_path / f"{number}", SEED * 10_000 + number))
        assert not faults, f"cut {number} of seed {SEED}: {faults[:5]}"
        confirmed += count
    print(f"{CUTS} power cuts, {confirmed} confirmed writes: none lost, none torn")
    assert confirmed > CUTS * 10


def test_the_simulation_finds_loss_where_commits_are_not_synced(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pragmas = statements.WRITER_PRAGMAS.replace("synchronous = FULL", "synchronous = NORMAL")
    assert pragmas != statements.WRITER_PRAGMAS
    monkeypatch.setattr(statements, "WRITER_PRAGMAS", pragmas)
    cuts = (asyncio.run(live_through_a_cut(tmp_path / f"{number}", number)) for number in range(20))
    assert any(faults for faults, _ in cuts)


async def live_through_a_cut(folder: Path, seed: int) -> tuple[list[str], int]:
    """Clients write until the power goes; what is wrong with what is left, and how many writes were confirmed."""
    chance = random.Random(seed)
    (folder / "left").mkdir(parents=True)
    machine = Machine(folder, chance)
    with mounted(machine.disk):
        await machine.run()
    return await look_at(machine, folder / "left"), sum(client.count - client.refused for client in machine.clients)


class Machine:
    """A server with clients, and the moment at which its power goes."""

    def __init__(self, folder: Path, chance: random.Random) -> None:
        self._folder = folder
        self._chance = chance
        self._calls_left = chance.randrange(1, CALLS_MAX)
        self.is_off = False
        self.disk = Disk(self._before)
        self.clients = [Client(f"client-{number}") for number in range(CLIENTS)]
        self.has_table = False
        self._marks: list[bytes] = []
        self.dropped: set[str] = set()
        self.made: set[str] = set()

    def _before(self, call: str, _name: str) -> None:
        self._calls_left -= 1
        mark = self._folder / "data" / MARK_NAME
        if mark.exists():
            self._marks.append(mark.read_bytes())
        if self._calls_left == 0:
            self.is_off = True
            self.disk.after_power_cut(self._folder / "left", self._chance)
            self._leave_mark()
        if self.is_off:
            raise failure(call)

    def _leave_mark(self) -> None:
        """The mark is never synced: it may be as it is, as it was once, or missing."""
        if self._marks and self._chance.random() < 0.9:
            mark = self._marks[-1] if self._chance.random() < 0.6 else self._chance.choice(self._marks)
            (self._folder / "left" / MARK_NAME).write_bytes(mark)

    async def run(self) -> None:
        """Serve until the power goes; now and then the server is started anew."""
        while not self.is_off:
            try:
                store = EmbeddedStore.open(self._folder / "data", now=self._now)
            except FolderError:
                if self._calls_left > 0:
                    raise
                return
            await self._serve(store, self._chance.randrange(20, 200))
            with suppress(apsw.Error):  # SQLite does not mind, but apsw tells of every error of a disk
                await store.close()

    def _now(self) -> int:
        """A clock that jumps to and fro."""
        return now_ticks() + self._chance.randrange(-3, 3) * 36_000_000_000

    async def _serve(self, store: EmbeddedStore, turns: int) -> None:
        table = await store.find_table(ACCOUNT, "Ledger")
        try:
            if table is None:
                table = await store.create_table(ACCOUNT, "Ledger")
        except ServiceError:
            return
        if self.is_off:
            return
        self.has_table = True

        async def work(client: Client) -> None:
            for _ in range(turns):
                if self.is_off or (not await client.write(store, table, self._chance) and self.is_off):
                    return

        await asyncio.gather(*map(work, self.clients), self._make_tables(store))

    async def _make_tables(self, store: EmbeddedStore) -> None:
        """Create tables, and delete every second one."""
        for number in itertools.count(len(self.made)):
            if self.is_off or number % 5 == 4:
                return
            try:
                await store.create_table(ACCOUNT, f"Table{number}")
                self.made.add(f"Table{number}")
                if number % 2:
                    self.dropped.add(f"Table{number}")  # from now on it may be gone
                    await store.delete_table(ACCOUNT, f"Table{number}")
            except ServiceError:
                return


async def look_at(machine: Machine, left: Path) -> list[str]:
    """Start a server on what the power cut has left, and compare."""
    try:
        store = EmbeddedStore.open(left, now=lambda: 1)  # the clock begins in 1601
    except FolderError as error:
        return [f"the server does not start: {error}"]
    try:
        tables = {table.name for table in await store.list_tables(ACCOUNT, "", 1000)}
        faults = [f"{name} is gone" for name in machine.made - machine.dropped - tables]
        table = await store.find_table(ACCOUNT, "Ledger")
        if table is None:
            return [*faults, "the table is gone"] if machine.has_table else faults
        faults += faults_of(machine.clients, await read_stored(store, table))
        if not faults:
            for client in machine.clients:
                await client.verify_etags(store, table)
    finally:
        await store.close()
    return faults
