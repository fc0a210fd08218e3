"""The requests of each workload, made ahead of need, never while the clock waits."""

import random
from collections.abc import Callable, Iterator
from itertools import count, cycle
from urllib.parse import quote

from entities import (
    ENTITY_BYTES,
    FILTER_MATCHES,
    NUMBER_BASE,
    PARTITION_KEY,
    entity_json,
    merge_json,
    replacement_json,
    row_key,
)
from rowkey.odata.tokens import write_token
from signing import ACCOUNT, NO_METADATA, Fresh, render_head
from workload import Target

BATCH_ENTITIES = 100
PAGE_ENTITIES = 1000
FIRST_PAGE = f"$top={PAGE_ENTITIES}"
# Distinct requests made in advance for random keys and ranges.
RANDOM_REQUESTS = 10_000
RANDOM_SEED = 20


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


def batch_requests(target: Target, entity: Callable[[int, int], bytes] = entity_json) -> Iterator[bytes]:
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
        parts = (entity(index, target.entities) for index in range(first, first + BATCH_ENTITIES))
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


def merge_requests(target: Target) -> Iterator[bytes]:
    """Merge two properties into entities anywhere in the table, whatever their ETag."""
    return _change_requests(target, "MERGE", merge_json, if_match="*")


def replace_requests(target: Target) -> Iterator[bytes]:
    """Insert or replace entities anywhere in the table; all are there."""
    return _change_requests(target, "PUT", replacement_json)


def _change_requests(
    target: Target, method: str, body: Callable[[int], bytes], *, if_match: str = ""
) -> Iterator[bytes]:
    def head(index: int) -> bytes:
        return render_head(
            method,
            entity_resource(target, index),
            port=target.port,
            if_match=if_match,
            content_type="application/json",
            body_bytes=len(body(0)),
        )

    for change, request in enumerate(_random_requests(target.entities, head)):
        yield request + body(change)


def delete_requests(target: Target) -> Iterator[bytes]:
    """Delete the entities in no order, until there is none."""
    for index in random.Random(RANDOM_SEED).sample(range(target.entities), target.entities):
        yield render_head("DELETE", entity_resource(target, index), port=target.port, if_match="*")


def point_query(target: Target, index: int) -> bytes:
    return render_head("GET", entity_resource(target, index), port=target.port)


def entity_resource(target: Target, index: int) -> str:
    return f"{target.table}(PartitionKey='{PARTITION_KEY}',RowKey='{row_key(index)}')"


def page_query(target: Target, query: str, *, accept: str = NO_METADATA, accept_encoding: str = "") -> bytes:
    return render_head(
        "GET", f"{target.table}()", port=target.port, query=query, accept=accept, accept_encoding=accept_encoding
    )


def point_requests(target: Target) -> Iterator[bytes]:
    return _random_requests(target.entities, lambda index: point_query(target, index))


def first_page_requests(target: Target, *, accept: str = NO_METADATA, accept_encoding: str = "") -> Iterator[bytes]:
    request = Fresh(lambda: page_query(target, FIRST_PAGE, accept=accept, accept_encoding=accept_encoding))
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
    return number_query(target, target.entities // FILTER_MATCHES // 2, continuation)


def indexed_filter_requests(target: Target) -> Iterator[bytes]:
    """Ask for one Number or another: with an index what is asked for again is found quicker."""
    return _random_requests(target.entities // FILTER_MATCHES, lambda number: number_query(target, number))


def number_query(target: Target, number: int, continuation: str = "") -> bytes:
    """Ask for the entities that share a Number."""
    return page_query(target, "$filter=" + quote(f"Number eq {NUMBER_BASE + number}") + continuation)


def full_read_requests(target: Target) -> Iterator[bytes]:
    while True:
        yield full_read_page(target, "")


def full_read_page(target: Target, continuation: str) -> bytes:
    return page_query(target, FIRST_PAGE + continuation)
