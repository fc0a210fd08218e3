"""Measure Rowkey against Azurite and against floors, on this machine, in one run: `python bench/run.py`.

First the servers are started on empty folders, anew in each round, for start time and writes; then both are filled and
take turns at the reads. A workload's floor follows it. Every measure is one run of `load.py`, a process of its own.
"""

import argparse
import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from pathlib import Path
from tempfile import TemporaryDirectory

from document import write_section
from entities import thousands
from measure import MIB, Record, last_entity, list_tables, load, new_table, run_measure, say
from report import EXPLANATION, report
from servers import (
    AZURITE,
    AZURITE_VERSION,
    CACHE,
    HTTP_FLOOR,
    ROWKEY,
    Kind,
    Server,
    ServerError,
    install_azurite,
    rowkey,
)
from workload import FILLED_TABLE, OWN_TABLE, SMALL_TABLE, MeasureError, Result, Target, Workload
from workloads import FILL, FLOOR_SECONDS, FLOORS, MEASURED, SMALL_TABLE_ENTITIES

ROUNDS = 3
ENTITIES, QUICK_ENTITIES = 100_000, 10_000
# A quick run is for a look: one round, and a third of the time for each measure.
QUICK_SCALE = 1 / 3


@dataclass(slots=True)
class Bench:
    """One run: what was asked for, and what has been measured so far."""

    kinds: list[Kind]
    entities: int
    rounds: int
    scale: float
    only: str
    record: Record = field(default_factory=Record)

    def wants(self, *names: str) -> bool:
        return any(fnmatchcase(name, self.only) for name in names)

    def workloads(self, *, own_table: bool) -> list[Workload]:
        """Return the wanted ones of those that write to a table of their own, or of those that read."""
        return [
            workload
            for workload in MEASURED
            if (workload.table == OWN_TABLE) == own_table and self.wants(workload.name)
        ]

    def measure(self, server: Server, workload: Workload, target: Target, *, name: str = "") -> None:
        """Run a workload at a paused server and keep the result under its name; a failed one is not tried again."""
        key = (name or workload.name, server.kind.name)
        if key in self.record.failures:
            return
        try:
            with server.awake():
                result = load(workload, target, server_pid=server.pid, seconds=workload.seconds * self.scale)
        except MeasureError as failure:
            self.record.failures[key] = str(failure)
            # What earlier rounds gave is no speed of a server that gives wrong answers.
            self.record.results.pop(key, None)
            say(*key, f"failed: {failure}")
        else:
            self.record.keep_result(*key, result)


# --- the parts of a run -----------------------------------------------------------------------------------------------


def measure_empty(bench: Bench) -> None:
    """Start on empty folders, and write; every round begins anew."""
    workloads = bench.workloads(own_table=True)
    if not workloads and not bench.wants("start-empty"):
        return
    for _ in range(bench.rounds):
        with new_servers(bench.kinds) as servers:
            for server in servers:
                bench.record.keep_figure("start-empty", server.kind.name, server.start(list_tables(server.port)) * 1000)
                server.pause()
            for workload in workloads:
                for server in servers:
                    target = new_table(server, workload.name.replace("-", ""), entities=bench.entities)
                    bench.measure(server, workload, target)
                measure_floors(bench, workload)


def measure_filled(bench: Bench) -> None:
    """Fill, then start on the filled folder, and read."""
    workloads = bench.workloads(own_table=False)
    if not workloads and not bench.wants("fill", "start-full", "memory-full", "memory-restarted"):
        return
    with new_servers(bench.kinds) as servers:
        targets = {}
        for server in servers:
            server.start(list_tables(server.port))
            server.pause()
            small = new_table(server, SMALL_TABLE, entities=SMALL_TABLE_ENTITIES)
            filled = new_table(server, FILLED_TABLE, entities=bench.entities)
            fill(bench, server, small, filled)
            targets[server.kind.name] = {SMALL_TABLE: small, FILLED_TABLE: filled}
        for _ in range(bench.rounds):
            for server in servers:
                server.stop()
                filled = targets[server.kind.name][FILLED_TABLE]
                bench.record.keep_figure("start-full", server.kind.name, server.start(last_entity(filled)) * 1000)
                bench.record.keep_figure("memory-restarted", server.kind.name, server.rss_bytes() / MIB)
                server.pause()
        for _ in range(bench.rounds):
            for workload in workloads:
                for server in servers:
                    bench.measure(server, workload, targets[server.kind.name][workload.table])
                measure_floors(bench, workload)


