"""Clients of a real server, over sockets, that take any end of a connection for an answer that nobody knows."""

from __future__ import annotations

import asyncio
import json
import re
from typing import TYPE_CHECKING
from urllib.parse import quote

from rowkey.model.datetimes import format_datetime, parse_datetime
from rowkey.model.entity import Entity
from rowkey.model.writes import Condition, Mode, Write
from rowkey.store.interface import OutcomeUnknown
from tests.test_crash import Connection
from tests.torture.history import Asker, Told
from tests.torture.linearizability import Seen

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rowkey.model.entity import Key
    from rowkey.store.interface import Table
    from tests.conftest import Server

TABLE = "Ledger"
JSON = {"Content-Type": "application/json", "Prefer": "return-no-content"}
_METHODS = {"get": "GET", "insert": "POST", "replace": "PUT", "merge": "MERGE", "delete": "DELETE"}
_ANSWERS = {200: "ok", 201: "ok", 204: "ok", 404: "missing", 409: "exists", 412: "changed"}
_PATIENCE_SECONDS = 15


class Client:
    """A connection that is opened anew when it ends, for as long as the server takes to come back."""

    def __init__(self, server: Server) -> None:
        self.server = server
        self._connection: Connection | None = None

    async def send(
        self, method: str, path: str, headers: dict[str, str], body: bytes
    ) -> tuple[int, dict[str, str], bytes] | None:
        """Status, headers and body of the answer; None if the connection ended before it came."""
        if self._connection is None:
            self._connection = await self._connect()
        try:
            return await self._connection.ask(method, path, headers, body)
        except (OSError, asyncio.IncompleteReadError):
            await self.close()
            return None

    async def close(self) -> None:
        """End the connection."""
        if self._connection is not None:
            await self._connection.close()
            self._connection = None

    async def _connect(self) -> Connection:
        async with asyncio.timeout(_PATIENCE_SECONDS):
            while True:
                try:
                    return await Connection.open(self.server)
                except OSError:
                    await asyncio.sleep(0.02)

    async def drop_table(self) -> None:
        """Begin anew; the name may be taken for a moment."""
        answer = await self.send("DELETE", f"/Tables('{TABLE}')", {}, b"")
        assert answer is not None
        assert answer[0] in (204, 404)

    async def create_table(self) -> None:
        """Have the table of these tests."""
        answer = await self.send("POST", "/Tables", JSON, json.dumps({"TableName": TABLE}).encode())
        assert answer is not None
        assert answer[0] in (204, 409)


class SocketAsker(Client, Asker):
    """Single entities over HTTP, for histories."""

    async def ask(self, kind: str, key: Key, value: int, match: str | None) -> Told:
        path = f"/{TABLE}" if kind == "insert" else f"/{TABLE}(PartitionKey='{key[0]}',RowKey='{key[1]}')"
        headers = dict(JSON)
        if match is not None:
            headers["If-Match"] = match if match == "*" else _etag(int(match))
        body = b""
        if kind not in ("get", "delete"):
            body = json.dumps({"PartitionKey": key[0], "RowKey": key[1], "Value": value}).encode()
        answer = await self.send(_METHODS[kind], path, headers, body)
        if answer is None or answer[0] >= 500:
            return Told("unknown")
        status, fields, content = answer
        verdict = _ANSWERS[status]
        if verdict != "ok" or kind == "delete":
            return Told(verdict)
        if kind == "get":
            entity = json.loads(content)
            return Told("ok", seen=Seen(_ticks(entity["odata.etag"]), entity["Value"]))
        return Told("ok", _ticks(fields["etag"]))


class SocketStore(Client):
    """Writes and scans over HTTP, as a workload needs them."""

    async def write(self, _table: Table, writes: Sequence[Write]) -> list[Entity | None]:
        """What the server confirms, without texts; raises OutcomeUnknown for everything else."""
        if len(writes) > 1:
            return await self._write_batch(writes)
        answer = await self.send(*_request(writes[0]))
        if answer is None or answer[0] >= 500:
            raise OutcomeUnknown
        assert answer[0] == 204, answer
        return [_entity(answer[1].get("etag"))]

    async def _write_batch(self, writes: Sequence[Write]) -> list[Entity | None]:
        parts = []
        for write in writes:
            method, path, headers, body = _request(write)
            head = "".join(f"{name}: {value}\r\n" for name, value in headers.items())
            parts.append(
                b"--c\r\nContent-Type: application/http\r\nContent-Transfer-Encoding: binary\r\n\r\n"
                + f"{method} {self.server.endpoint}{path} HTTP/1.1\r\n{head}\r\n".encode()
                + body
                + b"\r\n"
            )
        body = b"--b\r\nContent-Type: multipart/mixed; boundary=c\r\n\r\n" + b"".join(parts) + b"--c--\r\n--b--\r\n"
        answer = await self.send("POST", "/$batch", {"Content-Type": "multipart/mixed; boundary=b"}, body)
        if answer is None or answer[0] >= 500:
            raise OutcomeUnknown
        content = answer[2].decode()
        assert content.count("HTTP/1.1 204") == len(writes), content
        return [_entity(etag) for etag in re.findall(r"^ETag: (.+?)\r?$", content, re.MULTILINE | re.IGNORECASE)]

    async def pages(self) -> list[str]:
        """The texts of all pages of the table."""
        pages: list[str] = []
        query = ""
        while True:
            answer = await self.send("GET", f"/{TABLE}(){query}", {}, b"")
            assert answer is not None
            status, headers, body = answer
            assert status == 200, body
            pages.append(body.decode().partition('"value":[')[2][:-2])
            if "x-ms-continuation-nextpartitionkey" not in headers:
                return pages
            tokens = (headers[f"x-ms-continuation-next{part}key"] for part in ("partition", "row"))
            query = "?NextPartitionKey={}&NextRowKey={}".format(*map(quote, tokens))


def _request(write: Write) -> tuple[str, str, dict[str, str], bytes]:
    """The request that asks for a write."""
    partition_key, row_key = write.key
    path = f"/{TABLE}(PartitionKey='{partition_key}',RowKey='{row_key}')"
    if write.mode is Mode.DELETE:
        return "DELETE", path, {**JSON, "If-Match": "*"}, b""
    keys = f'"PartitionKey":"{partition_key}","RowKey":"{row_key}"'
    body = f"{{{','.join([keys, *write.members.values()])}}}".encode()
    if write.condition is Condition.ABSENT:
        return "POST", f"/{TABLE}", dict(JSON), body
    return "PUT" if write.mode is Mode.SET else "MERGE", path, dict(JSON), body


def _entity(etag: str | None) -> Entity | None:
    return None if etag is None else Entity(int(_ticks(etag)), "")


def _etag(ticks: int) -> str:
    return f"W/\"datetime'{format_datetime(ticks).replace(':', '%3A')}'\""


def _ticks(etag: str) -> str:
    return str(parse_datetime(etag[len("W/\"datetime'") : -2].replace("%3A", ":")))
