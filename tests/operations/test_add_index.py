"""Add Index: PUT /name?comp=indexes&property=Name, an addition of Rowkey's own."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from rowkey.errors import InvalidInput, InvalidQueryParameterValue, PropertyNameInvalid, ServiceError
from rowkey.operations.add_index import AddIndex
from tests.operations.conftest import ACCOUNT

if TYPE_CHECKING:
    from tests.operations.conftest import Client


class TestDecode:
    @pytest.mark.parametrize(
        ("query", "name"),
        [("property=Email", "Email"), ("property=Gr%C3%B6%C3%9Fe", "Größe"), ("property=RowKey", "RowKey")],
    )
    def test_property(self, client: Client, query: str, name: str) -> None:
        assert client.decode("PUT", f"/Orders?comp=indexes&{query}") == AddIndex("Orders", name)

    @pytest.mark.parametrize(
        ("query", "error"),
        [
            ("", InvalidQueryParameterValue),
            ("&property=", InvalidQueryParameterValue),
            ("&property=a%20b", PropertyNameInvalid),
            ("&property=1a", PropertyNameInvalid),
            ("&property=PartitionKey", InvalidInput),
        ],
    )
    def test_what_is_no_property(self, client: Client, query: str, error: type[ServiceError]) -> None:
        with pytest.raises(error):
            client.decode("PUT", f"/Orders?comp=indexes{query}")


class TestRun:
    async def test_a_new_one_and_again(self, orders: Client) -> None:
        assert (await orders.ask("PUT", "/Orders?comp=indexes&property=Email")).status == 202
        assert (await orders.ask("PUT", "/Orders?comp=indexes&property=Email")).status == 200
        table = await orders.store.find_table(ACCOUNT, "Orders")
        assert table is not None
        assert [index.name for index in await orders.store.list_indexes(table)] == ["Email"]

    async def test_missing_table(self, client: Client) -> None:
        refusal = await client.refused("PUT", "/Missing?comp=indexes&property=Email")
        assert refusal[:2] == (404, "TableNotFound")

    async def test_metrics_tables_are_only_to_be_read(self, client: Client) -> None:
        path = "/$MetricsHourPrimaryTransactionsTable?comp=indexes&property=Email"
        assert (await client.refused("PUT", path))[0] == 405
