"""Figures of a running server in the text format of Prometheus, version 0.0.4.

Reference: "Prometheus exposition formats". Requests are counted where they are recorded; everything else is measured
when somebody asks. Labels have values of our own only (operations, statuses), so that nobody else makes up series.
"""

from bisect import bisect_left
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

from rowkey.observe.transaction import Transaction

CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"

BUCKETS = (0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0)
"""Upper bounds in seconds: a point read takes about 0.0001, a page may take 5."""
_TICKS_PER_SECOND = 10_000_000
_BUCKET_TICKS = [bound * _TICKS_PER_SECOND for bound in BUCKETS]


class Gauge(NamedTuple):
    """A figure that is measured when it is asked for; `kind` is `gauge` or `counter`."""

    name: str
    kind: str
    help: str
    read: Callable[[], float]


class Figures:
    """Counts requests, and writes all figures, its own and those of `gauges`."""

    def __init__(self, gauges: Sequence[Gauge] = ()) -> None:
        self._gauges = gauges
        self._requests: Counter[tuple[str, int]] = Counter()
        self._durations: dict[str, _Durations] = {}
        self._received = self._sent = 0

    def record(self, transaction: Transaction) -> None:
        """Count an answered request."""
        operation = transaction.operation.name
        self._requests[operation, transaction.response.status] += 1
        durations = self._durations.get(operation)
        if durations is None:
            durations = self._durations[operation] = _Durations()
        durations.add(transaction.duration)
        self._received += transaction.request_head_bytes + len(transaction.request.body)
        self._sent += transaction.response_head_bytes + transaction.response_body_bytes

    def write(self) -> str:
        """All figures."""
        return "".join(f"{line}\n" for line in self._lines())

    def _lines(self) -> Iterator[str]:
        yield from _heading("rowkey_requests_total", "counter", "Requests that were answered.")
        for (operation, status), count in sorted(self._requests.items()):
            yield f'rowkey_requests_total{{operation="{operation}",status="{status}"}} {count}'
        yield from _heading("rowkey_request_duration_seconds", "histogram", "From the whole request to its answer.")
        for operation, durations in sorted(self._durations.items()):
            yield from durations.lines("rowkey_request_duration_seconds", f'operation="{operation}"')
        yield from _heading("rowkey_received_bytes_total", "counter", "Bytes of requests, heads and bodies.")
        yield f"rowkey_received_bytes_total {self._received}"
        yield from _heading("rowkey_sent_bytes_total", "counter", "Bytes of answers, heads and bodies.")
        yield f"rowkey_sent_bytes_total {self._sent}"
        for gauge in self._gauges:
            yield from _heading(gauge.name, gauge.kind, gauge.help)
            yield f"{gauge.name} {gauge.read():.16g}"


class _Durations:
    """A histogram of times in ticks."""

    __slots__ = ("_counts", "_sum")

    def __init__(self) -> None:
        self._counts = [0] * (len(BUCKETS) + 1)
        self._sum = 0

    def add(self, ticks: int) -> None:
        self._counts[bisect_left(_BUCKET_TICKS, ticks)] += 1
        self._sum += ticks

    def lines(self, name: str, label: str) -> Iterator[str]:
        """The samples, where each bucket counts all that is below its bound."""
        count = 0
        for bound, below in zip(BUCKETS, self._counts, strict=False):
            count += below
            yield f'{name}_bucket{{{label},le="{bound:g}"}} {count}'
        count += self._counts[-1]
        yield f'{name}_bucket{{{label},le="+Inf"}} {count}'
        yield f"{name}_sum{{{label}}} {self._sum / _TICKS_PER_SECOND:.7f}"
        yield f"{name}_count{{{label}}} {count}"


def _heading(name: str, kind: str, text: str) -> Iterator[str]:
    yield f"# HELP {name} {text}"
    yield f"# TYPE {name} {kind}"
