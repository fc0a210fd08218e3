"""Clients of a server of several processes, which find their way to each of them.

A connection stays with one worker. Which one it is shows in the request ids, whose beginning is each process's own.
"""

from __future__ import annotations

import http.client
import json
import re
import time
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

if TYPE_CHECKING:
    from collections.abc import Mapping

    from tests.conftest import Server, ServerProcess

WORKERS = 3
SECONDS_MAX = 30.0
ANSWER_SECONDS_MAX = 20.0

ENTITY = "/Things(PartitionKey='p',RowKey='r')"
ANY = {"If-Match": "*"}


class Client:
    """One connection, without retries."""

    def __init__(self, server: Server) -> None:
        self._server = server
        self._url = urlsplit(server.endpoint)
        self._connection = http.client.HTTPConnection(self._url.netloc, timeout=ANSWER_SECONDS_MAX)
        self.worker = ""
        """What the request ids of the process begin with that has answered last."""

    def ask(
        self, method: str, path: str, body: bytes | str = b"", headers: Mapping[str, str] | None = None
    ) -> tuple[int, dict[str, str], bytes]:
        """Send a request to a path below the account; its answer as status, headers and body."""
        content = body.encode() if isinstance(body, str) else body
        target = self._url.path + path
        kind = {"Content-Type": "application/json"} if content else {}
        common = {"Accept": "application/json", "x-ms-version": "2019-02-02", **kind, **(headers or {})}
        self._connection.request(method, target, content or None, self._server.sign(method, target, common))
        answer = self._connection.getresponse()
        fields = {name.lower(): value for name, value in answer.getheaders()}
        self.worker = fields["x-ms-request-id"].rpartition("-")[0]
        return answer.status, fields, answer.read()

    def close(self) -> None:
        self._connection.close()


def one_of_each(server: Server, number: int) -> list[Client]:
    """Connections to different workers; the system chooses, so connect until each was met."""
    found: dict[str, Client] = {}
    deadline = time.monotonic() + SECONDS_MAX
    while len(found) < number:
        assert time.monotonic() < deadline, f"only {len(found)} workers answer"
        client = Client(server)
        try:
            client.ask("GET", "/Tables")
        except OSError:
            client.close()
            continue
        if found.setdefault(client.worker, client) is not client:
            client.close()
    return list(found.values())


def all_serve(server: Server) -> None:
    """Wait until each worker has answered."""
    for client in one_of_each(server, WORKERS):
        client.close()


def ask_once(server: Server, method: str, path: str, headers: Mapping[str, str] | None = None) -> int:
    """The status of the answer to a request that has a connection of its own."""
    client = Client(server)
    status, _, _ = client.ask(method, path, headers=headers)
    client.close()
    return status


def processes_of(server: ServerProcess) -> dict[int, int]:
    """The processes of the workers by their numbers, as the log tells; 1 writes."""
    begun = re.findall(r"worker (\d+) \(process (\d+)(?:, which writes)?\) begins", server.read_log())
    return {int(number): int(process) for number, process in begun}


def entity(text: str = "") -> str:
    return json.dumps({"PartitionKey": "p", "RowKey": "r", "Text": text})
