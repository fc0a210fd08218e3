"""Workers are killed, stopped and started under load: what was answered is not lost, and the service comes back."""

from __future__ import annotations

import http.client
import itertools
import json
import os
import signal
import socket
import subprocess
import sys
import threading
import time
from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any
from urllib.parse import quote, urlsplit

import pytest

from tests.server.worker_clients import (
    ANSWER_SECONDS_MAX,
    ANY,
    ENTITY,
    SECONDS_MAX,
    WORKERS,
    Client,
    all_serve,
    ask_once,
    entity,
    one_of_each,
    processes_of,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from pathlib import Path

    from tests.conftest import Server, ServerProcess

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="needs a system that can fork processes")


# ---------------------------------------------------------------- deaths


@dataclass
class Ledger:
    """What writers were told."""

    confirmed: set[str] = field(default_factory=set)
    doubtful: set[str] = field(default_factory=set)
    statuses: Counter[int] = field(default_factory=Counter)
    cut: int = 0
    """Connections that ended before an answer."""
    codes: Counter[str] = field(default_factory=Counter)


class Load:
    """Threads that insert entities until they are told to stop, whatever becomes of the workers."""

    def __init__(self, server: Server, writers: int = 12) -> None:
        self.ledger = Ledger()
        self._server = server
        self._stop = threading.Event()
        self._threads = [threading.Thread(target=self._insert, args=(f"{number}",)) for number in range(writers)]

    def __enter__(self) -> Ledger:
        for thread in self._threads:
            thread.start()
        return self.ledger

    def __exit__(self, *_: object) -> None:
        self._stop.set()
        for thread in self._threads:
            thread.join()

    def _insert(self, name: str) -> None:
        client = Client(self._server)
        ledger = self.ledger
        for number in itertools.count():
            if self._stop.is_set():
                break
            key = f"{name}-{number}"
            body = json.dumps({"PartitionKey": key, "RowKey": "", "Text": key * 50})
            try:
                status, _, answer = client.ask("POST", "/Things", body, {"Prefer": "return-no-content"})
            except (OSError, http.client.HTTPException):
                ledger.doubtful.add(key)
                ledger.cut += 1
                client.close()
                client = Client(self._server)
                time.sleep(0.02)
                continue
            ledger.statuses[status] += 1
            if status == 204:
                ledger.confirmed.add(key)
            else:
                ledger.codes[json.loads(answer)["odata.error"]["code"]] += 1
                if status != 503:  # which says that nothing happened
                    ledger.doubtful.add(key)
        client.close()


def read_keys(server: Server) -> set[str]:
    """All keys of the table, page by page; every entity must be whole."""
    client = Client(server)
    keys: set[str] = set()
    query = ""
    while True:
        status, headers, body = client.ask("GET", "/Things()" + query)
        assert status == 200
        page: list[dict[str, Any]] = json.loads(body)["value"]
        assert all(one["Text"] == one["PartitionKey"] * 50 for one in page)
        keys |= {one["PartitionKey"] for one in page}
        if "x-ms-continuation-nextpartitionkey" not in headers:
            client.close()
            return keys
        query = f"?NextPartitionKey={quote(headers['x-ms-continuation-nextpartitionkey'])}&NextRowKey="


def check(ledger: Ledger, server: Server) -> None:
    """What was confirmed is there, and nothing that was certainly refused."""
    stored = read_keys(server)
    assert ledger.confirmed <= stored
    assert stored <= ledger.confirmed | ledger.doubtful
    assert len(ledger.confirmed) > 100
    assert ledger.statuses.keys() <= {204, 500, 503}
    assert ledger.codes.keys() <= {"OperationTimedOut", "ServerBusy"}


def wait_until(is_so: Callable[[], bool]) -> None:
    deadline = time.monotonic() + SECONDS_MAX
    while not is_so():
        assert time.monotonic() < deadline, "it does not come to pass"
        time.sleep(0.02)


def wait_for_next(server: ServerProcess, number: int, process: int) -> None:
    """Wait until the worker `number` is another process than this one."""
    wait_until(lambda: processes_of(server)[number] != process)


