"""A server with `--compress`: clients that ask for gzip, as most do without being told to, read what was stored."""

from __future__ import annotations

import gzip
import http.client
import json
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from azure.data.tables import TableServiceClient
from azure.data.tables.aio import TableClient

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.conftest import Server, ServerProcess

ROWS = [f"{number:03}" for number in range(100)]


def fill(server: Server) -> None:
    with TableServiceClient.from_connection_string(server.connection_string) as service:
        table = service.create_table("Orders")
        table.submit_transaction(
            [("create", {"PartitionKey": "p", "RowKey": row, "Text": f"é {row} " * 100}) for row in ROWS]
        )


async def test_clients_read_compressed_answers(own_server_with: Callable[..., ServerProcess]) -> None:
    server = own_server_with("--compress").server
    fill(server)
    codings: list[str | None] = []

    def note(response: Any) -> None:
        codings.append(response.http_response.headers.get("Content-Encoding"))

    with TableServiceClient.from_connection_string(server.connection_string) as service:
        table = service.get_table_client("Orders")
        found = [entity["RowKey"] for entity in table.list_entities(raw_response_hook=note)]
        assert found == ROWS
        assert table.get_entity("p", "001")["Text"] == "é 001 " * 100
    async with TableClient.from_connection_string(server.connection_string, "Orders") as later:
        entities = [entity async for entity in later.list_entities(raw_response_hook=note)]
        assert [entity["Text"] for entity in entities] == [f"é {row} " * 100 for row in ROWS]
    assert codings == ["gzip", "gzip"]


def ask(server: Server, method: str, accepted: str | None) -> tuple[dict[str, str], bytes]:
    """Headers and body of a page, as they are on the wire."""
    url = urlsplit(server.endpoint)
    connection = http.client.HTTPConnection(url.netloc, timeout=20)
    target = f"{url.path}/Orders()"
    headers = {"Accept": "application/json", "x-ms-version": "2019-02-02"}
    encoding = {} if accepted is None else {"Accept-Encoding": accepted}
    connection.putrequest(method, target, skip_accept_encoding=True)
    for name, value in (server.sign(method, target, headers) | encoding).items():
        connection.putheader(name, value)
    connection.endheaders()
    answer = connection.getresponse()
    body = answer.read()
    connection.close()
    return {name.lower(): value for name, value in answer.getheaders()}, body


def test_only_those_who_ask_get_compressed_answers(own_server_with: Callable[..., ServerProcess]) -> None:
    server = own_server_with("--compress").server
    fill(server)
    plain_headers, plain = ask(server, "GET", None)
    headers, packed = ask(server, "GET", "gzip")
    assert "content-encoding" not in plain_headers
    assert headers["content-encoding"] == "gzip"
    assert headers["vary"] == plain_headers["vary"] == "Accept-Encoding"
    assert json.loads(gzip.decompress(packed)) == json.loads(plain)
    assert len(packed) < len(plain) / 4
    head, nothing = ask(server, "HEAD", "gzip")
    assert nothing == b""
    assert head["content-length"] == headers["content-length"]


def test_nobody_does_without_the_option(own_server: ServerProcess) -> None:
    fill(own_server.server)
    headers, _ = ask(own_server.server, "GET", "gzip")
    assert "content-encoding" not in headers
    assert "vary" not in headers
