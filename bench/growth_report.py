"""Growth as text: a column for each size, and what the largest costs beside the smallest."""

from statistics import median

from measure import Record
from report import machine
from tables import Table, figure, made_by, ratio, ratios, section
from workloads import FILL, GROWTH_READS, GROWTH_WRITES

MEASURED = (*GROWTH_READS, *GROWTH_WRITES, FILL)

# Figures that are no load, in the order of the table.
FIGURES = (
    ("start", "start to first 200, ms"),
    ("start-cpu", "CPU time of the start, ms"),
    ("memory-idle", "memory after the start, MiB"),
    ("memory-read", "memory after the reads, MiB"),
    ("memory-written", "memory after the inserts, MiB"),
    ("disk", "bytes on disk for an entity"),
    ("delete", "Delete Table, ms"),
)

# What we ask of ourselves: CPU time of the largest table beside the smallest, and the worst that any size may show.
GROWTH_MAX = 1.5
GOALS = (("start", 400), ("memory-idle", 80), ("memory-read", 300), ("memory-written", 300), ("delete", 100))

EXPLANATION = """\
### What the measures of growth mean

* A server for each size, on a folder of its own with one table in one partition; entities are those of the comparison.
  Each is paused while another is measured, and they take turns in every round.
  Every figure is the median of the rounds.
* "Largest : smallest" is the median of the ratios taken within a round. A cost that grows with the table is above 1.
* Point GETs, pages and ranges are at 10,000 random places of the table, asked for again and again.
  The pages are those of a query of the whole table, each entered by its continuation token.
* All of a small table is in the server's own cache of 32 MiB, and next to nothing of a large one:
  what it lacks it reads from the page cache of the system, and verifies its checksum.
* "insert, 32 connections" has keys that follow those that are there; "at random keys" has keys between them.
  In each round they begin on a copy of the folder, so that the table has its size.
  The folder of more than a million entities is not copied for each round; its table grows by a few percent.
* Filling is by entity group transactions of 100, once for each size; an operation is a transaction.
  The smallest tables are full before the server has warmed up.
* Start is from the start of the process to the first 200, the last entity; the file is in the page cache of the system.
  A database of up to 24 MiB, about 17,000 of these entities, is checked whole when it is opened.
* Memory is the resident set of the server's processes.
* Delete Table is measured once, at the very end: the time to its answer. The entities go in the background.
"""


def growth_report(record: Record, *, sizes: list[int], arguments: list[str]) -> str:
    """Return what was measured, where, and how, and what it means; `arguments` are those of `growth.py`."""
    parts = [
        "## Growth\n",
        made_by("growth.py", arguments),
        "How much an operation costs as the table grows.\n",
        *(f"* {line}" for line in machine()),
        "",
        *section("Goals", goal_table(record, sizes)),
        *section("CPU time for one operation, µs", cpu_table(record, sizes)),
        "![CPU time for one operation, by the size of the table](charts/growth.svg)\n",
        *section("Rate, a second", rate_table(record, sizes)),
        *section("Start, memory and disk", figure_table(record, sizes)),
    ]
    return "\n".join(parts) + "\n" + EXPLANATION


def cpu_table(record: Record, sizes: list[int]) -> Table:
    return [
        _heads(sizes),
        *(_row(load.title, [record.cpus(load.name, str(size)) for size in sizes]) for load in MEASURED),
    ]


def rate_table(record: Record, sizes: list[int]) -> Table:
    return [
        _heads(sizes),
        *(_row(load.title, [record.rates(load.name, str(size)) for size in sizes]) for load in MEASURED),
    ]


def figure_table(record: Record, sizes: list[int]) -> Table:
    return [
        _heads(sizes),
        *(_row(title, [record.figures.get((name, str(size)), []) for size in sizes]) for name, title in FIGURES),
    ]


def goal_table(record: Record, sizes: list[int]) -> Table:
    """One line a goal: what is asked for, what was measured, and whether it is met."""
    rows: Table = [("Goal", "below", "measured", "met")]
    smallest, largest = str(sizes[0]), str(sizes[-1])
    for load in (*GROWTH_READS, *GROWTH_WRITES):
        growth = ratios(record.cpus(load.name, largest), record.cpus(load.name, smallest))
        rows.append(_goal(f"CPU time, largest : smallest, {load.title}", GROWTH_MAX, median(growth)))
    titles = dict(FIGURES)
    for name, limit in GOALS:
        worst = max(median(record.figures[name, str(size)]) for size in sizes)
        rows.append(_goal(f"{titles[name]}, at any size", limit, worst))
    return rows


def _goal(title: str, limit: float, measured: float) -> tuple[str, ...]:
    return (title, f"{limit:g}", figure([measured]), "yes" if measured < limit else "**no**")


def _heads(sizes: list[int]) -> tuple[str, ...]:
    return ("Entities", *(f"{size:,}" for size in sizes), "largest : smallest")


def _row(title: str, rounds: list[list[float]]) -> tuple[str, ...]:
    return (title, *map(figure, rounds), ratio(rounds[-1], rounds[0]))
