"""The comparison as text: Markdown that can be read in a terminal too."""

import os
import platform
from importlib.metadata import version
from pathlib import Path
from statistics import median

import apsw

from measure import Record
from rowkey import __version__
from servers import AZURITE, AZURITE_PACKAGE, HTTP_FLOOR, ROWKEY, azurite_version, node_version
from tables import Table, figure, made_by, ratio, section
from workload import Result, Workload
from workloads import FLOORS, WORKLOADS

SERVERS = (ROWKEY.name, AZURITE.name)

# Above this share of a core the generator, not the server, may have set the rate.
GENERATOR_BUSY_MAX = 0.9

# Figures that are no load, in the order of the table.
FIGURES = (
    ("start-empty", "start to first 200, empty, ms"),
    ("start-full", "start to first 200, filled, ms"),
    ("memory-full", "memory after filling, MiB"),
    ("memory-restarted", "memory after a restart, MiB"),
)

EXPLANATION = """\
### What the measures mean

* Both servers run on the same machine with their default settings and get the same requests.
  Each is paused while the other is measured, and they take turns in every round.
* Ratios are Rowkey to Azurite, or to the floor, taken within a round; every figure is the median of the rounds.
  On a shared machine read the ratios and the CPU times; the rates move with the neighbours.
* A rate counts right answers only: the status of each answer and the number of entities in it are checked.
  One wrong answer fails the measure.
* The load is a closed loop: a connection sends its next request when it has the answer to the last.
* CPU is the user and system time of the server's processes, for one operation (for one entity in the full read).
* Entities are 1 KiB of JSON: ten properties of seven types, all in one partition, inserted in the order of their keys.
* Rowkey answers a write when it is on the disk (fsync).
  Azurite keeps its data in memory and writes all of it to a file every 5 s; when killed it loses what came since.
  A write run lasts 5 s, so each has about one such save.
* Inserts and transactions go into empty tables.
  Merge (of two properties, with `If-Match: *`), insert or replace (of the whole entity) and delete
  go to random entities of one more filled table, which is filled anew in each round.
* Pages are read without metadata but for the one that says otherwise.
  A filter follows continuation tokens to the end: an operation is the whole query.
  The filter with an index asks for another Number each time.
  Rowkey has been given an index on it (`rowkey index add`); Azurite has none, and gets the same requests.
* Start is from the start of the process to the first 200: the list of tables when empty, the last entity when filled.
  The file is in the page cache of the system.
* Memory is the resident set of the server's processes: when filling is over and the server is quiet,
  and after a restart when one entity has been read.
* (g): the load generator was busy for over 90 % of the time and may have set the rate; the CPU time stands.
* (c): cut after 30 s. The figures are those of the pages done, which in Azurite cost more than the later ones:
  each page sorts all that is left of the table.
* The HTTP floor is `asyncio.Protocol`, httptools and uvloop with a fixed answer of one entity and no authentication.
  The store floor is SQLite (WAL, `synchronous=FULL`) with a commit and one fsync for each group of puts;
  its latencies are those of a commit.
  "Rowkey to floor" says how far Rowkey is from them.
* "Rowkey beside itself" compares a figure without and with what its line names last, by turns within a round.
  A load beside the measured one comes from a generator of its own, which needs a core, too;
  and two workers are twice as quick only where each has a core and the generator has one.
  The filter of the whole table looks at every entity, as the filter on Number without an index does.
  gzip is what `--compress` gives to clients that take it, here to one whose entities have different words for Notes;
  bytes are those of the answer, its head included.
"""


def report(record: Record, *, entities: int, rounds: int, arguments: list[str]) -> str:
    """Return what was measured, where, and how; EXPLANATION says what it means."""
    parts = [
        "## Beside Azurite\n",
        made_by("run.py", arguments),
        f"{entities} entities in the filled table; medians of {rounds} round{'s' * (rounds > 1)}.\n",
        *(f"* {line}" for line in machine()),
        f"* Azurite {azurite_version()} on Node.js {node_version()}" if AZURITE_PACKAGE.exists() else "* no Azurite",
        "",
        *section("Rate and CPU time", workload_table(record)),
        "![Operations a second](charts/rate.svg)\n",
        "![CPU time for one operation](charts/cpu.svg)\n",
        *section("Latency", latency_table(record)),
        *section("Start and memory", figure_table(record)),
        *section("Floors", floor_table(record)),
        *failed(record),
    ]
    return "\n".join(parts) + "\n"


