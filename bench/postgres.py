"""Measure the store on PostgreSQL beside pgbench, on one database, in one run: `make bench-postgres`.

The store's verbs are called in this process, without HTTP. In each round it takes turns with pgbench, which asks for
one entity by its primary key, or inserts one, by as many connections as there are callers of the store; once by the
simple protocol, which is pgbench's default, and once by prepared statements. Both go over the loopback address, and a
commit waits for the disk. A ratio is taken within a round; every figure is the median of the rounds.

The server is our own, in a folder that TMPDIR chooses: on the disk that is to be measured, not in memory.
"""

import argparse
import asyncio
import os
import random
import re
import resource
import subprocess
import sys
import time
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import date
from itertools import count
from math import isnan
from pathlib import Path
from statistics import median
from typing import NamedTuple
from uuid import uuid4

import asyncpg
import uvloop

from report import machine
from rowkey.model.entity import Key
from rowkey.model.key_range import KeyRange
from rowkey.model.writes import Condition, Mode, Write
from rowkey.store.interface import Scan, Table
from rowkey.store.postgres.schema import init
from rowkey.store.postgres.store import PostgresStore
from tests.postgres import Postgres, find_programs

ACCOUNT, PARTITION_KEY = "bench", "p"
ENTITIES = 100_000
# Row keys have eight digits whatever the size of the table.
FIRST_ROW = 10_000_000
ROUNDS, SECONDS = 5, 3.0
WARM_UP_SECONDS = 0.5
BATCH_ENTITIES, PAGE_ENTITIES = 100, 1000
PAGES = 40
# Of a server for this much data, and what anybody would set; the rest is PostgreSQL's default, durability above all.
OPTIONS = {"shared_buffers": "'512MB'", "max_wal_size": "'4GB'", "checkpoint_timeout": "'30min'"}

MEMBERS = {
    "Name": '"Name":"Ada Lovelace"',
    "Number": '"Number":1000042',
    "Total": '"Total@odata.type":"Edm.Int64","Total":"9007199254740993"',
    "Active": '"Active":true',
    "Notes": f'"Notes":"{"x" * 720}"',
}
"""Makes 1 KiB of wire text, with keys and timestamp."""
BODY = "x" * 1024

SELECT = "SELECT body FROM rowkey.entity WHERE seg = :seg AND pk = '{partition_key}' AND rk = {n};"
INSERT = "INSERT INTO rowkey.entity (seg, pk, rk, ts, body) VALUES (:seg, {client}, {n}, 1, {body});"
PAGE = (
    f"SELECT body FROM rowkey.entity WHERE seg = {{segment}} AND pk = '{PARTITION_KEY}' ORDER BY pk, rk"
    f" LIMIT {PAGE_ENTITIES};"
)
PROTOCOLS = ("simple", "prepared")
PSQL = "psql-page"


class Sample(NamedTuple):
    """What one round gave: units a second, and the processor time of each unit, of the client and of the server."""

    rate: float
    client_us: float
    server_us: float


Operation = Callable[[], Awaitable[None]]


class Measure(NamedTuple):
    """A line of the report; the goal is the least of its ratios to the peer."""

    name: str
    title: str
    run: Callable[["Bench"], Sample]
    peer: str = ""
    goal: float = 0.0


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


# --- what is measured -------------------------------------------------------------------------------------------------


def get_one(bench: Bench, store: PostgresStore, _own: Table, number: int) -> Operation:
    choose = random.Random(number)

    async def get() -> None:
        row_key = str(FIRST_ROW + int(choose.random() * bench.entities))
        if await store.get(bench.table, Key(PARTITION_KEY, row_key)) is None:
            raise AssertionError(row_key)

    return get


def get_turn(size: int) -> Callable[[Bench, PostgresStore, Table, int], Operation]:
    """As many reads in one turn of the event loop; the next ones when all are answered."""

    def make(bench: Bench, store: PostgresStore, own: Table, number: int) -> Operation:
        get = get_one(bench, store, own, number)

        async def get_all() -> None:
            await asyncio.gather(*(get() for _ in range(size)))

        return get_all

    return make


def insert_one(_bench: Bench, store: PostgresStore, own: Table, number: int) -> Operation:
    rows = count(FIRST_ROW)

    async def insert() -> None:
        await store.write(own, [new_entity(str(number), str(next(rows)))])

    return insert


