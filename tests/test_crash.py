"""What was acknowledged survives `kill -9` in the middle of a flood of writes, and nothing is ever half there.

32 connections write as fast as they are answered, each keeping a ledger of what the server confirmed; the process is
killed, started again on the same folder and read back. ROWKEY_CRASH_ROUNDS sets how often; a few rounds are enough to
notice a missing fsync or a torn commit, a night of them is better.
"""

from __future__ import annotations

import asyncio
import itertools
import json
import os
from typing import TYPE_CHECKING, Any
from urllib.parse import quote, urlsplit

if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine, Mapping

    from tests.conftest import Server, ServerProcess

ROUNDS = int(os.environ.get("ROWKEY_CRASH_ROUNDS", "3"))
CONNECTIONS = 32
BATCH_SIZE = 20
SECONDS_BEFORE_KILL = 0.4
SECONDS_MORE_EACH_ROUND = 0.07  # so that not every round dies at the same moment of the server's life
ANSWER_SECONDS_MAX = 20
CRLF = b"\r\n"


def test_acknowledged_inserts_survive_a_kill(own_server: ServerProcess) -> None:
    ledger: dict[str, str] = {}  # ETag by PartitionKey of what was confirmed
    crash_repeatedly(own_server, insert_until_killed, ledger)

    entities = asyncio.run(read_all(own_server.server))
    stored = {entity["PartitionKey"]: entity for entity in entities}
    assert len(stored) == len(entities)
    assert ledger.keys() <= stored.keys()
    assert {key: stored[key]["odata.etag"] for key in ledger} == ledger
    assert all(is_whole(entity) for entity in entities)  # also those whose confirmation was lost on the way
    assert len(ledger) > ROUNDS * CONNECTIONS


def test_no_transaction_is_torn_by_a_kill(own_server: ServerProcess) -> None:
    ledger: dict[str, str] = {}
    crash_repeatedly(own_server, transact_until_killed, ledger)

    entities = asyncio.run(read_all(own_server.server))
    row_keys: dict[str, set[str]] = {}
    for entity in entities:
        row_keys.setdefault(entity["PartitionKey"], set()).add(entity["RowKey"])
    assert ledger.keys() <= row_keys.keys()
    assert all(keys == {f"{number:02}" for number in range(BATCH_SIZE)} for keys in row_keys.values())
    assert all(is_whole(entity) for entity in entities)
    assert len(ledger) > ROUNDS * CONNECTIONS


def crash_repeatedly(
    process: ServerProcess,
    write: Callable[[Server, str, dict[str, str]], Coroutine[Any, Any, None]],
    ledger: dict[str, str],
) -> None:
    """Let writers run into a kill, as many rounds as asked for; the server is running afterwards."""
    asyncio.run(create_table(process.server))
    for round_number in range(ROUNDS):
        seconds = SECONDS_BEFORE_KILL + SECONDS_MORE_EACH_ROUND * (round_number % 10)
        asyncio.run(write_and_kill(process, write, f"{round_number}", seconds, ledger))
        process.start()


async def write_and_kill(
    process: ServerProcess,
    write: Callable[[Server, str, dict[str, str]], Coroutine[Any, Any, None]],
    name: str,
    seconds: float,
    ledger: dict[str, str],
) -> None:
    """One round: all writers at once, and the end of the server after `seconds`."""
    writers = [
        asyncio.create_task(write(process.server, f"{name}-{number:02}", ledger)) for number in range(CONNECTIONS)
    ]
    await asyncio.sleep(seconds)
    process.kill()
    await asyncio.gather(*writers)


# ---------------------------------------------------------------- writers


async def insert_until_killed(server: Server, name: str, ledger: dict[str, str]) -> None:
    """Insert entities one by one, each in a partition of its own."""
    connection = await Connection.open(server)
    headers = {"Content-Type": "application/json", "Prefer": "return-no-content"}
    try:
        for number in itertools.count():
            partition_key = f"{name}-{number:06}"
            body = json.dumps(entity_of(partition_key, "")).encode()
            status, answer, _ = await connection.ask("POST", "/Ledger", headers, body)
            assert status == 204
            ledger[partition_key] = answer["etag"]
    except TimeoutError:
        raise  # an OSError too, but no way for a killed server to end
    except (OSError, asyncio.IncompleteReadError):
        await connection.close()


