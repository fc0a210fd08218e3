"""Delete Table: DELETE /Tables('name')."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from rowkey.errors import InvalidInput
from rowkey.operations.delete_table import DeleteTable

if TYPE_CHECKING:
    from tests.operations.conftest import Client


class TestDecode:
    @pytest.mark.parametrize(
        ("path", "name"),
        [
            ("/Tables('Orders')", "Orders"),
            ("/Tables%28%27Orders%27%29", "Orders"),
            ("/tables('orders')", "orders"),
            ("/Tables( 'Orders' )", "Orders"),
            ("/Tables(TableName='Orders')", "Orders"),
            ("/Tables('O''Neil')", "O'Neil"),
        ],
    )
    def test_address(self, client: Client, path: str, name: str) -> None:
        assert client.decode("DELETE", path) == DeleteTable(name)

    @pytest.mark.parametrize("header", ["If-Match", "If-None-Match"])
    def test_conditions_are_refused(self, client: Client, header: str) -> None:
        with pytest.raises(InvalidInput, match="if the target type does not have etag properties defined"):
            client.decode("DELETE", "/Tables('Orders')", headers={header: "*"})


class TestRun:
    @pytest.mark.parametrize("accept", ["application/json", "*/*", None])
    async def test_table_is_gone(self, orders: Client, accept: str | None) -> None:
        await orders.ask("POST", "/Orders", {"PartitionKey": "p", "RowKey": "r"})
        response = await orders.ask("DELETE", "/Tables('ORDERS')", headers={"Accept": accept})
        assert (response.status, response.body) == (204, b"")
        assert response.header("ETag") is None
        assert response.header("Cache-Control") == "no-cache"
        assert await orders.refused("GET", "/Orders") == (
            404,
            "TableNotFound",
            "The table specified does not exist.",
        )

    async def test_missing_table_is_a_missing_resource(self, client: Client) -> None:
        """Recorded: not TableNotFound."""
        assert await client.refused("DELETE", "/Tables('Orders')") == (
            404,
            "ResourceNotFound",
            "The specified resource does not exist.",
        )

    async def test_error_without_accept_is_xml(self, client: Client) -> None:
        """Recorded 2019-07-07: one line, no byte order mark."""
        response = await client.ask("DELETE", "/Tables('Orders')", headers={"Accept": "*/*"})
        assert response.header("Content-Type") == "application/xml;charset=utf-8"
        assert response.body.startswith(
            b'<?xml version="1.0" encoding="utf-8"?>'
            b'<error xmlns="http://schemas.microsoft.com/ado/2007/08/dataservices/metadata">'
            b'<code>ResourceNotFound</code><message xml:lang="en-US">The specified resource does not exist.\nRequestId:'
        )
        assert response.body.endswith(b"Z</message></error>")

    async def test_entities_do_not_return_with_the_name(self, orders: Client) -> None:
        await orders.ask("POST", "/Orders", {"PartitionKey": "p", "RowKey": "r"})
        await orders.ask("DELETE", "/Tables('Orders')")
        await orders.ask("POST", "/Tables", {"TableName": "Orders"})
        assert (await orders.ask("GET", "/Orders")).body.endswith(b'"value":[]}')
