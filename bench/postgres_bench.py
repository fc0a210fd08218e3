"""A database that is measured: by calling the store's verbs, by pgbench, and by psql."""

import asyncio
import os
import re
import resource
import subprocess
import sys
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import NamedTuple
from uuid import uuid4

import asyncpg
import uvloop

from rowkey.store.interface import Table
from rowkey.store.postgres.store import PostgresStore
from tests.postgres import find_programs

ACCOUNT, PARTITION_KEY = "bench", "p"

# Row keys have eight digits whatever the size of the table.
FIRST_ROW = 10_000_000

WARM_UP_SECONDS = 0.5


class Sample(NamedTuple):
    """What one round gave: units a second, and the processor time of each unit, of the client and of the server."""

    rate: float
    client_us: float
    server_us: float


Operation = Callable[[], Awaitable[None]]


@dataclass(slots=True)
class Bench:
    """The database, and what is filled in it."""

    url: str
    server_pid: int | None
    table: Table
    entities: int
    seconds: float

    @property
    def segment(self) -> int:
        """A table has one segment to begin with, and its identity."""
        return self.table.identity

    # ------------------------------------------------------------ the store

    def call_store(
        self, callers: int, make: Callable[["Bench", PostgresStore, Table, int], Operation], *, units: int = 1
    ) -> Sample:
        """Call the store's verbs from `callers` tasks; `make` gives each its operation, of so many units."""

        async def run() -> Sample:
            store = await PostgresStore.open(self.url)
            own = await store.create_table(ACCOUNT, f"t{uuid4().hex}")
            operations = [make(self, store, own, number) for number in range(callers)]
            await repeat(operations, WARM_UP_SECONDS)
            begun, before = time.perf_counter(), (time.process_time(), self._server_seconds())
            done = await repeat(operations, self.seconds) * units
            seconds, after = time.perf_counter() - begun, (time.process_time(), self._server_seconds())
            await store.delete_table(ACCOUNT, own.name)
            await store.close()
            return Sample(done / seconds, *(1e6 * (b - a) / done for a, b in zip(before, after, strict=True)))

        with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
            return runner.run(run())

    # ------------------------------------------------------------ pgbench and psql

    def run_pgbench(self, script: str, protocol: str, connections: int, **variables: object) -> Sample:
        """Run a script by pgbench; its server's time has that of connecting, which is little."""
        command = ["-n", "-M", protocol, "-c", str(connections), "-j", "1", "-T", f"{self.seconds:.0f}", "-f", "-"]
        before, server_before = children_seconds(), self._server_seconds()
        done = subprocess.run(
            [program("pgbench"), *command, *(f"-D{name}={value}" for name, value in variables.items()), self.url],
            input=script,
            capture_output=True,
            text=True,
            check=False,
        )
        rate = re.search(r"tps = ([\d.]+)", done.stdout)
        transactions = re.search(r"actually processed: (\d+)", done.stdout)
        if done.returncode or rate is None or transactions is None:
            sys.exit(f"pgbench failed: {done.stderr}")
        units = int(transactions[1])
        used = children_seconds() - before, self._server_seconds() - server_before
        return Sample(float(rate[1]), *(1e6 * seconds / units for seconds in used))

    def run_psql(self, sql: str, times: int) -> Sample:
        """Run a statement by psql, which says how long each took."""
        server_before = self._server_seconds()
        script = "\\timing on\n\\o /dev/null\n" + f"{sql}\n" * times
        done = subprocess.run(
            [program("psql"), "-X", "-q", "-A", "-t", "-d", self.url],
            input=script,
            capture_output=True,
            text=True,
            check=True,
        )
        milliseconds = [float(found) for found in re.findall(r"Time: ([\d.]+) ms", done.stdout)]
        server_us = 1e6 * (self._server_seconds() - server_before) / times
        return Sample(1000 / median(milliseconds), float("nan"), server_us)

    def _server_seconds(self) -> float:
        """Processor time of the database's processes, those that have ended too; not known of another's server."""
        if self.server_pid is None:
            return float("nan")
        parent = self.server_pid
        pids = Path(f"/proc/{parent}/task/{parent}/children").read_text().split()
        ticks = sum(_ticks(str(parent), slice(13, 17))) + sum(sum(_ticks(pid, slice(13, 15))) for pid in pids)
        return ticks / os.sysconf("SC_CLK_TCK")


def _ticks(pid: str, fields: slice) -> list[int]:
    try:
        stat = Path(f"/proc/{pid}/stat").read_text()
    except FileNotFoundError:  # ended meanwhile
        return []
    return [int(field) for field in ("0 0 " + stat.rpartition(")")[2]).split()[fields]]


def children_seconds() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def program(name: str) -> str:
    folder = find_programs()
    return name if folder is None else str(folder / name)


async def repeat(operations: list[Operation], seconds: float) -> int:
    """Do each operation again and again, at once with the others; returns how many were done."""
    clock = asyncio.get_running_loop().time
    end = clock() + seconds

    async def call(operation: Operation) -> int:
        done = 0
        while clock() < end:
            await operation()
            done += 1
        return done

    return sum(await asyncio.gather(*map(call, operations)))


async def execute(url: str, sql: str) -> None:
    connection = await asyncpg.connect(url)
    await connection.execute(sql)
    await connection.close()
