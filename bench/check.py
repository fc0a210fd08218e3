"""Has a change made Rowkey slower? `python bench/check.py` tells within a minute, also on a machine that is busy.

Operations go through `Service.handle` to the embedded store in this process, without sockets: what is measured is our
own code, and CPU time, never wall time. What a microsecond is worth differs between machines, and on one of them with
what its neighbours do. So each operation takes turns with a *floor*, a fixed piece of work in nothing but Python,
orjson and SQLite, of which requests are made too: what slows the one down slows the other down. The figure of an
operation is its CPU time divided by that of the floor right before and after it; the lower quartile of many such
ratios, since disturbances only add. It is compared with the figure that is kept in `bench/expected.json`.

The folder is in memory where that can be had: what a disk and its file system cost is not ours to change.
"""

import argparse
import asyncio
import gc
import hashlib
import hmac
import json
import platform
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from fnmatch import fnmatchcase
from itertools import islice
from math import nan
from pathlib import Path
from statistics import median, quantiles
from tempfile import TemporaryDirectory
from typing import NamedTuple

import apsw
import orjson
import uvloop

from asking import BATCH_ENTITIES
from entities import entity_json, row_key
from rowkey.config import Settings
from rowkey.server.allocator import hold_freed_memory
from rowkey.service import Service
from rowkey.store.embedded.store import EmbeddedStore
from rowkey.wire.request import Request, Response
from servers import BENCH
from signing import render_head
from workload import CHANGED_TABLE, FILLED_TABLE, OWN_TABLE, MeasureError, Target, Workload
from workloads import FILL, WORKLOADS

EXPECTED = BENCH / "expected.json"
# The same code came to 0.99 to 1.16 times what was kept, in 8 runs beside idle, busy and cache-hungry neighbours.
SLOWER_MAX = 1.2
ENTITIES = 2000
REPETITIONS = 200
WARM_UPS = 5
# How many measures there are of which the median is kept.
KEPT_OF = 3
# Between two looks whether an index is built.
LOOK_SECONDS = 0.01
MEMORY = Path("/dev/shm")
PYTHON = ".".join(platform.python_version_tuple()[:2])