async def transact_until_killed(server: Server, name: str, ledger: dict[str, str]) -> None:
    """Insert twenty entities at once, each time in a new partition."""
    connection = await Connection.open(server)
    headers = {"Content-Type": "multipart/mixed; boundary=b"}
    try:
        for number in itertools.count():
            partition_key = f"{name}-{number:06}"
            status, _, content = await connection.ask("POST", "/$batch", headers, batch_of(server, partition_key))
            assert (status, content.count(b"HTTP/1.1 204")) == (202, BATCH_SIZE)
            ledger[partition_key] = ""
    except TimeoutError:
        raise  # an OSError too, but no way for a killed server to end
    except (OSError, asyncio.IncompleteReadError):
        await connection.close()


def batch_of(server: Server, partition_key: str) -> bytes:
    """The body of an entity group transaction that fills a partition."""
    part = (
        b"--c\r\nContent-Type: application/http\r\nContent-Transfer-Encoding: binary\r\n\r\n"
        b"POST %b/Ledger HTTP/1.1\r\nContent-Type: application/json\r\nPrefer: return-no-content\r\n\r\n%b\r\n"
    )
    parts = [
        part % (server.endpoint.encode(), json.dumps(entity_of(partition_key, f"{number:02}")).encode())
        for number in range(BATCH_SIZE)
    ]
    return b"--b\r\nContent-Type: multipart/mixed; boundary=c\r\n\r\n" + b"".join(parts) + b"--c--\r\n--b--\r\n"


def entity_of(partition_key: str, row_key: str) -> dict[str, str]:
    """An entity from which can be seen whether it is whole: each property follows from its keys."""
    return {
        "PartitionKey": partition_key,
        "RowKey": row_key,
        "Long": f"{partition_key}/{row_key};" * 40,
        "Last": f"end of {partition_key}/{row_key}",
    }


def is_whole(entity: Mapping[str, Any]) -> bool:
    """Whether a stored entity has everything that was written."""
    written = {name: value for name, value in entity.items() if name not in ("odata.etag", "Timestamp")}
    return written == entity_of(entity["PartitionKey"], entity["RowKey"])


# ---------------------------------------------------------------- talking to the server


async def create_table(server: Server) -> None:
    connection = await Connection.open(server)
    status, _, _ = await connection.ask("POST", "/Tables", {"Content-Type": "application/json"}, LEDGER)
    assert status == 201
    await connection.close()


LEDGER = b'{"TableName":"Ledger"}'


async def read_all(server: Server) -> list[dict[str, Any]]:
    """Every entity of the table, page by page."""
    connection = await Connection.open(server)
    entities: list[dict[str, Any]] = []
    query = ""
    while True:
        status, headers, body = await connection.ask("GET", "/Ledger()" + query, {}, b"")
        assert status == 200
        entities += json.loads(body)["value"]
        if "x-ms-continuation-nextpartitionkey" not in headers:
            await connection.close()
            return entities
        tokens = (headers[f"x-ms-continuation-next{part}key"] for part in ("partition", "row"))
        query = "?NextPartitionKey={}&NextRowKey={}".format(*map(quote, tokens))


class Connection:
    """One connection of a client that signs its requests and has no retries."""

    def __init__(self, server: Server, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._server = server
        self._reader = reader
        self._writer = writer

    @classmethod
    async def open(cls, server: Server) -> Connection:
        """Connect."""
        url = urlsplit(server.endpoint)
        return cls(server, *await asyncio.open_connection(url.hostname, url.port, limit=1 << 25))

    async def ask(
        self, method: str, path: str, headers: Mapping[str, str], body: bytes
    ) -> tuple[int, dict[str, str], bytes]:
        """Send a request to a path below the account; its answer as status, headers and body."""
        url = urlsplit(self._server.endpoint)
        target = url.path + path
        common = {"Accept": "application/json", "x-ms-version": "2019-02-02", "Content-Length": str(len(body))}
        lines = self._server.sign(method, target, {"Host": url.netloc, **common, **headers})
        head = "".join(f"{name}: {value}\r\n" for name, value in lines.items())
        self._writer.write(f"{method} {target} HTTP/1.1\r\n{head}\r\n".encode() + body)
        async with asyncio.timeout(ANSWER_SECONDS_MAX):
            status_line, *fields = (await self._reader.readuntil(CRLF + CRLF)).decode().strip().split("\r\n")
            answer = {name.lower(): value for name, _, value in (line.partition(": ") for line in fields)}
            content = await self._reader.readexactly(int(answer.get("content-length", "0")))
        return int(status_line.split(" ")[1]), answer, content

    async def close(self) -> None:
        """End the connection, whatever became of the other side."""
        self._writer.close()
        try:
            await self._writer.wait_closed()
        except OSError:
            pass