def failed(record: Record) -> list[str]:
    """Return why measures have no result; nothing where all have."""
    if not record.failures:
        return []
    return [
        "### Failed\n",
        *(f"* {name}, {server}: {why}" for (name, server), why in record.failures.items()),
        "",
    ]


def machine() -> list[str]:
    """Return what a reader must know of the machine and the programs."""
    cpu_lines = Path("/proc/cpuinfo").read_text().splitlines()
    models = [line.partition(":")[2].strip() for line in cpu_lines if line.startswith("model name")]
    return [
        f"{models[0] if models else 'unknown CPU'}, {os.cpu_count()} cores, {platform.system()} {platform.release()}",
        f"Python {platform.python_version()}, uvloop {version('uvloop')}, SQLite {apsw.sqlite_lib_version()}",
        f"Rowkey {__version__}",
    ]


# --- tables -----------------------------------------------------------------------------------------------------------


def workload_table(record: Record) -> Table:
    """One line a workload: rate, CPU time, and the ratios of both."""
    rows: Table = [("Measure", "Rowkey /s", "Azurite /s", "ratio", "Rowkey CPU µs", "Azurite CPU µs", "ratio")]
    for workload in _measured(record):
        ours, theirs = (record.results.get((workload.name, server), []) for server in SERVERS)
        rows.append(
            (
                workload.title,
                *(_rate(record, workload.name, server) for server in SERVERS),
                ratio(_rates(ours), _rates(theirs)),
                figure(_cpus(ours)),
                figure(_cpus(theirs)),
                ratio(_cpus(ours), _cpus(theirs)),
            )
        )
    return rows


def latency_table(record: Record) -> Table:
    rows: Table = [("Measure, ms", "Rowkey p50", "Azurite p50", "Rowkey p99", "Azurite p99")]
    for workload in _measured(record):
        both = [record.results.get((workload.name, server), []) for server in SERVERS]
        middles = (figure([result.p50_ms for result in results]) for results in both)
        tails = (figure([result.p99_ms for result in results]) for results in both)
        rows.append((workload.title, *middles, *tails))
    return rows


def figure_table(record: Record) -> Table:
    rows: Table = [("Measure", "Rowkey", "Azurite", "ratio")]
    for name, title in FIGURES:
        ours, theirs = (record.figures.get((name, server), []) for server in SERVERS)
        if ours or theirs:
            rows.append((title, figure(ours), figure(theirs), ratio(ours, theirs)))
    return rows


def floor_table(record: Record) -> Table:
    """One line a floor, and how many times as much (or little) Rowkey does in the workload that belongs to it."""
    rows: Table = [("Floor", "/s", "CPU µs", "p50 ms", "p99 ms", "Rowkey's rate to floor", "Rowkey's CPU to floor")]
    for floor in FLOORS:
        results = record.results.get((floor.name, HTTP_FLOOR.name), [])
        if not results:
            continue
        ours = record.results.get((floor.workload, ROWKEY.name), [])
        # A transaction of 100 is one operation of Rowkey and 100 puts of the floor.
        rates = [rate * floor.puts_per_operation for rate in _rates(ours)]
        cpus = [cpu / floor.puts_per_operation for cpu in _cpus(ours)]
        rows.append(
            (
                floor.title,
                _rate(record, floor.name, HTTP_FLOOR.name),
                figure(_cpus(results)),
                figure([result.p50_ms for result in results]),
                figure([result.p99_ms for result in results]),
                ratio(rates, _rates(results)),
                ratio(cpus, _cpus(results)),
            )
        )
    return rows


def _measured(record: Record) -> list[Workload]:
    names = {name for name, _ in (*record.results, *record.failures)}
    return [workload for workload in WORKLOADS.values() if workload.name in names]


def _rates(results: list[Result]) -> list[float]:
    return [result.rate_per_second for result in results]


def _cpus(results: list[Result]) -> list[float]:
    return [result.cpu_us for result in results]


def _rate(record: Record, name: str, server: str) -> str:
    """Return the median rate and the marks that qualify it."""
    if (name, server) in record.failures:
        return "failed"
    results = record.results.get((name, server), [])
    text = figure(_rates(results))
    if results and median(result.generator_busy for result in results) > GENERATOR_BUSY_MAX:
        text += " (g)"
    if any(result.operations == 0 for result in results):
        text += " (c)"
    return text