@dataclass(frozen=True, slots=True)
class Operation:
    """A workload, and how many of its requests are handled at once in one repetition."""

    title: str
    workload: Workload
    at_once: int = 1

    def target(self, repetitions: int) -> Target:
        """The table, one of its own where it is written to or has an index, and how many entities that holds.

        What changes entities has as many as it sends requests: no deletion comes to an end before it is measured.
        """
        workload = self.workload
        is_shared = workload.table == FILLED_TABLE and not workload.index
        table = FILLED_TABLE if is_shared else workload.name.replace("-", "")
        requests = (repetitions + WARM_UPS) * self.at_once
        batches = max(1, -(-requests // BATCH_ENTITIES))
        return Target(1, table, batches * BATCH_ENTITIES if workload.table == CHANGED_TABLE else ENTITIES)


class Figure(NamedTuple):
    """What an operation took: on this machine today, and beside the floor."""

    cpu_us: float
    in_floors: float


OPERATIONS = (
    Operation("point GET", WORKLOADS["get-32"], at_once=32),
    Operation("insert, 32 at once", WORKLOADS["insert-32"], at_once=32),
    Operation("transaction of 100 inserts", WORKLOADS["batch-100"]),
    Operation("page of 1000, nometadata", WORKLOADS["page"]),
    Operation("page of 1000, minimalmetadata", WORKLOADS["page-minimal"]),
    Operation("row key range of 100", WORKLOADS["range-100"], at_once=4),
    Operation("filter on Number, 10 matches", WORKLOADS["filter"]),
    Operation("the same, with an index", WORKLOADS["filter-indexed"], at_once=4),
    Operation("merge, 32 at once", WORKLOADS["merge-32"], at_once=32),
    Operation("insert or replace, 32 at once", WORKLOADS["replace-32"], at_once=32),
    Operation("delete, 32 at once", WORKLOADS["delete-32"], at_once=32),
)


# --- the floor --------------------------------------------------------------------------------------------------------


class Floor:
    """A fixed piece of work: what it does must never change, or what is kept means nothing any more.

    First, 40 times, what a small request needs at least: text taken apart into a mapping, a signature verified, JSON
    read and written, a row put and read. Then what a page needs: a megabyte put together and copied, which a neighbour
    slows down who needs the processor's caches.
    """

    TURNS = 40
    ROWS = 1000
    COPIES = 1000

    def __init__(self) -> None:
        self._head = render_head("GET", "t()", port=1).decode()
        self._body = entity_json(0, ENTITIES)
        self._database = apsw.Connection(":memory:")
        self._database.execute("CREATE TABLE entity (id INTEGER PRIMARY KEY, key BLOB NOT NULL UNIQUE, body BLOB)")
        self._next = 0

    def work(self) -> None:
        for number in range(self._next, self._next + self.TURNS):
            headers = {}
            for line in self._head.splitlines()[1:-1]:
                name, _, value = line.partition(": ")
                headers[name.lower()] = value
            text = "\n".join(f"{name}:{headers[name]}" for name in sorted(headers))
            hmac.digest(b"key", text.encode(), hashlib.sha256)
            entity = orjson.loads(self._body)
            members = [(name, value) for name, value in entity.items() if not name.endswith("@odata.type")]
            body = orjson.dumps(dict(members))
            key = row_key(number % self.ROWS).encode()
            self._database.execute("REPLACE INTO entity (key, body) VALUES (?, ?)", (key, body))
            self._database.execute("SELECT body FROM entity WHERE key = ?", (key,)).fetchall()
        self._next += self.TURNS
        b",".join([self._body] * self.COPIES).decode().encode()


# --- the operations ---------------------------------------------------------------------------------------------------


def measure_in_folder(operations: list[Operation], repetitions: int) -> dict[Operation, Figure]:
    """Measure in a folder that is there for that long."""
    with TemporaryDirectory(dir=MEMORY if MEMORY.is_dir() else None, prefix="rowkey-check-") as folder:
        return uvloop.run(measure(Path(folder), operations, repetitions=repetitions))


async def measure(folder: Path, operations: list[Operation], *, repetitions: int) -> dict[Operation, Figure]:
    """Return the figure of each operation; raises MeasureError at a wrong answer.

    The memory of this process is managed as that of a server.
    """
    hold_freed_memory()
    store = EmbeddedStore.open(folder)
    try:
        service = Service(Settings(data=None), store)
        targets = {operation: operation.target(repetitions) for operation in operations}
        for target, workload in {target: operation.workload for operation, target in targets.items()}.items():
            await prepare(service, target, workload)
        requests = {operation: operation.workload.requests(target) for operation, target in targets.items()}
        gc.collect()
        gc.freeze()
        floor = Floor()
        turns: dict[Operation, list[Figure]] = {operation: [] for operation in operations}
        for _ in range(repetitions + WARM_UPS):
            before = cpu_of(floor.work)
            for operation, messages in requests.items():
                cpu = await cpu_of_requests(service, operation, messages) / operation.at_once
                after = cpu_of(floor.work)
                turns[operation].append(Figure(cpu / 1000, cpu / ((before + after) / 2)))
                before = after
    finally:
        await store.close()
    return {operation: lower_quartile(figures[WARM_UPS:]) for operation, figures in turns.items()}


async def prepare(service: Service, target: Target, workload: Workload) -> None:
    """Create the table that a workload is for; fill it unless that inserts; wait until its index is built."""
    body = json.dumps({"TableName": target.table}).encode()
    head = render_head("POST", "Tables", port=target.port, content_type="application/json", body_bytes=len(body))
    await service.handle(read_request(head + body))
    if workload.table != OWN_TABLE:
        for message in FILL.requests(target):
            verify(FILL, await service.handle(read_request(message)))
    if workload.index:
        query = f"property={workload.index}"
        added = render_head("PUT", target.table, port=target.port, comp="indexes", query=query)
        listed = render_head("GET", target.table, port=target.port, comp="indexes")
        answer = await service.handle(read_request(added))
        if answer.status != 202:
            raise MeasureError(f"expected 202 for a new index, got {answer.status}: {answer.body[:300]!r}")
        while b'"ready"' not in (await service.handle(read_request(listed))).body:  # noqa: ASYNC110 - nobody tells
            await asyncio.sleep(LOOK_SECONDS)


def lower_quartile(figures: list[Figure]) -> Figure:
    return Figure(*(quantiles(values, n=4)[0] for values in zip(*figures, strict=True)))


def cpu_of(work: Callable[[], None]) -> int:
    began = time.process_time_ns()
    work()
    return time.process_time_ns() - began


async def cpu_of_requests(service: Service, operation: Operation, messages: Iterator[bytes]) -> int:
    """Handle the next requests, all at once, and return the nanoseconds of CPU time that all threads took."""
    requests = [read_request(message) for message in islice(messages, operation.at_once)]
    began = time.process_time_ns()
    responses = await asyncio.gather(*map(service.handle, requests))
    cpu = time.process_time_ns() - began
    for response in responses:
        verify(operation.workload, response)
    return cpu


def read_request(message: bytes) -> Request:
    """Read a request from the bytes that would be sent; we made them, so there is nothing to distrust."""
    head, _, body = message.partition(b"\r\n\r\n")
    line, *lines = head.decode().split("\r\n")
    method, target, _ = line.split(" ")
    headers = {name.lower(): value for name, _, value in (line.partition(": ") for line in lines)}
    return Request(method, target, headers, body)


def verify(workload: Workload, response: Response) -> None:
    if response.status != workload.status or response.body.count(workload.mark) != workload.marks:
        wanted = f"{workload.status} with {workload.marks} x {workload.mark!r}"
        raise MeasureError(f"{workload.title}: expected {wanted}, got {response.status}: {response.body[:300]!r}")


# --- the verdict ------------------------------------------------------------------------------------------------------


def compare(measured: dict[Operation, Figure], kept: dict[str, float]) -> list[str]:
    """Print a line for each operation, and return what is to be said of those that are slower than they may be."""
    complaints = []
    print(f"{'CPU time of one operation':30} {'µs':>8} {'in floors':>10} {'kept':>8} {'ratio':>6}")
    for operation, figure in measured.items():
        expected = kept.get(operation.workload.name, nan)
        ratio = figure.in_floors / expected
        print(f"{operation.title:30} {figure.cpu_us:8.1f} {figure.in_floors:10.4f} {expected:8.4f} {ratio:6.2f}")
        if ratio > SLOWER_MAX:
            complaints.append(f"{operation.title} takes {ratio:.2f} times the CPU time that is kept")
    return complaints


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--repetitions", type=int, default=REPETITIONS, help=f"default {REPETITIONS}")
    parser.add_argument("--only", default="*", metavar="GLOB", help="operations by the names of their workloads")
    parser.add_argument("--write", action="store_true", help=f"keep what is measured, in bench/{EXPECTED.name}")
    arguments = parser.parse_args()
    operations = [operation for operation in OPERATIONS if fnmatchcase(operation.workload.name, arguments.only)]
    try:
        if arguments.write:
            keep([measure_in_folder(operations, arguments.repetitions) for _ in range(KEPT_OF)])
        else:
            check(operations, arguments.repetitions)
    except MeasureError as failure:
        sys.exit(str(failure))


def keep(measures: list[dict[Operation, Figure]]) -> None:
    """Write the median of several measures to the file of expected figures; what was not measured stays as it was."""
    expected = json.loads(EXPECTED.read_text())
    kept = expected["in_floors"] if expected["python"] == PYTHON else {}
    kept |= {
        operation.workload.name: round(median(measured[operation].in_floors for measured in measures), 4)
        for operation in measures[0]
    }
    EXPECTED.write_text(json.dumps({"python": PYTHON, "in_floors": kept}, indent=4) + "\n")
    compare(measures[-1], kept)


def check(operations: list[Operation], repetitions: int) -> None:
    """Exit with a complaint where an operation has become slower, and is so when measured once more."""
    expected = json.loads(EXPECTED.read_text())
    measured = measure_in_folder(operations, repetitions)
    complaints = compare(measured, expected["in_floors"])
    if complaints:
        print("\nOnce more, in case that something disturbed; the lower figure counts:\n")
        again = measure_in_folder(operations, repetitions)
        complaints = compare(
            {one: min(measured[one], again[one], key=in_floors) for one in measured}, expected["in_floors"]
        )
    if expected["python"] != PYTHON:
        print(
            f"What is kept was measured with Python {expected['python']}; this is {PYTHON}, and it may differ by that."
        )
    if complaints:
        complaints.append(f"More than {SLOWER_MAX} times is too much: see what has changed, or keep it with --write.")
        sys.exit("\n".join(complaints))


def in_floors(figure: Figure) -> float:
    return figure.in_floors


if __name__ == "__main__":
    main()