def insert_batch(_bench: Bench, store: PostgresStore, own: Table, number: int) -> Operation:
    rows = count(FIRST_ROW)

    async def insert() -> None:
        await store.write(own, [new_entity(str(number), str(next(rows))) for _ in range(BATCH_ENTITIES)])

    return insert


def scan_page(bench: Bench, store: PostgresStore, _own: Table, _number: int) -> Operation:
    partition = KeyRange(Key(PARTITION_KEY, ""), Key(PARTITION_KEY + "\0", ""))

    async def scan() -> None:
        page = await store.scan(bench.table, Scan([partition], limit=PAGE_ENTITIES))
        if page.count != PAGE_ENTITIES:
            raise AssertionError(page.count)

    return scan


def new_entity(partition_key: str, row_key: str) -> Write:
    return Write(Mode.SET, Key(partition_key, row_key), MEMBERS, Condition.ABSENT)


def select_by_pgbench(protocol: str) -> Callable[[Bench], Sample]:
    """A number is a key: text within quotes, or a parameter of the column's type, as the protocol has it."""
    statement = SELECT.format(partition_key=PARTITION_KEY, n=_variable("n", protocol))

    def run(bench: Bench) -> Sample:
        script = f"\\set n random({FIRST_ROW}, {FIRST_ROW + bench.entities - 1})\n{statement}\n"
        return bench.run_pgbench(script, protocol, 8, seg=bench.segment)

    return run


def insert_by_pgbench(protocol: str, connections: int) -> Callable[[Bench], Sample]:
    """Each connection has a partition and ascending row keys, as the callers of the store have."""
    names = {"client": "client_id", "n": "n", "body": "body"}
    statement = INSERT.format(**{key: _variable(name, protocol) for key, name in names.items()})

    def run(bench: Bench) -> Sample:
        segment = random.getrandbits(60)  # of no table
        sample = bench.run_pgbench(
            f"\\set n :n + 1\n{statement}\n", protocol, connections, seg=segment, n=FIRST_ROW, body=BODY
        )
        asyncio.run(_execute(bench.url, f"DELETE FROM rowkey.entity WHERE seg = {segment}"))
        return sample

    return run


def _variable(name: str, protocol: str) -> str:
    return f"':{name}'" if protocol == "simple" else f":{name}"


async def _execute(url: str, sql: str) -> None:
    connection = await asyncpg.connect(url)
    await connection.execute(sql)
    await connection.close()


def page_by_psql(bench: Bench) -> Sample:
    return bench.run_psql(PAGE.format(segment=bench.segment), PAGES)


MEASURES = (
    *(Measure(f"select-8-{p}", f"pgbench, {p}: select, 8 connections", select_by_pgbench(p)) for p in PROTOCOLS),
    Measure("get-8", "get, 8 callers", lambda b: b.call_store(8, get_one), "select-8", 0.8),
    Measure("get-32", "get, 32 callers", lambda b: b.call_store(32, get_one), "select-8"),
    Measure("get-128", "get, 128 callers", lambda b: b.call_store(128, get_one), "select-8", 2.0),
    Measure("turn-128", "128 gets in a turn", lambda b: b.call_store(1, get_turn(128), units=128), "select-8", 2.0),
    *(
        Measure(f"insert-{n}-{p}", f"pgbench, {p}: insert, {n} connection{'s' * (n > 1)}", insert_by_pgbench(p, n))
        for n in (1, 8)
        for p in PROTOCOLS
    ),
    Measure("insert-32", "insert, 32 callers", lambda b: b.call_store(32, insert_one), "insert-8"),
    Measure(
        "batch-1",
        "entities in transactions of 100, 1 caller",
        lambda b: b.call_store(1, insert_batch, units=BATCH_ENTITIES),
        "insert-1",
        10.0,
    ),
    Measure(
        "batch-8",
        "entities in transactions of 100, 8 callers",
        lambda b: b.call_store(8, insert_batch, units=BATCH_ENTITIES),
        "insert-8",
        10.0,
    ),
    Measure(PSQL, "psql: page of 1000", page_by_psql),
    Measure("page", "page of 1000, 1 caller, beside psql", lambda b: b.call_store(1, scan_page), PSQL, 0.5),
)


# --- a run ------------------------------------------------------------------------------------------------------------


