"""Hundreds of clients that are slow on purpose (`tests/crowd.py`), and one that is not: it must hardly notice.

Its times are measured without them and among them, in turns, so that what else the machine does counts for both; the
server's memory is watched. `make hostile` is the long form, with 1,000 clients (`ROWKEY_SLOW_CLIENTS`).
"""

from __future__ import annotations

import http.client
import json
import os
import statistics
import subprocess
import sys
import time
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

import pytest

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from tests.conftest import Server, ServerProcess

CLIENTS = int(os.environ.get("ROWKEY_SLOW_CLIENTS", "150"))
READS = 1000 if CLIENTS >= 1000 else 300
ROUNDS = 3
SETTLE_SECONDS = 1 + CLIENTS / 100
"""Until the pages have been sent that a third of the crowd asks for: those are work, and the slowness begins after."""
P99_RATIO_MAX = 2.0
P99_SECONDS_MIN = 0.005 * float(os.environ.get("ROWKEY_SLOWNESS", "1"))
"""A time below it is not held against the server: it says more of the machine."""
MEBIBYTES_MAX = 1024
HEADERS = {"x-ms-version": "2019-02-02", "Accept": "application/json", "Content-Type": "application/json"}


class Reader:
    """A client that asks again and again, on one connection."""

    def __init__(self, server: Server) -> None:
        self._server = server
        url = urlsplit(server.endpoint)
        self._connection = http.client.HTTPConnection(url.hostname or "", url.port, timeout=20)
        self._path = url.path

    def ask(self, method: str, path: str, body: bytes = b"") -> int:
        """The status of an answer."""
        target = self._path + path
        self._connection.request(method, target, body, self._server.sign(method, target, HEADERS))
        response = self._connection.getresponse()
        response.read()
        return response.status

    def close(self) -> None:
        """End the connection."""
        self._connection.close()

    def times(self) -> list[float]:
        """What reads of an entity take."""
        times = []
        for _ in range(READS):
            begin = time.perf_counter()
            assert self.ask("GET", "/Slow(PartitionKey='p',RowKey='0')") == 200
            times.append(time.perf_counter() - begin)
        return times


@contextmanager
def crowd(server: Server, folder: Path) -> Iterator[None]:
    """Slow clients, as long as it takes."""
    url = urlsplit(server.endpoint)
    target = f"{url.path}/Slow()"
    sent = {
        "head": _head("GET", target, {"Host": url.netloc, "X-Filler": "x" * 20_000}),
        "body": _head("POST", target, {"Host": url.netloc, "Content-Length": "1000000"}) + b" " * 300_000,
        "query": _head("GET", target, server.sign("GET", target, {**HEADERS, "Host": url.netloc})) * 5,
    }
    for name, data in sent.items():
        (folder / name).write_bytes(data)
    arguments = [str(url.port), *(str(folder / name) for name in sent), str(CLIENTS)]
    command = [sys.executable, str(Path(__file__).with_name("crowd.py")), *arguments]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
        time.sleep(SETTLE_SECONDS)
        yield
        process.kill()


def _head(method: str, target: str, headers: Mapping[str, str]) -> bytes:
    lines = "".join(f"{name}: {value}\r\n" for name, value in headers.items())
    return f"{method} {target} HTTP/1.1\r\n{lines}\r\n".encode()


def p99(times: list[float]) -> float:
    """The 99th percentile."""
    return statistics.quantiles(times, n=100)[98]


@pytest.mark.skipif(sys.platform != "linux", reason="reads the memory of a process in /proc")
def test_slow_clients_slow_nobody_else(own_server_with: Callable[..., ServerProcess], tmp_path: Path) -> None:
    own = own_server_with()
    reader = Reader(own.server)
    assert reader.ask("POST", "/Tables", b'{"TableName":"Slow"}') == 201
    for number in range(60):  # a page of 3.6 MB
        entity = {"PartitionKey": "p", "RowKey": str(number), "A0": "x" * 30_000, "A1": "x" * 30_000}
        assert reader.ask("POST", "/Slow", json.dumps(entity).encode()) == 201
    assert own._process is not None
    status = Path(f"/proc/{own._process.pid}/status")
    alone: list[float] = []
    among: list[float] = []
    for _ in range(ROUNDS):
        alone += reader.times()
        with crowd(own.server, tmp_path):
            among += reader.times()
        time.sleep(1)
    reader.close()
    peak = int(status.read_text().partition("VmHWM:")[2].split()[0]) / 1024
    print(
        f"{CLIENTS} slow clients: p99 {p99(alone) * 1000:.2f} ms alone, {p99(among) * 1000:.2f} among, {peak:.0f} MiB"
    )
    assert p99(among) < max(P99_RATIO_MAX * p99(alone), P99_SECONDS_MIN)
    assert peak < MEBIBYTES_MAX
