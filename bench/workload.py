"""What a workload is: where it goes, what makes a run of it count, and what a run gave."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass

# Enough for V8 to compile what it finds hot.
WARMUP_SECONDS = 1.0
READ_SECONDS = 3.0

# Tables: what inserts has an empty one of its own in each round, what changes entities shares a filled one of that
# round, and the reads share two.
FILLED_TABLE, SMALL_TABLE, OWN_TABLE, CHANGED_TABLE = "filled", "small", "own", "changed"

# What is counted in the answers.
ONE_ENTITY = b'"RowKey":'
NO_ENTITY = b"{"
PART_DONE = b"HTTP/1.1 204 "


class MeasureError(Exception):
    """A measure has no result, because an answer was wrong or did not come."""


@dataclass(frozen=True, slots=True)
class Target:
    """The table that a load drives, how many entities it holds, or is to hold, and where inserts begin."""

    port: int
    table: str
    entities: int
    first: int = 0


@dataclass(frozen=True, slots=True)
class Workload:
    """One kind of load.

    An operation is one answer, or, when `next_page` is given, all the pages of one query. Its answers together hold
    `mark` exactly `marks` times: that, and the status of each, is what makes a run count.
    """

    name: str
    title: str
    requests: Callable[[Target], Iterator[bytes]]
    # None: as many as the table holds.
    marks: int | None
    next_page: Callable[[Target, str], bytes] | None = None
    mark: bytes = ONE_ENTITY
    status: int = 200
    connections: int = 1
    seconds: float = READ_SECONDS
    counts_entities: bool = False
    warmup_seconds: float = WARMUP_SECONDS
    table: str = FILLED_TABLE
    # The property that has an index, where the server knows of indexes.
    index: str = ""
    # Whether answers come in gzip.
    gzip: bool = False


@dataclass(frozen=True, slots=True)
class Result:
    """What one run of a load gave, in units of the workload: operations, or entities."""

    units: int
    rate_per_second: float
    p50_ms: float
    p99_ms: float
    cpu_us: float
    generator_busy: float
    # Whole operations ended while the clock ran; 0 when the time box cut the first.
    operations: int
    # Of the answers to one unit, heads and all; 0 where nothing is sent.
    answer_bytes: float = 0.0

    @classmethod
    def of(
        cls,
        *,
        units: int,
        operations: int,
        seconds: float,
        cpu_seconds: float,
        latencies_ns: list[int],
        generator_busy: float = 0.0,
        answer_bytes: int = 0,
    ) -> "Result":
        latencies_ns = sorted(latencies_ns)
        return cls(
            units=units,
            rate_per_second=units / seconds,
            p50_ms=latencies_ns[len(latencies_ns) // 2] / 1e6,
            p99_ms=latencies_ns[len(latencies_ns) * 99 // 100] / 1e6,
            cpu_us=cpu_seconds / units * 1e6,
            generator_busy=generator_busy,
            operations=operations,
            answer_bytes=answer_bytes / units,
        )
