"""Floors: the least that a server of this design could cost, measured in the same run.

`http` is the bare shell: asyncio.Protocol, httptools and uvloop, answering everything with one entity of 1 KiB.
`store` is the bare store: SQLite puts through apsw, committed in groups, each with one fsync (WAL, synchronous=FULL).
"""

import argparse
import asyncio
import dataclasses
import json
import time
from itertools import count
from pathlib import Path
from typing import cast

import apsw
import httptools
import uvloop

from entities import FILTER_MATCHES, PARTITION_KEY, entity_json, row_key
from workload import Result

BODY = entity_json(0, FILTER_MATCHES)
ANSWER = (
    b"HTTP/1.1 200 OK\r\nContent-Type: application/json;odata=nometadata;streaming=true;charset=utf-8\r\n"
    b"Content-Length: %d\r\n\r\n" % len(BODY)
) + BODY


class Shell(asyncio.Protocol):
    """Reads requests as a real shell must, line and headers, and gives the fixed answer to each."""

    _transport: asyncio.Transport

    def __init__(self) -> None:
        self._parser = httptools.HttpRequestParser(self)
        self._url = b""
        self._headers: list[tuple[bytes, bytes]] = []

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        # Not an instance check: uvloop's transports are no asyncio.Transport by class.
        self._transport = cast(asyncio.Transport, transport)

    def data_received(self, data: bytes) -> None:
        self._parser.feed_data(data)

    def on_message_begin(self) -> None:
        self._headers = []

    def on_url(self, url: bytes) -> None:
        self._url = url

    def on_header(self, name: bytes, value: bytes) -> None:
        self._headers.append((name, value))

    def on_message_complete(self) -> None:
        self._transport.write(ANSWER)


async def serve(port: int) -> None:
    server = await asyncio.get_running_loop().create_server(Shell, "127.0.0.1", port)
    await server.serve_forever()


def put_groups(folder: Path, *, group: int, seconds: float) -> Result:
    """Put entities of 1 KiB, `group` in each transaction, for some seconds; a unit is one put."""
    database = apsw.Connection(str(folder / "floor.db"))
    database.execute("PRAGMA journal_mode=WAL; PRAGMA synchronous=FULL; PRAGMA wal_autocheckpoint=1000")
    database.execute("CREATE TABLE entity (id INTEGER PRIMARY KEY, key BLOB NOT NULL UNIQUE, body BLOB NOT NULL)")
    latencies_ns: list[int] = []
    began, cpu_began = time.perf_counter(), time.process_time()
    for first in count(step=group):
        group_began_ns = time.perf_counter_ns()
        database.execute("BEGIN IMMEDIATE")
        database.executemany(
            "INSERT INTO entity (key, body) VALUES (?, ?)",
            ((f"{PARTITION_KEY}\0{row_key(index)}".encode(), BODY) for index in range(first, first + group)),
        )
        database.execute("COMMIT")
        latencies_ns.append(time.perf_counter_ns() - group_began_ns)
        elapsed = time.perf_counter() - began
        if elapsed > seconds:
            break
    return Result.of(
        units=len(latencies_ns) * group,
        operations=len(latencies_ns),
        seconds=elapsed,
        cpu_seconds=time.process_time() - cpu_began,
        latencies_ns=latencies_ns,
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    floors = parser.add_subparsers(dest="floor", required=True)
    http = floors.add_parser("http")
    http.add_argument("--port", type=int, required=True)
    store = floors.add_parser("store")
    store.add_argument("--folder", type=Path, required=True)
    store.add_argument("--group", type=int, required=True)
    store.add_argument("--seconds", type=float, required=True)
    arguments = parser.parse_args()
    if arguments.floor == "http":
        uvloop.run(serve(arguments.port))
    else:
        result = put_groups(arguments.folder, group=arguments.group, seconds=arguments.seconds)
        print(json.dumps(dataclasses.asdict(result)))


if __name__ == "__main__":
    main()
