"""Measure how Rowkey fares as a table grows, on this machine, in one run: `python bench/growth.py`.

A data folder is filled for each size. Then there is a server on each of them, and they take turns at starting and at
the reads. At last come the inserts, in rounds too, and the deletion of the table. What changes a folder is done on a
copy of it, made anew for each round, so that the table has its size; the largest grow by a few percent instead.
"""

import argparse
import dataclasses
import json
import os
import shutil
import signal
import sys
import time
from dataclasses import dataclass, field
from pathlib import Path

from document import write_section
from entities import thousands
from growth_report import growth_report
from measure import MIB, Record, last_entity, list_tables, load, new_table
from servers import CACHE, ROWKEY, Server, ServerError, ask, cpu_seconds, running, session_processes
from signing import render_head
from workload import FILLED_TABLE, MeasureError, Result, Target
from workloads import FILL, GROWTH_READS, GROWTH_WRITES

GROWTH = CACHE / "growth"
SIZES = (1_000, 100_000, 1_000_000)
ROUNDS = 5
SECONDS, QUICK_SECONDS = 3.0, 1.0
# Up to this size a folder is copied for each round of inserts; a larger table is grown by less than that disturbs.
COPIED_ENTITIES_MAX = 1_000_000
# Between the first keys of two rounds; no round inserts so many.
STRIDE = 1_000_000


@dataclass(frozen=True, slots=True)
class Filled:
    """A data folder with a filled table."""

    entities: int

    @property
    def name(self) -> str:
        return str(self.entities)

    @property
    def data(self) -> Path:
        return GROWTH / self.name

    @property
    def copy(self) -> Path:
        return GROWTH / f"{self.name}-copy"

    @property
    def note(self) -> Path:
        """What filling took; there once the folder is complete."""
        return GROWTH / f"{self.name}.json"

    def target(self, server: Server, *, first: int = 0) -> Target:
        return Target(port=server.port, table=FILLED_TABLE, entities=self.entities, first=first)

    def remove(self) -> None:
        """Remove all of it; the log of its server stays."""
        self.note.unlink(missing_ok=True)
        shutil.rmtree(self.data, ignore_errors=True)
        shutil.rmtree(self.copy, ignore_errors=True)


@dataclass(slots=True)
class Growth:
    """One run: what was asked for, and what has been measured so far."""

    folders: list[Filled]
    rounds: int
    seconds: float = SECONDS
    keep: bool = False
    record: Record = field(default_factory=Record)


# --- the parts of a run -----------------------------------------------------------------------------------------------


def measure_growth(growth: Growth) -> None:
    """Measure all of it; raises ServerError or MeasureError. Folders are removed unless they are to be kept."""
    # On the disk of the checkout, not in /tmp, which may be memory: an fsync there costs nothing.
    GROWTH.mkdir(parents=True, exist_ok=True)
    try:
        fill_all(growth)
        measure_filled(growth)
        measure_writes(growth)
    finally:
        for folder in growth.folders:
            shutil.rmtree(folder.copy, ignore_errors=True)
            if not growth.keep:
                folder.remove()


def fill_all(growth: Growth) -> None:
    """Fill the folders that are not there yet, and note what it took and what came of it."""
    for folder in growth.folders:
        if not folder.note.exists():
            folder.remove()
            fill(folder)
        growth.record.keep_result(FILL.name, folder.name, Result(**json.loads(folder.note.read_text())))
        growth.record.keep_figure("disk", folder.name, bytes_on_disk(folder.data) / folder.entities)


def fill(folder: Filled) -> None:
    with running(Server(ROWKEY, data=folder.data)) as server:
        server.start(list_tables(server.port))
        server.pause()
        target = new_table(server, FILLED_TABLE, entities=folder.entities)
        with server.awake():
            result = load(FILL, target, server_pid=server.pid, seconds=FILL.seconds)
    folder.note.write_text(json.dumps(dataclasses.asdict(result)))


def measure_filled(growth: Growth) -> None:
    """Start, several times over, and read; nothing changes."""
    servers = [(folder, Server(ROWKEY, data=folder.data)) for folder in growth.folders]
    try:
        measure_starts(growth, servers)
        measure_reads(growth, servers)
    finally:
        for _, server in servers:
            server.stop()


