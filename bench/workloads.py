"""What is measured: the entities, the requests of each workload, and what a correct answer holds.

Every entity has the same size to the byte, so a body is made by putting a row key and a number into a template,
and every request of a workload has the same length. Requests are made ahead of need, never while the clock waits.
"""

import argparse
import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import count, cycle, islice
from urllib.parse import quote

from rowkey.odata.tokens import write_token
from signing import ACCOUNT, MINIMAL_METADATA, NO_METADATA, Fresh, render_head

PARTITION_KEY = "p"
ENTITY_BYTES = 1024
# Enough for V8 to compile what it finds hot.
WARMUP_SECONDS = 1.0
BATCH_ENTITIES = 100
PAGE_ENTITIES = 1000
FILTER_MATCHES = 10
# Numbers have seven digits whatever the size of the data set.
NUMBER_BASE = 1_000_000
# Distinct requests made in advance for random keys and ranges.
RANDOM_REQUESTS = 10_000
RANDOM_SEED = 20

# Tables: a write has an empty one of its own in each round, the reads share two.
FILLED_TABLE, SMALL_TABLE, OWN_TABLE = "filled", "small", "own"
SMALL_TABLE_ENTITIES = 1000

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
    connections: int
    seconds: float
    status: int
    mark: bytes
    # None: as many as the table holds.
    marks: int | None
    requests: Callable[[Target], Iterator[bytes]]
    next_page: Callable[[Target, str], bytes] | None = None
    counts_entities: bool = False
    warmup_seconds: float = WARMUP_SECONDS
    table: str = FILLED_TABLE


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
        )


def thousands(text: str) -> int:
    """Read a number of entities: whole pages, and whole batches."""
    entities = int(text)
    if entities < 1000 or entities % 1000:
        raise argparse.ArgumentTypeError("the number of entities must be a multiple of 1000")
    return entities


# --- entities ---------------------------------------------------------------------------------------------------------

_FIELDS = (
    b'{"PartitionKey":"p","RowKey":"%08d%b","Name":"Ada Lovelace","Email":"ada@example.org","City":"London",'
    b'"Number":%07d,"Price@odata.type":"Edm.Double","Price":1234.5,"Total@odata.type":"Edm.Int64",'
    b'"Total":"9007199254740993","Active":true,"Created@odata.type":"Edm.DateTime",'
    b'"Created":"2026-01-02T03:04:05.1234567Z","Owner@odata.type":"Edm.Guid",'
    b'"Owner":"c9da6455-213d-42c9-9a79-3e9149a57833","Notes":"%b"}'
)
_NOTES = b"x" * (ENTITY_BYTES - len(_FIELDS % (0, b"", 0, b"")))


