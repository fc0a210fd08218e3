"""Drop Index: DELETE /name?comp=indexes&property=Name, an addition of Rowkey's own."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from rowkey.errors import InvalidQueryParameterValue
from rowkey.operations.drop_index import DropIndex
from tests.operations.conftest import ACCOUNT

if TYPE_CHECKING:
    from tests.operations.conftest import Client


class TestDecode:
    @pytest.mark.parametrize("headers", [{}, {"If-Match": "*"}])
    def test_property(self, client: Client, headers: dict[str, str | None]) -> None:
        path = "/Orders?comp=indexes&property=Email"
        assert client.decode("DELETE", path, headers=headers) == DropIndex("Orders", "Email")

    def test_no_property(self, client: Client) -> None:
        with pytest.raises(InvalidQueryParameterValue):
            client.decode("DELETE", "/Orders?comp=indexes")


class TestRun:
    async def test_one_that_is_there(self, orders: Client) -> None:
        table = await orders.store.find_table(ACCOUNT, "Orders")
        assert table is not None
        await orders.store.add_index(table, "Email")
        response = await orders.ask("DELETE", "/Orders?comp=indexes&property=Email")
        assert (response.status, response.body) == (204, b"")
        assert list(await orders.store.list_indexes(table)) == []

    async def test_one_that_is_not(self, orders: Client) -> None:
        refusal = await orders.refused("DELETE", "/Orders?comp=indexes&property=Email")
        assert refusal[:2] == (404, "ResourceNotFound")

    async def test_missing_table(self, client: Client) -> None:
        refusal = await client.refused("DELETE", "/Missing?comp=indexes&property=Email")
        assert refusal[:2] == (404, "TableNotFound")