def measure_starts(growth: Growth, servers: list[tuple[Filled, Server]]) -> None:
    for _ in range(growth.rounds):
        for folder, server in servers:
            server.stop()
            seconds = server.start(last_entity(folder.target(server)))
            cpu = cpu_seconds(session_processes(server.pid))
            growth.record.keep_figure("start", folder.name, seconds * 1000)
            growth.record.keep_figure("start-cpu", folder.name, cpu * 1000)
            growth.record.keep_figure("memory-idle", folder.name, server.rss_bytes() / MIB)
            server.pause()


def measure_reads(growth: Growth, servers: list[tuple[Filled, Server]]) -> None:
    for _ in range(growth.rounds):
        for workload in GROWTH_READS:
            for folder, server in servers:
                with server.awake():
                    result = load(workload, folder.target(server), server_pid=server.pid, seconds=growth.seconds)
                growth.record.keep_result(workload.name, folder.name, result)
    for folder, server in servers:
        growth.record.keep_figure("memory-read", folder.name, server.rss_bytes() / MIB)


def measure_writes(growth: Growth) -> None:
    """Insert, in keys that follow and in keys between, each round beginning behind the last; then delete the table."""
    for number in range(growth.rounds):
        for folder in growth.folders:
            data = changeable(folder, keep=growth.keep)
            os.sync()  # or the copy would be on its way to the disk while commits wait for it
            with running(Server(ROWKEY, data=data)) as server:
                server.start(last_entity(folder.target(server)))
                target = folder.target(server, first=folder.entities + number * STRIDE)
                for workload in GROWTH_WRITES:
                    result = load(workload, target, server_pid=server.pid, seconds=growth.seconds)
                    growth.record.keep_result(workload.name, folder.name, result)
                growth.record.keep_figure("memory-written", folder.name, server.rss_bytes() / MIB)
                if number == growth.rounds - 1:
                    growth.record.keep_figure("delete", folder.name, delete_table(target) * 1000)


def changeable(folder: Filled, *, keep: bool) -> Path:
    """Return the folder to change: a new copy, or for a large one the same in all rounds."""
    if folder.entities <= COPIED_ENTITIES_MAX:
        shutil.rmtree(folder.copy, ignore_errors=True)
    elif not keep:
        return folder.data
    if not folder.copy.exists():
        shutil.copytree(folder.data, folder.copy)
    return folder.copy


def delete_table(target: Target) -> float:
    """Delete the table and return the seconds until the answer."""
    request = render_head("DELETE", f"Tables('{target.table}')", port=target.port)
    began = time.perf_counter()
    status = ask(target.port, request)
    seconds = time.perf_counter() - began
    if status != 204:
        raise MeasureError(f"the deletion of the table was answered with {status}")
    return seconds


def bytes_on_disk(folder: Path) -> int:
    return sum(path.stat().st_size for path in folder.iterdir())


# --- the command ------------------------------------------------------------------------------------------------------


def main() -> None:
    arguments = parse_arguments()
    if arguments.write:
        import charts  # and so fail now, not at the end, where matplotlib is missing
    # A run that is told to end stops its servers too.
    signal.signal(signal.SIGTERM, lambda signum, _frame: sys.exit(128 + signum))
    folders = [Filled(size) for size in sorted(set(arguments.sizes))]
    growth = Growth(
        folders,
        rounds=arguments.rounds or (1 if arguments.quick else ROUNDS),
        seconds=QUICK_SECONDS if arguments.quick else SECONDS,
        keep=arguments.keep,
    )
    try:
        measure_growth(growth)
    except (ServerError, MeasureError) as failure:
        sys.exit(str(failure))
    text = growth_report(growth.record, sizes=[folder.entities for folder in folders], arguments=sys.argv[1:])
    print(text)
    growth.record.write(CACHE / "growth.json")
    if arguments.write:
        charts.draw_growth(growth.record, [folder.entities for folder in folders])
        write_section("growth.py", text)


def parse_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument(
        "--sizes", type=thousands, nargs="+", default=SIZES, help=f"entities of each table (default {SIZES})"
    )
    parser.add_argument("--rounds", type=int, help=f"how often each is measured (default {ROUNDS})")
    parser.add_argument("--quick", action="store_true", help="one round, short measures")
    parser.add_argument(
        "--keep", action="store_true", help="keep the filled folders for the next run, which else removes them too"
    )
    parser.add_argument("--write", action="store_true", help="write docs/benchmarks.md and its chart as well")
    return parser.parse_args()


if __name__ == "__main__":
    main()
