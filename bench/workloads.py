"""What is measured: the table of workloads, and of the floors beside them."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from itertools import islice

from asking import (
    BATCH_ENTITIES,
    PAGE_ENTITIES,
    batch_requests,
    delete_requests,
    filter_page,
    filter_requests,
    first_page_requests,
    full_read_page,
    full_read_requests,
    indexed_filter_requests,
    inner_page_requests,
    insert_requests,
    merge_requests,
    point_requests,
    range_requests,
    replace_requests,
    scattered_insert_requests,
)
from entities import FILTER_MATCHES, worded_json
from signing import MINIMAL_METADATA
from workload import CHANGED_TABLE, NO_ENTITY, OWN_TABLE, PART_DONE, SMALL_TABLE, WARMUP_SECONDS, Target, Workload

SMALL_TABLE_ENTITIES = 1000

# Azurite writes its whole database to disk every 5 s when it has changed: a write run lasts as long as that interval,
# so each holds about one such save.
WRITE_SECONDS = 5.0


def _writes(
    name: str,
    title: str,
    requests: Callable[[Target], Iterator[bytes]],
    *,
    connections: int = 32,
    table: str = OWN_TABLE,
    warmup_seconds: float = WARMUP_SECONDS,
) -> Workload:
    return Workload(
        name=f"{name}-{connections}",
        title=f"{title}, {_connections(connections)}",
        requests=requests,
        marks=0,
        mark=NO_ENTITY,
        status=204,
        connections=connections,
        seconds=WRITE_SECONDS,
        warmup_seconds=warmup_seconds,
        table=table,
    )


def _points(connections: int) -> Workload:
    return Workload(
        f"get-{connections}", f"point GET, {_connections(connections)}", point_requests, 1, connections=connections
    )


def _connections(number: int) -> str:
    return "1 connection" if number == 1 else f"{number} connections"


FILL = Workload(
    "fill",
    "filling by transactions of 100",
    lambda target: islice(batch_requests(target), target.entities // BATCH_ENTITIES),
    BATCH_ENTITIES,
    mark=PART_DONE,
    status=202,
    seconds=float("inf"),
    warmup_seconds=0.0,
)

FILTER = Workload("filter", "filter on Number, 10 matches", filter_requests, FILTER_MATCHES, filter_page)

MEASURED = (
    *(_writes("insert", "insert", insert_requests, connections=connections) for connections in (1, 32, 128)),
    Workload(
        "batch-100",
        "transaction of 100 inserts",
        batch_requests,
        BATCH_ENTITIES,
        mark=PART_DONE,
        status=202,
        seconds=WRITE_SECONDS,
        table=OWN_TABLE,
    ),
    _writes("merge", "merge", merge_requests, table=CHANGED_TABLE),
    _writes("replace", "insert or replace", replace_requests, table=CHANGED_TABLE),
    # The last to change the table: nothing is left of a small one. The other two have warmed up for it.
    _writes("delete", "delete", delete_requests, table=CHANGED_TABLE, warmup_seconds=0.0),
    Workload("page-small", "page of 1000, table of 1000", first_page_requests, PAGE_ENTITIES, table=SMALL_TABLE),
    _points(1),
    _points(8),
    _points(32),
    Workload("page", "page of 1000, filled table", first_page_requests, PAGE_ENTITIES),
    Workload(
        "page-minimal",
        "the same, minimalmetadata",
        lambda target: first_page_requests(target, accept=MINIMAL_METADATA),
        PAGE_ENTITIES,
    ),
    Workload("range-100", "row key range of 100", range_requests, BATCH_ENTITIES),
    FILTER,
    Workload("filter-indexed", "the same, with an index", indexed_filter_requests, FILTER_MATCHES, index="Number"),
    Workload(
        "full-read",
        "full read by pages, entities",
        full_read_requests,
        None,
        full_read_page,
        counts_entities=True,
        warmup_seconds=0.0,
    ),
)

# What `growth.py` measures besides: tables of all sizes get the same requests, at places all over them.
INNER_PAGE = Workload("page-inner", "page of 1000, anywhere", inner_page_requests, PAGE_ENTITIES)
SCATTERED_INSERTS = _writes("scatter", "insert at random keys", scattered_insert_requests)

# What `beside.py` measures besides.
EIGHT_PAGES = Workload("page-8", f"page of 1000, {_connections(8)}", first_page_requests, PAGE_ENTITIES, connections=8)
TWO_FILTERS = replace(FILTER, name="filter-2", title=f"{FILTER.title}, {_connections(2)}", connections=2)
GZIP_PAGE = Workload(
    "page-gzip",
    "page of 1000 in gzip",
    lambda target: first_page_requests(target, accept_encoding="gzip"),
    PAGE_ENTITIES,
    table=SMALL_TABLE,
    gzip=True,
)
FILL_WITH_WORDS = replace(
    FILL,
    name="fill-words",
    requests=lambda target: islice(batch_requests(target, worded_json), target.entities // BATCH_ENTITIES),
)

WORKLOADS = {
    workload.name: workload
    for workload in (
        FILL,
        *MEASURED,
        INNER_PAGE,
        SCATTERED_INSERTS,
        EIGHT_PAGES,
        TWO_FILTERS,
        GZIP_PAGE,
        FILL_WITH_WORDS,
    )
}

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
