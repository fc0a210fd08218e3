"""Measure the store on PostgreSQL beside pgbench, on one database, in one run: `make bench-postgres`.

The store's verbs are called in this process, without HTTP. In each round it takes turns with pgbench, which asks for
one entity by its primary key, or inserts one, by as many connections as there are callers of the store; once by the
simple protocol, which is pgbench's default, and once by prepared statements. Both go over the loopback address, and a
commit waits for the disk. A ratio is taken within a round; every figure is the median of the rounds.

The server is our own, in a folder that TMPDIR chooses: on the disk that is to be measured, not in memory.
"""

import argparse
import asyncio
import re
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import date

from postgres_bench import ACCOUNT, FIRST_ROW, PARTITION_KEY, Bench, Sample, execute, program
from postgres_measures import BATCH_ENTITIES, MEASURES, new_entity
from postgres_report import report
from report import machine
from rowkey.store.interface import Table
from rowkey.store.postgres.schema import init
from rowkey.store.postgres.store import PostgresStore
from tests.postgres import Postgres, find_programs

ENTITIES = 100_000
ROUNDS, SECONDS = 5, 3.0

# Of a server for this much data, and what anybody would set; the rest is PostgreSQL's default, durability above all.
OPTIONS = {"shared_buffers": "'512MB'", "max_wal_size": "'4GB'", "checkpoint_timeout": "'30min'"}


def main() -> None:
    arguments = parse_arguments()
    pattern = re.compile(arguments.only)
    chosen = [measure for measure in MEASURES if pattern.search(measure.name)]
    wanted = {peer for measure in chosen for peer in measure.peers()}
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
    await execute(url, "VACUUM ANALYZE")
    return table


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
