"""List Indexes: GET /name?comp=indexes, an addition of Rowkey's own."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from rowkey.operations.list_indexes import ListIndexes
from rowkey.store.interface import Index
from tests.operations.conftest import ACCOUNT

if TYPE_CHECKING:
    from tests.operations.conftest import Client


class TestDecode:
    @pytest.mark.parametrize("path", ["/Orders?comp=indexes", "/Orders()?comp=Indexes&timeout=30"])
    @pytest.mark.parametrize("method", ["GET", "HEAD"])
    def test_address(self, client: Client, method: str, path: str) -> None:
        assert client.decode(method, path) == ListIndexes("Orders")


class TestRun:
    @pytest.mark.parametrize("accept", ["application/json", "application/xml", None])
    async def test_none(self, orders: Client, accept: str | None) -> None:
        response = await orders.ask("GET", "/Orders?comp=indexes", headers={"Accept": accept})
        assert (response.status, response.header("Content-Type")) == (200, "application/json")
        assert json.loads(response.body) == {"indexes": []}

    async def test_those_there_are(self, orders: Client) -> None:
        table = await orders.store.find_table(ACCOUNT, "Orders")
        assert table is not None
        await orders.store.add_index(table, "Total")
        await orders.store.add_index(table, "Customer")
        await orders.ask("POST", "/Orders", {"PartitionKey": "p", "RowKey": "r", "Customer": "Ada"})
        response = await orders.ask("GET", "/oRDERS?comp=indexes")
        assert json.loads(response.body)["indexes"] == [
            {"property": "Customer", "state": "ready", "entries": 1},
            {"property": "Total", "state": "ready", "entries": 0},
        ]

    def test_one_that_is_being_built(self, client: Client) -> None:
        call = client.call("GET", "/Orders?comp=indexes")
        response = ListIndexes("Orders").respond(call, [Index("Größe", False, 12)])
        assert json.loads(response.body)["indexes"] == [{"property": "Größe", "state": "building", "entries": 12}]

    async def test_missing_table(self, client: Client) -> None:
        response = await client.ask("GET", "/Missing?comp=indexes")
        assert client.refusal(response)[:2] == (404, "TableNotFound")

    @pytest.mark.parametrize("method", ["POST", "PATCH", "MERGE"])
    async def test_other_methods(self, orders: Client, method: str) -> None:
        assert (await orders.refused(method, "/Orders?comp=indexes"))[:2] == (405, "UnsupportedHttpVerb")

    async def test_only_tables_have_indexes(self, orders: Client) -> None:
        for path in ("/?comp=indexes", "/Tables?comp=indexes", "/Orders(PartitionKey='p',RowKey='r')?comp=indexes"):
            assert (await orders.refused("GET", path))[:2] == (400, "InvalidQueryParameterValue")
