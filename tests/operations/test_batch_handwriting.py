"""Batches as different clients write them, in URLs and in line ends."""

from __future__ import annotations

import base64
import hashlib
from typing import TYPE_CHECKING

import pytest

from tests.operations.batches import (
    ACCOUNT,
    BASE,
    answers,
    ask,
    change_set,
    entity,
    headers_of,
    insert,
    part,
    root_batch,
    row_keys,
)

if TYPE_CHECKING:
    from tests.operations.conftest import Client


class TestUrls:
    """Of the URL of a part only path and query count."""

    @pytest.mark.parametrize(
        "url",
        [
            f"http://127.0.0.1:10002/{ACCOUNT}/Orders(PartitionKey='eu',RowKey='1')",
            f"https://other.example/{ACCOUNT}/Orders(PartitionKey='eu',RowKey='1')",
            "https://contoso.table.core.windows.net/Orders(PartitionKey='eu',RowKey='1')",
            "http://:contoso.table.core.windows.net:80/Orders(PartitionKey='eu',RowKey='1')",
            f"/{ACCOUNT}/Orders(PartitionKey='eu',RowKey='1')",
            "/Orders(PartitionKey='eu',RowKey='1')",
            "Orders(PartitionKey='eu',RowKey='1')",
            "/Orders(PartitionKey='eu', RowKey='1')",
            "/Orders(RowKey='1',PartitionKey='eu')",
            "/Orders(PartitionKey='eu,RowKey=%271%27)".replace("'eu", "'eu%27"),
            "/Orders%28PartitionKey=%27eu%27,RowKey=%271%27%29",
            "/orders(PartitionKey='eu',RowKey='1')?$format=application%2Fjson%3Bodata%3Dnometadata",
            f"http://127.0.0.1:10002/{ACCOUNT}-secondary/Orders(PartitionKey='eu',RowKey='1')",
        ],
    )
    async def test_url(self, orders: Client, url: str) -> None:
        response = await ask(orders, change_set(part("PUT", "", {"A": 1}, url=url)))
        assert answers(response)[0].startswith("HTTP/1.1 204 No Content\r\n")
        assert await row_keys(orders) == ["1"]

    async def test_table_that_is_called_like_the_account(self, client: Client) -> None:
        await client.ask("POST", "/Tables", {"TableName": ACCOUNT})
        item = part("POST", f"/{ACCOUNT}", {"PartitionKey": "eu", "RowKey": "1"})
        assert answers(await ask(client, change_set(item)))[0].startswith("HTTP/1.1 201 Created\r\n")

    async def test_batch_at_the_root_without_the_account(self, orders: Client) -> None:
        """The clients of 2013 post there in emulator mode; the account is in the Authorization header alone."""
        response = await orders.service.handle(
            root_batch(change_set(part("PUT", "", {}, url=f"/{ACCOUNT}{entity('1')}")))
        )
        assert answers(response)[0].startswith("HTTP/1.1 204 No Content\r\n")
        assert await row_keys(orders) == ["1"]

    async def test_batch_at_the_root_with_urls_without_the_account(self, orders: Client) -> None:
        response = await orders.service.handle(
            root_batch(change_set(part("POST", "", {"PartitionKey": "eu", "RowKey": "1"}, url="/Orders")))
        )
        (answer,) = answers(response)
        assert f"Location: {BASE}{entity('1')}" in headers_of(answer)

    async def test_batch_at_the_root_of_a_stranger(self, orders: Client) -> None:
        request = root_batch(change_set(insert("1")))
        request.headers["authorization"] = "SharedKey somebodyelse:AAAA"
        assert (await orders.service.handle(request)).status == 404

    async def test_tunnelled_method(self, orders: Client) -> None:
        item = part("POST", entity("1"), {"A": 1}, {"X-HTTP-Method": "MERGE"})
        (answer,) = answers(await ask(orders, change_set(item)))
        assert answer.startswith("HTTP/1.1 204 No Content\r\n")


class TestLineEnds:
    """Clients send CRLF, bare LF, and both in one body; the answer has CRLF."""

    @pytest.mark.parametrize(
        "body",
        [
            change_set(insert("1")).replace("\r\n", "\n"),
            change_set(insert("1")).replace("\r\n\r\n", "\n\n"),
            change_set(insert("1")).replace("binary\r\n\r\n", "binary\n\r\n"),
            change_set(insert("1")).replace("boundary=changeset_c\r\n\r\n", "boundary=changeset_c\n\r\n"),
            change_set(part("PUT", entity("1"), '{\r\n\r\n"A": 1\r\n\r\n}').replace("json\r\n\r\n", "json\n\r\n")),
            change_set(insert("1")).replace("--changeset_c--", "\n\n--changeset_c--"),
            change_set(insert("1")).replace("binary\r\n\r\n", "binary\r\n\r\n\r\n\r\n"),
            change_set(insert("1")).replace("--batch_b--\r\n", "--batch_b"),
            change_set(insert("1")).replace("--batch_b--\r\n", ""),
            change_set(insert("1")).replace("--batch_b--", "--batch_b–"),
            change_set(insert("1", {"Content-Length": "40"})),
            change_set(insert("1", {"Content-Length": "1"})),
            change_set(insert("1", {"Content-Length": "9999"})),
            "preamble\r\n" + change_set(insert("1")) + "epilogue\r\n",
        ],
        ids=[
            "LF",
            "mixed",
            "LF before a blank line with CRLF",
            "the same outside",
            "the same before a body with blank lines",
            "blank lines before a delimiter",
            "blank lines after the headers",
            "end without dashes",
            "no end",
            "typographic dash",
            "length",
            "short length",
            "long length",
            "preamble and epilogue",
        ],
    )
    async def test_body(self, orders: Client, body: str) -> None:
        (answer,) = answers(await ask(orders, body))
        assert answer.startswith(("HTTP/1.1 201 Created\r\n", "HTTP/1.1 204 No Content\r\n"))
        assert await row_keys(orders) == ["1"]

    @pytest.mark.parametrize(
        ("body", "length"), [('{"A":1}\r\njunk', 7), ('{"A":1}\n', 8), ('{"A":1}\r\n\r\n', 9), ('{"A":1}\r\n', None)]
    )
    async def test_length_that_fits(self, orders: Client, body: str, length: int | None) -> None:
        """Content-MD5 is that of as much as the length says, and of a body without its line end where there is none."""
        digest = hashlib.md5(body[: length or 7].encode(), usedforsecurity=False).digest()
        headers = {"Content-MD5": base64.b64encode(digest).decode()}
        if length is not None:
            headers["Content-Length"] = str(length)
        (answer,) = answers(await ask(orders, change_set(part("PUT", entity("1"), body, headers))))
        assert answer.startswith("HTTP/1.1 204 No Content\r\n")
