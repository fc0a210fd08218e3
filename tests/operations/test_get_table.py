"""Get Table: GET /Tables('name')."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from rowkey.errors import AtomFormatNotSupported
from rowkey.operations.get_table import GetTable
from rowkey.wire.media import Format

if TYPE_CHECKING:
    from tests.operations.conftest import Client

BASE = "http://127.0.0.1:10002/devstoreaccount1"


class TestDecode:
    @pytest.mark.parametrize("path", ["/Tables('Orders')", "/Tables%28'Orders'%29", "/Tables(TableName='Orders')"])
    def test_address(self, client: Client, path: str) -> None:
        assert client.decode("GET", path) == GetTable("Orders", Format.MINIMAL_METADATA)

    def test_no_format_is_refused(self, client: Client) -> None:
        with pytest.raises(AtomFormatNotSupported):
            client.decode("GET", "/Tables('Orders')", headers={"Accept": None})


class TestRun:
    async def test_one_table_and_no_list(self, orders: Client) -> None:
        """PHP, Go, Java and old Python clients ask so whether a table is there."""
        response = await orders.ask("GET", "/Tables('Orders')")
        assert response.status == 200
        assert response.header("ETag") is None
        expected = f'{{"odata.metadata":"{BASE}/$metadata#Tables/@Element","TableName":"Orders"}}'
        assert response.body == expected.encode()

    async def test_name_is_found_in_any_letter_case(self, orders: Client) -> None:
        response = await orders.ask("GET", "/Tables('oRDERS')", headers={"Accept": "application/json;odata=nometadata"})
        assert response.body == b'{"TableName":"Orders"}'

    async def test_missing_table_is_a_missing_resource(self, client: Client) -> None:
        assert await client.refused("GET", "/Tables('Orders')") == (
            404,
            "ResourceNotFound",
            "The specified resource does not exist.",
        )

    async def test_head_is_answered_like_get(self, orders: Client) -> None:
        assert (await orders.ask("HEAD", "/Tables('Orders')")).status == 200

    async def test_atom(self, orders: Client) -> None:
        response = await orders.ask_in_atom("GET", "/Tables('orders')")
        assert response.header("Content-Type") == "application/atom+xml;charset=utf-8"
        assert b"</feed>" not in response.body
        assert b"<d:TableName>Orders</d:TableName>" in response.body
