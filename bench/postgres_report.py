"""The figures of a run as a Markdown table."""

from math import isnan
from statistics import median

from postgres_bench import Sample
from postgres_measures import PROTOCOLS, Measure


def report(samples: dict[str, list[Sample]], measures: list[Measure]) -> str:
    """Return the figures as a Markdown table."""
    rows = [
        ("Measure", "/s", "client CPU µs", "server CPU µs", *(f"to {protocol}" for protocol in PROTOCOLS), "wanted"),
        ("---", *["--:"] * 6),
    ]
    for measure in measures:
        own = samples[measure.name]
        ratios = [_ratio(own, samples.get(peer)) for peer in measure.peers()]
        rows.append(
            (
                measure.title,
                *(_figure([sample[position] for sample in own]) for position in range(3)),
                *(*ratios, "", "")[:2],
                f"{measure.goal:g}" if measure.goal else "",
            )
        )
    return "\n".join(f"| {' | '.join(row)} |" for row in rows)


def _ratio(own: list[Sample], peer: list[Sample] | None) -> str:
    """The median of the ratios, and the least and the greatest."""
    if peer is None:
        return ""
    ratios = [ours.rate / theirs.rate for ours, theirs in zip(own, peer, strict=True)]
    return f"{median(ratios):.2f} ({min(ratios):.2f} to {max(ratios):.2f})"


def _figure(values: list[float]) -> str:
    value = median(values)
    return "" if isnan(value) else f"{value:,.0f}" if value >= 100 else f"{value:.3g}"
