"""Figures as Prometheus reads them."""

from __future__ import annotations

import re

from rowkey.observe.figures import BUCKETS, Figures, Gauge
from rowkey.wire.request import Response
from tests.observe.samples import MILLISECOND, transaction

SAMPLE = re.compile(r'([a-z_]+)(\{[a-z]+="[^"\\\n]*"(?:,[a-z]+="[^"\\\n]*")*\})? (\S+)')


def samples(figures: Figures) -> dict[str, float]:
    """What is written, by name and labels; every line is of the format."""
    values: dict[str, float] = {}
    kinds: dict[str, str] = {}
    for line in figures.write().splitlines():
        if line.startswith("# "):
            kinds.setdefault(line.split()[2], line)
            continue
        match = SAMPLE.fullmatch(line)
        assert match, line
        assert re.sub("_(bucket|sum|count)$", "", match[1]) in kinds or match[1] in kinds
        name = match[1] + (match[2] or "")
        assert name not in values
        values[name] = float(match[3])
    return values


def test_requests_are_counted_by_operation_and_status() -> None:
    figures = Figures()
    for _ in range(3):
        figures.record(transaction("GetEntity"))
    figures.record(transaction("GetEntity", response=Response(404)))
    figures.record(transaction("InsertEntity", response=Response(201)))
    values = samples(figures)
    assert values['rowkey_requests_total{operation="QueryEntity",status="200"}'] == 3
    assert values['rowkey_requests_total{operation="QueryEntity",status="404"}'] == 1
    assert values['rowkey_requests_total{operation="InsertEntity",status="201"}'] == 1
    assert values["rowkey_received_bytes_total"] == 5 * 110
    assert values["rowkey_sent_bytes_total"] == 5 * 220


def test_times_are_a_histogram() -> None:
    figures = Figures()
    for milliseconds in (0, 5, 6, 30_000):
        figures.record(transaction("GetEntity", duration=milliseconds * MILLISECOND))
    values = samples(figures)
    name = 'rowkey_request_duration_seconds_bucket{operation="QueryEntity",le='
    assert values[f'{name}"0.0001"}}'] == 1
    assert values[f'{name}"0.0025"}}'] == 1
    assert values[f'{name}"0.005"}}'] == 2  # a bound belongs to its bucket
    assert values[f'{name}"0.01"}}'] == 3
    assert values[f'{name}"10"}}'] == 3
    assert values[f'{name}"+Inf"}}'] == 4
    assert values['rowkey_request_duration_seconds_count{operation="QueryEntity"}'] == 4
    assert values['rowkey_request_duration_seconds_sum{operation="QueryEntity"}'] == 30.011
    assert len([key for key in values if key.startswith(name)]) == len(BUCKETS) + 1


def test_gauges_are_read_when_they_are_asked_for() -> None:
    sizes = [1.0, 2.5e10]
    figures = Figures([Gauge("rowkey_data_bytes", "gauge", "Size.", lambda: sizes.pop())])
    assert samples(figures)["rowkey_data_bytes"] == 2.5e10
    assert samples(figures)["rowkey_data_bytes"] == 1
