"""Figures as Markdown tables that can be read in a terminal too."""

import shlex
from datetime import date
from statistics import median

Table = list[tuple[str, ...]]


def section(title: str, table: Table) -> list[str]:
    """Return a heading and a Markdown table whose columns stand under each other; nothing for an empty table."""
    if len(table) == 1:
        return []
    widths = [max(map(len, column)) for column in zip(*table, strict=True)]
    rule = tuple("-" * width for width in widths)
    lines = [
        "| " + " | ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)) + " |"
        for row in (table[0], rule, *table[1:])
    ]
    return [f"### {title}\n", *lines, ""]


def figure(values: list[float]) -> str:
    """Return the median with three significant digits."""
    if not values:
        return "-"
    value = median(values)
    return f"{value:.0f}" if value >= 100 else f"{value:.3g}"


def ratio(ours: list[float], theirs: list[float]) -> str:
    """Return the median of the ratios, each taken within one round."""
    return figure(ratios(ours, theirs))


def ratios(ours: list[float], theirs: list[float]) -> list[float]:
    return [one / other for one, other in zip(ours, theirs, strict=False) if other]


def made_by(script: str, arguments: list[str]) -> str:
    """Return how a section was made, and when."""
    return f"Made by `{shlex.join(['python', f'bench/{script}', *arguments])}` on {date.today().isoformat()}."
