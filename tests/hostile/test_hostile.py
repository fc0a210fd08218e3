"""Whatever strangers send, the answer is an error that says what was wrong, at once, and nobody else notices.

Each case goes over a connection of its own to the real server process, signed like any other request unless it says
otherwise; it must be refused (4xx, or the documented 501) with a code in the body. After each, an ordinary request on
another connection must still be answered. HTTP that is not well-formed has its own tests, `tests/server`.
"""

from __future__ import annotations

import re
import socket
from contextlib import closing
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

import pytest

from tests.hostile.addresses import ADDRESSES, METHODS
from tests.hostile.batches import BATCHES
from tests.hostile.case import ENTITY, JSON, Case
from tests.hostile.entities import BODIES, CHANGES, KEYS, NAMES, VALUES, insert
from tests.hostile.entries import ENTRIES
from tests.hostile.headers import HEADERS
from tests.hostile.queries import FILTERS, LARGE_FILTERS, NOT_IMPLEMENTED, OPTIONS, TOKENS
from tests.hostile.tables import TABLES, create_named

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.conftest import Server


ANSWER_SECONDS_MAX = 2


CASES = {
    f"{group}: {name}": case
    for group, cases in {
        "body": BODIES,
        "name": NAMES,
        "value": VALUES,
        "key": KEYS,
        "change": CHANGES,
        "table": TABLES,
        "query": FILTERS,
        "not implemented": NOT_IMPLEMENTED,
        "large query": LARGE_FILTERS,
        "option": OPTIONS,
        "token": TOKENS,
        "address": ADDRESSES,
        "method": METHODS,
        "header": HEADERS,
        "batch": BATCHES,
        "entry": ENTRIES,
    }.items()
    for name, case in cases.items()
}


@pytest.mark.parametrize("name", CASES)
def test_hostile_request_is_refused_and_disturbs_nobody(bystander: Connection, name: str) -> None:
    case = CASES[name]
    with closing(Connection(bystander.server)) as connection:
        status, code = verdict(*connection.ask(case))
    if case.status:
        assert (status, code) == (case.status, case.code or code)
        assert code
    else:  # what is said here is nobody's rule, but it must be an answer
        assert status < 500
    assert bystander.ask(READ)[0] == 200


def test_there_are_enough_of_them() -> None:
    assert len(CASES) >= 200


READ = Case("GET", ENTITY, headers=JSON)


@pytest.fixture(scope="module")
def bystander(request: pytest.FixtureRequest, server: Server) -> Iterator[Connection]:
    """A client on a connection of its own, with a table and an entity in it."""
    if request.config.getoption("--target") is not None:
        pytest.skip("names the account in what it sends, and is rude: never to a --target")
    with closing(Connection(server)) as connection:
        connection.ask(create_named("Hostile"))
        connection.ask(insert('{"PartitionKey":"p","RowKey":"r"}'))
        assert connection.ask(READ)[0] == 200
        yield connection


class Connection:
    """A connection on which answers come in time."""

    def __init__(self, server: Server) -> None:
        self.server = server
        url = urlsplit(server.endpoint)
        self._socket = socket.create_connection((url.hostname or "", url.port or 0), timeout=ANSWER_SECONDS_MAX)
        self._file = self._socket.makefile("rb")

    def ask(self, case: Case) -> tuple[int, bytes]:
        """Send a request; status and body of its answer."""
        url = urlsplit(self.server.endpoint)
        target = case.target or url.path + case.path
        headers = {"Host": url.netloc, "x-ms-version": "2019-02-02", **case.headers}
        if case.is_signed:
            headers = self.server.sign(case.method, target, headers)
        headers["Content-Length"] = str(len(case.body))
        head = "".join(f"{name}: {value}\r\n" for name, value in headers.items())
        self._socket.sendall(f"{case.method} {target} HTTP/1.1\r\n{head}\r\n".encode() + case.body)
        return self._answer()

    def _answer(self) -> tuple[int, bytes]:
        status = int(self._file.readline().split()[1])
        length = 0
        while (line := self._file.readline().strip()) != b"":
            if line.lower().startswith(b"content-length:"):
                length = int(line.partition(b":")[2])
        return status, self._file.read(length)

    def close(self) -> None:
        """End the connection."""
        self._file.close()
        self._socket.close()


_PART = re.compile(rb"^HTTP/1\.1 (\d{3}) ", re.MULTILINE)
_CODE = re.compile(rb'"code":"(\w+)"|<(?:m:)?code>(\w+)</')


def verdict(status: int, body: bytes) -> tuple[int, str]:
    """Status and code of an answer, in a batch those of its one part; the code is empty where there is none."""
    part = _PART.search(body)
    code = _CODE.search(body)
    return int(part[1]) if part else status, (code[1] or code[2]).decode() if code else ""
