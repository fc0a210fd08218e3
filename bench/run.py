"""Measure Rowkey against Azurite, floors and itself, on this machine, in one run: `python bench/run.py`.

First the servers are started on empty folders, anew in each round, for start time and writes; then both are filled and
take turns at the reads. A workload's floor follows it. Every measure is one run of `load.py`, a process of its own.
Rowkey beside itself is measured by `beside.py`, and in tables of two sizes by `growth.py`, which does more by itself.
"""

import argparse
import dataclasses
import signal
import sys
from tempfile import TemporaryDirectory

from beside import beside_report, measure_beside
from document import write_section
from entities import thousands
from growth import QUICK_SECONDS, SECONDS, Filled, Growth, measure_growth
from growth_report import growth_report
from measure import MIB, Record, add_index, fill_table, last_entity, list_tables, new_table, run_measure
from report import EXPLANATION, report
from run_bench import Bench, new_servers
from servers import (
    AZURITE,
    AZURITE_VERSION,
    CACHE,
    HTTP_FLOOR,
    ROWKEY,
    Server,
    ServerError,
    install_azurite,
    rowkey,
)
from workload import CHANGED_TABLE, FILLED_TABLE, OWN_TABLE, SMALL_TABLE, MeasureError, Result, Target, Workload
from workloads import FILL, FLOOR_SECONDS, FLOORS, SMALL_TABLE_ENTITIES

ROUNDS = 3
ENTITIES, QUICK_ENTITIES = 100_000, 10_000
# Of growth: the filled table, and one that is this small.
SMALLEST = 1_000
# A quick run is for a look: one round, and a third of the time for each measure.
QUICK_SCALE = 1 / 3


# --- the parts of a run -----------------------------------------------------------------------------------------------


def measure_empty(bench: Bench) -> None:
    """Start on empty folders, and write; every round begins anew."""
    inserts, changes = bench.workloads(OWN_TABLE), bench.workloads(CHANGED_TABLE)
    if not inserts and not changes and not bench.wants("start-empty"):
        return
    for _ in range(bench.rounds):
        with new_servers(bench.kinds) as servers:
            for server in servers:
                bench.record.keep_figure("start-empty", server.kind.name, server.start(list_tables(server.port)) * 1000)
                server.pause()
            for workload in inserts:
                for server in servers:
                    target = new_table(server, workload.name.replace("-", ""), entities=bench.entities)
                    bench.measure(server, workload, target)
                measure_floors(bench, workload)
            if changes:
                measure_changes(bench, servers, changes)


def measure_changes(bench: Bench, servers: list[Server], workloads: list[Workload]) -> None:
    """Change the entities of a table that is filled for it, and delete them."""
    targets = {}
    for server in servers:
        targets[server] = new_table(server, CHANGED_TABLE, entities=bench.entities)
        with server.awake():
            fill_table(server, targets[server])
    for workload in workloads:
        for server in servers:
            bench.measure(server, workload, targets[server])


def measure_filled(bench: Bench) -> None:
    """Fill, then start on the filled folder, and read; at last with an index, which only Rowkey has."""
    workloads = bench.workloads(FILLED_TABLE, SMALL_TABLE)
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
            targets[server] = {SMALL_TABLE: small, FILLED_TABLE: filled}
        for _ in range(bench.rounds):
            for server in servers:
                server.stop()
                filled = targets[server][FILLED_TABLE]
                bench.record.keep_figure("start-full", server.kind.name, server.start(last_entity(filled)) * 1000)
                bench.record.keep_figure("memory-restarted", server.kind.name, server.rss_bytes() / MIB)
                server.pause()
        measure_reads(bench, targets, [workload for workload in workloads if not workload.index])
        indexed = [workload for workload in workloads if workload.index]
        for name in {workload.index for workload in indexed}:
            for server in servers:
                if server.kind is not AZURITE:
                    add_index(server, targets[server][FILLED_TABLE], name)
        measure_reads(bench, targets, indexed)


def measure_reads(bench: Bench, targets: dict[Server, dict[str, Target]], workloads: list[Workload]) -> None:
    for _ in range(bench.rounds):
        for workload in workloads:
            for server, tables in targets.items():
                bench.measure(server, workload, tables[workload.table])
            measure_floors(bench, workload)


def fill(bench: Bench, server: Server, small: Target, filled: Target) -> None:
    """Fill both tables, the large one for the record, and wait until all of it is on the disk."""
    with server.awake():
        fill_table(server, small)
        bench.record.keep_result(FILL.name, server.kind.name, fill_table(server, filled))
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


def measure_itself(bench: Bench) -> str:
    """Measure Rowkey beside itself, and return what it gave."""
    beside = dataclasses.replace(bench, record=Record())
    measure_beside(beside)
    beside.record.write(CACHE / "beside.json")
    bench.record.failures |= beside.record.failures
    return beside_report(beside.record)


def measure_sizes(bench: Bench, *, quick: bool) -> str:
    """Measure two sizes of tables, as `growth.py` does by itself, and return its report."""
    sizes = sorted({SMALLEST, bench.entities})
    growth = Growth([Filled(size) for size in sizes], bench.rounds, seconds=QUICK_SECONDS if quick else SECONDS)
    measure_growth(growth)
    command = ["--sizes", *map(str, sizes), "--rounds", str(bench.rounds), *(["--quick"] if quick else [])]
    return growth_report(growth.record, sizes=sizes, arguments=command)


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
    kinds = [
        kind for kind in (rowkey(f"--workers={arguments.workers}"), AZURITE) if arguments.server in (None, kind.name)
    ]
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
        text = report(bench.record, entities=bench.entities, rounds=bench.rounds, arguments=sys.argv[1:])
        print(text)
        bench.record.write(CACHE / "run.json")
        if arguments.server != AZURITE.name:
            itself = measure_itself(bench)
            print(itself)
            text += itself
        if arguments.write:
            charts.draw_rates(bench.record)
            charts.draw_cpu(bench.record)
            write_section("run.py", text + EXPLANATION)
        if arguments.server != AZURITE.name and bench.wants("growth"):
            print(measure_sizes(bench, quick=arguments.quick))
    except (ServerError, MeasureError) as failure:
        sys.exit(str(failure))
    if bench.record.failures:
        sys.exit("some measures failed")


def parse_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--entities", type=thousands, help=f"size of the filled table (default {ENTITIES})")
    parser.add_argument("--rounds", type=int, help=f"how often each measure is taken (default {ROUNDS})")
    parser.add_argument("--quick", action="store_true", help=f"{QUICK_ENTITIES} entities, one round, short measures")
    parser.add_argument("--only", default="*", metavar="GLOB", help="measures by name, as 'get-*' or 'growth'")
    parser.add_argument("--server", choices=[ROWKEY.name, AZURITE.name], help="only this one, without ratios")
    parser.add_argument("--workers", type=int, default=1, help="processes of Rowkey that answer (default 1)")
    parser.add_argument(
        "--azurite", default=AZURITE_VERSION, help=f"the version to compare with (default {AZURITE_VERSION})"
    )
    parser.add_argument("--write", action="store_true", help="write docs/benchmarks.md and its charts as well")
    return parser.parse_args()


if __name__ == "__main__":
    main()