@contextmanager
def database(dsn: str | None) -> Iterator[tuple[str, int | None]]:
    """Give a new database: of a server of our own, or where the URL of another leads, which has no schema yet."""
    if dsn is not None:
        asyncio.run(init(dsn, is_sharded=False))
        yield dsn, None
        return
    if find_programs() is None:
        sys.exit("PostgreSQL is not installed: on Debian and Ubuntu, apt-get install postgresql")
    server = Postgres(OPTIONS)
    try:
        server.init()
        server.start()
        pid = int((server.data / "postmaster.pid").read_text().split("\n", 1)[0])
        yield server.new_database(), pid
    finally:
        server.close()


async def fill(url: str, entities: int) -> Table:
    """Make a table with entities of 1 KiB, all in one partition."""
    store = await PostgresStore.open(url)
    table = await store.create_table(ACCOUNT, "filled")
    for first in range(FIRST_ROW, FIRST_ROW + entities, BATCH_ENTITIES):
        await store.write(table, [new_entity(PARTITION_KEY, str(row)) for row in range(first, first + BATCH_ENTITIES)])
    await store.close()
    await _execute(url, "VACUUM ANALYZE")
    return table


def report(samples: dict[str, list[Sample]], measures: list[Measure]) -> str:
    """Return the figures as a Markdown table."""
    rows = [
        ("Measure", "/s", "client CPU µs", "server CPU µs", *(f"to {protocol}" for protocol in PROTOCOLS), "wanted"),
        ("---", *["--:"] * 6),
    ]
    for measure in measures:
        own = samples[measure.name]
        ratios = [_ratio(own, samples.get(peer)) for peer in _peers(measure)]
        rows.append(
            (
                measure.title,
                *(_figure([sample[position] for sample in own]) for position in range(3)),
                *(*ratios, "", "")[:2],
                f"{measure.goal:g}" if measure.goal else "",
            )
        )
    return "\n".join(f"| {' | '.join(row)} |" for row in rows)


def _peers(measure: Measure) -> list[str]:
    """What a measure stands beside: pgbench by each protocol, or psql, which has one."""
    if measure.peer == PSQL:
        return [PSQL]
    return [f"{measure.peer}-{protocol}" for protocol in PROTOCOLS] if measure.peer else []


def _ratio(own: list[Sample], peer: list[Sample] | None) -> str:
    """The median of the ratios, and the least and the greatest."""
    if peer is None:
        return ""
    ratios = [ours.rate / theirs.rate for ours, theirs in zip(own, peer, strict=True)]
    return f"{median(ratios):.2f} ({min(ratios):.2f} to {max(ratios):.2f})"


def _figure(values: list[float]) -> str:
    value = median(values)
    return "" if isnan(value) else f"{value:,.0f}" if value >= 100 else f"{value:.3g}"


def main() -> None:
    arguments = parse_arguments()
    pattern = re.compile(arguments.only)
    chosen = [measure for measure in MEASURES if pattern.search(measure.name)]
    wanted = {peer for measure in chosen for peer in _peers(measure)}
    measures = [measure for measure in MEASURES if measure in chosen or measure.name in wanted]
    with database(arguments.dsn) as (url, server_pid):
        table = asyncio.run(fill(url, arguments.entities))
        bench = Bench(url, server_pid, table, arguments.entities, arguments.seconds)
        samples: dict[str, list[Sample]] = {measure.name: [] for measure in measures}
        for _ in range(arguments.rounds):
            for measure in measures:
                sample = measure.run(bench)
                samples[measure.name].append(sample)
                print(f"{measure.name:18} {sample.rate:10.1f} /s", file=sys.stderr)
    rounds = f"{arguments.rounds} round{'s' * (arguments.rounds > 1)}"
    print(f"{date.today().isoformat()}, {arguments.entities} entities, medians of {rounds}.")
    print(f"{machine()[0]}; {server_version()}.\n")
    print(report(samples, measures))


def server_version() -> str:
    return subprocess.run([program("pgbench"), "--version"], capture_output=True, text=True, check=True).stdout.strip()


def parse_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--dsn", help="the URL of an empty database to use (default: a server of our own)")
    parser.add_argument("--entities", type=int, default=ENTITIES, help=f"size of the table (default {ENTITIES})")
    parser.add_argument("--rounds", type=int, default=ROUNDS, help=f"how often each is measured (default {ROUNDS})")
    parser.add_argument("--seconds", type=float, default=SECONDS, help=f"for each measure (default {SECONDS:g})")
    parser.add_argument("--only", default="", metavar="REGEX", help="measures by name, with those beside them")
    return parser.parse_args()


if __name__ == "__main__":
    main()
