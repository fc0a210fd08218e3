"""The figures as charts, for docs/benchmarks.md: SVG that reads well on white and on dark pages."""

from math import nan
from pathlib import Path
from statistics import median
from typing import Any

import matplotlib as mpl
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter, NullFormatter

from measure import Record
from servers import BENCH, HTTP_FLOOR
from workload import Workload
from workloads import FLOORS, GROWTH_READS, GROWTH_WRITES, MEASURED, Floor

CHARTS = BENCH.parent / "docs" / "charts"

# Mid-tones: they stand out from both kinds of page.
INK = "#808080"
SERVERS_SHOWN = ("Rowkey", "Azurite")
FLOOR = "floor"
COLOURS = dict(zip((*SERVERS_SHOWN, FLOOR), ("#2f81f7", "#e0823d", "#8b949e"), strict=True))
LINES = ("#2f81f7", "#e0823d", "#3fa45b", "#a371f7", "#db61a2")
MARKERS = "osD^v"
PLAIN = FuncFormatter(lambda value, _position: f"{value:,.10g}")

STYLE: Any = {  # the names of settings have a type of their own, and a long one
    "svg.hashsalt": "rowkey",  # ids are made from it: the same figures give the same file
    "svg.fonttype": "none",  # text, not paths: smaller, and it can be searched
    "font.family": "sans-serif",
    "font.sans-serif": ["DejaVu Sans"],  # comes with matplotlib; the text is laid out by its widths
    "font.size": 10,
    "text.color": INK,
    "axes.labelcolor": INK,
    "axes.edgecolor": INK,
    "xtick.color": INK,
    "ytick.color": INK,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "grid.color": INK,
    "grid.alpha": 0.25,
}


def draw_rates(record: Record) -> None:
    """Draw how many operations a second each server does: charts/rate.svg."""
    bars = {}
    for workload in MEASURED:
        bars[workload.title] = {name: _middle(record.rates(workload.name, name.lower())) for name in SERVERS_SHOWN}
        for floor in _floors(workload):
            bars[workload.title][FLOOR] = _middle(record.rates(floor.name, HTTP_FLOOR.name)) / floor.puts_per_operation
    _draw_bars(bars, "operations a second (longer is better)", CHARTS / "rate.svg")


def draw_cpu(record: Record) -> None:
    """Draw what CPU time an operation takes: charts/cpu.svg."""
    bars = {}
    for workload in MEASURED:
        bars[workload.title] = {name: _middle(record.cpus(workload.name, name.lower())) for name in SERVERS_SHOWN}
        for floor in _floors(workload):
            bars[workload.title][FLOOR] = _middle(record.cpus(floor.name, HTTP_FLOOR.name)) * floor.puts_per_operation
    _draw_bars(bars, "µs of CPU time for one operation (shorter is better)", CHARTS / "cpu.svg")


def draw_growth(record: Record, sizes: list[int]) -> None:
    """Draw the CPU time of operations against the size of the table: charts/growth.svg."""
    with mpl.rc_context(STYLE):
        figure = Figure(figsize=(8, 5), layout="constrained")
        axes: Axes = figure.subplots()
        for workload, colour, marker in zip((*GROWTH_READS, *GROWTH_WRITES), LINES, MARKERS, strict=True):
            cpus = [_middle(record.cpus(workload.name, str(size))) for size in sizes]
            axes.plot(sizes, cpus, color=colour, marker=marker, label=workload.title)
        axes.set_xscale("log")
        axes.set_yscale("log")
        axes.set_ylim(bottom=10, top=10_000)
        axes.set_xticks(sizes, [f"{size // 10**6} M" if size >= 10**6 else f"{size // 1000} k" for size in sizes])
        axes.tick_params(axis="x", which="minor", length=0)
        axes.xaxis.set_minor_formatter(NullFormatter())
        axes.yaxis.set_major_formatter(PLAIN)
        axes.set_xlabel("entities in the table")
        axes.set_ylabel("µs of CPU time for one operation")
        axes.grid(axis="y")
        figure.legend(loc="outside upper center", ncols=2, frameon=False)
        _save(figure, CHARTS / "growth.svg")


def _floors(workload: Workload) -> list[Floor]:
    """Return the floor of a workload; most have none."""
    return [floor for floor in FLOORS if floor.workload == workload.name]


def _middle(values: list[float]) -> float:
    return median(values) if values else nan


def _draw_bars(bars: dict[str, dict[str, float]], label: str, path: Path) -> None:
    """Draw a group of bars for each workload, on a logarithmic scale."""
    with mpl.rc_context(STYLE):
        figure = Figure(figsize=(8, 8), layout="constrained")
        axes: Axes = figure.subplots()
        height = 0.8 / len(COLOURS)
        for place, (name, colour) in enumerate(COLOURS.items()):
            middles = [row + (place - 1) * height for row in range(len(bars))]
            values = [group.get(name, nan) for group in bars.values()]
            axes.barh(middles, values, height * 0.9, color=colour, label=name)
            for middle, value in zip(middles, values, strict=True):
                if value == value:  # what was not measured has no bar
                    axes.annotate(
                        f"{value:,.3g}" if value < 100 else f"{value:,.0f}",
                        (value, middle),
                        xytext=(3, 0),
                        textcoords="offset points",
                        verticalalignment="center",
                        fontsize=7,
                    )
        axes.set_xscale("log")
        axes.margins(x=0.1, y=0.01)
        axes.set_yticks(range(len(bars)), list(bars))
        axes.tick_params(axis="y", length=0)
        axes.invert_yaxis()
        axes.xaxis.set_major_formatter(PLAIN)
        axes.set_xlabel(label)
        axes.grid(axis="x")
        axes.set_axisbelow(True)
        figure.legend(loc="outside upper center", ncols=len(COLOURS), frameon=False)
        _save(figure, path)


def _save(figure: Figure, path: Path) -> None:
    CHARTS.mkdir(exist_ok=True)
    figure.savefig(path, transparent=True, metadata={"Date": None})
