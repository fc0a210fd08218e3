"""A table's URL taken for the account's: /Table/Tables. Client suites compare the answers."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from rowkey.operations.table_below_table import TableBelowTable

if TYPE_CHECKING:
    from tests.operations.conftest import Client

PATH = "/Orders/Tables"


class TestDecode:
    @pytest.mark.parametrize("body", [b"", b"nonsense", {"TableName": "abc"}])
    def test_body_does_not_matter(self, client: Client, body: object) -> None:
        decoded = client.decode("POST", PATH, body)
        assert isinstance(decoded, TableBelowTable)
        assert decoded.table == "Orders"


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

    @pytest.mark.parametrize("method", ["GET", "DELETE"])
    async def test_address_below_a_missing_table(self, client: Client, method: str) -> None:
        assert (await client.refused(method, "/Orders/Tables('abc')"))[:2] == (404, "TableNotFound")

    @pytest.mark.parametrize("method", ["GET", "DELETE"])
    async def test_address_below_a_table(self, orders: Client, method: str) -> None:
        status, code, text = await orders.refused(method, "/Orders/Tables('abc')")
        assert (status, code) == (400, "InvalidInput")
        assert text.startswith("The number of keys specified in the URI does not match number of key properties")