def wait_for_end(processes: Iterable[int]) -> None:
    left = list(processes)
    wait_until(lambda: not any(is_running(process) for process in left))


def is_running(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    return True


@pytest.mark.parametrize("number", [1, 2], ids=["the one that writes", "another"])
def test_a_worker_that_is_killed_is_replaced_and_loses_nothing(
    workers: ServerProcess, clients: list[Client], number: int
) -> None:
    with Load(workers.server) as ledger:
        for _ in range(2):
            killed = processes_of(workers)[number]
            time.sleep(0.5)
            os.kill(killed, signal.SIGKILL)
            wait_for_next(workers, number, killed)
            all_serve(workers.server)
        confirmed = len(ledger.confirmed)
        wait_until(lambda: len(ledger.confirmed) > confirmed + 50)
    check(ledger, workers.server)
    assert ledger.cut  # those who were connected to it
    assert f"worker {number} (process {killed}" in workers.read_log()
    assert "was killed by signal 9; it is replaced" in workers.read_log()


def test_a_write_that_was_handed_to_a_dead_writer_may_have_happened(
    workers: ServerProcess, clients: list[Client]
) -> None:
    """The writer is stopped, given a write by another worker, and killed: 500 OperationTimedOut, and not repeated."""
    writer = processes_of(workers)[1]
    os.kill(writer, signal.SIGSTOP)
    answers: list[tuple[int, dict[str, str], bytes]] = []

    def insert(client: Client) -> None:
        try:
            answers.append(client.ask("POST", "/Things", entity("once")))
        except (OSError, http.client.HTTPException):
            pass  # the writer's own connection

    threads = [threading.Thread(target=insert, args=(client,)) for client in clients]
    for thread in threads:
        thread.start()
    time.sleep(0.3)
    os.kill(writer, signal.SIGKILL)
    for thread in threads:
        thread.join()
    assert [(status, json.loads(body)["odata.error"]["code"]) for status, _, body in answers] == [
        (500, "OperationTimedOut")
    ] * (WORKERS - 1)
    assert ask_once(workers.server, "GET", ENTITY) == 404


def test_reads_go_on_while_the_writer_is_away(workers: ServerProcess, clients: list[Client]) -> None:
    clients[0].ask("POST", "/Things", entity("here"))
    writer = processes_of(workers)[1]
    os.kill(writer, signal.SIGSTOP)
    seen = 0
    for client in clients:
        client._connection.timeout = 1.0
        if client._connection.sock is not None:
            client._connection.sock.settimeout(1.0)
        try:
            seen += client.ask("GET", ENTITY)[0] == 200
        except TimeoutError:
            client.close()
    os.kill(writer, signal.SIGCONT)
    assert seen == WORKERS - 1


def test_workers_end_with_a_supervisor_that_is_killed(workers: ServerProcess, clients: list[Client]) -> None:
    """And the next server begins at once, with all that was confirmed."""
    for _ in range(2):
        left = list(processes_of(workers).values())
        with Load(workers.server) as ledger:
            time.sleep(0.7)
            workers.kill()
        wait_for_end(left)
        workers.start()
        stored = read_keys(workers.server)
        assert ledger.confirmed <= stored
        assert len(ledger.confirmed) > 20
        for key in stored:
            ask_once(workers.server, "DELETE", f"/Things(PartitionKey='{key}',RowKey='')", headers=ANY)


def test_a_worker_that_ends_again_and_again_is_reported(workers: ServerProcess, clients: list[Client]) -> None:
    for _ in range(5):
        killed = processes_of(workers)[2]
        os.kill(killed, signal.SIGKILL)
        wait_for_next(workers, 2, killed)
    assert "in a row that did not last; the next one begins in" in workers.read_log()
    all_serve(workers.server)


# ---------------------------------------------------------------- begin and end


def test_a_stop_under_load_answers_what_was_begun(workers: ServerProcess, clients: list[Client]) -> None:
    with Load(workers.server) as ledger:
        time.sleep(0.5)
        begun = time.monotonic()
        workers.stop()  # asserts the exit code, and that there is no traceback in the log
        took = time.monotonic() - begun
    assert took < 8
    assert not any(is_running(process) for process in processes_of(workers).values())
    assert ledger.statuses.keys() == {204}
    workers.start()
    check(ledger, workers.server)


def test_a_stop_while_the_writer_is_dead_leaves_a_folder_that_can_be_opened(
    workers: ServerProcess, clients: list[Client]
) -> None:
    """The last to close the database is then a worker that does not write; it must leave the log as it is."""
    assert clients[0].ask("POST", "/Things", entity("kept"))[0] == 201
    assert workers._process is not None
    workers._process.send_signal(signal.SIGSTOP)  # so that it hears of both at once
    os.kill(processes_of(workers)[1], signal.SIGKILL)
    workers._process.send_signal(signal.SIGTERM)
    workers._process.send_signal(signal.SIGCONT)
    assert workers._process.wait(SECONDS_MAX) == 0
    workers.start()
    assert ask_once(workers.server, "GET", ENTITY) == 200


def test_a_stop_leaves_one_complete_file(workers: ServerProcess, clients: list[Client], tmp_path: Path) -> None:
    for client in clients:
        client.ask("POST", "/Things", entity().replace('"r"', f'"{client.worker}"'))
    workers.stop()
    assert (tmp_path / "data" / "rowkey.db").exists()
    assert not (tmp_path / "data" / "rowkey.db-wal").exists()


def run_rowkey(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "rowkey", "serve", *arguments],
        capture_output=True,
        text=True,
        check=False,
        timeout=SECONDS_MAX,
    )


