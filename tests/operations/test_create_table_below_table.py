"""Create Table with a table's URL taken for the account's: POST /Table/Tables. Client suites compare the answers."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from rowkey.operations.create_table_below_table import CreateTableBelowTable

if TYPE_CHECKING:
    from tests.operations.conftest import Client

PATH = "/Orders/Tables"


class TestDecode:
    @pytest.mark.parametrize("body", [b"", b"nonsense", {"TableName": "abc"}])
    def test_body_does_not_matter(self, client: Client, body: object) -> None:
        assert client.decode("POST", PATH, body) == CreateTableBelowTable("Orders")


class TestRun:
    async def test_missing_table(self, client: Client) -> None:
        assert await client.refused("POST", PATH, {"TableName": "abc"}) == (
            404,
            "TableNotFound",
            "The table specified does not exist.",
        )

    async def test_table_that_is_there(self, orders: Client) -> None:
        assert await orders.refused("POST", PATH, {"TableName": "abc"}) == (
            400,
            "PropertiesNeedValue",
            "The values are not specified for all properties in the entity.",
        )

    async def test_deletion(self, orders: Client) -> None:
        status, code, text = await orders.refused("DELETE", "/Orders/Tables('abc')")
        assert (status, code) == (400, "InvalidInput")
        assert text.startswith("The number of keys specified in the URI does not match number of key properties")