def entity_json(index: int, entities: int, *, suffix: bytes = b"") -> bytes:
    """Return the entity as sent: 1 KiB, ten properties of seven types; ten entities of a table share a Number.

    With a suffix to its row key it comes behind the one without, and has the same size.
    """
    number = NUMBER_BASE + index % (entities // FILTER_MATCHES)
    return _FIELDS % (index, suffix, number, _NOTES[len(suffix) :])


def row_key(index: int) -> str:
    return f"{index:08d}"


# --- writes -----------------------------------------------------------------------------------------------------------


def insert_requests(target: Target) -> Iterator[bytes]:
    """Insert one entity after another, in the order of their keys."""
    head = Fresh(lambda: insert_head(target))
    for index in count(target.first):
        yield head.get() + entity_json(index, target.entities)


def scattered_insert_requests(target: Target) -> Iterator[bytes]:
    """Insert entities at random places between those that are there."""
    choose = random.Random(RANDOM_SEED + target.first)
    head = Fresh(lambda: insert_head(target))
    for number in count(target.first):
        yield head.get() + entity_json(choose.randrange(target.entities), target.entities, suffix=b"%08d" % number)


def insert_head(target: Target) -> bytes:
    return render_head("POST", target.table, port=target.port, content_type="application/json", body_bytes=ENTITY_BYTES)


def batch_requests(target: Target) -> Iterator[bytes]:
    """Insert 100 entities in each entity group transaction."""
    part_head = (
        "--changeset_b\r\nContent-Type: application/http\r\nContent-Transfer-Encoding: binary\r\n\r\n"
        f"POST http://127.0.0.1:{target.port}/{ACCOUNT}/{target.table} HTTP/1.1\r\n"
        f"Accept: {NO_METADATA}\r\nContent-Type: application/json\r\nDataServiceVersion: 3.0;\r\n"
        f"Prefer: return-no-content\r\nContent-Length: {ENTITY_BYTES}\r\n\r\n"
    ).encode()
    opening = b"--batch_a\r\nContent-Type: multipart/mixed; boundary=changeset_b\r\n\r\n"
    closing = b"--changeset_b--\r\n--batch_a--\r\n"

    def body(first: int) -> bytes:
        parts = (entity_json(index, target.entities) for index in range(first, first + BATCH_ENTITIES))
        return opening + b"".join(part_head + part + b"\r\n" for part in parts) + closing

    head = Fresh(
        lambda: render_head(
            "POST",
            "$batch",
            port=target.port,
            content_type="multipart/mixed; boundary=batch_a",
            body_bytes=len(body(0)),
        )
    )
    for first in count(step=BATCH_ENTITIES):
        yield head.get() + body(first)


# --- reads ------------------------------------------------------------------------------------------------------------


def point_query(target: Target, index: int) -> bytes:
    resource = f"{target.table}(PartitionKey='{PARTITION_KEY}',RowKey='{row_key(index)}')"
    return render_head("GET", resource, port=target.port)


def page_query(target: Target, query: str, *, accept: str = NO_METADATA) -> bytes:
    return render_head("GET", f"{target.table}()", port=target.port, query=query, accept=accept)


def point_requests(target: Target) -> Iterator[bytes]:
    return _random_requests(target.entities, lambda index: point_query(target, index))


def first_page_requests(target: Target, accept: str = NO_METADATA) -> Iterator[bytes]:
    request = Fresh(lambda: page_query(target, FIRST_PAGE, accept=accept))
    while True:
        yield request.get()


def inner_page_requests(target: Target) -> Iterator[bytes]:
    """Ask for pages that begin anywhere in the table, each by the continuation token that would lead there."""

    def page(first: int) -> bytes:
        partition_token, row_token = quote(write_token(PARTITION_KEY)), quote(write_token(row_key(first)))
        return page_query(target, f"{FIRST_PAGE}&NextPartitionKey={partition_token}&NextRowKey={row_token}")

    return _random_requests(target.entities - PAGE_ENTITIES + 1, page)


def range_requests(target: Target) -> Iterator[bytes]:
    def entities(first: int) -> bytes:
        text = (
            f"PartitionKey eq '{PARTITION_KEY}'"
            f" and RowKey ge '{row_key(first)}' and RowKey lt '{row_key(first + BATCH_ENTITIES)}'"
        )
        return page_query(target, "$filter=" + quote(text))

    return _random_requests(target.entities - BATCH_ENTITIES, entities)


def _random_requests(places: int, request: Callable[[int], bytes]) -> Iterator[bytes]:
    """Ask at random places of a table, again and again for the same ones."""
    choose = random.Random(RANDOM_SEED)
    indexes = [choose.randrange(places) for _ in range(RANDOM_REQUESTS)]
    requests = Fresh(lambda: [request(index) for index in indexes])
    for position in cycle(range(RANDOM_REQUESTS)):
        yield requests.get()[position]


def filter_requests(target: Target) -> Iterator[bytes]:
    while True:
        yield filter_page(target, "")


def filter_page(target: Target, continuation: str) -> bytes:
    number = NUMBER_BASE + target.entities // FILTER_MATCHES // 2
    return page_query(target, "$filter=" + quote(f"Number eq {number}") + continuation)


def full_read_requests(target: Target) -> Iterator[bytes]:
    while True:
        yield full_read_page(target, "")


def full_read_page(target: Target, continuation: str) -> bytes:
    return page_query(target, FIRST_PAGE + continuation)


FIRST_PAGE = f"$top={PAGE_ENTITIES}"

# --- the table of workloads -------------------------------------------------------------------------------------------

# Azurite writes its whole database to disk every 5 s when it has changed: a write run lasts as long as that interval,
# so each holds about one such save.
WRITE_SECONDS = 5.0
READ_SECONDS = 3.0


def _inserts(
    connections: int,
    *,
    name: str = "insert",
    title: str = "insert",
    requests: Callable[[Target], Iterator[bytes]] = insert_requests,
) -> Workload:
    return Workload(
        name=f"{name}-{connections}",
        title=f"{title}, {_connections(connections)}",
        connections=connections,
        seconds=WRITE_SECONDS,
        status=204,
        mark=NO_ENTITY,
        marks=0,
        requests=requests,
        table=OWN_TABLE,
    )


def _points(connections: int) -> Workload:
    return Workload(
        name=f"get-{connections}",
        title=f"point GET, {_connections(connections)}",
        connections=connections,
        seconds=READ_SECONDS,
        status=200,
        mark=ONE_ENTITY,
        marks=1,
        requests=point_requests,
    )


def _pages(
    name: str,
    title: str,
    marks: int | None,
    requests: Callable[[Target], Iterator[bytes]],
    next_page: Callable[[Target, str], bytes] | None = None,
    *,
    table: str = FILLED_TABLE,
    counts_entities: bool = False,
    warmup_seconds: float = WARMUP_SECONDS,
) -> Workload:
    return Workload(
        name=name,
        title=title,
        connections=1,
        seconds=READ_SECONDS,
        status=200,
        mark=ONE_ENTITY,
        marks=marks,
        requests=requests,
        next_page=next_page,
        table=table,
        counts_entities=counts_entities,
        warmup_seconds=warmup_seconds,
    )


def _connections(number: int) -> str:
    return "1 connection" if number == 1 else f"{number} connections"


FILL = Workload(
    name="fill",
    title="filling by transactions of 100",
    connections=1,
    seconds=float("inf"),
    status=202,
    mark=PART_DONE,
    marks=BATCH_ENTITIES,
    requests=lambda target: islice(batch_requests(target), target.entities // BATCH_ENTITIES),
    warmup_seconds=0.0,
)

MEASURED = (
    _inserts(1),
    _inserts(32),
    _inserts(128),
    Workload(
        name="batch-100",
        title="transaction of 100 inserts",
        connections=1,
        seconds=WRITE_SECONDS,
        status=202,
        mark=PART_DONE,
        marks=BATCH_ENTITIES,
        requests=batch_requests,
        table=OWN_TABLE,
    ),
    _pages(
        "page-small",
        "page of 1000, table of 1000",
        PAGE_ENTITIES,
        first_page_requests,
        table=SMALL_TABLE,
    ),
    _points(1),
    _points(8),
    _points(32),
    _pages("page", "page of 1000, filled table", PAGE_ENTITIES, first_page_requests),
    _pages(
        "page-minimal",
        "the same, minimalmetadata",
        PAGE_ENTITIES,
        lambda target: first_page_requests(target, MINIMAL_METADATA),
    ),
    _pages("range-100", "row key range of 100", BATCH_ENTITIES, range_requests),
    _pages("filter", "filter on Number, 10 matches", FILTER_MATCHES, filter_requests, filter_page),
    _pages(
        "full-read",
        "full read by pages, entities",
        None,
        full_read_requests,
        full_read_page,
        counts_entities=True,
        warmup_seconds=0.0,
    ),
)

# What `growth.py` measures besides: tables of all sizes get the same requests, at places all over them.
INNER_PAGE = _pages("page-inner", "page of 1000, anywhere", PAGE_ENTITIES, inner_page_requests)
SCATTERED_INSERTS = _inserts(32, name="scatter", title="insert at random keys", requests=scattered_insert_requests)

WORKLOADS = {workload.name: workload for workload in (FILL, *MEASURED, INNER_PAGE, SCATTERED_INSERTS)}

GROWTH_READS = (WORKLOADS["get-8"], WORKLOADS["range-100"], INNER_PAGE)
GROWTH_WRITES = (WORKLOADS["insert-32"], SCATTERED_INSERTS)

FLOOR_SECONDS = 2.0


@dataclass(frozen=True, slots=True)
class Floor:
    """A bare measure beside a workload: of the HTTP shell, or with `group` of the store, puts in each commit."""

    name: str
    title: str
    workload: str
    group: int | None = None
    puts_per_operation: int = 1


FLOORS = (
    *(
        Floor(f"floor-http-{connections}", f"bare HTTP shell, {_connections(connections)}", f"get-{connections}")
        for connections in (1, 8, 32)
    ),
    *(
        Floor(f"floor-store-{group}", f"bare store, {group} in a commit", f"insert-{group}", group=group)
        for group in (1, 32, 128)
    ),
    Floor("floor-store-100", "bare store, 100 in a commit", "batch-100", group=100, puts_per_operation=100),
)