def test_a_second_server_on_the_folder_is_refused(workers: ServerProcess, tmp_path: Path) -> None:
    for number in ("1", "2"):
        result = run_rowkey("--port", "0", "--data", str(tmp_path / "data"), "--workers", number)
        assert result.returncode == 1
        assert "is in use by another Rowkey process" in result.stderr


def test_a_second_server_on_the_port_is_refused(workers: ServerProcess, tmp_path: Path) -> None:
    """The system would let both have it, as both say that they share it."""
    port = str(urlsplit(workers.server.endpoint).port)
    for number in ("1", "2"):
        result = run_rowkey("--port", port, "--data", str(tmp_path / "other"), "--workers", number)
        assert result.returncode == 1
        assert "the port is in use" in result.stderr


def test_what_keeps_a_worker_from_starting_is_said_as_without_workers(tmp_path: Path) -> None:
    (tmp_path / "rowkey.db").write_text("no database" * 100)
    results = [run_rowkey("--port", "0", "--data", str(tmp_path), "--workers", number) for number in ("1", "2")]
    assert [result.returncode for result in results] == [1, 1]
    assert results[1].stderr.splitlines()[-1] == results[0].stderr.splitlines()[-1]


def test_each_worker_has_figures_of_its_own(own_server_with: Callable[..., ServerProcess]) -> None:
    port = two_free_ports()
    server = own_server_with("--workers", "2", "--metrics-port", str(port)).server
    for client in one_of_each(server, 2):
        client.close()
    for figures in (port, port + 1):
        connection = http.client.HTTPConnection("127.0.0.1", figures, timeout=ANSWER_SECONDS_MAX)
        connection.request("GET", "/metrics")
        shown = connection.getresponse().read()
        assert b'rowkey_requests_total{operation="QueryTables"' in shown
        assert (b"rowkey_data_bytes" in shown, b"rowkey_writes_waiting" in shown) == (figures == port,) * 2
        connection.close()


def two_free_ports() -> int:
    """The first of two ports that follow each other and are free."""
    while True:
        with socket.create_server(("127.0.0.1", 0)) as first:
            port: int = first.getsockname()[1]
            try:
                socket.create_server(("127.0.0.1", port + 1)).close()
            except (OSError, OverflowError):
                continue
            return port


def test_a_second_signal_ends_all_at_once(own_server_with: Callable[..., ServerProcess]) -> None:
    server = own_server_with("--workers", "2", "--drain-seconds", "60")
    assert server._process is not None
    server._process.terminate()
    wait_until(lambda: "draining" in server.read_log())
    server._process.terminate()
    assert server._process.wait(5) == 1
    wait_for_end(processes_of(server).values())
    server._process = None