def fill(bench: Bench, server: Server, small: Target, filled: Target) -> None:
    """Fill both tables, the large one for the record, and wait until all of it is on the disk."""
    with server.awake():
        try:
            load(FILL, small, server_pid=server.pid, seconds=FILL.seconds)
            result = load(FILL, filled, server_pid=server.pid, seconds=FILL.seconds)
        except MeasureError as failure:
            raise ServerError(f"{server.kind.name} could not be filled: {failure}") from failure
        bench.record.keep_result(FILL.name, server.kind.name, result)
        server.wait_until_quiet()
        bench.record.keep_figure("memory-full", server.kind.name, server.rss_bytes() / MIB)


def measure_floors(bench: Bench, workload: Workload) -> None:
    """Measure the floors of a workload, right after it: disks and neighbours change within minutes."""
    for floor in FLOORS:
        if floor.workload != workload.name:
            continue
        if floor.group is not None:
            bench.record.keep_result(floor.name, HTTP_FLOOR.name, put_groups(floor.group, seconds=FLOOR_SECONDS))
            continue
        with new_servers([HTTP_FLOOR]) as [shell]:
            shell.start(list_tables(shell.port))
            shell.pause()
            target = Target(port=shell.port, table=FILLED_TABLE, entities=bench.entities)
            bench.measure(shell, workload, target, name=floor.name)


# --- processes --------------------------------------------------------------------------------------------------------


@contextmanager
def new_servers(kinds: list[Kind]) -> Iterator[list[Server]]:
    """Give servers on empty folders, not started yet, and stop them at the end of the block."""
    with TemporaryDirectory(dir=CACHE, prefix="data-") as folder:
        servers = [Server(kind, data=Path(folder) / kind.name) for kind in kinds]
        try:
            yield servers
        finally:
            for server in servers:
                server.stop()


def put_groups(group: int, *, seconds: float) -> Result:
    with TemporaryDirectory(dir=CACHE, prefix="data-") as folder:
        return run_measure("floors.py", "store", f"--folder={folder}", f"--group={group}", f"--seconds={seconds}")


# --- the command ------------------------------------------------------------------------------------------------------


def main() -> None:
    arguments = parse_arguments()
    if arguments.write:
        import charts  # and so fail now, not at the end, where matplotlib is missing
    # A run that is told to end stops its servers too.
    signal.signal(signal.SIGTERM, lambda signum, _frame: sys.exit(128 + signum))
    kinds = [kind for kind in (rowkey(arguments.workers), AZURITE) if arguments.server in (None, kind.name)]
    bench = Bench(
        kinds=kinds,
        entities=arguments.entities or (QUICK_ENTITIES if arguments.quick else ENTITIES),
        rounds=arguments.rounds or (1 if arguments.quick else ROUNDS),
        scale=QUICK_SCALE if arguments.quick else 1.0,
        only=arguments.only,
    )
    # On the disk of the checkout, not in /tmp, which may be memory: an fsync there costs nothing.
    CACHE.mkdir(exist_ok=True)
    try:
        if AZURITE in kinds:
            install_azurite(arguments.azurite)
        measure_empty(bench)
        measure_filled(bench)
    except (ServerError, MeasureError) as failure:
        sys.exit(str(failure))
    text = report(bench.record, entities=bench.entities, rounds=bench.rounds, arguments=sys.argv[1:])
    print(text)
    bench.record.write(CACHE / "run.json")
    if arguments.write:
        charts.draw_rates(bench.record)
        charts.draw_cpu(bench.record)
        write_section("run.py", text + EXPLANATION)
    if bench.record.failures:
        sys.exit("some measures failed")


def parse_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--entities", type=thousands, help=f"size of the filled table (default {ENTITIES})")
    parser.add_argument("--rounds", type=int, help=f"how often each measure is taken (default {ROUNDS})")
    parser.add_argument("--quick", action="store_true", help=f"{QUICK_ENTITIES} entities, one round, short measures")
    parser.add_argument("--only", default="*", metavar="GLOB", help="measures by name, as 'get-*' or 'start-*'")
    parser.add_argument("--server", choices=[ROWKEY.name, AZURITE.name], help="only this one, without ratios")
    parser.add_argument("--workers", type=int, default=1, help="processes of Rowkey that answer (default 1)")
    parser.add_argument(
        "--azurite", default=AZURITE_VERSION, help=f"the version to compare with (default {AZURITE_VERSION})"
    )
    parser.add_argument("--write", action="store_true", help="write docs/benchmarks.md and its charts as well")
    return parser.parse_args()


if __name__ == "__main__":
    main()
