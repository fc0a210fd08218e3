"""What is measured: verbs of the store, beside what pgbench and psql do on the same database."""

import asyncio
import random
from collections.abc import Callable
from itertools import count
from typing import NamedTuple

from postgres_bench import FIRST_ROW, PARTITION_KEY, Bench, Operation, Sample, execute
from rowkey.model.entity import Key
from rowkey.model.key_range import KeyRange
from rowkey.model.writes import Condition, Mode, Write
from rowkey.store.interface import Scan, Table
from rowkey.store.postgres.store import PostgresStore

BATCH_ENTITIES, PAGE_ENTITIES = 100, 1000
PAGES = 40

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


class Measure(NamedTuple):
    """A line of the report; the goal is the least of its ratios to the peer."""

    name: str
    title: str
    run: Callable[[Bench], Sample]
    peer: str = ""
    goal: float = 0.0

    def peers(self) -> list[str]:
        """What it stands beside: pgbench by each protocol, or psql, which has one."""
        if self.peer == PSQL:
            return [PSQL]
        return [f"{self.peer}-{protocol}" for protocol in PROTOCOLS] if self.peer else []


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
        asyncio.run(execute(bench.url, f"DELETE FROM rowkey.entity WHERE seg = {segment}"))
        return sample

    return run


def _variable(name: str, protocol: str) -> str:
    return f"':{name}'" if protocol == "simple" else f":{name}"


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
