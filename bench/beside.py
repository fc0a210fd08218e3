"""Rowkey beside itself: a load beside another load, two workers beside one, gzip beside plain text.

All is asked of one folder, on which servers with different options are started one after the other in every
round; so the two sides of a pair are never more than a few minutes apart.
"""

from dataclasses import dataclass
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory

from measure import Record, fill_table, last_entity, list_tables, new_table
from report import failed
from run_bench import Bench
from servers import CACHE, Kind, Server, rowkey, running
from tables import Table, figure, ratio, ratios, section
from workload import FILLED_TABLE, OWN_TABLE, SMALL_TABLE, Target, Workload
from workloads import EIGHT_PAGES, FILL_WITH_WORDS, FILTER, GZIP_PAGE, SMALL_TABLE_ENTITIES, TWO_FILTERS, WORKLOADS

PLAIN = rowkey(name="plain")
TWO_WORKERS = rowkey("--workers=2", name="workers")
COMPRESSING = rowkey("--compress", name="compress")

POINT, INSERT, PAGE, FULL_READ = (WORKLOADS[name] for name in ("get-1", "insert-32", "page-small", "full-read"))
POINTS = WORKLOADS["get-32"]


@dataclass(frozen=True, slots=True)
class Setting:
    """A load at a server with some options, perhaps with another load beside it."""

    kind: Kind
    workload: Workload
    beside: Workload | None = None

    @property
    def name(self) -> str:
        return f"{self.workload.name}, {self.beside.name}" if self.beside else self.workload.name


@dataclass(frozen=True, slots=True)
class Pair:
    """Two settings, the figure of a Result that is compared, and what its ratio is to stay below."""

    name: str
    title: str
    figure: str
    without: Setting
    having: Setting
    ratio_max: float | None = None


PAIRS = (
    *(
        Pair(
            f"beside-{other.name}",
            f"p99 of a point GET, ms; beside a {what}",
            "p99_ms",
            Setting(PLAIN, POINT),
            Setting(PLAIN, POINT, beside=other),
            ratio_max=3.0,
        )
        for other, what in ((FILTER, "filter of the whole table"), (FULL_READ, "full read by pages"))
    ),
    Pair(
        "two-filters",
        "filters of the whole table, /s; two at once",
        "rate_per_second",
        Setting(PLAIN, FILTER),
        Setting(PLAIN, TWO_FILTERS),
    ),
    *(
        Pair(
            f"workers-{workload.name}",
            f"{workload.title}, /s; two workers",
            "rate_per_second",
            Setting(PLAIN, workload),
            Setting(TWO_WORKERS, workload),
        )
        for workload in (POINTS, EIGHT_PAGES, INSERT)
    ),
    *(
        Pair(
            f"gzip-{name}",
            f"page of 1000, {what}; in gzip",
            attribute,
            Setting(COMPRESSING, PAGE),
            Setting(COMPRESSING, GZIP_PAGE),
        )
        for name, what, attribute in (
            ("bytes", "bytes", "answer_bytes"),
            ("cpu", "CPU µs", "cpu_us"),
            ("rate", "/s", "rate_per_second"),
        )
    ),
)


def measure_beside(bench: Bench) -> None:
    """Measure both settings of each pair that is wanted, by turns."""
    pairs = [pair for pair in PAIRS if bench.wants(pair.name)]
    if not pairs:
        return
    settings = list(dict.fromkeys(setting for pair in pairs for setting in (pair.without, pair.having)))
    with TemporaryDirectory(dir=CACHE, prefix="data-") as folder:
        data = Path(folder) / "rowkey"
        fill(bench, data)
        for number in range(bench.rounds):
            for kind in dict.fromkeys(setting.kind for setting in settings):
                server = Server(kind, data=data)
                filled = Target(port=server.port, table=FILLED_TABLE, entities=bench.entities)
                with running(server):
                    server.start(last_entity(filled))
                    server.pause()
                    for setting in settings:
                        if setting.kind is kind:
                            target = target_of(setting, server, filled, new_name=f"{kind.name}{number}")
                            bench.measure(server, setting.workload, target, name=setting.name, beside=setting.beside)


def fill(bench: Bench, data: Path) -> None:
    """Fill the large table and the small one, whose entities are such as gzip is for."""
    server = Server(PLAIN, data=data)
    with running(server):
        server.start(list_tables(server.port))
        server.pause()
        filled = new_table(server, FILLED_TABLE, entities=bench.entities)
        small = new_table(server, SMALL_TABLE, entities=SMALL_TABLE_ENTITIES)
        with server.awake():
            fill_table(server, filled)
            fill_table(server, small, FILL_WITH_WORDS)


def target_of(setting: Setting, server: Server, filled: Target, *, new_name: str) -> Target:
    """Return what a load drives at a paused server; what inserts has a table of its own."""
    if setting.workload.table == OWN_TABLE:
        return new_table(server, new_name, entities=filled.entities)
    if setting.workload.table == SMALL_TABLE:
        return Target(port=server.port, table=SMALL_TABLE, entities=SMALL_TABLE_ENTITIES)
    return filled


def beside_report(record: Record) -> str:
    """Return what was measured; the explanation of the comparison says what it means."""
    return "\n".join((*section("Rowkey beside itself", pair_table(record)), *failed(record), ""))


def pair_table(record: Record) -> Table:
    """One line a pair: its figure without and with what the line names last, and how many times as much that is."""
    rows: Table = [("Measure; with", "without", "with", "ratio", "asked")]
    for pair in PAIRS:
        without, having = (
            [getattr(result, pair.figure) for result in record.results.get((setting.name, setting.kind.name), [])]
            for setting in (pair.without, pair.having)
        )
        if without and having:
            verdict = _verdict(median(ratios(having, without)), pair.ratio_max)
            rows.append((pair.title, figure(without), figure(having), ratio(having, without), verdict))
    return rows


def _verdict(measured: float, limit: float | None) -> str:
    if limit is None:
        return ""
    return f"below {limit:g}: {'yes' if measured < limit else '**no**'}"
